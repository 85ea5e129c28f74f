from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest

from tests.chat.papers_at_hand import FILTERS, evidence, passage, task
from workbench.chat.draft import LONGEST_ANSWER
from workbench.chat.endings import REFUSAL
from workbench.chat.engine import answer_events
from workbench.chat.task import AnswerTask
from workbench.errors import ProviderError, ProviderUnavailableError
from workbench.interfaces import ChatMessage, ChatUsage
from workbench.providers.fake_chat import FakeChat
from workbench.records import Answer, AnswerDone, Dropped, Event, EvidenceFound, Notice, TextDelta
from workbench.retrieval.answerability import Answerability

GOOD = "The recall of a FAISS graph index fell to 0.205 [1]. Opening the library costs 10 ms [2]."


def run(asked: AnswerTask) -> tuple[list[Event], Answer]:
    """All events, and the answer, after checking what every answer must keep."""
    events = list(answer_events(asked))
    assert isinstance(events[0], EvidenceFound)
    assert [e for e in events if isinstance(e, AnswerDone)] == events[-1:]
    done = events[-1]
    assert isinstance(done, AnswerDone)
    assert_citations_stand(done.answer, asked)
    return events, done.answer


def assert_citations_stand(answer: Answer, asked: AnswerTask) -> None:
    """Each citation is a passage of the evidence; its quote stands on its page, its marker in its claim."""
    for citation in answer.citations:
        cited = answer.evidence.passage(citation.n)
        assert cited is not None
        page = next(p for p in asked.pages_of(cited) if p.page == citation.page)
        start, end = citation.char_start - page.char_start, citation.char_end - page.char_start
        assert page.text[start:end] == citation.quote
        assert f"[{citation.n}]" in answer.text[citation.claim_start : citation.claim_end]


def shown(events: Sequence[Event]) -> str:
    return "".join(e.text for e in events if isinstance(e, TextDelta))


def notices(events: Sequence[Event]) -> list[str]:
    return [e.text for e in events if isinstance(e, Notice)]


def points(answer: Answer) -> list[tuple[int, int, str, str]]:
    return [(c.n, c.page, c.quote, c.support) for c in answer.citations]


# --- a chat model writes ---------------------------------------------------------------------


def test_the_evidence_comes_first_then_text_and_last_the_whole_answer() -> None:
    events, answer = run(task(FakeChat(["The recall of a FAISS graph index ", "fell to 0.205 [", "1].", ""])))
    assert [type(e) for e in events] == [EvidenceFound, TextDelta, TextDelta, TextDelta, AnswerDone]
    assert shown(events) == answer.text == "The recall of a FAISS graph index fell to 0.205 [1]."
    assert (answer.refused, answer.provider, answer.scope_label, answer.warnings) == (
        False,
        "fake-chat",
        "All notes",
        (),
    )
    assert answer.timing.keys() == {"total", "first_token"}


def test_each_citation_names_the_page_of_the_sentence_that_supports_it() -> None:
    _, answer = run(task(FakeChat(GOOD)))
    assert points(answer) == [
        (
            1,
            2,
            "With a filter of ten papers the recall of a FAISS graph index fell to 0.205 [12].",
            "supported",
        ),
        (2, 1, "Opening and closing the library costs 10 ms on a quiet machine.", "supported"),
    ]
    assert [v.verdict for v in answer.audit] == ["supported", "supported"]


@pytest.mark.parametrize("cut", range(len(GOOD)))
def test_markers_split_between_pieces_give_the_same_answer(cut: int) -> None:
    _, whole = run(task(FakeChat(GOOD)))
    events, split = run(task(FakeChat([GOOD[:cut], GOOD[cut:]])))
    assert (split.text, split.citations, split.audit) == (whole.text, whole.citations, whole.audit)
    assert shown(events) == whole.text


def test_unknown_numbers_are_left_out_and_reported_and_repeats_merged() -> None:
    events, answer = run(task(FakeChat("The recall of the index fell to 0.205 [1][1][7], [1, 99].")))
    assert answer.text == "The recall of the index fell to 0.205 [1]."
    warning = "The chat model cited passages that do not exist (7, 99); those marks were removed."
    assert answer.warnings == (warning,)
    assert notices(events) == [warning]
    assert [c.n for c in answer.citations] == [1]


def test_a_wrong_figure_is_marked_unsupported_and_an_answer_of_such_statements_warns() -> None:
    _, answer = run(task(FakeChat("The recall of a FAISS graph index fell to 0.502 [1].")))
    assert [c.support for c in answer.citations] == ["unsupported"]
    assert answer.warnings == ("None of its statements is supported by the passages that it cites.",)


def test_of_two_cited_passages_each_gets_the_support_it_gives() -> None:
    _, answer = run(task(FakeChat("The recall of a FAISS graph index fell to 0.205 [1][2].")))
    assert [(c.n, c.support) for c in answer.citations] == [(1, "supported"), (2, "unsupported")]


@pytest.mark.parametrize(
    "reply",
    [
        ["NOT IN THE PAPERS: they measure no power. It is 40 watts anyway [1]."],
        ["NOT IN", " THE PAPERS", ": they measure no power."],
        ['**"not in the papers"**: they measure no power.\n\nMore.'],
    ],
)
def test_the_sign_of_a_refusal_refuses_with_one_reason_and_the_nearest_passages(reply: list[str]) -> None:
    events, answer = run(task(FakeChat(reply), question="How much power does the graph index need?"))
    assert answer.refused
    assert answer.text == (
        f"{REFUSAL} The chat model says, unchecked: “they measure no power.”\n\nNearest passages:\n\n"
        "- Filters and indexes, page 2: “With a filter of ten papers the recall of a FAISS graph index fell"
        " to 0.205 (ref. 12).” [1]\n"
        "- Locks and leases, page 1: “Opening and closing the library costs 10 ms on a quiet machine.” [2]"
    )
    assert shown(events) == answer.text
    assert [c.support for c in answer.citations] == ["unsupported", "unsupported"]
    assert answer.audit == ()


def test_a_model_that_does_not_end_is_stopped_and_the_answer_says_so() -> None:
    _, answer = run(
        task(FakeChat(["Recall fell to 0.205 [1]. ", *(f"And on, number {n}. " for n in range(20_000))]))
    )
    assert len(answer.text) < LONGEST_ANSWER + 100
    assert any("did not end" in warning for warning in answer.warnings)


def test_text_without_any_citation_is_set_aside_and_refused() -> None:
    events, answer = run(task(FakeChat("Everybody knows that recall falls.")))
    assert answer.refused
    assert answer.text.startswith(REFUSAL)
    assert "Everybody" not in answer.text
    assert shown(events) == f"Everybody knows that recall falls.\n\n{answer.text}"
    assert answer.warnings == (
        "The chat model answered without citing any passage, so its text was set aside.",
    )


def test_the_papers_own_numbers_in_a_quotation_are_not_ours() -> None:
    _, answer = run(
        task(FakeChat("They say “the recall fell to 0.205 [12]” and “all graph indexes [2]” [1]."))
    )
    assert answer.text == "They say “the recall fell to 0.205 (ref. 12)” and “all graph indexes [2]” [1]."


def test_a_name_that_no_passage_mentions_is_reported_beside_the_answer() -> None:
    judged = Answerability(False, 0.2, ("ScaNN",))
    events, answer = run(task(FakeChat(GOOD), answerable=judged))
    assert not answer.refused
    assert notices(events) == ["No passage found mentions ScaNN."]
    assert answer.warnings == ("No passage found mentions ScaNN.",)


def test_warnings_of_the_search_and_the_task_are_told_first_and_kept() -> None:
    asked = task(FakeChat(GOOD), warnings=("No model was named.",))
    asked = replace(asked, evidence=replace(asked.evidence, warnings=("Searching by keywords only.",)))
    events, answer = run(asked)
    assert notices(events[:3]) == ["Searching by keywords only.", "No model was named."]
    assert answer.warnings == ("Searching by keywords only.", "No model was named.")


# --- a chat model fails ----------------------------------------------------------------------


@pytest.mark.parametrize("reply", [[ProviderUnavailableError("No model answers.")], ["  "], [""]])
def test_a_model_that_says_nothing_is_replaced_by_the_papers_own_sentences(reply: list[str]) -> None:
    events, answer = run(task(FakeChat(reply)))
    assert (answer.provider, answer.refused) == ("extractive", False)
    assert shown(events) == answer.text
    assert len(answer.warnings) == 1
    assert answer.warnings[0].endswith("Answering in the papers' own sentences instead.")
    assert notices(events) == list(answer.warnings)


def test_a_model_that_breaks_off_before_it_cites_is_replaced_too() -> None:
    events, answer = run(task(FakeChat(["The recall of", ProviderError("The stream broke.")])))
    assert (answer.provider, answer.refused) == ("extractive", False)
    assert shown(events) == f"The recall of\n\n{answer.text}"


def test_a_stream_that_breaks_later_leaves_a_partial_answer_that_says_so() -> None:
    events, answer = run(task(FakeChat([GOOD[:53], "Opening [", ProviderError("The stream broke.")])))
    warning = "The answer is incomplete: The stream broke. Ask again."
    assert answer.text == "The recall of a FAISS graph index fell to 0.205 [1]. Opening ["
    assert (answer.provider, answer.refused, answer.warnings) == ("fake-chat", False, (warning,))
    assert notices(events) == [warning]


def test_closing_the_events_closes_the_models_stream() -> None:
    model = FakeChat(["The recall of the index ", "fell to 0.205 [1]. ", "And more."])
    events = answer_events(task(model))
    for event in events:
        if isinstance(event, TextDelta):
            break
    events.close()  # type: ignore[attr-defined]
    assert model.closed == 1


def test_a_cut_prompt_is_noticed_by_what_the_server_read() -> None:
    warning = (
        "The chat model's server cut the prompt, so rules or passages may be missing; raise its context"
        " length or lower WORKBENCH_CONTEXT_WINDOW."
    )
    _, cut = run(task(FakeChat(GOOD, prompt_tokens=50)))
    _, whole = run(task(FakeChat(GOOD, prompt_tokens=500)))
    assert (cut.warnings, whole.warnings) == ((warning,), ())


class _Silent:
    """A model whose stream ends without a word and without an error."""

    name = "silent"
    context_window = 8192

    def stream(self, messages: Sequence[ChatMessage]) -> Iterator[str | ChatUsage]:
        yield ChatUsage(None)


def test_a_stream_that_ends_without_a_word_is_replaced_too() -> None:
    _, answer = run(task(_Silent()))
    assert answer.warnings == (
        "silent answered with nothing. Answering in the papers' own sentences instead.",
    )
    assert answer.provider == "extractive"


# --- a window too small ----------------------------------------------------------------------


def test_a_window_too_small_drops_the_lowest_passages_and_says_so() -> None:
    long = [
        passage(n, n, ["filler words of a long passage here " * 60], title=f"Paper {n}") for n in range(2, 9)
    ]
    found = evidence(passage(1, 1, FILTERS), *long, papers=8)
    model = FakeChat("The recall of a FAISS graph index fell to 0.205 [1]. It fell [8].", context_window=4096)
    _, answer = run(task(model, found=found))
    given = [n for n in range(1, 9) if f"\n[{n}]\n" in model.received[0][1].content]
    assert given == list(range(1, len(given) + 1))
    assert 1 < len(given) < 8
    assert answer.unread == 8 - len(given)
    assert answer.warnings == (
        f"{8 - len(given)} passages were left out to fit the chat model's window;"
        " raise WORKBENCH_CONTEXT_WINDOW.",
        "The chat model cited passages that do not exist (8); those marks were removed.",
    )


# --- nothing to say --------------------------------------------------------------------------


@pytest.mark.parametrize("model", [None, FakeChat("Never asked [1].")])
def test_no_evidence_is_a_refusal_without_asking_the_model(model: FakeChat | None) -> None:
    events, answer = run(task(model, found=evidence(papers=0)))
    assert (answer.refused, answer.citations) == (True, ())
    assert (
        answer.text == f"{REFUSAL} There are no papers in it (All notes): add some, or choose another scope."
    )
    assert shown(events) == answer.text
    assert model is None or model.received == []


def test_evidence_below_the_minimum_says_why_nothing_was_found() -> None:
    found = replace(evidence(papers=2), dropped=(Dropped(1, 1, 0.1, "below the minimum relevance 0.9"),))
    assert run(task(None, found=found))[1].text == f"{REFUSAL} No passage reaches the minimum relevance."


@pytest.mark.parametrize(
    ("judged", "reason"),
    [
        (Answerability(False, 0.1, ()), ""),
        (Answerability(False, 0.1, ("ScaNN", "watts")), " They do not mention ScaNN, watts."),
        (
            Answerability(False, 0.5, (), ("RETRO", "PaSa")),
            " None of them mentions RETRO and PaSa together.",
        ),
    ],
)
def test_without_a_model_an_unanswerable_question_is_refused(judged: Answerability, reason: str) -> None:
    _, answer = run(task(None, answerable=judged))
    assert answer.refused
    assert answer.text.startswith(
        f"{REFUSAL}{reason}\n\nNearest passages:\n\n- Filters and indexes, page 2: “With a filter"
    )


def test_without_a_model_a_missing_part_of_a_list_is_reported_beside_the_answer() -> None:
    events, answer = run(task(None, answerable=Answerability(True, 0.5, ("ScaNN",))))
    assert not answer.refused
    assert notices(events) == list(answer.warnings) == ["No passage found mentions ScaNN."]


def test_a_title_with_brackets_and_back_quotes_adds_no_marker() -> None:
    found = evidence(passage(1, 1, FILTERS, title="Filters [2]\nand `code` [9]"))
    for asked in (task(None, found=found), task(None, found=found, answerable=Answerability(False, 0.0, ()))):
        _, answer = run(asked)
        assert "[2]" not in answer.text
        assert "[9]" not in answer.text
        assert "`" not in answer.text
        assert "Filters (ref. 2) and 'code' (ref. 9)" in answer.text


# --- earlier turns and remembered statements -------------------------------------------------

TURNS = (ChatMessage("user", "Do you know FAISS?"), ChatMessage("assistant", "It is an index [7]."))


def test_turns_and_remembered_statements_reach_the_model_and_are_no_evidence() -> None:
    model = FakeChat("You use mice [3]. The recall of a FAISS graph index fell to 0.205 [1].")
    asked = replace(task(model), history=TURNS, memory=("I use mice.",))
    events, answer = run(asked)
    (sent,) = model.received
    assert [m.content for m in sent[1:-1]] == ["Do you know FAISS?", "It is an index."]
    assert "I use mice." in sent[-1].content
    assert answer.evidence == asked.evidence
    assert answer.text == "You use mice. The recall of a FAISS graph index fell to 0.205 [1]."
    assert [v.verdict for v in answer.audit] == ["uncited", "supported"]
    assert "cited passages that do not exist (3)" in notices(events)[0]


def test_turns_that_do_not_fit_the_window_are_left_out_and_the_reader_is_told() -> None:
    long = tuple(ChatMessage("user", f"{n} " + "words " * 400) for n in range(30))
    model = FakeChat(GOOD, context_window=2048)
    events, answer = run(replace(task(model), history=long))
    told = (
        "Earlier turns were left out to fit the chat model's window;"
        " raise WORKBENCH_CONTEXT_WINDOW, or begin a new conversation."
    )
    assert (answer.warnings, notices(events)) == ((told,), [told])
    assert "FAISS" in model.received[0][-1].content


def test_statements_that_do_not_fit_the_window_are_left_out_and_the_reader_is_told() -> None:
    memory = tuple(f"Statement {n} " + "words " * 200 for n in range(30))
    _, answer = run(replace(task(FakeChat(GOOD, context_window=2048)), memory=memory))
    assert answer.warnings == (
        "Remembered statements were left out to fit the chat model's window; raise WORKBENCH_CONTEXT_WINDOW.",
    )


def test_turns_and_statements_change_nothing_without_a_chat_model() -> None:
    plain, asked = task(None), replace(task(None), history=TURNS, memory=("I use mice.",))
    assert replace(run(plain)[1], timing={}) == replace(run(asked)[1], timing={})

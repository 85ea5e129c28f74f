from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from tests.mineral_papers import Mineral
from workbench import (
    Answer,
    AnswerDone,
    Citation,
    EvidenceFound,
    InvalidInputError,
    Notice,
    ProviderUnavailableError,
    Scope,
    Settings,
    TextDelta,
    Workbench,
)
from workbench.interfaces import ChatMessage
from workbench.providers.fake_chat import FakeChat
from workbench.providers.fake_embedder import FakeEmbedder

MELTING = "What is the melting point of arvenite?"
SENTENCE = "The melting point of arvenite is 1013 degrees Celsius."


def test_an_answer_cites_the_page_that_says_it(wb: Workbench, five: list[Mineral]) -> None:
    answer = wb.ask(MELTING, scope=Scope.project(1))
    whole = "\n\n".join(p.text for p in wb.papers.pages(1))
    start = whole.index(SENTENCE)
    claim = f"{SENTENCE} [1]"
    assert answer.citations[0] == Citation(
        n=1,
        paper_id=1,
        title="A study of arvenite",
        file="arvenite.pdf",
        page=2,
        quote=SENTENCE,
        char_start=start,
        char_end=start + len(SENTENCE),
        support="supported",
        claim_start=answer.text.index(claim),
        claim_end=answer.text.index(claim) + len(claim),
    )
    assert (answer.question, answer.refused, answer.provider, answer.scope_label, answer.warnings) == (
        MELTING,
        False,
        "extractive",
        "Minerals",
        (),
    )
    assert five[0].questions()[0].is_answered_by(answer)
    assert {v.verdict for v in answer.audit} == {"supported"}


def test_an_answer_becomes_a_frame_a_table_and_markdown(wb: Workbench) -> None:
    answer = wb.ask(MELTING, scope=Scope.project(1))
    assert list(answer.to_frame().columns) == [f.name for f in fields(Citation)]
    assert SENTENCE in answer._repr_html_()
    assert f"- [1] A study of arvenite, page 2: “{SENTENCE}”" in answer._repr_markdown_()


def test_every_question_about_every_paper_is_answered_from_its_page(
    wb: Workbench, five: list[Mineral]
) -> None:
    questions = [q for mineral in five[:3] for q in mineral.questions()]
    wrong = [q.text for q in questions if not q.is_answered_by(wb.ask(q.text, scope=Scope.ALL))]
    assert wrong == []


def test_what_the_papers_do_not_say_is_refused_with_the_nearest_passages(wb: Workbench) -> None:
    answer = wb.ask("Which choir sang at the wedding in Verona?", scope=Scope.ALL)
    assert answer.refused
    assert answer.text.startswith("The papers in this scope do not answer this question.")
    assert {c.support for c in answer.citations} <= {"unsupported"}


def test_timing_counts_the_whole_answer(wb: Workbench) -> None:
    begun = time.perf_counter()
    timing = wb.ask(MELTING, scope=Scope.ALL).timing
    took = time.perf_counter() - begun
    steps = sum(seconds for step, seconds in timing.items() if step != "total")
    assert steps <= timing["total"] <= took


def test_a_stream_begins_with_the_evidence_and_ends_with_the_answer(wb: Workbench) -> None:
    events = list(wb.stream(MELTING, scope=Scope.project(1)))
    assert isinstance(events[0], EvidenceFound)
    assert [e for e in events if isinstance(e, AnswerDone)] == events[-1:]
    assert isinstance(events[-1], AnswerDone)
    answer = events[-1].answer
    assert "".join(e.text for e in events if isinstance(e, TextDelta)) == answer.text
    assert events[0].evidence == answer.evidence
    asked = wb.ask(MELTING, scope=Scope.project(1))
    assert (asked.text, asked.citations, asked.audit) == (answer.text, answer.citations, answer.audit)


# --- async and threads --------------------------------------------------------------------------


def test_asking_works_inside_a_running_loop_both_ways(wb: Workbench) -> None:
    async def notebook() -> tuple[Answer, Answer, list[Answer]]:
        sync = wb.ask(MELTING, scope=Scope.ALL)
        awaited = await wb.aask(MELTING, scope=Scope.ALL, top_k=2)
        many = await asyncio.gather(*[wb.aask(MELTING, scope=Scope.ALL) for _ in range(4)])
        return sync, awaited, many

    sync, awaited, many = asyncio.run(notebook())
    assert [a.text for a in many] == [sync.text] * 4
    assert len(awaited.evidence) == 2


def test_a_running_loop_goes_on_while_an_answer_is_awaited(open_as: Callable[..., Workbench]) -> None:
    gate = threading.Event()

    def slow(messages: Sequence[ChatMessage]) -> str:
        assert gate.wait(10)
        return f"{SENTENCE} [1]"

    wb = open_as("ann", chat_model=FakeChat(slow))

    async def notebook() -> Answer:
        answer = asyncio.create_task(wb.aask(MELTING, scope=Scope.ALL))
        for _ in range(3):
            await asyncio.sleep(0.01)
        gate.set()  # only a loop that goes on gets here
        return await answer

    assert asyncio.run(notebook()).text == f"{SENTENCE} [1]"


def test_threads_that_ask_at_once_each_get_their_own_answer(wb: Workbench, five: list[Mineral]) -> None:
    questions = [q for mineral in five[:3] for q in mineral.questions()] * 3
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda q: wb.ask(q.text, scope=Scope.ALL), questions))
    assert [a.question for a in answers] == [q.text for q in questions]
    assert [q.text for q, a in zip(questions, answers, strict=True) if not q.is_answered_by(a)] == []


def test_threads_with_different_scopes_never_see_each_others_papers(wb: Workbench) -> None:
    question = "What is the melting point of arvenite, bolmarite and cendrite?"
    allowed = {Scope.project(1): {1, 2}, Scope.ORPHANS: {3}, Scope.ALL: {1, 2, 3}}
    asked = [*allowed] * 6
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda scope: wb.ask(question, scope=scope), asked))
    assert [{p.paper_id for p in a.evidence} for a in answers] == [allowed[scope] for scope in asked]
    assert all({c.paper_id for c in a.citations} <= allowed[a.evidence.scope] for a in answers)


def test_errors_of_an_awaited_question_arrive(wb: Workbench) -> None:
    with pytest.raises(InvalidInputError, match="empty"):
        asyncio.run(wb.aask(" "))


# --- chat models --------------------------------------------------------------------------------


def test_a_chat_model_that_is_passed_in_writes_the_answer(open_as: Callable[..., Workbench]) -> None:
    chat = FakeChat(["It melts at 1013 deg", "rees Celsius [", "1]. It is blue [9]."])
    wb = open_as("ann", chat_model=chat)
    answer = wb.ask(MELTING, scope=Scope.project(1))
    assert answer.text == "It melts at 1013 degrees Celsius [1]. It is blue."
    assert (answer.provider, answer.refused, answer.scope_label) == ("fake-chat", False, "Minerals")
    assert [(c.n, c.page, c.quote, c.support) for c in answer.citations] == [(1, 2, SENTENCE, "supported")]
    assert [v.verdict for v in answer.audit] == ["supported", "uncited"]
    assert any("cited passages that do not exist (9)" in w for w in answer.warnings)
    assert wb.ask(MELTING, scope=Scope.project(1), provider="auto").provider == "fake-chat"
    assert wb.ask(MELTING, scope=Scope.project(1), provider="extractive").provider == "extractive"
    assert len(chat.received) == 2


def test_the_chat_model_sees_nothing_from_outside_the_scope(open_as: Callable[..., Workbench]) -> None:
    chat = FakeChat(f"{SENTENCE} [1]")
    wb = open_as("ann", chat_model=chat)
    wb.ask("What is the melting point of arvenite, and of cendrite?", scope=Scope.project(1))
    [messages] = chat.received
    prompt = "\n".join(m.content for m in messages)
    assert "A study of arvenite" in prompt
    assert "1087 degrees" not in prompt  # cendrite's, an orphan
    assert prompt.count("cendrite") == 1  # the question's own


def test_each_number_leads_to_its_own_paper(open_as: Callable[..., Workbench], five: list[Mineral]) -> None:
    question = "What are the melting points of arvenite, bolmarite and cendrite?"
    order = [p.file for p in open_as("ann").search(question, scope=Scope.ALL)]
    of_file = {m.file: m for m in five}
    claims = [
        f"The melting point of {of_file[file].name} is {of_file[file].melting_point} degrees Celsius. [{n}]"
        for n, file in enumerate(order, start=1)
    ]
    wb = open_as("ann", chat_model=FakeChat(f"{claims[2]} {claims[0]}"))
    answer = wb.ask(question, scope=Scope.ALL)
    assert [(c.n, c.file, c.page, c.support) for c in answer.citations] == [
        (3, order[2], 2, "supported"),
        (1, order[0], 2, "supported"),
    ]


def test_closing_a_stream_stops_the_chat_model(open_as: Callable[..., Workbench]) -> None:
    chat = FakeChat([f"Sentence number {i} [1]. " for i in range(100)])
    stream = open_as("ann", chat_model=chat).stream(MELTING, scope=Scope.ALL)
    while not isinstance(next(stream), TextDelta):
        pass
    stream.close()
    assert chat.closed == 1


def test_a_provider_nobody_knows_is_an_error(wb: Workbench) -> None:
    with pytest.raises(InvalidInputError, match="provider='gpt': allowed are auto, ollama, extractive"):
        wb.ask(MELTING, provider="gpt")


def test_without_ollama_auto_answers_and_says_so_and_ollama_by_name_is_an_error(
    open_as: Callable[..., Workbench], library: Path
) -> None:
    wb = open_as("ann", settings=Settings.load(library=library, user="ann"))
    note = (
        "No chat model, so answers are the papers' own sentences. Ollama does not answer at "
        "http://127.0.0.1:9: start Ollama with `ollama serve`, or correct OLLAMA_HOST."
    )
    events = list(wb.stream(MELTING, scope=Scope.ALL))
    assert [e for e in events if isinstance(e, Notice)] == [Notice(note)]
    assert isinstance(events[-1], AnswerDone)
    assert (events[-1].answer.provider, events[-1].answer.warnings) == ("extractive", (note,))
    with pytest.raises(ProviderUnavailableError, match="Ollama does not answer"):
        wb.ask(MELTING, scope=Scope.ALL, provider="ollama")


def test_a_paper_removed_while_its_answer_is_written_still_has_its_page(
    open_as: Callable[..., Workbench], library: Path
) -> None:
    other = open_as("ann")

    def remove_meanwhile(messages: Sequence[ChatMessage]) -> str:
        other.papers.remove(1)
        return f"{SENTENCE} [1]"

    wb = open_as("ann", chat_model=FakeChat(remove_meanwhile))
    answer = wb.ask(MELTING, scope=Scope.project(1))
    assert answer.text == f"{SENTENCE} [1]"
    assert [(c.n, c.page, c.quote, c.support) for c in answer.citations] == [(1, 2, SENTENCE, "supported")]
    assert wb.audit(answer.text, answer.evidence)[0].verdict == "supported"
    assert wb.ask(MELTING, scope=Scope.project(1), provider="extractive").refused
    assert wb.doctor() == []


def test_a_paper_reprocessed_while_its_answer_is_streamed_changes_no_citation(wb: Workbench) -> None:
    expected = wb.ask(MELTING, scope=Scope.project(1))
    stream = wb.stream(MELTING, scope=Scope.project(1))
    next(stream)
    wb.papers.reprocess(1)
    done = list(stream)[-1]
    assert isinstance(done, AnswerDone)
    assert (done.answer.text, done.answer.citations) == (expected.text, expected.citations)


# --- checking -----------------------------------------------------------------------------------


def test_an_audit_tells_for_each_sentence_what_the_evidence_says_of_it(wb: Workbench) -> None:
    evidence = wb.search(MELTING, scope=Scope.project(1))
    text = f"{SENTENCE} [1] The melting point of arvenite is 99 degrees Celsius. [1] It is heavy."
    verdicts = wb.audit(text, evidence)
    assert [(v.verdict, v.n) for v in verdicts] == [("supported", 1), ("unsupported", 1), ("uncited", None)]
    assert verdicts[0].quote == SENTENCE
    assert [text[v.char_start : v.char_end] for v in verdicts] == [
        f"{SENTENCE} [1]",
        "The melting point of arvenite is 99 degrees Celsius. [1]",
        "It is heavy.",
    ]
    assert wb.audit("", evidence) == ()
    for wrong in ((None, evidence), ("It is blue.", None)):
        with pytest.raises(InvalidInputError, match="Give the text of an answer"):
            wb.audit(*wrong)  # type: ignore[arg-type]  # a wrong call


def test_an_audit_may_hear_an_embedder_and_a_judge_that_only_lowers(wb: Workbench) -> None:
    evidence = wb.search(MELTING, scope=Scope.project(1))
    text = f"{SENTENCE} [1] The melting point of arvenite is 99 degrees Celsius. [1]"
    judge = FakeChat("partly: it leaves out the pressure")
    told = wb.audit(text, evidence, embedder=FakeEmbedder(), judge=judge)
    assert [v.verdict for v in told] == ["partly", "unsupported"]
    assert told[0].reason == "fake-chat says: it leaves out the pressure"


class StrangeModel:
    """A chat model of somebody's own, with a fault of its own."""

    name, context_window = "strange", 8192

    def __init__(self, piece: object) -> None:
        self.piece = piece

    def stream(self, messages: Sequence[ChatMessage]) -> Iterator[Any]:
        if isinstance(self.piece, Exception):
            raise self.piece
        yield self.piece


@pytest.mark.parametrize(
    ("piece", "says"),
    [
        (ValueError("no such layer"), "The chat model failed: no such layer."),
        (None, "gave None instead of text"),
    ],
    ids=["raises", "yields None"],
)
def test_a_chat_model_with_a_fault_of_its_own_does_not_break_the_answer(
    open_as: Callable[..., Workbench], piece: object, says: str
) -> None:
    answer = open_as("ann", chat_model=StrangeModel(piece)).ask(MELTING, scope=Scope.project(1))
    assert any(says in warning for warning in answer.warnings)
    assert answer.citations[0].quote == SENTENCE

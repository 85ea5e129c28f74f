"""How much of its scope an answer rests on, and the papers that were silent asked on their own."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import pytest

from tests.api.conftest import Open
from workbench import AnswerDone, Coverage, NotFoundError, Notice, Scope, SilentPaper, Workbench
from workbench.providers.fake_chat import FakeChat

MELTING = "What is the melting point of arvenite?"
NONE_SILENT = "No paper was silent: all that this scope has gave passages before"


@pytest.fixture
def full(wb: Workbench, mineral_files: list[Path]) -> Workbench:
    """Five papers: arvenite and bolmarite in project 1, the others in none."""
    wb.papers.add_many(mineral_files[3:])
    return wb


def test_an_answer_says_how_many_papers_its_scope_has_and_which_were_silent(full: Workbench) -> None:
    answer = full.ask(MELTING, scope=Scope.ALL, top_k=1)
    assert answer.coverage == Coverage(
        papers_in_scope=5,
        papers_retrieved=1,
        papers_cited=1,
        silent=(
            SilentPaper(2, "A study of bolmarite"),
            SilentPaper(3, "A study of cendrite"),
            SilentPaper(4, "A study of dravosite"),
            SilentPaper(5, "A study of elbergite"),
        ),
    )
    assert answer.coverage.papers_silent == 4
    assert str(answer.coverage) == "5 papers in scope, 1 retrieved, 1 cited"
    assert answer.coverage.silent_titles(2) == "“A study of bolmarite”, “A study of cendrite” and 2 more"


def test_the_counts_are_those_of_the_scope_alone(full: Workbench) -> None:
    coverage = full.ask(MELTING, scope=Scope.project(1)).coverage
    assert coverage is not None
    assert (coverage.papers_in_scope, coverage.papers_retrieved, coverage.silent) == (2, 2, ())


def test_a_refusal_cites_no_paper_though_it_shows_the_nearest(full: Workbench) -> None:
    answer = full.ask("Who won the chess tournament of Zagreb?", scope=Scope.ALL)
    assert answer.refused
    assert answer.coverage is not None
    assert answer.coverage.papers_cited == 0


def test_a_greeting_and_an_empty_scope_have_no_coverage(full: Workbench) -> None:
    empty = full.projects.create("Empty")
    assert full.ask("Hello!").coverage is None
    assert full.ask(MELTING, scope=Scope.project(empty)).coverage is None


def test_shared_papers_from_outside_the_scope_do_not_count(full: Workbench, open_as: Open) -> None:
    full.papers.share(1)
    bob = open_as("bob")
    bob.notes.create("Arvenite", "The melting point of arvenite was lower in my furnace.")
    coverage = bob.ask(MELTING, scope=Scope.ALL).coverage
    assert coverage is not None
    assert coverage.papers_in_scope == 2
    coverage = bob.ask(MELTING, scope=Scope.ORPHANS).coverage
    assert coverage is not None
    assert (coverage.papers_in_scope, coverage.papers_retrieved) == (1, 1)


def test_the_line_stands_in_a_notebook_escaped(full: Workbench) -> None:
    full.notes.create("<img src=x> zeolite", "Nothing of minerals.")
    answer = full.ask(MELTING, scope=Scope.ALL, top_k=1)
    assert "6 papers in scope, 1 retrieved, 1 cited; not retrieved:" in answer._repr_html_()
    assert "<img" not in answer._repr_html_()
    assert answer._repr_markdown_().endswith("\n\n*6 papers in scope, 1 retrieved, 1 cited*")


def test_a_stored_answer_keeps_its_coverage(full: Workbench) -> None:
    talk = full.conversations.create(Scope.ALL)
    answer = talk.ask(MELTING, top_k=1)
    stored = talk.messages[-1].answer
    assert stored is not None
    assert stored.coverage == answer.coverage is not None
    assert full.sql("SELECT answer->'coverage'->>'papers_in_scope' AS n FROM messages WHERE answer NOTNULL")[
        "n"
    ].tolist() == ["5"]


# --- the silent papers -----------------------------------------------------------------------


def test_the_same_question_goes_to_the_papers_that_were_silent_and_to_no_other(full: Workbench) -> None:
    first = full.ask(MELTING, scope=Scope.ALL, top_k=1)
    again = full.ask_silent(first)
    assert again.evidence.query == first.evidence.query
    assert {p.paper_id for p in again.evidence.passages} <= {2, 3, 4, 5}
    assert again.scope_label == "All notes, papers that were silent"
    assert again.warnings[0] == (
        "Asked only the 4 papers without a passage before: “A study of bolmarite”, “A study of cendrite”, "
        "“A study of dravosite”, “A study of elbergite”."
    )
    assert again.coverage is not None
    assert again.coverage.papers_in_scope == 4


def test_asked_again_and_again_every_paper_speaks_once_and_then_none_is_silent(full: Workbench) -> None:
    answer = full.ask(MELTING, scope=Scope.ALL, top_k=2, max_per_paper=1)
    heard = [p.paper_id for p in answer.evidence.passages]
    while answer.coverage is not None and answer.coverage.papers_silent:
        answer = full.ask_silent(answer, top_k=2, max_per_paper=1, min_relevance=0.0)
        heard += [p.paper_id for p in answer.evidence.passages]
    assert sorted(set(heard)) == [1, 2, 3, 4, 5]
    last = full.ask_silent(answer)
    assert (last.text, last.refused, last.citations, last.coverage) == (f"{NONE_SILENT} (5).", True, (), None)


def test_papers_that_came_since_are_asked_and_those_that_left_are_not(full: Workbench) -> None:
    first = full.ask(MELTING, scope=Scope.ALL, top_k=1)
    full.papers.remove(2)
    note = full.notes.create("Zeolite", "The melting point of arvenite is disputed.")
    again = full.ask_silent(first, min_relevance=0.0)
    assert {p.paper_id for p in again.evidence.passages} <= {3, 4, 5, note.id}
    assert again.coverage is not None
    assert again.coverage.papers_in_scope == 4


def test_a_deleted_project_cannot_be_asked_and_no_other_papers_are(full: Workbench) -> None:
    first = full.ask(MELTING, scope=Scope.project(1), top_k=1)
    full.projects.delete(1)
    with pytest.raises(NotFoundError):
        full.ask_silent(first)


def test_another_users_answer_reaches_only_ones_own_papers(full: Workbench, open_as: Open) -> None:
    first = full.ask(MELTING, scope=Scope.project(1), top_k=1)
    with pytest.raises(NotFoundError):
        open_as("bob").ask_silent(first)


def test_the_stored_search_says_which_papers_were_left_out_and_can_be_replayed(full: Workbench) -> None:
    first = full.ask(MELTING, scope=Scope.ALL, top_k=1)
    again = full.ask_silent(first)
    assert again.evidence.parameters["without"] == [1]
    assert all(p.change == "stays" for p in full.replay(again).passages)


def test_a_conversation_asks_its_silent_papers_and_keeps_the_turn(full: Workbench) -> None:
    talk = full.conversations.create(Scope.ALL)
    talk.ask(MELTING, top_k=1)
    events = list(talk.stream_silent())
    done = events[-1]
    assert isinstance(done, AnswerDone)
    assert done.message_id == talk.messages[-1].id
    assert any(isinstance(e, Notice) and e.text.startswith("Asked only the 4 papers") for e in events)
    assert [m.text for m in talk.messages if m.role == "user"] == [MELTING, MELTING]
    assert asdict(talk.messages[-1].answer)["evidence"]["parameters"]["without"] == [1]  # type: ignore[arg-type]


def test_the_scope_of_the_silent_papers_is_that_of_the_answer_not_of_today(full: Workbench) -> None:
    talk = full.conversations.create(Scope.project(1))
    talk.ask(MELTING, top_k=1)
    full.conversations.update(talk, scope=Scope.ORPHANS)
    again = talk.ask_silent()
    assert {p.paper_id for p in again.evidence.passages} <= {2}
    assert again.scope_label == "Minerals, papers that were silent"


def test_a_follow_up_asks_its_silent_papers_as_it_was_searched(full: Workbench) -> None:
    talk = full.conversations.create(Scope.ALL)
    talk.ask(MELTING)
    follow_up = talk.ask("And of bolmarite?", top_k=1)
    assert talk.ask_silent().evidence.query == follow_up.evidence.query


def test_a_message_can_be_named_and_a_greeting_is_passed_over(full: Workbench) -> None:
    talk = full.conversations.create(Scope.ALL)
    talk.ask(MELTING, top_k=1)
    first = talk.messages[-1]
    talk.ask("Thanks!")
    assert talk.ask_silent(first).evidence.parameters["without"] == [1]
    other = full.conversations.create(Scope.ALL)
    for wanted in (None, first, first.id, 999):
        with pytest.raises(NotFoundError):
            other.ask_silent(wanted)


def test_a_papers_own_chat_has_no_silent_paper(full: Workbench) -> None:
    chat = full.paper_chat(1)
    answer = chat.ask(MELTING)
    assert chat.ask_silent().text == f"{NONE_SILENT} (1)."
    assert full.ask_silent(answer).text == f"{NONE_SILENT} (1)."


def test_a_chat_model_reads_the_silent_papers_alone_and_cannot_change_the_scope(open_as: Open) -> None:
    model = FakeChat("The melting point of bolmarite is known [1].")
    wb = open_as(chat_model=model)
    talk = wb.conversations.create(Scope.project(1))
    talk.ask(MELTING, top_k=1)
    talk.ask_silent()
    sent = model.received[-1][-1].content
    assert "A study of bolmarite" in sent
    assert "A study of arvenite" not in sent


def test_each_silent_paper_has_its_reason_and_it_is_kept_with_the_answer(full: Workbench) -> None:
    conversation = full.conversations.create(Scope.ALL)
    evidence = conversation.ask(MELTING, top_k=1).evidence
    assert len(evidence.silent_because) == len(evidence.silent) == 4
    assert all(
        reason.startswith("its best passage (relevance 0.") and reason.endswith("the only seat is taken")
        for reason in evidence.silent_because
    )
    assert sum(evidence.dropped_reasons.values()) == evidence.parameters["candidates"] - 1
    first = evidence.dropped[0]
    assert (first.title.startswith("A study of"), first.page_start, first.vector_rank is None) == (
        True,
        1,
        False,
    )
    stored = conversation.messages[-1].answer
    assert stored is not None
    assert stored.evidence == evidence


def test_a_paper_below_the_minimum_relevance_is_silent_for_that(full: Workbench) -> None:
    evidence = full.search(MELTING, scope=Scope.ALL, min_relevance=1.0)
    told = dict(zip([p.title for p in evidence.silent], evidence.silent_because, strict=True))
    assert told["A study of elbergite"].endswith("below the minimum relevance 1")

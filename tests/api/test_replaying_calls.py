"""wb.replay: what an earlier search would choose with other numbers."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from workbench import Evidence, InvalidInputError, NotFoundError, Scope, Workbench
from workbench.tuning import ReplayedPassage

MINES = "minerals of the northern mines, their melting point and density"


def moves(replay: Any) -> list[tuple[Any, ...]]:
    return [(p.change, p.old_n, p.new_n, p.paper_id) for p in replay.passages]


def latest(wb: Workbench) -> int:
    return int(wb.sql("SELECT max(retrieval_id) AS id FROM retrievals")["id"][0])


def test_passages_stay_leave_and_enter_with_their_numbers_and_reasons(wb: Workbench) -> None:
    evidence = wb.search(MINES, scope=Scope.ALL, top_k=2)
    papers = [p.paper_id for p in evidence]
    third = ({1, 2, 3} - set(papers)).pop()
    fewer = wb.replay(latest(wb), top_k=1)
    assert moves(fewer) == [("stays", 1, 1, papers[0]), ("leaves", 2, None, papers[1])]
    [left] = fewer.left
    assert (left.reason, left.text, left.page_start) == (
        "the only seat is taken",
        evidence.passages[1].text,
        evidence.passages[1].page_start,
    )
    more = wb.replay(latest(wb), top_k=3)
    assert moves(more)[2] == ("enters", None, 3, third)
    assert (len(more.entered), len(more.left), len(more.stayed)) == (1, 0, 2)
    assert (fewer.before["top_k"], fewer.after["top_k"], fewer.changed) == (2, 1, ())
    strict = wb.replay(latest(wb), min_relevance=1.0)
    assert {p.reason for p in strict.left} <= {"below the minimum relevance 1"}


def test_a_replay_with_the_same_numbers_is_the_search_itself(wb: Workbench) -> None:
    evidence = wb.search(MINES, scope=Scope.project(1), mode="keyword", min_relevance=0.3)
    same = wb.replay(latest(wb))
    assert [(p.change, p.new_n, p.chunk_id, p.new_score, p.old_score) for p in same] == [
        ("stays", p.n, p.chunk_id, p.score, p.score) for p in evidence
    ]
    assert (same.changed, same.scope_label, same.after["mode"]) == ((), "Minerals", "keyword")


def test_a_replay_chooses_what_a_search_with_its_numbers_chooses(wb: Workbench) -> None:
    first = wb.search(MINES, scope=Scope.ALL, top_k=2)
    for top_k, min_relevance, cap in product((1, 2, 3), (0.0, 0.4, 0.9), (1, 3)):
        numbers = {"top_k": top_k, "min_relevance": min_relevance, "max_per_paper": cap}
        replay = wb.replay(first, **numbers)
        searched = wb.search(MINES, scope=Scope.ALL, **numbers)
        new = [p for p in replay if p.new_n is not None]
        assert [(p.new_n, p.chunk_id) for p in new] == [(p.n, p.chunk_id) for p in searched]
        old = sorted((p.old_n, p.chunk_id) for p in replay if p.old_n is not None)
        assert old == [(p.n, p.chunk_id) for p in first]
        assert all(p.reason for p in replay.left)
        assert {p.change for p in replay if p.old_n and p.new_n} <= {"stays"}


def test_evidence_answers_and_messages_replay_as_their_retrieval_does(wb: Workbench) -> None:
    talk = wb.conversations.create(Scope.ALL)
    answer = talk.ask(MINES)
    question, message = talk.messages
    replays = [wb.replay(what, top_k=1) for what in (latest(wb), answer, answer.evidence, message)]
    assert [r.passages for r in replays] == [replays[0].passages] * 4
    with pytest.raises(InvalidInputError, match="This message is a question"):
        wb.replay(question)


def test_a_replay_stores_nothing_and_asks_no_model(wb: Workbench) -> None:
    wb.search(MINES, scope=Scope.ALL)
    before = len(wb.sql("SELECT * FROM retrievals"))
    wb.replay(latest(wb), top_k=2, keyword_weight=0.9, qualify_fraction=0.1)
    assert len(wb.sql("SELECT * FROM retrievals")) == before


def test_a_paper_that_left_is_told_and_shows_nothing_of_itself(wb: Workbench) -> None:
    answer = wb.ask(MINES, scope=Scope.ALL)
    number = latest(wb)
    [n] = [p.n for p in answer.evidence if p.paper_id == 2]
    wb.papers.remove(2)
    by_number, by_answer = wb.replay(number), wb.replay(answer)
    assert by_answer.changed == ("“A study of bolmarite” has left your library since.",)
    assert n < 3
    assert by_number.changed == (f"Papers have left the library since: nothing is known of [{n}].",)
    assert by_number.left == (), "what is stored of a search goes with a paper"
    for left in by_answer.left:
        assert (left.paper_id, left.title, left.file, left.text, left.page_start, left.reason) == (
            2,
            "(no longer in your library)",
            "",
            "",
            None,
            "its paper has left your library",
        )


def test_a_paper_that_left_the_scope_and_one_that_came_are_told(wb: Workbench) -> None:
    wb.search(MINES, scope=Scope.project(1))
    wb.projects.remove(1, 2)
    gone = wb.replay(latest(wb))
    assert gone.changed == ("“A study of bolmarite” has left this scope since.",)
    assert [p.reason for p in gone.left] == ["its paper is not in this scope any more"]
    wb.projects.add(1, 2, 3)
    come = wb.replay(latest(wb))
    assert [p.paper_id for p in come.entered] == [3]
    assert come.changed == (
        "The same numbers would not choose the same passages today: papers have come or gone.",
    )


def test_a_paper_that_was_indexed_again_keeps_its_passages_where_they_are_known(wb: Workbench) -> None:
    answer = wb.ask(MINES, scope=Scope.project(1))
    number = latest(wb)
    wb.papers.reprocess(1)
    kept = wb.replay(answer)
    assert kept.changed == ("“A study of arvenite” was indexed again since.",)
    assert [p.change for p in kept] == ["stays", "stays"]
    by_number = wb.replay(number)  # which knows chunks alone
    assert by_number.changed == kept.changed
    [left] = by_number.left
    assert left.reason == "its paper has changed since, and this passage is not there any more"


def test_a_papers_chat_replays_inside_the_paper(wb: Workbench) -> None:
    chat = wb.paper_chat(1)
    chat.ask("What is the melting point?")
    found = wb.replay(latest(wb), top_k=5)
    assert {p.paper_id for p in found} == {1}


def test_it_prints_well_with_every_text_escaped(wb: Workbench) -> None:
    evidence = wb.search(MINES, scope=Scope.ALL, top_k=2)
    with wb._database.write() as cursor:
        cursor.execute("UPDATE library_links SET title = '<img src=x onerror=alert(1)>'")
    replay = wb.replay(evidence, top_k=1)
    html = replay._repr_html_()
    assert "<img" not in html
    assert "&lt;img src=x" in html
    assert "top_k 2 → 1; 0 enter, 1 leave, 1 stay" in html
    assert repr(replay) == f"<Replay of {MINES!r}: 0 enter, 1 leave, 1 stay, All notes>"
    frame = replay.to_frame()
    assert list(frame.columns) == list(ReplayedPassage.__dataclass_fields__)
    assert frame["new_n"].isna().tolist() == [False, True]
    nothing = Evidence("nothing of it", Scope.ORPHANS, "", (), parameters={"mode": "keyword"})
    assert len(wb.replay(nothing).to_frame()) == 0


def test_another_users_passages_in_a_made_up_evidence_show_nothing(
    wb: Workbench, open_as: Callable[..., Workbench]
) -> None:
    evidence = wb.search(MINES, scope=Scope.ALL)
    bob = open_as("bob")
    replay = bob.replay(evidence)
    assert {p.change for p in replay} == {"leaves"}
    assert {(p.title, p.text) for p in replay} == {("(no longer in your library)", "")}
    with pytest.raises(NotFoundError, match="Retrieval not found: 1"):
        bob.replay(1)


@pytest.mark.parametrize("what", ["1", True, None, 1.0, object()])
def test_what_cannot_be_replayed_is_refused(wb: Workbench, what: Any) -> None:
    with pytest.raises(InvalidInputError, match="cannot be replayed"):
        wb.replay(what)


def test_an_answer_that_chose_nothing_cannot_be_replayed(wb: Workbench) -> None:
    with pytest.raises(InvalidInputError, match="Nothing was chosen for this answer"):
        wb.replay(wb.ask("Hello!"))


@pytest.mark.parametrize("number", [0, -1, 99, 2**70])
def test_a_retrieval_that_is_not_there_is_not_found(wb: Workbench, number: int) -> None:
    with pytest.raises(NotFoundError, match="Retrieval not found"):
        wb.replay(number)


@pytest.mark.parametrize("numbers", [{"top_k": 0}, {"min_relevance": 2}, {"keyword_weight": "x"}])
def test_numbers_that_cannot_be_are_refused(wb: Workbench, numbers: dict[str, Any]) -> None:
    evidence = wb.search(MINES, scope=Scope.ALL)
    with pytest.raises(InvalidInputError):
        wb.replay(evidence, **numbers)


def test_it_is_quick_enough_for_a_slider(wb: Workbench, mineral_files: list[Path]) -> None:
    evidence = wb.search(MINES, scope=Scope.ALL)
    wb.replay(evidence)
    times = []
    for top_k in (1, 2, 3, 4, 5):
        start = time.perf_counter()
        wb.replay(evidence, top_k=top_k)
        times.append(time.perf_counter() - start)
    assert min(times) < 0.1


def test_one_that_enters_says_what_held_it_back_and_all_say_where_each_list_has_them(wb: Workbench) -> None:
    evidence = wb.search(MINES, scope=Scope.ALL, top_k=2)
    more = wb.replay(latest(wb), top_k=3)
    assert [p.held_back for p in more] == ["", "", "all 2 seats are taken"]
    searched = wb.search(MINES, scope=Scope.ALL, top_k=3)
    places = ("vector_rank", "keyword_rank", "page_unit", "char_start", "char_end")
    assert [[getattr(p, name) for name in places] for p in more] == [
        [getattr(p, name) for name in places] for p in searched
    ]
    [left] = wb.replay(evidence, top_k=1).left
    assert (left.vector_rank, left.char_start) == (
        evidence.passages[1].vector_rank,
        evidence.passages[1].char_start,
    )


def test_the_keyword_weight_can_be_given_back_to_the_search_mode(wb: Workbench) -> None:
    wb.projects.add(1, 3)
    wb.presets.save(1, "Words", keyword_weight=1.0)
    wb.search(MINES, scope=Scope.project(1))
    assert wb.replay(latest(wb)).after["keyword_weight"] == 1.0
    own = wb.replay(latest(wb), keyword_weight="automatic")
    assert "keyword_weight" not in own.after
    wb.presets.choose(1, None)
    again = wb.search(MINES, scope=Scope.project(1))
    assert [(p.new_n, p.chunk_id, p.new_score) for p in own if p.new_n] == [
        (p.n, p.chunk_id, p.score) for p in again
    ]


QUARRY = "the heavy dull stone of the quarry with zircon"


def two_chunks(wb: Workbench, tmp_path: Path, first: str, times: int) -> Scope:
    """A project with one paper of two neighbouring chunks, the second of which has the rarer word."""
    path = tmp_path / "quarry.txt"
    path.write_text(first * (230 // len(first.split())) + "Zircon zircon quarry. " * times)
    project = wb.projects.create("Quarry")
    wb.papers.add(path, project=project)
    wb.presets.save(project, "Meaning", keyword_weight=0.0, min_relevance=0.0)
    return Scope.project(project)


def test_of_two_chunks_that_stand_together_either_may_have_the_seat(wb: Workbench, tmp_path: Path) -> None:
    scope = two_chunks(wb, tmp_path, "A heavy dull stone of the quarry with some zircon inside it. ", 8)
    [by_meaning] = wb.search(QUARRY, scope=scope)
    by_words = wb.replay(latest(wb), keyword_weight=1.0)
    assert moves(by_words) == [("stays", 1, 1, by_meaning.paper_id)], "it is the same passage"
    [passage] = by_words
    assert passage.chunk_id != by_meaning.chunk_id
    assert passage.text == by_meaning.text


def test_a_chunk_that_stood_in_another_passage_says_so_and_one_that_stands_there_now_too(
    wb: Workbench, tmp_path: Path
) -> None:
    scope = two_chunks(wb, tmp_path, "A heavy dull stone of the quarry with some zircon inside it. ", 8)
    [whole] = wb.search(QUARRY, scope=scope)
    apart = wb.replay(latest(wb), top_k=2)  # too few seats for one to stand with another
    assert moves(apart) == [("stays", 1, 1, whole.paper_id), ("enters", None, 2, whole.paper_id)]
    assert [p.held_back for p in apart] == ["", "a part of [1]"]
    assert len(wb.search(QUARRY, scope=scope, top_k=2).passages) == 2
    together = wb.replay(latest(wb), top_k=15)
    assert moves(together) == [("stays", 1, 1, whole.paper_id), ("leaves", 2, None, whole.paper_id)]
    assert [p.reason for p in together] == ["", "it stands in [1] now, as a part of it"]


def test_past_searches_are_those_of_one_scope_that_chose_passages_the_newest_first(wb: Workbench) -> None:
    project = wb.projects.create("Mines")
    for query, scope in (("first", Scope.ALL), ("elsewhere", Scope.ORPHANS), (MINES, Scope.ALL)):
        wb.search(query, scope=scope)
    wb.search("of the project", scope=Scope.project(project))
    found = wb.past_searches(Scope.ALL)
    assert [(search.query, search.scope) for search in found] == [(MINES, Scope.ALL), ("first", Scope.ALL)]
    assert [search.id for search in wb.past_searches(Scope.ALL, limit=1)] == [found[0].id]
    assert [search.query for search in wb.past_searches(Scope.project(project))] == ["of the project"]
    assert wb.replay(found[0].id).query == MINES
    with pytest.raises(InvalidInputError, match="limit=0"):
        wb.past_searches(limit=0)

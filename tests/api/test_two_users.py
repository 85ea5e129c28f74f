from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from workbench import NotFoundError, Scope, Workbench
from workbench.errors import WorkbenchError

QUESTION = "What is the melting point of arvenite, and the density of dravosite?"


@pytest.fixture
def two(open_as: Callable[..., Workbench], mineral_files: list[Path]) -> tuple[Workbench, Workbench]:
    """Ann with papers 1 to 3 and project 1, Bob with paper 4 and project 2. Each project has a summary, a
    memory and a conversation, of the same number."""
    ann, bob = open_as("ann"), open_as("bob")
    bob.papers.add(mineral_files[3], project=bob.projects.create("Bob's"))
    for number, wb in enumerate((ann, bob), start=1):
        wb.summaries.refresh(number)
        wb.memory.remember(f"My name is {wb.user} and I study minerals.", scope=Scope.project(number))
        wb.conversations.create(Scope.project(number), title=f"Thread of {wb.user}")
        wb.questions.add(QUESTION, *((1, 2) if wb is ann else (4, 2)), project=number)
        wb.presets.save(number, "Narrow", max_per_paper=2)
        wb.matrix(QUESTION, project=number)
    return ann, bob


def test_no_call_shows_one_user_what_is_the_others(two: tuple[Workbench, Workbench]) -> None:
    for wb, own, own_project, others in ((two[0], {1, 2, 3}, 1, {4}), (two[1], {4}, 2, {1, 2, 3})):
        assert {p.id for p in wb.papers.list()} == own
        assert {c.paper_id for c in wb.chunks.list(Scope.ALL)} == own
        assert set(wb.chunks.frame()["paper_id"]) == own
        assert [p.id for p in wb.projects.list(status=None)] == [own_project]
        for mode in ("hybrid", "vector", "keyword"):
            found = wb.search(QUESTION, scope=Scope.ALL, mode=mode)  # type: ignore[arg-type]  # one of three
            assert {p.paper_id for p in found} | {d.paper_id for d in found.dropped} == own
            assert found.papers_in_scope == len(own)
        answer = wb.ask(QUESTION, scope=Scope.ALL)
        assert {c.paper_id for c in answer.citations} <= own
        assert {n.metadata["paper_id"] for n in wb.retriever(Scope.ALL).retrieve(QUESTION)} == own
        nodes = wb.query_engine(Scope.ALL).query(QUESTION).source_nodes
        assert {n.metadata["paper_id"] for n in nodes} == own
        assert wb.bibliography.bibtex().count("@misc{") == len(own)
        assert {f.paper_id for f in wb.papers.reprocess_all().files} == own
        assert (wb.status()["papers"], wb.status()["projects"]) == (len(own), 1)
        for table in ("papers", "pages", "chunks", "project_papers", "retrieval_passages", "ledger"):
            assert not set(wb.sql(f"SELECT paper_id FROM {table}")["paper_id"].dropna()) & others
        assert set(wb.sql("SELECT project_id FROM projects")["project_id"]) == {own_project}
        assert set(wb.sql("SELECT query FROM retrievals")["query"]) == {QUESTION}
        assert [s.project_id for s in wb.summaries.list(None)] == [own_project]
        assert [m.id for m in wb.projects.search("arvenite dravosite minerals")] == [own_project]
        assert [m.id for m in wb.memory.list()] == [own_project]
        assert [m.id for m in wb.memory.recall("minerals", scope=Scope.ALL)] == [own_project]
        assert [c.id for c in wb.conversations.list(None)] == [own_project]
        found = wb.tools.execute("search_projects", {"query": "minerals"})["projects"]
        assert [project["id"] for project in found] == [own_project]
        assert [q.project_id for q in wb.questions.list()] == [own_project]
        wb.evaluate(project=own_project)
        [kept] = wb.evaluations.list()
        assert kept.scope == Scope.project(own_project)
        wb.replay(found_again := wb.search(QUESTION, scope=Scope.ALL))
        assert {p.paper_id for p in wb.replay(found_again)} == own
        assert [m.scope.project_id for m in wb.matrices.list()] == [own_project]
        assert {row.paper_id for row in wb.matrix(QUESTION, scope=Scope.ALL)} == own
        assert set(wb.sql("SELECT paper_id FROM matrix_cells")["paper_id"]) == own
        for table in ("evaluations", "questions", "presets"):
            assert len(wb.sql(f"SELECT * FROM {table}")) == 1
        for table in ("conversations", "messages", "memories"):
            assert set(wb.sql(f"SELECT * FROM {table}").iloc[:, 0]) <= {own_project}


NOUNS = "Paper|Project|Memory|Conversation|Evaluation|Matrix"
CALLS: list[Callable[[Workbench], Any]] = [
    lambda bob: bob.papers.get(1),
    lambda bob: bob.papers.pages(1),
    lambda bob: bob.papers.chunks(1),
    lambda bob: bob.papers.page_image(1, 1),
    lambda bob: bob.papers.page_view(1, 1, quote="arvenite"),
    lambda bob: bob.papers.reprocess(1),
    lambda bob: bob.papers.share(1),
    lambda bob: bob.papers.remove(1),
    lambda bob: bob.papers.list(Scope.project(1)),
    lambda bob: bob.papers.add(b"A note of Bob's.", project=1),
    lambda bob: bob.papers.add_many([b"A note of Bob's."], project="Minerals"),
    lambda bob: bob.papers.add_texts([{"title": "A", "text": "A note."}], project=1),
    lambda bob: bob.papers.unshare(1),
    lambda bob: bob.notes.create("Mine", "A note of Bob's.", project=1),
    lambda bob: bob.notes.list(project="Minerals"),
    lambda bob: bob.notes.update(bob.notes.create("Mine", "A note."), project="Minerals"),
    lambda bob: bob.bibliography.bibtex(Scope.project(1)),
    lambda bob: bob.chunks.list(Scope.project(1)),
    lambda bob: bob.chunks.frame(Scope.project(1)),
    lambda bob: bob.projects.get(1),
    lambda bob: bob.projects.get("Minerals"),
    lambda bob: bob.projects.update(1, name="Mine now"),
    lambda bob: bob.projects.delete("Minerals"),
    lambda bob: bob.projects.add("Minerals", 4),
    lambda bob: bob.projects.add("Bob's", 1),
    lambda bob: bob.projects.remove(1, 1),
    lambda bob: bob.projects.remove("Bob's", 1),
    lambda bob: bob.projects.papers(1),
    lambda bob: bob.search(QUESTION, scope=Scope.project(1)),
    lambda bob: bob.ask(QUESTION, scope=Scope.project(1)),
    lambda bob: bob.retriever(Scope.project(1)).retrieve(QUESTION),
    lambda bob: bob.query_engine(Scope.project(1)).query(QUESTION),
    lambda bob: bob.summaries.get(1),
    lambda bob: bob.summaries.refresh("Minerals"),
    lambda bob: bob.memory.forget(1),
    lambda bob: bob.memory.forget(2, 1),
    lambda bob: bob.memory.update(1, "I study caves."),
    lambda bob: bob.memory.list(Scope.project(1)),
    lambda bob: bob.memory.recall("minerals", scope=Scope.project(1)),
    lambda bob: bob.memory.remember("I study caves.", scope=Scope.project(1)),
    lambda bob: bob.conversations.get(1),
    lambda bob: bob.conversations.update(1, title="Mine now"),
    lambda bob: bob.conversations.update(2, scope=Scope.project(1)),
    lambda bob: bob.conversations.clear(1),
    lambda bob: bob.conversations.delete(1),
    lambda bob: bob.conversations.create(Scope.project(1)),
    lambda bob: bob.project_chat(1),
    lambda bob: bob.paper_chat(1),
    lambda bob: bob.questions.add("What is it?", 1, 2),
    lambda bob: bob.matrices.get(1),
    lambda bob: bob.matrices.delete(1),
    lambda bob: bob.matrix("What is it?", project=1),
    lambda bob: bob.questions.add("What is it?", 4, 2, project="Minerals"),
    lambda bob: bob.questions.list(Scope.project(1)),
    lambda bob: bob.questions.get("q-1", project=1),
    lambda bob: bob.questions.delete("q-1", project=1),
    lambda bob: bob.questions.put(bob.questions.list(), project=1),
    lambda bob: bob.evaluate(bob.questions.list(), project=1),
    lambda bob: bob.evaluate(bob.questions.list(), scope=Scope.project(1)),
    lambda bob: bob.evaluate_audit(project=1),
    lambda bob: bob.evaluate_chunk_sizes([100], bob.questions.list(), project=1),
    lambda bob: bob.evaluations.figures(1),
    lambda bob: bob.evaluations.delete(1),
    lambda bob: bob.presets.save(1, "Mine now", top_k=3),
    lambda bob: bob.presets.get("Minerals", "Narrow"),
    lambda bob: bob.presets.list(1),
    lambda bob: bob.presets.chosen(1),
    lambda bob: bob.presets.choose(1, None),
    lambda bob: bob.presets.delete(1, "Narrow"),
]


def test_whatever_names_the_others_papers_or_project_does_not_find_it(
    two: tuple[Workbench, Workbench],
) -> None:
    ann, bob = two

    def of_ann() -> tuple[Any, ...]:
        kept = (ann.papers.list(), ann.projects.list(), ann.projects.papers(1), ann.summaries.list(None))
        return (
            *kept,
            ann.memory.list(),
            ann.conversations.list(None),
            ann.questions.list(),
            ann.presets.list(1),
            ann.evaluations.list(),
        )

    ann.evaluate(project=1)
    state = of_ann()
    for number, call in enumerate(CALLS):
        with pytest.raises(
            NotFoundError, match="(Paper|Project|Memory|Conversation|Evaluation|Matrix) not found"
        ) as caught:
            call(bob)
        # the same words as for what does not exist at all
        assert "ann" not in str(caught.value), number
    assert of_ann() == state
    assert [m.id for m in bob.memory.list()] == [2]
    assert [p.kind for p in bob.papers.list()] == ["pdf", "note"], (
        "his own paper, and the note he could not move"
    )


def test_a_name_may_be_used_by_each_user(two: tuple[Workbench, Workbench]) -> None:
    ann, bob = two
    theirs = bob.projects.create("Minerals")
    assert theirs.paper_count == 0
    assert ann.projects.get("Minerals").id != theirs.id == bob.projects.get("minerals").id


def test_a_paper_both_have_is_stored_once_and_goes_with_the_last_of_them(
    two: tuple[Workbench, Workbench], mineral_files: list[Path]
) -> None:
    ann, bob = two
    report = bob.papers.add_many([mineral_files[0]], project="Bob's")
    assert [(f.status, f.paper_id) for f in report.files] == [("duplicate", 1)]
    bob.papers.add(mineral_files[0], title="Bob's name for it")
    assert (ann.papers.get(1).title, bob.papers.get(1).title) == ("A study of arvenite", "Bob's name for it")
    ann.papers.remove(1)
    assert [p.id for p in ann.papers.list()] == [2, 3]
    assert [p.id for p in bob.projects.papers("Bob's")] == [1, 4]
    assert not bob.ask("What is the melting point of arvenite?", scope=Scope.ALL).refused
    assert ann.ask("What is the melting point of arvenite?", scope=Scope.ALL).refused
    bob.papers.remove(1)
    with pytest.raises(NotFoundError):
        bob.papers.get(1)
    assert bob.doctor() == []


def test_a_shared_paper_is_seen_by_all_in_all_notes_and_in_no_ones_orphans(
    two: tuple[Workbench, Workbench],
) -> None:
    ann, bob = two
    assert ann.papers.share(3).shared
    assert {p.id for p in bob.papers.list()} == {3, 4}
    assert bob.papers.list(Scope.ORPHANS) == []
    assert {p.paper_id for p in bob.search("density of cendrite", scope=Scope.ALL)} == {3, 4}
    assert [p.text for p in bob.papers.pages(3)] == [p.text for p in ann.papers.pages(3)]
    assert bob.projects.add("Bob's", 3).paper_count == 2
    ann.papers.remove(3)  # shared knowledge outlives its first owner
    assert {p.id for p in bob.papers.list()} == {3, 4}
    assert bob.doctor() == []


def test_sql_cannot_reach_past_the_users_rows(two: tuple[Workbench, Workbench]) -> None:
    _, bob = two
    for query in (
        "SELECT * FROM library_links",
        "SELECT * FROM main.papers",
        "SELECT * FROM duckdb_tables()",
        "DELETE FROM papers",
        "SELECT * FROM papers; SELECT 1",
        "COPY papers TO '/tmp/papers.csv'",
        "SELECT * FROM read_csv('/etc/passwd')",
    ):
        with pytest.raises(WorkbenchError):
            bob.sql(query)
    assert list(bob.sql("SELECT paper_id FROM papers WHERE title LIKE ?", ["%dravosite"])["paper_id"]) == [4]

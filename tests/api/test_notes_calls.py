from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.meanwhile import Meanwhile
from workbench import ConflictError, InvalidInputError, NotFoundError, Scope, Settings, Workbench

BODY = "# Reading list\n\nTervolite was seen near the *old* mine.\n\n## Later\n\nAsk about ulmarite."


def found(wb: Workbench, question: str, scope: Scope = Scope.ORPHANS) -> list[int]:
    return [p.paper_id for p in wb.search(question, scope=scope, mode="keyword")]


def test_a_note_is_a_paper_of_kind_note_and_an_orphan_until_it_is_put_into_a_project(wb: Workbench) -> None:
    note = wb.notes.create("Mine visit", BODY)
    assert (note.title, note.body, note.projects, note.state, note.warnings) == (
        "Mine visit",
        BODY,
        (),
        "ready",
        (),
    )
    paper = wb.papers.get(note)
    assert (paper.kind, paper.title, paper.file, paper.page_unit) == (
        "note",
        "Mine visit",
        "Mine visit.md",
        "section",
    )
    assert [p.label for p in wb.papers.pages(note)] == ["Reading list"]
    assert paper in wb.papers.list(Scope.ORPHANS)
    assert found(wb, "tervolite") == [note.id]
    assert found(wb, "tervolite", Scope.project(1)) == []
    answer = wb.ask("Where was tervolite seen?")
    assert [(c.paper_id, c.quote) for c in answer.citations] == [
        (note.id, "Tervolite was seen near the *old* mine.")
    ]
    assert wb.doctor() == []


def test_two_notes_of_one_text_are_two_notes(open_as: Callable[..., Workbench]) -> None:
    ann, bob = open_as("ann"), open_as("bob")
    first, second = ann.notes.create("Same", BODY), ann.notes.create("Same", BODY)
    theirs = bob.notes.create("Same", BODY)
    assert len({first.id, second.id, theirs.id}) == 3
    ann.notes.delete(first)
    assert [n.id for n in ann.notes.list()] == [second.id]
    assert [n.id for n in bob.notes.list()] == [theirs.id]
    assert found(ann, "tervolite") == [second.id]


def test_a_changed_note_is_found_by_its_new_words_only(wb: Workbench) -> None:
    note = wb.notes.create("Mine visit", BODY)
    changed = wb.notes.update(note, body="Valdorite, and nothing else.")
    assert (changed.id, changed.title, changed.body) == (
        note.id,
        "Mine visit",
        "Valdorite, and nothing else.",
    )
    assert changed.updated_at > note.updated_at
    assert changed.created_at == note.created_at
    assert (found(wb, "tervolite"), found(wb, "valdorite")) == ([], [note.id])
    renamed = wb.notes.update(note, title="Wexonite")
    assert (renamed.body, wb.papers.get(note).file) == ("Valdorite, and nothing else.", "Wexonite.md")
    assert found(wb, "wexonite") == [note.id]
    assert wb.notes.get(note) == renamed
    assert wb.doctor() == []


def test_a_note_moves_between_projects_and_back_to_the_orphans(wb: Workbench) -> None:
    other = wb.projects.create("Other")
    note = wb.notes.create("Mine visit", BODY, project="Minerals")
    assert note.projects == (1,)
    assert found(wb, "tervolite", Scope.project(1)) == [note.id]
    assert wb.notes.update(note, title="Visit").projects == (1,), "a project that is not given stays"
    moved = wb.notes.update(note, project=other)
    assert moved.projects == (other.id,)
    assert (found(wb, "tervolite", Scope.project(1)), found(wb, "tervolite", Scope.project(other))) == (
        [],
        [note.id],
    )
    assert [n.id for n in wb.notes.list(project=other)] == [note.id]
    assert wb.notes.list(project="Minerals") == []
    assert wb.notes.update(note, project=None).projects == ()
    assert found(wb, "tervolite") == [note.id]


def test_a_full_project_takes_no_note_and_nothing_of_it_is_left(
    open_as: Callable[..., Workbench], library: object
) -> None:
    settings = Settings.load(library=library, user="ann", chat="extractive", project_max_papers=2)
    wb = open_as("ann", settings=settings)
    with pytest.raises(ConflictError, match="its limit is 2"):
        wb.notes.create("Mine visit", BODY, project="Minerals")
    assert wb.notes.list() == []
    note = wb.notes.create("Mine visit", BODY)
    with pytest.raises(ConflictError, match="its limit is 2"):
        wb.notes.update(note, body="New words.", project="Minerals")
    assert wb.notes.get(note).body == BODY
    assert found(wb, "tervolite") == [note.id]


@pytest.mark.parametrize("body", ["", "  \n", "***"])
def test_a_note_without_a_word_is_refused(wb: Workbench, body: str) -> None:
    with pytest.raises(InvalidInputError, match="needs some text"):
        wb.notes.create("Empty", body)
    assert wb.notes.list() == []


def test_a_note_without_a_title_goes_by_its_heading_or_first_words(wb: Workbench) -> None:
    assert wb.notes.create("", BODY).title == "Reading list"
    assert wb.notes.create("", "Just a thought.").title == "Just a thought."


def test_a_rule_at_the_start_of_a_note_is_part_of_it(wb: Workbench) -> None:
    note = wb.notes.create("Rule", "---\nyarmolite\n---\nAfter it.")
    assert found(wb, "yarmolite") == [note.id]
    assert wb.papers.reprocess(note).status == "ready"
    assert found(wb, "yarmolite") == [note.id]


def test_a_reprocessed_note_stays_a_note(wb: Workbench) -> None:
    note = wb.notes.create("Mine visit", BODY)
    pages = wb.papers.pages(note)
    assert wb.papers.reprocess(note).status == "ready"
    assert (wb.papers.get(note).kind, wb.papers.pages(note)) == ("note", pages)
    assert wb.notes.get(note) == note


def test_a_note_that_is_edited_while_it_is_read_again_keeps_its_new_text(
    open_as: Callable[..., Workbench],
) -> None:
    ann = open_as("ann")
    note = ann.notes.create("Mine visit", BODY)
    meanwhile = Meanwhile(lambda: ann.notes.update(note, title="Mine", body="Valdorite, and nothing else."))
    wb = open_as("ann", embedder=meanwhile)
    assert wb.papers.reprocess(note).status == "ready"
    assert (found(wb, "valdorite"), found(wb, "tervolite")) == ([note.id], [])
    assert [page.text.strip() for page in wb.papers.pages(note)] == ["Valdorite, and nothing else."]
    assert (wb.notes.get(note).title, wb.papers.get(note).title) == ("Mine", "Mine")
    assert wb.doctor() == []


def test_deleting_a_note_takes_everything_of_it(wb: Workbench) -> None:
    note = wb.notes.create("Mine visit", BODY, project="Minerals")
    wb.notes.delete(note)
    for call in (wb.notes.get, wb.papers.get, wb.notes.delete):
        with pytest.raises(NotFoundError):
            call(note)
    assert found(wb, "tervolite", Scope.ALL) == []
    assert wb.projects.get(1).paper_count == 2
    assert wb.doctor() == []


def test_another_users_note_does_not_exist_and_a_shared_one_cannot_be_changed(
    open_as: Callable[..., Workbench],
) -> None:
    ann, bob = open_as("ann"), open_as("bob")
    note = ann.notes.create("Mine visit", BODY)
    calls: list[Callable[[], object]] = [
        lambda: bob.notes.get(note),
        lambda: bob.notes.update(note, body="Mine now."),
        lambda: bob.notes.delete(note),
    ]
    for share in (False, True):
        if share:
            ann.papers.share(note)
            assert found(bob, "tervolite", Scope.ALL) == [note.id]
        for call in calls:
            with pytest.raises(NotFoundError, match="Note not found"):
                call()
        assert bob.notes.list() == []
    ann.notes.delete(note)
    assert found(bob, "tervolite", Scope.ALL) == []
    assert ann.doctor() == []


def test_a_note_is_changed_while_others_search_and_never_gone_in_between(wb: Workbench) -> None:
    note = wb.notes.create("Mine visit", BODY)
    before = wb.papers.chunks(note)
    wb.notes.update(note, body=BODY + "\n\nOne more line.")
    after = wb.papers.chunks(note)
    assert not {c.id for c in before} & {c.id for c in after}
    assert found(wb, "tervolite") == [note.id]

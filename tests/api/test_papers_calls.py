from __future__ import annotations

import hashlib
import io
import struct
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import duckdb
import numpy
import pytest

from tests.mineral_papers import Mineral, write_pdf
from workbench import (
    DocumentError,
    FileOutcome,
    InvalidInputError,
    NotFoundError,
    Page,
    Paper,
    Progress,
    Scope,
    Workbench,
)
from workbench.providers.fake_embedder import FakeEmbedder


def paper_of(mineral: Mineral, file: Path, found: Paper) -> Paper:
    """The record that this mineral's paper must have; id and time are those found."""
    return Paper(
        id=found.id,
        title=mineral.title,
        file=mineral.file,
        kind="pdf",
        pages=3,
        chunks=1,
        page_unit="page",
        state="ready",
        authors=(),
        year=None,
        doi=None,
        source_id=None,
        sha256=hashlib.sha256(file.read_bytes()).hexdigest(),
        shared=False,
        added_at=found.added_at,
    )


# --- adding -------------------------------------------------------------------------------------


def test_a_path_a_file_object_and_bytes_become_papers(
    wb: Workbench, mineral_files: list[Path], five: list[Mineral]
) -> None:
    by_path = wb.papers.add(mineral_files[3])
    assert by_path == paper_of(five[3], mineral_files[3], by_path)
    assert by_path.added_at.tzinfo is not None
    with mineral_files[4].open("rb") as file:
        by_file = wb.papers.add(file)
    assert by_file == paper_of(five[4], mineral_files[4], by_file)
    by_bytes = wb.papers.add(b"# On quartz\n\nQuartz is common in granite.", title="Quartz")
    assert (by_bytes.id, by_bytes.title, by_bytes.state) == (6, "Quartz", "ready")
    assert wb.papers.list() == [*wb.papers.list()[:3], by_path, by_file, by_bytes]


def test_the_same_bytes_again_are_the_paper_that_is_there(wb: Workbench, mineral_files: list[Path]) -> None:
    before = wb.papers.list()
    copy = io.BytesIO(mineral_files[0].read_bytes())
    copy.name = "copy of it.pdf"  # type: ignore[attr-defined]  # as an opened file has one
    assert wb.papers.add(copy) == before[0]
    report = wb.papers.add_many([mineral_files[0], mineral_files[3], mineral_files[3]])
    assert report.files == (
        FileOutcome("arvenite.pdf", "duplicate", 1, 3, 1),
        FileOutcome("dravosite.pdf", "ready", 4, 3, 1),
        FileOutcome("dravosite.pdf", "duplicate", 4, 3, 1),
    )
    assert [p.id for p in wb.papers.list()] == [1, 2, 3, 4]
    assert len(wb.chunks.list()) == 4


def test_a_duplicate_goes_into_the_project_that_is_named(wb: Workbench, mineral_files: list[Path]) -> None:
    paper = wb.papers.add(mineral_files[2], project="Minerals")
    assert paper.id == 3
    assert [p.id for p in wb.projects.papers("Minerals")] == [1, 2, 3]
    assert wb.papers.list(Scope.ORPHANS) == []


def test_a_title_of_ones_own_is_kept_and_may_come_later(wb: Workbench, mineral_files: list[Path]) -> None:
    titled = wb.papers.add(mineral_files[3], title="  The dravosite\n\x1b[31mstudy ")
    assert titled.title == "The dravosite [31mstudy"
    assert wb.papers.add(mineral_files[3]).title == titled.title
    assert wb.papers.add(mineral_files[3], title="Dravosite").title == "Dravosite"
    assert wb.papers.add(mineral_files[3], title="").title == "A study of dravosite"
    assert [p.title for p in wb.search("dravosite", top_k=1)] == ["A study of dravosite"]


def test_each_file_of_a_batch_has_its_outcome_and_a_bad_one_stops_nothing(
    wb: Workbench, mineral_files: list[Path], tmp_path: Path
) -> None:
    bad = tmp_path / "bad.pdf"
    bad.write_bytes(b"%PDF-1.7 and then nothing")
    steps: list[Any] = []
    report = wb.papers.add_many(
        [bad, mineral_files[3], tmp_path / "missing.pdf", mineral_files[4]],
        progress=lambda step: steps.append(step.number),
        done=steps.append,
    )
    told = [step for step in steps if isinstance(step, FileOutcome)]
    assert told == list(report.files)
    assert steps.index(told[0]) < steps.index(2) < steps.index(told[1]), "each before the next one begins"
    assert [(f.file, f.status, f.paper_id) for f in report.files] == [
        ("bad.pdf", "failed", None),
        ("dravosite.pdf", "ready", 4),
        ("missing.pdf", "failed", None),
        ("elbergite.pdf", "ready", 5),
    ]
    assert [f.error is None for f in report.files] == [False, True, False, True]
    assert report.failed == (report.files[0], report.files[2])
    frame = report.to_frame()
    assert list(frame.columns) == [f.name for f in fields(FileOutcome)]
    assert list(frame["status"]) == ["failed", "ready", "failed", "ready"]
    assert "bad.pdf" in report._repr_html_()


@pytest.mark.parametrize(
    ("source", "error", "says"),
    [
        ("missing.pdf", DocumentError, "missing.pdf: there is no such file"),
        (".", InvalidInputError, "is a folder: add_many takes folders"),
        (b"", DocumentError, "unnamed: "),
        (b"\x00\x01\x02\xff" * 99, DocumentError, "unnamed: "),
        (io.StringIO("text"), DocumentError, "open it in binary mode"),
        (42, DocumentError, "int is neither a path, bytes nor an open file"),
    ],
)
def test_what_cannot_become_a_paper_says_why(
    wb: Workbench, source: Any, error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        wb.papers.add(source)
    assert [p.id for p in wb.papers.list()] == [1, 2, 3]


def test_progress_tells_which_file_of_how_many(wb: Workbench, mineral_files: list[Path]) -> None:
    steps: list[Progress] = []
    wb.papers.add_many(mineral_files[2:], progress=steps.append)
    assert {(s.number, s.file, s.files) for s in steps} == {
        (1, "cendrite.pdf", 3),
        (2, "dravosite.pdf", 3),
        (3, "elbergite.pdf", 3),
    }
    assert [s.stage for s in steps if s.number == 2] == ["read", "embed", "embed", "index"]
    assert all(0 <= s.done <= s.total for s in steps)


def test_a_cancelled_batch_keeps_what_is_done_and_says_what_is_not(
    wb: Workbench, mineral_files: list[Path]
) -> None:
    done: list[Progress] = []
    report = wb.papers.add_many(
        mineral_files[3:], progress=done.append, cancelled=lambda: any(s.stage == "index" for s in done)
    )
    assert [(f.file, f.status) for f in report.files] == [
        ("dravosite.pdf", "ready"),
        ("elbergite.pdf", "failed"),
    ]
    assert "cancelled" in str(report.files[1].error)
    assert [p.file for p in wb.papers.list(Scope.ORPHANS)] == ["cendrite.pdf", "dravosite.pdf"]
    assert wb.papers.add_many(mineral_files[3:]).failed == ()


def test_records_become_papers_with_their_title_and_id(wb: Workbench) -> None:
    records = [
        {"title": "Feldspar", "text": "Feldspar makes up half of the crust.", "source_id": "note-7"},
        {"title": "", "text": "Mica splits into thin sheets."},
        {"title": "Nothing", "text": "   "},
        {"title": "No text"},
    ]
    report = wb.papers.add_texts(records, project="Minerals")
    assert [(f.file, f.status) for f in report.files] == [
        ("Feldspar", "ready"),
        ("text", "ready"),
        ("Nothing", "failed"),
        ("No text", "failed"),
    ]
    feldspar, mica = wb.projects.papers("Minerals")[2:]
    assert (feldspar.title, feldspar.source_id, feldspar.page_unit) == ("Feldspar", "note-7", "section")
    assert (mica.title, mica.source_id) == ("Mica splits into thin sheets.", None)
    found = wb.search("What splits into sheets?", scope=Scope.project(1), top_k=1)
    assert [p.paper_id for p in found] == [mica.id]


# --- what is there ------------------------------------------------------------------------------


def test_papers_are_listed_by_scope(wb: Workbench, mineral_files: list[Path], five: list[Mineral]) -> None:
    everything = wb.papers.list()
    assert everything == [paper_of(five[i], mineral_files[i], everything[i]) for i in range(3)]
    assert wb.papers.list(Scope.project(1)) == wb.projects.papers(1) == everything[:2]
    assert wb.papers.list(Scope.ORPHANS) == everything[2:]


def test_pages_and_chunks_are_the_papers_text(wb: Workbench, five: list[Mineral]) -> None:
    pages = wb.papers.pages(1)
    assert [" ".join(p.text.split()) for p in pages] == [" ".join(lines) for lines in five[0].pages()]
    starts = [0, len(pages[0].text) + 2, len(pages[0].text) + len(pages[1].text) + 4]
    assert pages == [
        Page(1, n, None, p.text, start, start + len(p.text))
        for n, (p, start) in enumerate(zip(pages, starts, strict=True), start=1)
    ]
    whole = "\n\n".join(p.text for p in pages)
    [chunk] = wb.papers.chunks(wb.papers.get(1))
    assert (chunk.paper_id, chunk.ordinal, chunk.page_start, chunk.page_end) == (1, 0, 1, 3)
    assert whole[chunk.char_start : chunk.char_end] == chunk.text
    assert "A study of arvenite" in chunk.blurb


def test_chunks_of_a_scope_come_as_records_and_as_a_frame(wb: Workbench) -> None:
    assert wb.chunks.list() == [c for i in (1, 2, 3) for c in wb.papers.chunks(i)]
    assert wb.chunks.list(Scope.project(1)) == wb.chunks.list()[:2]
    frame = wb.chunks.frame(Scope.ORPHANS)
    [chunk] = wb.chunks.list(Scope.ORPHANS)
    assert list(frame.columns) == [f.name for f in fields(chunk)]
    assert [tuple(row) for row in frame.itertuples(index=False)] == [
        tuple(getattr(chunk, f.name) for f in fields(chunk))
    ]
    wb.papers.remove(3)
    empty = wb.chunks.frame(Scope.ORPHANS)
    assert (len(empty), list(empty.columns)) == (0, list(frame.columns))


def test_a_page_image_is_a_png_of_the_width_asked_for_with_the_quote_marked(wb: Workbench) -> None:
    plain = wb.papers.page_image(1, 2, width=400)
    marked = wb.papers.page_image(wb.papers.get(1), 2, highlight="The melting point of arvenite", width=400)
    unsure = wb.papers.page_image(1, 2, highlight="Words that stand on no page at all", width=400)
    assert plain[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", plain[16:24])[0] == 400
    assert marked != plain
    assert unsure == plain
    view = wb.papers.page_view(
        1, 2, quote="The melting point of arvenite is 1013 degrees Celsius.", width=400
    )
    assert (view.width, view.found, len(view.boxes)) == (400, True, 1)
    assert all(0 <= x <= 1 for x in view.boxes[0])


@pytest.mark.parametrize("keep", [0, 2000, None], ids=["empty", "cut short", "another paper's"])
def test_a_derived_file_that_is_not_the_papers_own_is_never_drawn(
    wb: Workbench, library: Path, keep: int | None
) -> None:
    drawn, other = wb.papers.page_image(1, 2, width=400), wb.papers.page_image(2, 2, width=400)
    assert drawn != other
    sources = library.with_name("library.duckdb.derived") / "sources"
    own, others = (sources / f"{wb.papers.get(paper).sha256}.pdf" for paper in (1, 2))
    own.write_bytes(others.read_bytes() if keep is None else own.read_bytes()[:keep])
    assert wb.papers.page_image(1, 2, width=400) == drawn


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda wb: wb.papers.page_image(1, 0), NotFoundError, "has pages 1 to 3; there is no page 0"),
        (lambda wb: wb.papers.page_image(1, 4), NotFoundError, "there is no page 4"),
        (lambda wb: wb.papers.page_image(9, 1), NotFoundError, "Paper not found"),
        (lambda wb: wb.papers.get(0), NotFoundError, "Paper not found"),
        (lambda wb: wb.papers.get("1"), InvalidInputError, "'1' is neither a paper nor a paper's id"),
        (lambda wb: wb.papers.pages(9), NotFoundError, "Paper not found"),
        (lambda wb: wb.papers.chunks(9), NotFoundError, "Paper not found"),
        (lambda wb: wb.papers.remove(9), NotFoundError, "Paper not found"),
        (lambda wb: wb.papers.share(9), NotFoundError, "Paper not found"),
        (lambda wb: wb.papers.reprocess(9), NotFoundError, "Paper not found"),
        (lambda wb: wb.papers.list("all"), InvalidInputError, "'all' is not a scope"),
        (lambda wb: wb.chunks.list(None), InvalidInputError, "None is not a scope"),
    ],
)
def test_a_paper_or_page_that_is_not_there_is_an_error(
    wb: Workbench, call: Callable[[Workbench], Any], error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        call(wb)


def test_a_paper_without_pages_has_no_page_image(wb: Workbench) -> None:
    note = wb.papers.add(b"# A note\n\nMica splits into sheets.", title="A note")
    with pytest.raises(InvalidInputError, match="“A note” is a .* file: it has text, but no page images"):
        wb.papers.page_image(note, 1)


# --- renewing and removing ----------------------------------------------------------------------


def test_reprocessing_replaces_chunks_and_changes_nothing_else(wb: Workbench) -> None:
    before, old = wb.papers.get(1), wb.papers.chunks(1)
    steps: list[Progress] = []
    assert wb.papers.reprocess(1, progress=steps.append) == FileOutcome("arvenite.pdf", "ready", 1, 3, 1)
    assert {s.stage for s in steps} == {"read", "embed", "index"}
    new = wb.papers.chunks(1)
    assert [replace(c, id=0) for c in new] == [replace(c, id=0) for c in old]
    assert wb.papers.get(1) == before
    assert [p.id for p in wb.projects.papers("Minerals")] == [1, 2]
    found = wb.search("melting point of arvenite", scope=Scope.ALL, top_k=1)
    assert [p.chunk_id for p in found] == [new[0].id]


def test_a_removed_paper_is_nowhere_any_more(wb: Workbench, library: Path) -> None:
    question = "What is the melting point of arvenite?"
    assert not wb.ask(question, scope=Scope.ALL).refused
    wb.papers.page_image(1, 1)
    [picture_source] = (library.parent / "library.duckdb.derived" / "sources").iterdir()
    wb.papers.remove(1)
    everywhere = [Scope.ALL, Scope.project(1), Scope.ORPHANS]
    for mode in ("hybrid", "vector", "keyword"):
        for scope in everywhere:
            evidence = wb.search(question, scope=scope, mode=mode)  # type: ignore[arg-type]  # one of the three
            assert {p.paper_id for p in evidence} | {d.paper_id for d in evidence.dropped} <= {2, 3}
    answer = wb.ask(question, scope=Scope.ALL)
    assert answer.refused
    assert "1013" not in answer.text
    assert not picture_source.exists()
    tables = ("papers", "pages", "chunks", "project_papers", "retrieval_passages")
    assert [len(wb.sql(f"SELECT * FROM {t} WHERE paper_id = 1")) for t in tables] == [0] * 5
    assert [p.id for p in wb.projects.papers("Minerals")] == [2]
    assert wb.doctor() == []
    with pytest.raises(NotFoundError, match="Paper not found"):
        wb.papers.get(1)


def test_a_removed_paper_can_come_back(wb: Workbench, mineral_files: list[Path], five: list[Mineral]) -> None:
    wb.papers.remove(1)
    again = wb.papers.add(mineral_files[0])
    assert again == paper_of(five[0], mineral_files[0], again)
    question = five[0].questions()[0]
    assert question.is_answered_by(wb.ask(question.text))


# --- hostile and odd input ----------------------------------------------------------------------


def test_a_name_is_only_a_label(wb: Workbench, library: Path) -> None:
    names = ["../../outside.txt", "a\\b.txt", "x" * 240 + ".txt", "\N{OWL} notes.txt", "a\x1b[31mb.txt"]
    for number, name in enumerate(names):
        file = io.BytesIO(f"Mica number {number} splits into thin sheets along its planes.".encode())
        file.name = name  # type: ignore[attr-defined]  # as an opened file has one
        paper = wb.papers.add(file)
        assert not set(paper.file) & set("/\x1b")
        assert wb.papers.get(paper.id).file == paper.file
    assert sorted(p.name for p in library.parent.parent.iterdir() if p.name != "data-home") == ["library"]
    assert wb.doctor() == []


def test_two_threads_that_add_the_same_file_make_one_paper(wb: Workbench, mineral_files: list[Path]) -> None:
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(4) as pool:
        papers = list(pool.map(wb.papers.add, [mineral_files[3]] * 4))
    assert len({p.id for p in papers}) == 1
    assert len(wb.papers.list()) == 4
    assert wb.doctor() == []


def test_a_paper_refused_by_its_content_leaves_no_trace_but_a_line_in_the_ledger(
    wb: Workbench, tmp_path: Path
) -> None:
    scan = write_pdf(tmp_path / "scan.pdf", title="A scan", pages=[[], []])
    with pytest.raises(DocumentError, match="scan.pdf: .*no readable text"):
        wb.papers.add(scan, project="Minerals")
    assert wb.projects.get("Minerals").paper_count == 2
    [row] = wb.sql("SELECT file, stage, state, error FROM ledger WHERE state = 'failed'").to_dict("records")
    assert (row["file"], row["stage"], row["state"]) == ("scan.pdf", "read", "failed")
    assert "no readable text" in row["error"]


def test_a_bad_file_is_no_full_project_whatever_its_name_says(wb: Workbench) -> None:
    name = "Project “P” holds 3 papers and its limit is 3.pdf"
    with pytest.raises(DocumentError):
        wb.papers.add((name, b"%PDF-1.7 broken"))


class CountingEmbedder(FakeEmbedder):
    """Keeps what it was asked to embed."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def embed_documents(self, texts: Sequence[str]) -> numpy.ndarray:
        self.asked += texts
        return super().embed_documents(texts)


def test_a_folder_added_again_costs_only_what_is_new_in_it(
    open_as: Callable[..., Workbench], tmp_path: Path
) -> None:
    folder = tmp_path / "texts"
    folder.mkdir()
    for name in ("kept", "touched", "renamed", "edited", "removed"):
        (folder / f"{name}.txt").write_text(f"This is the {name} text of the folder.")
    embedder = CountingEmbedder()
    wb = open_as("ann", embedder=embedder)
    wb.papers.add_many([folder])
    before = {paper.id for paper in wb.papers.list()}
    for _ in range(2):
        embedder.asked.clear()
        assert {f.status for f in wb.papers.add_many([folder]).files} == {"duplicate"}
        assert embedder.asked == []
    (folder / "touched.txt").touch()
    (folder / "renamed.txt").rename(folder / "another name.txt")
    (folder / "edited.txt").write_text("This is an edited text of the folder.")
    (folder / "removed.txt").unlink()
    report = wb.papers.add_many([folder])
    assert {f.file: f.status for f in report.files} == {
        "another name.txt": "duplicate",
        "edited.txt": "ready",
        "kept.txt": "duplicate",
        "touched.txt": "duplicate",
    }
    assert [text.splitlines()[-1] for text in embedder.asked] == ["This is an edited text of the folder."]
    assert before < {paper.id for paper in wb.papers.list()}, "the library keeps what a folder no longer has"


def test_no_table_holds_a_word_of_a_removed_paper_but_what_was_asked_and_answered_of_it(
    open_as: Callable[..., Workbench], library: Path
) -> None:
    wb = open_as("ann")
    text = "# The xylotron\n\nThe xylotron of the cellar weighs 17 kg.\n"
    secret = wb.papers.add(text.encode(), title="Of a cellar", project="Minerals")
    question = "How much does the xylotron weigh?"
    answer = wb.ask(question, scope=Scope.project(1))
    assert secret.id in {citation.paper_id for citation in answer.citations}
    matrix = wb.matrix("How many kg does the thing in the cellar weigh?", project="Minerals")
    assert "xylotron" in str([row.answer for row in matrix])
    wb.summaries.refresh("Minerals")
    wb.paper_chat(secret).ask(question)
    wb.conversations.create(Scope.project(1)).ask(question)
    wb.papers.remove(secret)
    assert wb._background.wait(20)
    wb.close()
    with duckdb.connect(str(library), read_only=True) as connection:
        columns = connection.execute(
            "SELECT table_name, column_name FROM duckdb_columns() WHERE NOT internal"
        ).fetchall()
        holding = {
            (table, column)
            for table, column in columns
            if connection.execute(
                f"""SELECT 1 FROM "{table}" WHERE contains(lower("{column}"::VARCHAR), 'xylotron') LIMIT 1"""
            ).fetchone()
        }
    assert holding == {("messages", "text"), ("messages", "answer"), ("retrievals", "query")}

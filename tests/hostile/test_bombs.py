"""Files that ask for too much, or for what is not theirs: bounded, in a process that may die, and inert."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import workbench
from tests.hostile import bombs
from workbench import Settings, Workbench

SECRET = "the secret of another file"


@pytest.fixture(scope="module")
def wb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workbench]:
    """A workbench that gives each file ten seconds and 700 MB."""
    settings = Settings(
        library=tmp_path_factory.mktemp("bombs") / "library.duckdb",
        user="tester",
        embedder="fake",
        chat="extractive",
        read_timeout=10,
        read_memory_mb=700,
    )
    with workbench.open(settings=settings) as opened:
        yield opened


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    path = tmp_path / "secret.txt"
    path.write_text(SECRET, "utf-8")
    return path


def text_of(wb: Workbench, paper_id: int) -> str:
    return "\n".join(page.text for page in wb.papers.pages(paper_id))


TOO_MUCH: list[tuple[str, Callable[[], bytes], str]] = [
    ("cyclic.pdf", bombs.cyclic_pdf, "none of this PDF's pages can be read: the file is damaged"),
    ("many-pages.pdf", lambda: bombs.pdf(25_000), "25000 pages"),
    ("long-pages.pdf", lambda: bombs.pdf(300, lines=20_000), "reading took too long and was stopped"),
    ("zip-bomb.docx", lambda: bombs.word_file(" " * 610_000_000), "the file unpacks to 610 MB"),
    (
        "many-members.docx",
        lambda: bombs.word_file("", *((f"m{n}", "") for n in range(20_001))),
        "the file holds 20004 files: too many to be a document",
    ),
    ("deep.docx", lambda: bombs.word_file("<w:p>" * 100_000 + "</w:p>" * 100_000), "does not open"),
    ("deep.json", lambda: b"[" * 500_000, "the JSON is nested too deeply to be read"),
]


@pytest.mark.parametrize(("name", "made", "reason"), TOO_MUCH, ids=[name for name, _, _ in TOO_MUCH])
def test_a_file_that_asks_for_too_much_is_refused_and_the_next_is_read(
    wb: Workbench, name: str, made: Callable[[], bytes], reason: str
) -> None:
    refused, sound = wb.papers.add_many(
        [(name, made()), (f"{name}.txt", f"After {name}. {bombs.PROSE}".encode())]
    ).files
    assert (refused.status, sound.status, sound.error) == ("failed", "ready", None)
    assert reason in str(refused.error)
    assert len(str(refused.error).splitlines()) == 1


BOUNDED: list[tuple[str, Callable[[], bytes]]] = [
    ("count-of-a-billion.pdf", lambda: bombs.pdf(1, count=10**9)),
    ("page-as-wide-as-a-country.pdf", lambda: bombs.pdf(2, box="0 0 1000000000 1000000000")),
    ("page-of-no-size.pdf", lambda: bombs.pdf(2, box="0 0 -1 0")),
    ("states-never-restored.pdf", lambda: bombs.pdf(1, before=b"q " * 1_000_000)),
    ("laughing.xml", bombs.laughing_xml),
    ("digits.json", lambda: b'{"fine": "%s", "a": %s}' % (bombs.PROSE.encode(), b"9" * 500_000)),
    ("outputs.ipynb", bombs.notebook_with_outputs),
]


@pytest.mark.parametrize(("name", "made"), BOUNDED, ids=[name for name, _ in BOUNDED])
def test_what_a_file_claims_costs_nothing_and_its_text_is_read(
    wb: Workbench, name: str, made: Callable[[], bytes]
) -> None:
    paper = wb.papers.add((name, made()))
    text = text_of(wb, paper.id)
    assert bombs.PROSE in " ".join(text.split())
    assert "steal()" not in text
    assert len(text) < 2_000_000


def test_a_page_of_absurd_size_is_drawn_small(wb: Workbench) -> None:
    paper = wb.papers.add(("wide.pdf", bombs.pdf(3, box="0 0 900000000 900000000")))
    view = wb.papers.page_view(paper.id, 1)
    assert max(view.width, view.height) <= 2400


def test_no_archive_or_entity_reads_or_writes_a_file_beside_it(
    wb: Workbench, secret: Path, tmp_path: Path
) -> None:
    above = "../" * 12 + str(secret)[1:]
    asking = [
        ("book.epub", bombs.book(str(secret), above, f"file://{secret}")),
        ("entity.xml", bombs.outside_entity(str(secret))),
        ("entity.html", bombs.outside_entity(str(secret), html=True)),
        (
            "include.xml",
            b'<article xmlns:xi="http://www.w3.org/2001/XInclude"><body><p>'
            + f'{bombs.PROSE}</p><xi:include href="{secret}" parse="text"/></body></article>'.encode(),
        ),
        (
            "linked.docx",
            bombs.word_file(
                bombs.word_paragraph(),
                ("word/_rels/document.xml.rels", bombs.relations(("image", f"file://{secret}", "External"))),
                (f"word/{above}", "escaped"),
            ),
        ),
    ]
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    for outcome in wb.papers.add_many(asking).files:
        if outcome.paper_id is None:
            assert len(str(outcome.error).splitlines()) == 1, outcome
        else:
            assert SECRET not in text_of(wb, outcome.paper_id)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


@pytest.fixture
def listener() -> Iterator[tuple[str, list[str]]]:
    """A server, and the paths that were asked of it."""
    asked: list[str] = []

    class Noting(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_error(404)

        def log_message(self, *_: object) -> None: ...

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Noting)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", asked
    server.shutdown()
    server.server_close()


def test_no_file_makes_the_reader_call_a_host(
    wb: Workbench, listener: tuple[str, list[str]], secret: Path
) -> None:
    address, asked = listener
    template = bombs.relations(("attachedTemplate", f"{address}/macro.dotm", "External"))
    calling = [
        ("calls.html", bombs.calling_html(address, str(secret))),
        ("calls.docx", bombs.word_file(bombs.word_paragraph(), ("word/_rels/document.xml.rels", template))),
        (
            "calls.xml",
            f'<!DOCTYPE article SYSTEM "{address}/a.dtd"><article><p>{bombs.PROSE}</p></article>'.encode(),
        ),
        ("calls.md", f"# Calls\n\n{bombs.PROSE} ![a]({address}/image.png)".encode()),
    ]
    for name, data in calling:
        assert bombs.PROSE in text_of(wb, wb.papers.add((name, data)).id)
    assert asked == []
    everything = "".join(text_of(wb, paper.id) for paper in wb.papers.list(scope=workbench.Scope.ALL))
    assert SECRET not in everything


HOSTILE_NAMES = [
    "n" * 300 + ".txt",
    "../../../../outside.txt",
    "/etc/outside.txt",
    "C:\\Windows\\outside.txt",
    "line\nbreak\x1b[31m\x07.txt",
    "right\u202eto\u2066left.txt",
    "<img src=x onerror=alert(1)>.txt",
    "=cmd|' /C calc'!A0.csv",
    "'; DROP TABLE papers; --.txt",
    "$(touch outside).txt",
    "\ud800half.txt",
    " .txt",
    "..",
]


def test_a_file_name_is_only_a_label(wb: Workbench, tmp_path: Path) -> None:
    given = [(name, f"Text {n}. {bombs.PROSE}".encode()) for n, name in enumerate(HOSTILE_NAMES)]
    outcomes = wb.papers.add_many(given).files
    assert [outcome.status for outcome in outcomes] == ["ready"] * len(given)
    for outcome, (_, data) in zip(outcomes, given, strict=True):
        assert outcome.paper_id is not None
        paper = wb.papers.get(outcome.paper_id)
        assert data.decode() in text_of(wb, paper.id)
        for shown in (paper.file, paper.title):
            assert shown.isprintable()
            assert len(shown.encode()) <= 1024
    assert not list(tmp_path.iterdir())

from __future__ import annotations

import itertools
import os
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from tests.ingest import made_files
from workbench.errors import DocumentError, ReaderCrashedError
from workbench.ingest.reading import read_document
from workbench.ingest.sandbox import Reader

BROKEN = Path(__file__).with_name("broken_worker.py")


def broken(fault: str, *, timeout: float = 30, memory_mb: int = 1536) -> Reader:
    return Reader(timeout=timeout, memory_mb=memory_mb, worker=(str(BROKEN), fault))


_others: set[int] = set()


@pytest.fixture(autouse=True)
def _readers_of_other_tests() -> None:
    _others.clear()
    _others.update(p.pid for p in children())


def children() -> list[psutil.Process]:
    """The reading processes that this test has started."""
    mine = [p for p in psutil.Process().children() if p.pid not in _others]
    return [p for p in mine if "worker" in " ".join(p.cmdline())]


@pytest.fixture
def reader() -> Iterator[Reader]:
    with Reader(timeout=60) as opened:
        yield opened


@pytest.fixture
def paper(tmp_path: Path) -> Path:
    return made_files.text_pdf(tmp_path / "paper.pdf", pages=5)


def test_a_document_is_the_same_read_here_or_there(reader: Reader, tmp_path: Path, paper: Path) -> None:
    note = tmp_path / "note.md"
    note.write_text("# Title\n\nKäse 日本語 🚀 and text.\n", "utf-8")
    for path in (paper, note):
        assert reader.read(path, name=path.name) == read_document(path, name=path.name)


def test_one_process_serves_many_files_and_ends_with_the_reader(paper: Path) -> None:
    with Reader() as reader:
        assert children() == []
        reader.read(paper, name="a.pdf")
        first = [p.pid for p in children()]
        reader.read(paper, name="b.pdf")
        assert [p.pid for p in children()] == first
        assert len(first) == 1
    assert children() == []


def test_a_refusal_names_its_reason_and_the_next_file_is_read(
    reader: Reader, tmp_path: Path, paper: Path
) -> None:
    scan = made_files.image_pdf(tmp_path / "scan.pdf")
    with pytest.raises(DocumentError, match="^scanned pages: no text layer, needs OCR$"):
        reader.read(scan, name="scan.pdf")
    with pytest.raises(DocumentError, match="cannot be opened"):
        reader.read(tmp_path / "absent.pdf", name="absent.pdf")
    assert len(reader.read(paper, name="paper.pdf").pages) == 5


@pytest.mark.parametrize("fault", ["hang:3", "crash:3"])
def test_a_page_that_hangs_or_crashes_the_reader_is_left_out_and_the_rest_kept(
    fault: str, paper: Path
) -> None:
    with broken(fault, timeout=9) as reader:
        document = reader.read(paper, name="paper.pdf")
    assert [bool(page.text) for page in document.pages] == [True, True, False, True, True]
    assert "Page 4 says" in document.pages[3].text
    assert document.warnings == ("Could not read page 3: damaged; the rest of the paper was kept.",)


def test_reading_that_does_not_end_is_stopped_in_time(tmp_path: Path) -> None:
    endless = tmp_path / "pipe"
    os.mkfifo(endless)
    start = time.monotonic()
    with Reader(timeout=1.5) as reader, pytest.raises(ReaderCrashedError, match="took too long"):
        reader.read(endless, name="pipe")
    assert time.monotonic() - start < 10
    assert children() == []


def test_a_page_is_drawn_while_a_file_is_still_read(tmp_path: Path, paper: Path) -> None:
    endless = tmp_path / "pipe"
    os.mkfifo(endless)
    with Reader(timeout=20) as reader, ThreadPoolExecutor(1) as pool:
        reading = pool.submit(reader.read, endless, name="pipe")
        assert reader.render(paper, 1, width=100).startswith(b"\x89PNG")
        assert not reading.done()
        with pytest.raises(ReaderCrashedError, match="took too long"):
            reading.result()


def test_a_page_that_takes_too_long_to_draw_is_given_up_and_the_next_one_drawn(paper: Path) -> None:
    with broken("draw:2", timeout=8) as reader:
        start = time.monotonic()
        with pytest.raises(ReaderCrashedError, match="^this page takes too long to draw$"):
            reader.render(paper, 2, width=100)
        assert time.monotonic() - start < 15
        assert reader.render(paper, 1, width=100).startswith(b"\x89PNG")


def test_reading_that_needs_too_much_memory_is_stopped(paper: Path) -> None:
    with (
        broken("grow", memory_mb=400) as reader,
        pytest.raises(ReaderCrashedError, match="more than 400 MB of memory"),
    ):
        reader.read(paper, name="paper.pdf")


def test_a_long_pdf_takes_no_more_memory_than_a_short_one(tmp_path: Path) -> None:
    """Its pages are let go one by one: 600 of them took 15 MB more than 10 when this was written."""
    paragraph = " ".join(f"Sentence {n} is like no other." for n in range(120))
    peaks = []
    for pages in (10, 600):
        path = made_files.text_pdf(tmp_path / f"{pages}.pdf", paragraph, pages=pages)
        with Reader(timeout=60) as reader:
            assert len(reader.read(path, name=path.name).pages) == pages
            (child,) = children()
            status = Path(f"/proc/{child.pid}/status")
            if not status.is_file():
                pytest.skip("The peak memory of another process is known on Linux alone.")
            peak = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
            peaks.append(int(peak.split()[1]) / 1024)
    assert peaks[1] < peaks[0] + 100, peaks


def test_what_a_library_prints_does_not_disturb_the_answers(paper: Path) -> None:
    with broken("print") as reader:
        assert len(reader.read(paper, name="paper.pdf").pages) == 5


def test_a_reader_that_answers_nonsense_is_ended(paper: Path) -> None:
    with broken("garbage") as reader, pytest.raises(ReaderCrashedError):
        reader.read(paper, name="paper.pdf")


def test_a_reader_that_was_killed_is_started_again(reader: Reader, paper: Path) -> None:
    before = reader.read(paper, name="paper.pdf")
    for child in children():
        child.kill()
        child.wait()
    assert reader.read(paper, name="paper.pdf") == before


def test_many_threads_get_the_texts_one_thread_gets(reader: Reader, tmp_path: Path) -> None:
    paths = [
        made_files.text_pdf(tmp_path / f"{n}.pdf", f"Paper {n} is about {n}.", pages=2) for n in range(12)
    ]
    alone = [read_document(path, name=path.name) for path in paths]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda path: reader.read(path, name=path.name), paths))
    assert together == alone


def test_other_threads_go_on_while_a_file_is_read(reader: Reader, shared: Path) -> None:
    ticks: list[float] = []
    done = threading.Event()

    def tick() -> None:
        while not done.wait(0.02):
            ticks.append(time.monotonic())

    ticker = threading.Thread(target=tick)
    ticker.start()
    reader.read(shared / "hard-files" / "big" / "manual-400-pages.pdf", name="manual.pdf")
    done.set()
    ticker.join()
    gaps = [b - a for a, b in itertools.pairwise(ticks)]
    assert len(ticks) > 5
    assert max(gaps) < 1.0


def test_the_reading_process_ends_when_the_one_it_works_for_is_gone(paper: Path) -> None:
    import subprocess
    import sys

    code = (
        "import os, sys; from pathlib import Path; from workbench.ingest.sandbox import Reader\n"
        "r = Reader(); r.read(Path(sys.argv[1]), name='a.pdf')\n"
        "print(r._reading.child._process.pid, flush=True); os.kill(os.getpid(), 9)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(paper)], capture_output=True, text=True, check=False
    )
    pid = int(done.stdout)
    deadline = time.monotonic() + 10
    while psutil.pid_exists(pid) and time.monotonic() < deadline:
        if psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
            return
        time.sleep(0.05)
    assert not psutil.pid_exists(pid)


@pytest.mark.slow
def test_hard_files_are_read_or_refused_as_expected_in_bounded_time_and_memory(shared: Path) -> None:
    folder = shared / "hard-files"
    rows = [line.split("\t") for line in (folder / "expected.tsv").read_text().splitlines()[1:]]
    wrong = []
    with Reader(timeout=60, memory_mb=1024) as reader:
        for name, expected in rows:
            start = time.monotonic()
            try:
                reader.read(folder / name, name=Path(name).name)
                status = "ready"
            except DocumentError as error:
                status = "failed" if str(error).strip() and "\n" not in str(error) else "no reason"
            if expected not in ("any", status) or time.monotonic() - start > 60:
                wrong.append((name, expected, status))
    assert wrong == []

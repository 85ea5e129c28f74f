"""What the product is doing when it is killed or its disk fails: one function for each kind of work."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.mineral_papers import minerals
from tests.torture.libraries import NAME, WORDS, opened, text_of, write_papers
from tests.torture.truth import Indexes
from workbench import Scope
from workbench.storage.database import Database
from workbench.storage.restoring import restore


@dataclass(frozen=True)
class Scenario:
    """``work`` is done in the folder of a copy of the library ``base``; its files lie in ``desk``."""

    name: str
    work: Callable[[Path, Path], None]
    base: str = "warm"


def add(folder: Path, desk: Path) -> None:
    files = [*write_papers(desk, *WORDS[4:6]), minerals(2)[1].write(desk)]
    with opened(folder) as wb:
        wb.papers.add_many(files, project="Shelf")
        wb.papers.add_texts([{"title": f"Leaf {n}", "text": text_of(f"leaf{n}")} for n in range(3)])


def reprocess(folder: Path, desk: Path) -> None:
    with opened(folder) as wb:
        for paper in wb.papers.list()[:2]:
            wb.papers.reprocess(paper)


def delete(folder: Path, desk: Path) -> None:
    with opened(folder) as wb:
        kept = wb.papers.list()
        wb.papers.remove(kept[0])
        wb.projects.remove("Shelf", kept[1])
        wb.projects.delete("Shelf")
        wb.papers.remove(kept[2])


def migrate(folder: Path, desk: Path) -> None:
    Database(folder / NAME).close()


def create(folder: Path, desk: Path) -> None:
    Database(folder / NAME).close()


def compact(folder: Path, desk: Path) -> None:
    with opened(folder) as wb:
        wb.papers.remove(wb.papers.list()[0])
        wb.compact()


def backup(folder: Path, desk: Path) -> None:
    with opened(folder) as wb:
        wb.backup(folder / "copy.duckdb")


def restored(folder: Path, desk: Path) -> None:
    """Begins and ends with the same papers."""
    desk.mkdir(exist_ok=True)
    with opened(folder) as wb:
        copy = wb.backup(desk / "copy.duckdb")
        wb.papers.remove(wb.papers.list()[0])
    restore(copy, folder / NAME)


def index(folder: Path, desk: Path) -> None:
    shutil.rmtree(folder / f"{NAME}.derived", ignore_errors=True)
    database = Database(folder / NAME)
    (database.derived / "hnsw").mkdir()
    _refresh(database)
    with opened(folder) as wb:
        wb.papers.add_texts([{"title": "One more", "text": text_of("more")}])
    _refresh(database)


def _refresh(database: Database) -> None:
    indexes = Indexes(database)
    indexes.refresh()
    indexes.close()


def summary(folder: Path, desk: Path) -> None:
    with opened(folder) as wb:
        wb.projects.update("Shelf", goal="To weigh")
        wb.summaries.refresh("Shelf")


def chat(folder: Path, desk: Path) -> None:
    with opened(folder) as wb:
        talk = wb.conversations.create(Scope.project(wb.projects.get("Shelf")), title="More weights")
        talk.ask("I work with willow. What did sample 3 of willow weigh?")
        talk.ask("And sample 1?")
        wb.conversations.clear(wb.conversations.list()[-1].id)


def move(folder: Path, desk: Path) -> None:
    """To another embedder: vectors beside the old ones, which take over when complete."""
    with opened(folder, dimension=32) as wb:
        wb.papers.reprocess_all()


_WARM = (add, reprocess, delete, compact, backup, restored, index, summary, chat, move)
ALL = (
    *(Scenario(work.__name__, work) for work in _WARM),
    Scenario("migrate", migrate, base="old"),
    Scenario("create", create, base="none"),
)
BY_NAME = {scenario.name: scenario for scenario in ALL}

"""Several at work in one library at the same time: what each did, and whether the library says so too."""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path

from tests.torture.libraries import write_papers
from tests.torture.watching import Step, Watch
from workbench import Scope, Workbench
from workbench.errors import LibraryLockedError, NotFoundError, WorkbenchError
from workbench.storage import maintenance
from workbench.storage.database import Database

COMMON = ("quartz", "feldspar", "olivine", "gypsum")
"""Words of the papers that everybody adds; nobody removes them."""

_WAITS = ("storage.opening.turnstile > sleep", "storage.opening.when_unlocked > sleep",
          "storage.leases.LibraryFile._wait_for_turn > acquire")  # fmt: skip


@dataclass
class Told:
    """What one worker did and saw. ``papers``: its own words that must be in the library at the end."""

    name: str
    papers: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    conversation: int = 0
    done: int = 0
    collisions: int = 0
    longest: float = 0.0
    faults: list[str] = field(default_factory=list)

    def write(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self)), encoding="utf-8")

    @classmethod
    def read(cls, path: Path) -> Told:
        return cls(**json.loads(path.read_text(encoding="utf-8")))


class Worker:
    """One that adds, removes, reads, searches and asks, at random, for some seconds."""

    def __init__(self, wb: Workbench, name: str, *, seed: int, folder: Path) -> None:
        self.wb, self.told, self.folder = wb, Told(name), folder
        folder.mkdir(exist_ok=True)
        self._chance = random.Random(f"{seed} {name}")
        self._number = 0
        self._talk = wb.conversations.create(Scope.ALL, title=f"Of {name}")
        self.told.conversation = self._talk.info.id

    def work(self, seconds: float) -> Told:
        """Does one thing after another until the time is over."""
        weights = {self.add: 5, self.remove: 2, self.read: 4, self.find: 5, self.ask: 3, self.add_common: 1,
                   self.list_all: 2, self.copy: 0.4}  # fmt: skip
        waited: Counter[str] = Counter()
        end = time.monotonic() + seconds
        with Watch(lambda step: _count_waits(step, waited)):
            while time.monotonic() < end:
                (act,) = self._chance.choices(list(weights), weights=list(weights.values()))
                self._timed(act, waited)
        return self.told

    def _timed(self, act: Callable[[], None], waited: Counter[str]) -> None:
        before, start = waited.total(), time.monotonic()
        try:
            act()
        except LibraryLockedError as error:
            self._wrong(f"{act.__name__} waited in vain: {error}")
        except WorkbenchError as error:
            self._wrong(f"{act.__name__} failed: {type(error).__name__}: {error}")
        self.told.longest = max(self.told.longest, time.monotonic() - start)
        self.told.collisions += waited.total() > before
        self.told.done += 1

    def _wrong(self, text: str) -> None:
        self.told.faults.append(f"{self.told.name}: {text}")

    def _own(self) -> str | None:
        return self._chance.choice(self.told.papers) if self.told.papers else None

    # --- what it does --------------------------------------------------------------------------

    def add(self) -> None:
        self._number += 1
        word = f"{self.told.name}{self._number}"
        (path,) = write_papers(self.folder, word)
        self.wb.papers.add(path)
        self.told.papers.append(word)

    def add_common(self) -> None:
        (path,) = write_papers(self.folder, self._chance.choice(COMMON))
        self.wb.papers.add(path, project="Shelf")

    def remove(self) -> None:
        word = self._own()
        if word is None or len(self.told.papers) < 3:
            return
        self.wb.papers.remove(self._paper(word))
        self.told.papers.remove(word)
        self.told.removed.append(word)

    def read(self) -> None:
        word = self._own()
        if word is None:
            return
        paper = self.wb.papers.get(self._paper(word))
        chunks, pages = self.wb.papers.chunks(paper), self.wb.papers.pages(paper)
        if (len(chunks), len(pages)) != (paper.chunks, paper.pages):
            self._wrong(f"{word} has {len(chunks)} of {paper.chunks} chunks")
        if any(chunk.paper_id != paper.id for chunk in chunks) or not all(word in p.text for p in pages):
            self._wrong(f"{word} was read as another paper")

    def find(self) -> None:
        word = self._own()
        if word is None:
            return
        passages = self.wb.search(word, scope=Scope.ALL, mode="keyword").passages
        if not any(passage.file == f"{word}.md" for passage in passages):
            self._wrong(f"a search for {word} does not find its paper")
        self._wrong_rows(passages)

    def ask(self) -> None:
        word = self._own() or "graphene"
        question = f"What did sample 2 of {word} weigh? ({self.told.name} {len(self.told.asked)})"
        answer = self._talk.ask(question)
        self.told.asked.append(question)
        self._wrong_rows(answer.evidence.passages)

    def list_all(self) -> None:
        files = {paper.file for paper in self.wb.papers.list()}
        missing = [word for word in self.told.papers if f"{word}.md" not in files]
        back = [word for word in self.told.removed if f"{word}.md" in files]
        if missing or back:
            self._wrong(f"the list misses {missing} and shows {back}, which were removed")
        self.wb.status()

    def copy(self) -> None:
        """A backup, made while the others write, is a sound library with all that this worker has."""
        path = self.folder / f"copy-{self._number}-{self.told.done}.duckdb"
        copy = Database(self.wb.backup(path))
        faults = maintenance.doctor(copy)
        with copy.read() as cursor:
            rows = cursor.execute("SELECT file FROM library_links").fetchall()
        missing = {f"{word}.md" for word in self.told.papers} - {row[0] for row in rows}
        if faults or missing:
            self._wrong(f"a backup misses {sorted(missing)}, and of it is said {faults}")
        path.unlink()

    def _paper(self, word: str) -> int:
        for paper in self.wb.papers.list():
            if paper.file == f"{word}.md":
                return paper.id
        raise NotFoundError(f"{word} is not in the library any more.")

    def _wrong_rows(self, passages: object) -> None:
        for passage in passages:  # type: ignore[attr-defined]  # a tuple or a list of passages
            word = passage.file.removesuffix(".md")
            if passage.title == f"A study of {word}" and word not in passage.text:
                self._wrong(f"a passage of {passage.file} is not of that paper")


def _count_waits(step: Step, waited: Counter[str]) -> None:
    if not step.passed and step.name in _WAITS:
        waited[step.name] += 1


def lost(wb: Workbench, workers: list[Told]) -> list[str]:
    """What the library does not say as the workers do, one line each."""
    files = Counter(paper.file for paper in wb.papers.list())
    faults = []
    for told in workers:
        faults += [f"lost: {word} of {told.name}" for word in told.papers if files[f"{word}.md"] != 1]
        faults += [f"back: {word} of {told.name}" for word in told.removed if files[f"{word}.md"]]
        stored = wb.conversations.get(told.conversation).messages if told.conversation else ()
        kept = [message.text for message in stored if message.role == "user"]
        if kept != told.asked:
            faults.append(f"{told.name} asked {len(told.asked)} questions, {len(kept)} are kept in order")
        if not told.done:
            faults.append(f"{told.name} got nothing done")
    return faults + [f"doctor: {line}" for line in wb.doctor()]

"""A person at the dashboard, without a browser: its own notebook in a kernel, its panels told what to do."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.torture.crowds import Told
from tests.torture.kernels import ROOT, Kernel
from tests.torture.libraries import opened, text_of, write_papers

ALL, ORPHANS = -1, 0
PATIENCE = 60.0
"""Seconds for a panel to show what was asked of it: several waits for the library, each far below that."""


class WaitedInVain(AssertionError):
    """A panel did not come to show what it should."""


class Page:
    """What a browser would know: the state of each panel as its kernel told it. ``errors``: shown by any."""

    def __init__(self, name: str, home: Path, **variables: str) -> None:
        self.errors: list[str] = []
        self._states: dict[str, dict[str, Any]] = {}
        self.kernel = Kernel(name, home, hear=self._hear, **variables)
        notebook = json.loads((ROOT / "notebooks" / "dashboard.ipynb").read_text(encoding="utf-8"))
        for cell in notebook["cells"]:
            if cell["cell_type"] == "code":
                self.kernel.run("".join(cell["source"]))
        self.tell("Opening", "greet")
        self.until(lambda: self.has("Header") and self["Projects"]["loaded"] and self["PaperList"]["loaded"])

    def __getitem__(self, panel: str) -> dict[str, Any]:
        """The state of the first panel of that class that was made."""
        return self._states[self._comm(panel)]

    def has(self, panel: str) -> bool:
        return any(_class(state) == panel for state in self._states.values())

    def tell(self, panel: str, action: str, *, data: bytes | None = None, **arguments: Any) -> None:
        """What a panel's leaf sends when it is used."""
        content = {"do": action, "with": arguments}
        self.kernel.send(self._comm(panel), content, [] if data is None else [data])

    def until(self, true: Callable[[], object], *, patience: float = PATIENCE) -> None:
        """Listens until it is so. Raises WaitedInVain where an error is shown first, or it takes too long."""
        end, known = time.monotonic() + patience, len(self.errors)
        while not true():
            if len(self.errors) > known:
                raise WaitedInVain(self.errors[-1])
            if time.monotonic() > end:
                raise WaitedInVain(f"not within {patience:g} s")
            self.kernel.listen(0.2)

    def _comm(self, panel: str) -> str:
        return next(comm for comm, state in self._states.items() if _class(state) == panel)

    def _hear(self, kind: str, content: Any) -> None:
        if kind == "comm_open" and content["target_name"] == "jupyter.widget":
            self._states[content["comm_id"]] = {}
        elif kind == "comm_close":
            self._states.pop(content["comm_id"], None)
        state = self._states.get(content.get("comm_id", ""))
        if state is None or kind not in {"comm_open", "comm_msg"}:
            return
        told = content["data"].get("state", {})
        state.update(told)
        self.errors += [
            f"{_class(state)} shows “{told[key]}”" for key in ("error", "trouble") if told.get(key)
        ]


def _class(state: dict[str, Any]) -> str:
    return str(state.get("_anywidget_id", "")).rpartition(".")[2]


class Visitor:
    """One that adds, removes, reads, asks and goes from scope to scope, for some seconds."""

    def __init__(self, folder: Path, name: str, *, seed: int, variables: dict[str, str]) -> None:
        self.told, self._library, self._desk = Told(name), folder, folder.parent / name
        self._chance, self._number = random.Random(f"{seed} {name}"), 0
        self._page = Page(name, self._desk / "home", **variables)

    def work(self, seconds: float) -> Told:
        """Does everything once, then one thing or another until the time is over."""
        acts = [self.upload, self.add_by_path, self.upload, self.read, self.ask, self.switch, self.check,
                self.remove]  # fmt: skip
        end = time.monotonic() + seconds
        for act in acts:
            self._timed(act)
        while time.monotonic() < end:
            self._timed(self._chance.choice(acts))
        return self.told

    def compare(self) -> None:
        """Once nobody else is at work: everything is listed that there is, and nothing else."""
        self._timed(self.look_through)

    def close(self) -> None:
        """Ends the kernel; by then it is known what its cells and its panels said of errors."""
        self._page.kernel.end()
        self.told.faults += [*self._page.kernel.faults, *self._page.errors]

    def _timed(self, act: Callable[[], None]) -> None:
        start = time.monotonic()
        try:
            act()
        except WaitedInVain as error:
            self._wrong(f"{act.__name__}: {error}")
        self.told.longest = max(self.told.longest, time.monotonic() - start)
        self.told.done += 1

    def _wrong(self, text: str) -> None:
        self.told.faults.append(f"{self.told.name}: {text}")

    # --- what it does ------------------------------------------------------------------------------

    def upload(self) -> None:
        """A file dropped on the sidebar, in slices, for the scope shown there."""
        word, page = self._new_word(), self._page
        data = text_of(word).encode()
        page.tell("Uploads", "begin", key=word, name=f"{word}.md", size=len(data))
        for start in range(0, len(data), 1000):
            page.until(lambda start=start: self._arrived(word) == start)
            page.tell("Uploads", "receive", key=word, offset=start, data=data[start : start + 1000])
        page.until(lambda: self._arrived(word) == len(data))
        page.tell("Uploads", "finish")
        self._see(word)
        self.told.papers.append(word)

    def add_by_path(self) -> None:
        word = self._new_word()
        (path,) = write_papers(self._desk, word)
        self._page.tell("PathLine", "add_path", path=str(path))
        self._see(word)
        self.told.papers.append(word)

    def remove(self) -> None:
        if len(self.told.papers) < 3:
            return
        word = self._chance.choice(self.told.papers)
        self._page.tell("LibraryTable", "remove", ids=[self._see(word)])
        self._page.until(lambda: self._row(word) is None)
        self.told.papers.remove(word)
        self.told.removed.append(word)

    def read(self) -> None:
        if not self.told.papers:
            return
        word, viewer = self._chance.choice(self.told.papers), self._page["Viewer"]
        paper = self._see(word)
        self._page.tell("LibraryTable", "read_paper", id=paper)
        self._page.until(lambda: viewer["paper"] == paper and not viewer["loading"])
        if word not in viewer["text"] or viewer["title"] != f"A study of {word}":
            self._wrong(f"{word} is shown as “{viewer['title']}”")

    def ask(self) -> None:
        """In its own conversation, whatever it has looked at meanwhile, about a paper of its own."""
        if not self.told.papers:
            return
        self._open_conversation()
        word = self._chance.choice(self.told.papers)
        question = f"What did sample 2 of {word} weigh? ({self.told.name} {len(self.told.asked)})"
        chat = self._page["Chat"]
        asked = len(chat["turns"])
        self._page.tell("Chat", "ask", question=question)
        self._page.until(lambda: len(chat["turns"]) > asked and not chat["streaming"])
        turn, self.told.conversation = chat["turns"][-1], chat["conversation"]
        self.told.asked.append(question)
        if turn["question"] != question or turn["state"] not in {"done", "refused"}:
            self._wrong(f"“{question}” is {turn['state']}: {turn['notes']}")
        for passage in turn.get("passages", []):
            about = passage["title"].removeprefix("A study of ")
            if passage["title"] == f"A study of {about}" and about not in passage["quote"]:
                self._wrong(f"a passage of {passage['title']} is not of that paper")

    def switch(self) -> None:
        """Another scope, from the sidebar: list, thread and counts follow."""
        places = [ORPHANS, ALL, *(project["id"] for project in self._page["Projects"]["projects"])]
        self._choose(self._chance.choice(places))

    def check(self) -> None:
        """A look at the ledger, where the library is examined while the others write."""
        self._view("Ledger")
        self._page.tell("Ledger", "check")
        ledger = self._page["Ledger"]
        self._page.until(lambda: ledger["health"]["state"] == "checking")
        self._page.until(lambda: ledger["health"]["state"] != "checking")
        if ledger["health"]["findings"]:
            self._wrong(f"the ledger says {ledger['health']['findings']}")

    def look_through(self) -> None:
        with opened(self._library) as wb:
            papers = {paper.id: paper.file for paper in wb.papers.list()}
        for view in ("Chat", "Library"):
            self._view(view)
        for place in (ORPHANS, ALL):
            self._choose(place)
        side, table = self._page["PaperList"], self._page["LibraryTable"]
        self._page.until(lambda: side["count"] == table["page"]["papers"] == len(papers), patience=20)
        shown = self._listing()
        if shown != papers:
            self._wrong(f"the Library tab shows {len(shown)} papers, of {len(papers)} in the library")

    # --- at the panels -----------------------------------------------------------------------------

    def _new_word(self) -> str:
        self._number += 1
        return f"{self.told.name}{self._number:04}"

    def _arrived(self, word: str) -> int | None:
        accepted = self._page["Uploads"]["accepted"]
        return int(accepted["bytes"]) if accepted.get("key") == word else None

    def _see(self, word: str) -> int:
        """Finds the paper of its own in the Library tab, and gives its id."""
        self._view("Library")
        self._page.tell("LibraryTable", "look", query=f"{word}.md")
        self._page.until(lambda: (self._row(word) or {}).get("state") == "ready")
        return int(self._row(word)["id"])  # type: ignore[index]  # waited for above

    def _row(self, word: str) -> dict[str, Any] | None:
        rows = self._page["LibraryTable"]["page"]["rows"]
        return next((row for row in rows if row["file"] == f"{word}.md"), None)

    def _listing(self) -> dict[int, str]:
        """All pages of the Library tab, one after the other."""
        table, page = self._page["LibraryTable"], self._page
        page.tell("LibraryTable", "look", query="", show="all")
        page.until(lambda: table["page"]["matches"] == table["page"]["papers"])
        found: dict[int, str] = {}
        for start in range(0, table["page"]["matches"], table["page"]["size"]):
            page.tell("LibraryTable", "look", start=start)
            page.until(lambda start=start: table["page"]["start"] == start)  # type: ignore[misc]
            found |= {row["id"]: row["file"] for row in table["page"]["rows"]}
        return found

    def _view(self, name: str) -> None:
        self._page.tell("Header", "choose", view=name)
        self._page.until(lambda: self._page["Header"]["view"] == name)

    def _choose(self, place: int) -> None:
        page = self._page
        page.tell("Projects", "choose", id=place)
        page.until(
            lambda: page["Projects"]["chosen"] == place and page["PaperList"]["project"] == max(place, 0)
        )
        page.until(lambda: page["Chat"]["scope"] == place and not page["Chat"]["reading"])

    def _open_conversation(self) -> None:
        """Its own, begun where there is none yet, with a scope that holds all its papers."""
        self._view("Chat")
        chat = self._page["Chat"]
        if not self.told.conversation:
            begun = chat["begun"]
            self._page.tell("Conversations", "new")
            self._page.until(lambda: chat["begun"] > begun)
        elif chat["conversation"] != self.told.conversation:
            self._page.tell("Conversations", "show", id=self.told.conversation)
            self._page.until(lambda: chat["conversation"] == self.told.conversation)
        self._page.until(lambda: not chat["reading"])
        if chat["scope"] != ALL:
            self._page.tell("Chat", "choose_scope", value=ALL)
            self._page.until(lambda: chat["scope"] == ALL)

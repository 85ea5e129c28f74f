"""A workbench that does what a test tells it to, in the shape of the real one's public API."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import workbench
from workbench import (
    AnswerDone,
    ConversationInfo,
    Event,
    Message,
    Page,
    PageView,
    Paper,
    Project,
    Scope,
    TextRun,
)
from workbench.records import ConversationKind

NOW = datetime(2026, 1, 1, tzinfo=UTC)
PNG = b"\x89PNG not really"


def paper(id: int, *, title: str = "A paper", kind: str = "pdf", pages: int = 3) -> Paper:
    return Paper(
        id=id,
        title=title,
        file=f"{id}.{kind}",
        kind=kind,
        pages=pages,
        chunks=9,
        page_unit="page" if kind == "pdf" else "section",
        state="ready",
        authors=("Ada Lovelace", "Mary Somerville"),
        year=1843,
        doi=None,
        source_id=None,
        sha256=str(id),
        shared=False,
        added_at=NOW,
    )


@dataclass
class Settings:
    library: Path = Path("library.duckdb")  # there is no such file
    project_max_papers: int = 10
    max_file_mb: int = 512
    top_k: int = 15
    max_chunks_per_paper: int = 5
    min_relevance: float = 0.05


@dataclass
class Papers:
    held: dict[int, Paper] = field(default_factory=dict)
    project_of: dict[int, int | None] = field(default_factory=dict)
    texts: dict[int, list[Page]] = field(default_factory=dict)
    found: bool = True
    fault: Exception | None = None
    views: list[tuple[int, int, str | None, int]] = field(default_factory=list)
    undrawable: dict[int, Exception] = field(default_factory=dict)
    goes_on_moving: bool = False

    def go_on_moving(self) -> None:
        self.goes_on_moving = True

    def list(self, scope: Scope = Scope.ALL) -> list[Paper]:
        if self.fault:
            raise self.fault
        return [
            p for p in self.held.values() if scope == Scope.ALL or self.project_of[p.id] == scope.project_id
        ]

    def get(self, wanted: Paper | int) -> Paper:
        return self.held[wanted if isinstance(wanted, int) else wanted.id]

    def page_view(
        self, wanted: Paper, page: int, *, quote: str | None = None, width: int = 1000, **_: object
    ) -> PageView:
        self.views.append((wanted.id, page, quote, width))
        if page in self.undrawable:
            raise self.undrawable[page]
        boxes = ((0.1, 0.2, 0.9, 0.25),) if quote and self.found else ()
        return PageView(PNG, width, width, boxes, bool(boxes), (TextRun("words", (0.1, 0.2, 0.9, 0.25)),))

    def pages(self, wanted: Paper) -> list[Page]:
        return self.texts.get(wanted.id, [])

    def page(self, wanted: Paper, page: int) -> Page:
        texts = self.texts.get(wanted.id)
        return texts[page - 1] if texts else Page(wanted.id, page, None, f"Page {page}.", 0, 7)

    def page_labels(self, wanted: int) -> list[str | None]:
        return [page.label for page in self.texts.get(wanted, [])]


@dataclass
class Projects:
    papers: Papers
    held: dict[int, str] = field(default_factory=dict)

    def create(self, name: str) -> Project:
        if name in self.held.values():
            raise workbench.ConflictError(f"There is a project “{name}” already.")
        self.held[len(self.held) + 1] = name
        return self.list()[-1]

    def list(self, status: str | None = "active") -> list[Project]:
        return [
            Project(i, name, None, None, "active", self._count(i), NOW, NOW.replace(day=i))
            for i, name in self.held.items()
        ]

    def _count(self, project: int) -> int:
        return sum(p == project for p in self.papers.project_of.values())


@dataclass
class Conversation:
    """Streams what the workbench's script says; ``messages`` are what an earlier visit left."""

    workbench: ScriptedWorkbench
    scope: Scope
    id: int = 0
    kind: ConversationKind = "thread"
    messages: Sequence[Message] = ()
    title: str = "A conversation"
    notice: str | None = None
    paper: int | None = None

    @property
    def info(self) -> ConversationInfo:
        if self not in (*self.workbench.conversations.held, *self.workbench.chats.values()):
            raise workbench.NotFoundError("Conversation not found: list your conversations to see their ids.")
        label = self.workbench.projects.held.get(self.scope.project_id or 0, "Orphan notes only")
        return ConversationInfo(
            id=self.id,
            kind=self.kind,
            title=self.title,
            scope=self.scope,
            scope_label="All notes" if self.scope == Scope.ALL else label,
            paper_id=self.paper,
            messages=len(self.messages),
            created_at=NOW,
            used_at=NOW,
        )

    def stream(self, question: str) -> Iterator[Event]:
        self.workbench.asked.append((question, self.scope))
        return self._told(self.workbench.script)

    def stream_silent(self, message: int) -> Iterator[Event]:
        return self.stream(f"silent papers of message {message}")

    def stream_again(self, message: Message) -> Iterator[Event]:
        return self.stream(f"{message.text} (again)")

    def _told(self, script: Iterable[Event]) -> Iterator[Event]:
        """The script, which a test may hold and close; a scope that it changes is this conversation's."""
        last = script[-1] if isinstance(script, list) and script else None
        if isinstance(last, AnswerDone) and last.scope_change:
            self.scope = Scope(last.scope_change.rag_project_id)
        return iter(script)


@dataclass
class Conversations:
    workbench: ScriptedWorkbench
    held: list[Conversation] = field(default_factory=list)

    def list(self, kind: str | None = "thread") -> list[ConversationInfo]:
        return [c.info for c in self.held[::-1] if kind in (None, c.kind)]

    def find(self, words: str, kind: str | None = "thread") -> list[ConversationInfo]:
        return [info for info in self.list(kind) if words.lower() in info.title.lower()]

    def get(self, wanted: ConversationInfo | Conversation | int) -> Conversation:
        id = wanted if isinstance(wanted, int) else wanted.id
        found = next((c for c in self.held if c.id == id), None)
        if found is None:
            raise workbench.NotFoundError("Conversation not found: list your conversations to see their ids.")
        return found

    def create(self, scope: Scope) -> Conversation:
        self.held.append(Conversation(self.workbench, scope, id=self.workbench.next_id()))
        return self.held[-1]

    def update(self, conversation: Conversation, *, scope: Scope) -> None:
        conversation.scope = scope


class Stream:
    """Events on their way. ``closed`` tells whether the reader closed them; ``gate`` holds the rest back."""

    def __init__(self, events: Iterable[Event | Exception], *, gate: threading.Event | None = None) -> None:
        self.closed = threading.Event()
        self._events = self._run(list(events), gate)

    def _run(self, events: list[Event | Exception], gate: threading.Event | None) -> Iterator[Event]:
        try:
            for event in events:
                if isinstance(event, Exception):
                    raise event
                yield event
                if gate is not None:
                    gate.wait(5)
        finally:
            self.closed.set()

    def __iter__(self) -> Stream:
        return self

    def __next__(self) -> Event:
        return next(self._events)

    def close(self) -> None:
        with suppress(ValueError):  # it runs in another thread, which closes it in its turn
            self._events.close()  # type: ignore[attr-defined]


class ScriptedWorkbench:
    """``script`` is what the next question gets; ``asked`` records questions and scopes."""

    def __init__(self) -> None:
        self.settings = Settings()
        self.papers = Papers()
        self.projects = Projects(self.papers)
        self.script: Iterable[Event] = ()
        self.asked: list[tuple[str, Scope]] = []
        self.chats: dict[int, Conversation] = {}
        self.conversations = Conversations(self)

    def next_id(self) -> int:
        return 1 + len(self.conversations.held) + len(self.chats)

    def project_chat(self, project: int) -> Conversation:
        if project not in self.chats:
            name = self.projects.held[project]
            self.chats[project] = Conversation(
                self, Scope.project(project), id=self.next_id(), kind="project", title=name
            )
        return self.chats[project]

    def paper_chat(self, paper: int) -> Conversation:
        found = next((c for c in self.conversations.held if c.paper == paper), None)
        if found is None:
            found = self.conversations.create(Scope.ORPHANS)
            found.kind, found.paper, found.title = "paper", paper, self.papers.get(paper).title
        return found

    def status(self) -> dict[str, Any]:
        return {"chat_model": "extractive", "papers": len(self.papers.held), "warnings": ["No Ollama here."]}

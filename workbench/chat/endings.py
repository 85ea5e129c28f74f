"""How every answer ends: complete, or as a refusal with the nearest passages."""

from __future__ import annotations

import time
from collections.abc import Iterator

from workbench.chat.citing import citation, place
from workbench.chat.coverage import coverage_of
from workbench.chat.nearest import nearest_words
from workbench.chat.task import AnswerTask
from workbench.records import (
    Answer,
    AnswerDone,
    Citation,
    Event,
    Notice,
    SentenceVerdict,
    TextDelta,
)
from workbench.retrieval.answerability import Answerability
from workbench.retrieval.markers import as_prose

NEAREST_SHOWN = 3
REFUSAL = "The papers in this scope do not answer this question."


def refuse(
    task: AnswerTask, provider: str, reason: str, warnings: tuple[str, ...] = (), *, after: str = ""
) -> Iterator[Event]:
    """Says that the papers do not answer, why if known, and which passages come nearest."""
    yield from map(Notice, warnings)
    yield from parted(after)
    text = f"{task.preface}\n\n" if task.preface else ""
    text += REFUSAL + (f" {reason}" if reason else "")
    citations = []
    nearest = task.evidence.passages[:NEAREST_SHOWN]
    if nearest:
        text += "\n\nNearest passages:\n"
    for passage in nearest:
        quote, words = nearest_words(task.question, passage, task.pages_of(passage))
        if quote is None:
            continue
        said = f": “{words}”" if words else ""
        line = f"{as_prose(passage.title)}, {place(passage.page_unit, quote)}{said} [{passage.n}]"
        start = len(text) + len("\n- ")
        text += f"\n- {line}"
        citations.append(citation(passage, quote, "unsupported", (start, start + len(line))))
    yield TextDelta(text)
    yield done(task, provider, text, tuple(citations), (), refused=True, warnings=warnings)


def done(
    task: AnswerTask,
    provider: str,
    text: str,
    citations: tuple[Citation, ...],
    audit: tuple[SentenceVerdict, ...],
    *,
    refused: bool = False,
    warnings: tuple[str, ...] = (),
    first: float | None = None,
) -> AnswerDone:
    now = time.perf_counter()
    timing = {**task.evidence.timing, "total": now - task.started}
    if first is not None:
        timing["first_token"] = first - task.started
    return AnswerDone(
        Answer(
            question=task.question,
            text=text,
            citations=citations,
            evidence=task.evidence,
            refused=refused,
            provider=provider,
            scope_label=task.evidence.scope_label,
            audit=audit,
            warnings=tuple(dict.fromkeys((*task.evidence.warnings, *task.warnings, *warnings))),
            timing=timing,
            coverage=coverage_of(task.evidence, citations, refused=refused),
            unread=task.unread,
        )
    )


def parted(after: str) -> Iterator[Event]:
    """An empty line behind text that was shown and given up."""
    if after.strip():
        yield TextDelta("\n\n")


def not_mentioned(answerable: Answerability) -> str:
    names = ", ".join(answerable.missing_names)
    return f"No passage found mentions {names}." if names else ""

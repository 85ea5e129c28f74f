"""The answer where no chat model writes: the papers' own sentences, as events."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from workbench.chat import extractive
from workbench.chat.citing import citation
from workbench.chat.endings import done, not_mentioned, parted, refuse
from workbench.chat.task import EXTRACTIVE, AnswerTask
from workbench.records import Citation, Event, Notice, SentenceVerdict, TextDelta
from workbench.retrieval.answerability import Answerability
from workbench.retrieval.citations import quote_at


def quoted_answer(task: AnswerTask, *, after: str = "") -> Iterator[Event]:
    """The papers' own sentences. ``after`` is text that was shown before and given up."""
    chosen = []
    if task.answerable.answerable:
        chosen = extractive.choose_sentences(task.question, task.evidence, similarity=task.similarity)
    if not chosen:
        yield from refuse(task, EXTRACTIVE, _missing(task.answerable), after=after)
        return
    unnamed = not_mentioned(task.answerable)
    if unnamed and unnamed not in task.warnings:
        yield Notice(unnamed)
        task = replace(task, warnings=(*task.warnings, unnamed))
    yield from parted(after)
    text = ""
    citations: list[Citation] = []
    audit: list[SentenceVerdict] = []
    groups = extractive.grouped(chosen)
    for heading, group in zip(extractive.paper_headings(groups), groups, strict=True):
        piece = ("\n\n" if text else "") + heading + "\n"
        for sentence in group:
            n, shown = sentence.passage.n, extractive.shown_sentence(sentence)
            line = f"{shown} [{n}]"
            start = len(text) + len(piece) + len("\n- ")
            place = (start, start + len(line))
            piece += f"\n- {line}"
            quote = quote_at(sentence.char_start, sentence.char_end, task.pages_of(sentence.passage))
            if quote:
                citations.append(citation(sentence.passage, quote, "supported", place))
            audit.append(
                SentenceVerdict(shown, "supported", "it stands there word for word", n, sentence.text, *place)
            )
        text += piece
        yield TextDelta(piece)
    yield done(task, EXTRACTIVE, text, tuple(citations), tuple(audit))


def _missing(answerable: Answerability) -> str:
    if answerable.missing_names:
        return f"They do not mention {', '.join(answerable.missing_names)}."
    if answerable.apart:
        return f"None of them mentions {' and '.join(answerable.apart)} together."
    if answerable.absent:
        return f"They do not speak of {', '.join(f'“{word}”' for word in answerable.absent)}."
    return ""

"""Answers to greetings and thanks: nothing to look up, nothing to cite."""

from __future__ import annotations

import time
from collections.abc import Generator
from dataclasses import dataclass

from workbench.records import Answer, AnswerDone, Event, Evidence, Notice, TextDelta
from workbench.retrieval.small_talk import small_talk_kind
from workbench.scope import Scope

SMALL_TALK = "small talk"  # the provider of such an answer
REPLIES = {
    "hello": "Hello. Ask me something about your papers, and I will answer with the pages it comes from.",
    "thanks": "You are welcome.",
    "bye": "Goodbye. This conversation is kept.",
}


def small_talk_reply(text: str) -> str | None:
    """A reply to a message that is nothing but a greeting, thanks or a goodbye; None for any other."""
    kind = small_talk_kind(text)
    return None if kind is None else REPLIES[kind]


@dataclass(frozen=True)
class SmallTalk:
    """The answer to a message that needs no papers: nothing is searched, nothing cited."""

    question: str
    reply: str
    scope: Scope
    scope_label: str
    warnings: tuple[str, ...]
    started: float  # of time.perf_counter

    def events(self) -> Generator[Event, None, None]:
        """Events as of every answer, without evidence."""
        yield from map(Notice, self.warnings)
        yield TextDelta(self.reply)
        yield AnswerDone(
            Answer(
                question=self.question,
                text=self.reply,
                citations=(),
                evidence=Evidence(self.question, self.scope, self.scope_label, ()),
                refused=False,
                provider=SMALL_TALK,
                scope_label=self.scope_label,
                warnings=self.warnings,
                timing={"total": time.perf_counter() - self.started},
            )
        )

"""Greetings and thanks: nothing to look up, nothing to cite."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass

from workbench.records import Answer, AnswerDone, Event, Evidence, Notice, TextDelta
from workbench.scope import Scope

SMALL_TALK = "small talk"  # the provider of such an answer
REPLIES = {
    "hello": "Hello. Ask me something about your papers, and I will answer with the pages it comes from.",
    "thanks": "You are welcome.",
    "bye": "Goodbye. This conversation is kept.",
}

_GREETING = (
    r"hello|hi|hey|hiya|howdy|greetings|hello there|hi there|hey there|good (?:morning|afternoon|evening|day)"
    r"|hallo|guten (?:tag|morgen|abend)|moin|servus|bonjour|bonsoir|salut|hola|buenos d[ií]as|ciao|olá|hej"
    r"|你好|您好|こんにちは"
)
_ASIDE = r"(?: (?:everyone|all|again|workbench|how are you(?: doing)?(?: today)?))*"
_THANKS = (
    r"(?:ok(?:ay)?|great|good|nice|perfect|cool|super)?(?: ?(?:many )?(?:thanks|thank you|thx|ty|cheers))"
    r"(?: (?:a lot|so much|very much|again))?(?: (?:that|this) (?:helps|helped)(?: a lot)?)?"
    r"|danke(?: schön| sehr)?|vielen dank|merci(?: beaucoup)?|(?:muchas )?gracias|grazie(?: mille)?|tack"
    r"|谢谢|ありがとう|ok(?:ay)?|great|nice|perfect|cool|got it|i see"
)
_BYE = (
    r"(?:good ?)?bye(?: bye)?|see you(?: later| soon| tomorrow)?|good ?night|tschüss|au revoir|adiós|adios"
    r"|再见|さようなら"
)
_KINDS = {
    "hello": re.compile(rf"(?:{_GREETING}){_ASIDE}|how are you(?: doing)?(?: today)?", re.IGNORECASE),
    "thanks": re.compile(_THANKS, re.IGNORECASE),
    "bye": re.compile(_BYE, re.IGNORECASE),
}
_SIGNS = re.compile(r"[^\w\s]|_")


def small_talk_reply(text: str) -> str | None:
    """A reply to a message that is nothing but a greeting, thanks or a goodbye; None for any other.

    "Hello, what is the melting point of iron?" is a question.
    """
    bare = " ".join(_SIGNS.sub(" ", text).split())
    return next((REPLIES[kind] for kind, pattern in _KINDS.items() if pattern.fullmatch(bare)), None)


@dataclass(frozen=True)
class SmallTalk:
    """The answer to a message that needs no papers: nothing is searched, nothing cited."""

    question: str
    reply: str
    scope: Scope
    scope_label: str
    warnings: tuple[str, ...]
    started: float  # of time.perf_counter

    def events(self) -> Iterator[Event]:
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

"""Greetings and thanks: messages with nothing to look up."""

from __future__ import annotations

import re

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


def small_talk_kind(text: str) -> str | None:
    """``"hello"``, ``"thanks"`` or ``"bye"`` for a message that is nothing else; None for any other.

    "Hello, what is the melting point of iron?" is a question.
    """
    bare = " ".join(_SIGNS.sub(" ", text).split())
    return next((kind for kind, pattern in _KINDS.items() if pattern.fullmatch(bare)), None)

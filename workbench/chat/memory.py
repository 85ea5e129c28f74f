"""What of a finished turn is worth remembering, and which memories a question calls up.

Only what users say of themselves and their work is kept: no questions, requests or suppositions, nothing
that was quoted or shown to them, and nothing that a model wrote.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from statistics import median

from workbench.records import Memory
from workbench.retrieval.sentences import sentence_spans
from workbench.retrieval.term_sets import term_set
from workbench.retrieval.terms import STOP_WORDS, query_terms

MOST_PER_TURN = 5
SHORTEST, LONGEST = 8, 300  # characters of a statement; more is a passage that was pasted
LONGEST_MESSAGE = 2000  # characters of a message in one's own words; from a longer one only what is asked for
ECHO = 0.7  # share of a statement's terms that a text shown to the user holds in one sentence …
ECHO_TERMS = 3  # … if it has so many terms at least
SHORTEST_COPY = 20  # letters and digits of a statement that can be known again in a paper
COPY = 0.9  # share of its terms in one sentence of a paper that makes it a copy …
COPY_TERMS = 6  # … if it has so many: people and the papers they read use the same few words
MOST_RECALLED = 5
RECALLED_FROM = 0.15  # share of the question's terms, by weight, that a memory must hold …
ALIKE = 0.45  # … or the cosine that it must have with the question; where there are some to compare with …
ALIKE_OF_MANY = 0.35
ABOVE_OTHERS = 0.15  # … it must stand out from their median, because embedders differ in what is near
MANY = 4

Cosines = Callable[[str, Sequence[str]], Sequence[float]]
"""Cosine of each text with the first one."""


def _phrases(texts: str) -> str:
    """The phrases as alternatives of a pattern; commas part them."""
    return "|".join(phrase.strip() for phrase in texts.split(","))


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE)


# Who speaks of themselves, in some languages. A single I opens a clause, or it is a number: "type I errors".
_FIRST_PERSON = re.compile(
    r"(?:^|[,;:(–—]\s*|\b(?:and|but|because|that|which|while|when|where|what|as|so|since|before|after)\s)"
    r"(?:I|i)(?:['’]\w+)?\s+[a-z]"
    r"|\b(?:[Ww]e|[Mm]y|[Oo]urs?|[Ii]ch|[Ww]ir|[Mm]ein\w*|[Uu]nser\w*|[Jj]e|[Nn]ous|[Nn]otre|[Yy]o"
    r"|[Nn]osotr[oa]s|[Nn]uestr[oa]s?)\b|\b[Jj]['’]|[我私]"
)
_TO_REMEMBER = (
    "remember, note, keep in mind, bear in mind, don't forget, do not forget, merke? dir, rappelle-toi"
)
_ASKED_TO_REMEMBER = _pattern(
    rf"^(?:please\s+)?(?:{_phrases(_TO_REMEMBER)})(?:\s+that|,?\s+dass|\s+que)?\s*[:,]?\s+(?=\S)"
)
_SUPPOSING = (
    "if, suppose, supposing, assume, assuming, imagine, say, let's, let us, what if, consider, pretend,"
    "in case, unless, wenn, falls, angenommen, si, supposons, supongamos"
)
_UNCERTAIN = (
    r"if i, if we, would, could, might, (?<!\d )may(?! \d), maybe, perhaps, possibly, probably, presumably,"
    r"hypothetical\w*, guess, vielleicht, möglicherweise, würden?, könnten?, peut-être, quizás?, tal vez"
)
_SUPPOSED = _pattern(
    rf"^(?:(?:so|and|but|now)\s+)?(?:{_phrases(_SUPPOSING)})\b|\b(?:{_phrases(_UNCERTAIN)})\b|^(?:如果|假设|もし)"
)
_QUESTION_WORDS = (
    "what, which, who, whom, whose, when, where, why, how, is, are, was, were, do, does, did, can, could,"
    "should, will, shall, has, have, had, am"
)
_INDIRECTLY = (
    r"wonder\w*, whether, (?:not|un)\s?sure, unclear, my question, a question, (?:am|are|'m|'re) asking,"
    r"(?:don't|do not|didn't) (?:know|understand|see|get|recall), (?:am|'m) (?:looking|searching) for,"
    r"(?:like|want|need|love|curious|try\w*|hop\w*) to (?:know|see|ask|hear|understand|learn|find|read),"
    r"ich frage, je me demande"
)
_ASKED = _pattern(rf"[?？]|^(?:{_phrases(_QUESTION_WORDS)})\b|\b(?:{_phrases(_INDIRECTLY)})\b")
_REQUESTS = (
    r"please, kindly, tell, show, give, help, explain, summari[sz]e, compare, list, find, search, describe,"
    r"write, draft, make, translate, define, discuss, go, use, look, check, add, remove, delete, set, open,"
    r"stop, try, ignore, answer, quote, cite, bitte, erkläre?, zeige?, explique, montre"
)
_REQUESTED = _pattern(
    rf"^(?:{_phrases(_REQUESTS)})\b|^请|\bplease\b|\b(?:want|need|like|ask|expect) you to\b"
    r"|\b(?:tell|show|give|help|send|remind) (?:me|us)\b"
)
_POLITE = "ok, okay, thanks, thank you, hello, hi, hey, sorry, yes, no, great, good, cool, never mind"
_SMALL_TALK = _pattern(
    r"^(?:i (?:see|agree|mean|think so|guess|understand|got it)"
    rf"|(?:{_phrases(_POLITE)})\b[^.]{{0,25}}[.!]*$)"
)
# Said of this conversation rather than of the work.
_OF_THE_MOMENT = _pattern(
    r"\b(?:i (?:said|asked|told|meant|mentioned)|as (?:i|we) (?:said|discussed)"
    r"|(?:like|love|hate) (?:it|this|that)|you (?:are|were) (?:wrong|right)"
    r"|(?:this|the|your|that|last) (?:answer|reply)|an error|(?:a|one|two|few|some|more) questions?|no idea"
    r"|be back|ask (?:you )?(?:again|later)|will (?:check|try|see|look))\b"
)
# How papers speak of themselves: a sentence that was pasted.
_OF_A_PAPER = _pattern(
    r"\b(?:(?:in )?this (?:paper|work|article|study)|here,? we"
    r"|we (?:propose|present|introduce|demonstrate|show))\b"
)
# "I use mice, so which strain is best?" states something before it asks.
_THEN_ASKS = _pattern(
    rf"^((?:i|we|my|our)\b.*?)\s*[,;:–—]\s*(?:(?:so|and|but|then)\s+)?(?:{_phrases(_QUESTION_WORDS)})\b.*[?？]$"
)
_OPENING_WORDS = _pattern(
    r"^(?:(?:ok|okay|yes|no|well|thanks|thank you|hello|hi|hey|sorry|actually)[,.!:]\s+"
    r"|(?:so|but|and|also),?\s+)+"
)
# What was quoted is another's word: "…", “…”, «…», a fenced block, a line behind ">".
_QUOTED = re.compile(
    r'```.*?(?:```|$)|^\s*>.*$|"[^"\n]*"|“[^”]*”|«[^»]*»|„[^“”]*[“”]', re.DOTALL | re.MULTILINE
)
_CITES = re.compile(r"\[\d[\d,;\s–-]*\]|\bet al\b|\(\d{4}[a-z]?\)")
# Announces a text that is not the user's own: "Explain this: We propose …".
_LEADS_IN = re.compile(r"[:：]\s*$|:\s")
_BULLET = re.compile(r"^(?:[-*•–]|\d{1,2}[.)])\s+")
_FILLERS = frozenset("am also currently just mainly now really very".split())
_WEAK = frozenset(
    query_terms(
        "use using used need want work working care like prefer study studying look find know think"
        " paper papers result results data method methods project question answer compare"
        " show tell me my our us we about"
    )
)


def statements(said: str, *, shown: Iterable[str] = ()) -> list[str]:
    """What the user states in a message, at most ``MOST_PER_TURN`` sentences in their own words.

    ``shown`` are texts that the user had before them (passages, recalled memories): what only repeats those
    is left out. Method: rules on the form of each sentence, strict rather than complete.
    """
    seen = [term_set(text[start:end]) for text in shown for start, end in sentence_spans(text)]
    own = _QUOTED.sub(" … ", said)
    found: list[str] = []
    for start, end in sentence_spans(own):
        sentence = _OPENING_WORDS.sub("", _BULLET.sub("", " ".join(own[start:end].split())))
        asked_to = _ASKED_TO_REMEMBER.match(sentence)
        sentence = sentence[asked_to.end() :] if asked_to else _THEN_ASKS.sub(r"\1", sentence)
        if asked_to is None and len(own) > LONGEST_MESSAGE:
            continue
        if _states(sentence, asked_to=asked_to is not None) and not _is_echo(sentence, seen):
            found.append(sentence)
    return list(dict.fromkeys(found))[:MOST_PER_TURN]


def is_copied(statement: str, texts: Iterable[str]) -> bool:
    """Whether a statement stands word for word in one of the texts, or nearly so in one of their sentences:
    then it was pasted, however it is said. Line ends, hyphens and signs do not count."""
    letters = _letters(statement)
    if len(letters) < SHORTEST_COPY:
        return False
    own = term_set(statement) - STOP_WORDS
    for text in texts:
        if letters in _letters(text):
            return True
        if len(own) >= COPY_TERMS:
            sentences = (term_set(text[start:end]) for start, end in sentence_spans(text))
            if any(len(own & sentence) >= COPY * len(own) for sentence in sentences):
                return True
    return False


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text).casefold()))


def _states(sentence: str, *, asked_to: bool) -> bool:
    if not SHORTEST <= len(sentence) <= LONGEST and not (asked_to and len(sentence) <= LONGEST):
        return False
    if "…" in sentence or _CITES.search(sentence) or _ASKED.search(sentence) or _SUPPOSED.search(sentence):
        return False
    if not text_key(sentence):
        return False
    if asked_to:
        return True
    return not (
        _FIRST_PERSON.search(sentence) is None
        or _REQUESTED.search(sentence)
        or _SMALL_TALK.search(sentence)
        or _OF_THE_MOMENT.search(sentence)
        or _OF_A_PAPER.search(sentence)
        or _LEADS_IN.search(sentence)
    )


def _is_echo(sentence: str, seen: Sequence[frozenset[str]]) -> bool:
    own = term_set(sentence) - STOP_WORDS
    return len(own) >= ECHO_TERMS and any(len(own & other) >= ECHO * len(own) for other in seen)


def text_key(text: str) -> str:
    """What two memories are compared by: their terms in order, small words and word endings apart."""
    return " ".join(term for term in query_terms(text) if term not in STOP_WORDS and term not in _FILLERS)


def recalled(
    question: str,
    memories: Sequence[Memory],
    *,
    cosines: Cosines | None = None,
    limit: int = MOST_RECALLED,
) -> list[Memory]:
    """The memories that have to do with the question, nearest first, newer first among equals.

    A memory counts by the share of the question's terms in it (rare ones weigh more) and, where ``cosines``
    can tell, by its likeness. Words that every question has ("use", "paper") call up nothing.
    """
    ordered = sorted(memories, key=lambda m: (m.seen_at, m.id), reverse=True)
    if not ordered:
        return []
    shares = _term_shares(question, ordered)
    likeness = cosines(question, [m.text for m in ordered]) if cosines else [0.0] * len(ordered)
    many = len(ordered) >= MANY
    alike = max(ALIKE_OF_MANY, median(likeness) + ABOVE_OTHERS) if many else ALIKE
    near = [
        (share + max(0.0, cosine), memory)
        for share, cosine, memory in zip(shares, likeness, ordered, strict=True)
        if share >= RECALLED_FROM or cosine >= alike
    ]
    near.sort(key=lambda pair: -pair[0])
    return [memory for _, memory in near[:limit]]


def _term_shares(question: str, memories: Sequence[Memory]) -> list[float]:
    bags = [term_set(memory.text) for memory in memories]
    wanted = [term for term in query_terms(question) if term not in _WEAK]
    held = {term: sum(term in bag for bag in bags) for term in wanted}
    weights = {term: math.log(1 + (len(bags) + 1) / (count + 0.5)) for term, count in held.items()}
    total = sum(weights.values()) or 1.0
    return [sum(weights[term] for term in wanted if term in bag) / total for bag in bags]

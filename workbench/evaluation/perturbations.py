"""True sentences made false, in the ways that a chat model gets them wrong.

Each function gives the false versions of one sentence that it can make, each with a word for how it was
made; an empty list where it finds nothing to change. They know nothing of the audit: their word lists are
their own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from random import Random

Change = tuple[str, str]  # how, and the changed sentence

_NUMBER = re.compile(
    r"(?<![\w.,/\[(–-])(?:[−-](?=\d))?\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\w\]])|"
    r"(?<![\w.,/\[(–-])(?:[−-](?=\d))?\d+(?:[.,]\d+)?(?=[\s%.,;:)]|[A-Za-zµ°×]{1,3}\b|$)(?!\])"
)
_LABEL = re.compile(
    r"(?:Table|Figure|Fig\.?|Section|Eq\.?|Appendix|Chapter|Note|Item|Ref\.?|page|et al\.,?) ?\(?$"
)
_NUMBER_WORDS = """two three four five six seven eight nine ten""".split()
_UNIT_PAIRS = """
ms:s s:ms seconds:minutes minutes:hours hours:days h:min min:h days:weeks weeks:days months:years
years:months day:week year:month GB:MB MB:GB KB:MB TB:GB bits:bytes bytes:bits bp:kb kb:bp nM:µM µM:mM
μM:nM uM:nM mM:µM mg:µg µg:mg μg:mg ng:µg kg:g ml:µl mL:µL µl:ml μl:ml µL:mL μL:mL nm:µm µm:nm μm:nm
mm:cm cm:mm km:m m:km °C:K Prozent:Prozentpunkte million:billion billion:million millions:billions
Millionen:Milliarden M:B B:M K:M k:M x:% X:% ×:% times:percent fold:percent dollars:euros Hz:kHz kDa:Da
V:mV 元:美元 个:万个 個:万個
"""
_UNIT_SWAPS = dict(pair.split(":") for pair in _UNIT_PAIRS.split())
_UNIT_SWAPS |= {"%": " percentage points", "percent": "percentage points"}
_UNIT = re.compile(
    r"(?<=\d)(?P<gap>[\s-]?)(?P<unit>"
    + "|".join(sorted((re.escape(u) for u in _UNIT_SWAPS), key=len, reverse=True))
    + r")(?![A-Za-zµμ0-9^])"
)
_CURRENCY = re.compile(r"[$€£](?=\s?\d)")

_AUXILIARY = re.compile(
    r"\b(?:is|are|was|were|has|have|had|can|could|will|would|should|may|might|must|does|did|do)\b(?! not|n't)"
)
_VERBS = {
    "achieves": "achieve", "allows": "allow", "leads": "lead", "shows": "show", "uses": "use",
    "provides": "provide", "requires": "require", "improves": "improve", "increases": "increase",
    "outperforms": "outperform", "reduces": "reduce", "results": "result", "supports": "support",
    "makes": "make", "gives": "give", "takes": "take", "includes": "include", "enables": "enable",
    "contains": "contain", "produces": "produce", "decreases": "decrease", "needs": "need",
    "depends": "depend", "affects": "affect", "generates": "generate", "promotes": "promote",
}  # fmt: skip
_PAST = re.compile(r"\b(?:increased|decreased|improved|reduced|showed|declined|achieved|used|found|led)\b")
_NEGATION = re.compile(r"\b(?:not|no|none|never|neither|nor|without|cannot|n't|only|unless)\b|n't\b")
_DROPPED_NEGATIONS = (
    (r"\b(is|are|was|were|has|have|had|can|could|will|would|should|may|might|must) not\b", r"\1"),
    (r"\bdo(?:es)? not ", ""),
    (r"\bdid not ", ""),
    (r"\bcannot\b", "can"),
    (r"\bnever\b", "always"),
    (r"\bwithout\b", "with"),
    (r"\b[Nn]either\b(.*?)\bnor\b", r"both\1and"),
    (r"\bunable\b", "able"),
    (r"\bfail(?:s|ed)? to\b", "manage to"),
    (r"\bno longer\b", "still"),
    (r"\bNo (?=[a-z])", "Every "),
    (r"\bno (?=[a-z]{4})(?!more|less|long)", "some "),
    (r"\bnon-(?=[a-z])", ""),
    (r"\bun(?=(?:changed|affected|related|known|likely|necessary|favorable|secured|usual|available)\b)", ""),
    (r"\bnicht ", ""),
    (r"\bkeine?\b", "eine"),
    (r"\bn[e'’] ?(\w+) (?:pas|que)\b", r"\1"),
)
_ADDED_NEGATIONS = (
    (r"\b(is|are|was|were|can|could|will|would|should|may|might|must|had|ha[sv]e been)\b(?! not)", r"\1 not"),
    (r"\b(can|could|may|will|would)\b(?! not)", r"\1 never"),
    (r"\b([Bb]oth) (\w+) and\b", r"neither \2 nor"),
    (r"\bAll (?=[a-z])", "None of the "),
    (r"\ball (?=[a-z])", "none of the "),
    (r"\bwith (?=(?:a|an|the|our|two|its)\b)", "without "),
    (r"\balways\b", "never"),
    (r"\bable to\b", "unable to"),
    (r"\b(likely|necessary|available|known|affected|related|important)\b", r"un\1"),
    (r"\b(ist|sind|wird|werden|war|waren)\b(?! nicht)", r"\1 nicht"),
    (r"\b(est|sont) (?!pas)", r"n'\1 pas "),
)  # fmt: skip

_OPPOSITES = """
increase decrease | increases decreases | increased decreased | increasing decreasing | rise fall | rises
falls | rose fell | higher lower | high low | highest lowest | more fewer | more less | larger smaller |
large small | largest smallest | greater smaller | faster slower | fast slow | fastest slowest | better
worse | best worst | above below | before after | longer shorter | long short | earlier later | early late
| maximum minimum | maximize minimize | maximizing minimizing | at_least at_most | first last | positive
negative | upper lower | outperforms underperforms | outperform underperform | outperformed underperformed
| gain loss | gains losses | improve worsen | improves worsens | improved worsened | improving worsening |
strong weak | stronger weaker | same different | includes excludes | include exclude | included excluded |
including excluding | majority minority | activation inhibition | activates inhibits | activated inhibited
| upregulated downregulated | growth decline | grew shrank | reduce increase | reduces increases | reduced
increased | reduction increase | declined grew | favorable unfavorable | easy difficult | easier harder |
simple complex | similar dissimilar | expensive cheap | similarity difference | success failure | start
end | begins ends | top bottom | deeper shallower | gained lost | dense sparse | local global | external
internal | previous subsequent | upstream downstream | old new | mehr weniger | größer kleiner | vor nach
| plus moins | haut bas | 增加 减少 | 提高 降低 | 高い 低い
"""
_DIRECTIONS: dict[str, list[str]] = {}
for _pair in _OPPOSITES.replace("\n", " ").split("|"):
    if _pair.strip():
        _one, _two = (word.replace("_", " ") for word in _pair.split())
        _DIRECTIONS.setdefault(_one, []).append(_two)
        _DIRECTIONS.setdefault(_two, []).append(_one)

_QUALIFIERS = (
    (r"\b[Ss]ome (?=[a-z])", "all "),
    (r"\b[Mm]ost (?=[a-z]+s\b)", "all "),
    (r"\b[Mm]any (?=[a-z])", "all "),
    (r"\ball (?=[a-z])", "some "),
    (r"\bAll (?=[a-z])", "Some "),
    (r"\b(?:may|might) (?=[a-z])", "does "),
    (r"\b[Oo]ften\b", "always"),
    (r"\b[Uu]sually\b", "always"),
    (r"\b[Tt]ypically\b", "always"),
    (r"\bonly ", ""),
    (r"\balways\b", "sometimes"),
    (r"\beach\b", "some"),
    (r"\bevery\b", "some"),
    (r"\bpartially\b", "completely"),
    (r"\b[Ss]everal\b", "all"),
    (r"\bapproximately\b", "more than"),
    (r"\bup to\b", "more than"),
)

_ENTITY = re.compile(
    r"(?<![\w-])(?:[A-Za-z]*[A-Z][A-Za-z]*[A-Z0-9][\w+-]*|[A-Z]{2,}[\w-]*|"
    r"(?:[A-Z][a-z]{2,}(?: [A-Z][a-z]{2,})*))(?![\w-])"
)
_NO_ENTITIES = frozenset(
    """The This These That Those There Then Thus They Our Its It In On At As For From With While When Where
    We Table Figure Fig Section Appendix Eq Equation However Moreover Furthermore Although Here
    Hence Also And But By Additionally Finally First Second Third Next Each Every All Both Some Most
    Many No Not If To An Of Or So Since Such After Before During Under Using Unlike Let Let's Given
    Because Note Recently Specifically Consequently January February March April May June July
    August September October November December Item Part Supplementary Der Die Das Ein Eine Es Wir
    Sei Dann Le La Les Un Une Dans Pour Nous""".split()
)


def changed_number(sentence: str, rng: Random) -> list[Change]:
    """A digit changed, a factor of ten, a year or a number word moved; references and labels left alone."""
    changes: list[Change] = []
    for match in _NUMBER.finditer(sentence):
        old = match.group()
        if _LABEL.search(sentence[: match.start()]):
            continue
        plain = old.lstrip("-−")
        if re.fullmatch(r"(?:19|20)\d\d", plain):
            new = {"year": str(int(plain) + rng.choice((-3, -2, -1, 1, 2, 3)))}
        else:
            new = {"digit": _other_digit(plain, rng), "factor": _other_size(plain, rng)}
        for how, value in new.items():
            if value and value != plain:
                changes.append((how, _put(sentence, match.span(), old.replace(plain, value))))
        if old[0] in "-−":
            changes.append(("sign", _put(sentence, match.span(), plain)))
    for match in re.finditer(rf"\b(?:{'|'.join(_NUMBER_WORDS)})\b", sentence):
        others = [word for word in _NUMBER_WORDS if word != match.group()]
        changes.append(("number word", _put(sentence, match.span(), rng.choice(others))))
    return changes


def changed_unit(sentence: str, rng: Random) -> list[Change]:
    """Another unit of the same kind, percent and percentage points, another scale or currency."""
    changes = [
        ("unit", _put(sentence, match.span(), match["gap"] + _UNIT_SWAPS[match["unit"]]))
        for match in _UNIT.finditer(sentence)
    ]
    changes += [
        ("currency", _put(sentence, match.span(), rng.choice([c for c in "$€£" if c != match.group()])))
        for match in _CURRENCY.finditer(sentence)
    ]
    return [(how, re.sub(r" {2,}", " ", text)) for how, text in changes]


def negated(sentence: str, rng: Random) -> list[Change]:
    """A negation added or taken away."""
    changes = list(_substituted(sentence, "negation removed", _DROPPED_NEGATIONS))
    if changes or _NEGATION.search(sentence):
        return changes  # a second negation may take back the first
    changes += _substituted(sentence, "negation added", _ADDED_NEGATIONS)
    for verb, plain in _VERBS.items():
        for match in re.finditer(rf"(?<=[a-z\d)] ){verb}\b(?! of)", sentence):
            how = rng.choice(("does not", "fails to", "never"))
            said = f"never {verb}" if how == "never" else f"{how} {plain}"
            changes.append(("negation added", _put(sentence, match.span(), said)))
    for match in _PAST.finditer(sentence):
        if not _AUXILIARY.search(sentence[: match.start()][-12:]):
            changes.append(("negation added", _put(sentence, match.span(), f"never {match.group()}")))
    return changes


def turned_round(sentence: str, rng: Random) -> list[Change]:
    """A word of direction or comparison turned into its opposite."""
    changes: list[Change] = []
    for word, others in _DIRECTIONS.items():
        edge = r"\b" if word.isascii() else ""
        for match in re.finditer(rf"{edge}{word}{edge}", sentence):
            changes.append(("direction", _put(sentence, match.span(), rng.choice(others))))
    return changes


def requalified(sentence: str, rng: Random) -> list[Change]:
    """All for some, does for may, always for often."""
    return list(_substituted(sentence, "qualifier", _QUALIFIERS))


def exchanged(sentence: str, rng: Random) -> list[Change]:
    """Two names, or two figures, of the sentence in each other's place; not those of one list."""
    changes: list[Change] = []
    for how, spans in (("names", _entity_spans(sentence)), ("figures", _figure_spans(sentence))):
        for i, (start, end) in enumerate(spans):
            for after, stop in spans[i + 1 :]:
                between, one, two = sentence[end:after], sentence[start:end], sentence[after:stop]
                if one == two or not _tells(between) or one in two or two in one:
                    continue
                changes.append((how, sentence[:start] + two + between + one + sentence[stop:]))
    return changes


def renamed(sentence: str, rng: Random, others: Iterable[str]) -> list[Change]:
    """A name of the sentence replaced by another one, of ``others`` (names of its passage, say)."""
    spans = _entity_spans(sentence)
    choice = [name for name in dict.fromkeys(others) if name not in sentence]
    changes: list[Change] = []
    for start, end in spans:
        name = sentence[start:end]
        fitting = [o for o in choice if not _kin(o, name) and _alike(o, name)]
        if fitting:
            changes.append(("entity", _put(sentence, (start, end), rng.choice(fitting))))
    return changes


def entities(text: str) -> list[str]:
    """The distinct names in a text, in order."""
    return list(dict.fromkeys(text[start:end] for start, end in _entity_spans(text)))


Perturbation = Callable[[str, Random], list[Change]]
PERTURBATIONS: dict[str, Perturbation] = {
    "number": changed_number,
    "unit": changed_unit,
    "negation": negated,
    "direction": turned_round,
    "exchange": exchanged,
    "qualifier": requalified,
}


def _put(sentence: str, span: tuple[int, int], new: str) -> str:
    return sentence[: span[0]] + new + sentence[span[1] :]


def _other_digit(number: str, rng: Random) -> str:
    places = [i for i, c in enumerate(number) if c.isdigit()]
    place = rng.choice(places)
    first = place == 0 and len(number) > 1
    digits = [d for d in "0123456789" if d != number[place] and not (first and d == "0")]
    return number[:place] + rng.choice(digits) + number[place + 1 :]


def _other_size(number: str, rng: Random) -> str:
    if "," in number or number.startswith("0"):
        return ""
    if "." in number:
        whole, part = number.split(".")
        return f"{whole}{part[0]}.{part[1:]}".rstrip(".") if rng.random() < 0.5 else f"0.{whole}{part}"
    return number + "0" if rng.random() < 0.5 or not number.endswith("0") else number[:-1]


def _substituted(sentence: str, how: str, patterns: Iterable[tuple[str, str]]) -> Iterator[Change]:
    for pattern, new in patterns:
        for match in re.finditer(pattern, sentence):
            said = match.expand(new) + (
                " " if match.group().endswith(" ") and new and not new.endswith(" ") else ""
            )
            changed = _put(sentence, match.span(), said)
            yield how, changed[:1].upper() + changed[1:] if sentence[:1].isupper() else changed


def _entity_spans(sentence: str) -> list[tuple[int, int]]:
    spans = []
    for match in _ENTITY.finditer(sentence):
        name = match.group()
        start = match.start()
        if " " in name and name.split()[0] in _NO_ENTITIES:
            start, name = start + name.index(" ") + 1, name.partition(" ")[2]
        opening = start == 0 or sentence[:start].rstrip()[-1:] in {".", ":", "("}
        plain = name[0].isupper() and name[1:].islower()
        if (
            name in _NO_ENTITIES
            or name in _UNIT_SWAPS
            or name.split()[0] in _NO_ENTITIES
            or len(name) < 2
            or (opening and plain)
        ):
            continue
        spans.append((start, match.end()))
    return spans


def _figure_spans(sentence: str) -> list[tuple[int, int]]:
    return [m.span() for m in _NUMBER.finditer(sentence) if not _LABEL.search(sentence[: m.start()])]


def _tells(between: str) -> bool:
    """Whether the text between two things gives them different parts: it holds a verb or a preposition."""
    words = re.findall(r"[A-Za-z]+", between.lower())
    if (re.match(r"\s*,", between) and words[-1:] in (["and"], ["or"])) or between.strip() == ",":
        return False
    joined = {
        "and",
        "or",
        "nor",
        "et",
        "al",
        "as",
        "well",
        "the",
        "a",
        "an",
        "e",
        "g",
        "i",
        "models",
        "model",
        "vs",
    }
    return len(set(words) - joined) > 0 and not re.fullmatch(r"[\s,;()]*(?:and|or)?[\s,;()]*", between)


def _kin(one: str, other: str) -> bool:
    one, other = one.lower(), other.lower()
    return one in other or other in one or one.rstrip("s") == other.rstrip("s") or one[:4] == other[:4]


def _alike(one: str, other: str) -> bool:
    """Whether two names are of one kind: both words, or both with inner capitals or digits."""
    return (one[1:].islower() or " " in one) == (other[1:].islower() or " " in other)

"""Words that turn a sentence round: negations, opposites and qualifiers, in English and a few more languages.

Lists of this kind are never complete. They decide only where two sentences agree in the words around, so that
a word that is missing here costs a warning and never makes a false one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache

from workbench.retrieval.folding import stemmed

# Other ways of denying, which may stand for a negation but are none themselves.
DENIALS = frozenset(
    """outside beyond except excluding instead rather free unlike against far zero hardly barely avoid
    avoids prevent prevents refuse refused ignore ignores miss misses missing skip skips exclude
    excludes unless too otherwise off leave leaves left""".split()
)
NEGATIONS = frozenset(
    """not no never cannot neither without none nothing nobody nowhere hardly barely scarcely seldom rarely
    unable non fail fails failed failing lack lacks lacked lacking absent absence nicht kein keine
    keinen keinem keiner keines nie niemals ohne weder nichts pas sans jamais aucun aucune rien sin
    nunca ningún ninguna senza nessun nessuna""".split()
)
_NEGATED_CHARACTERS = re.compile(
    "不(?![仅但断过同论])|没|沒|無|无(?![论])|未|非(?!常)|ない|なかっ|ません|ず(?=に|、|。)"
)
_NO_NEGATION_BEFORE = frozenset({"but", "only", "just", "merely", "least", "solely", "nur", "seulement"})
_PREFIXES = ("un", "non", "in", "im", "ir", "il", "dis", "mis", "de")

# Words of one line's sides are opposites; each is told by its stem.
_OPPOSITES = """
increase rise rose risen grow grew growth gain higher high raise raised up upward climb expand expansion
  add augment / decrease fall fell fallen decline drop lower low reduce reduction loss lose lost shrink
  shrank down downward cut contract diminish
faster fast quick quicker sooner rapid speedup accelerate / slower slow later slowdown decelerate
fastest quickest / slowest
better best superior improve improvement enhance / worse worst inferior worsen deteriorate degrade
  degradation impair
more greater larger bigger most / less fewer smaller least lesser
large big great / small little tiny
largest greatest biggest highest maximum max maximal / smallest least lowest minimum min minimal fewest
maximize maximise / minimize minimise
above over exceed exceeds / below under
activate activation promote upregulate upregulation stimulate induce / inhibit inhibition suppress
  downregulate downregulation repress block
before prior previous preceding earlier early / after subsequent following later late
first initial / last final
long longer longest lengthen / short shorter shortest shorten brief
positive positively / negative negatively
upper top / lower bottom
outperform outperforms surpass / underperform underperforms
strong stronger strongest strengthen strongly / weak weaker weakest weaken weakly
same identical equal equally / different differently distinct unequal
similar similarly similarity / dissimilar different difference
include includes including inclusive / exclude excludes excluding exclusive
majority / minority
favorable favourable advantage benefit / unfavorable unfavourable disadvantage drawback adverse
easy easier easily simple simpler / difficult hard harder complex complicated
cheap cheaper inexpensive / expensive costly
success succeed successful / failure unsuccessful
start begin began beginning open / end finish stop close closed
accept allow permit enable / reject forbid prohibit prevent disable
appear / disappear
deep deeper / shallow shallower
dense / sparse
local / global
external outside outer outward / internal inside inner inward
upstream / downstream
old older / new newer young younger
heavy heavier / light lighter
wide wider broad broader / narrow narrower
hot hotter warm warmer / cold colder cool cooler
rich / poor
agree confirm support consistent / disagree contradict refute inconsistent
often frequently usually always commonly / rarely seldom
necessary required mandatory / unnecessary optional
safe safely / unsafe dangerous harmful
buy bought purchase / sell sold sale
gain profit income / loss
asset / liability
import / export
input / output
encoder encode / decoder decode
true correct right / false incorrect wrong
supervised / unsupervised
static / dynamic
linear / nonlinear
homogeneous / heterogeneous
mehr größer höher steigt steigen stieg gestiegen zunehmen erhöht schneller besser vor / weniger kleiner
  niedriger sinkt sinken sank gesunken abnehmen gesenkt langsamer schlechter nach
plus augmente augmenter hausse supérieur avant meilleur / moins diminue diminuer baisse inférieur après
  pire
"""
_UNSPACED = """增加/减少 提高/降低 上升/下降 大/小 高/低 多/少 快/慢 長/短 长/短 前/后
前/後 増加/減少 上/下 良/悪 好/坏"""
_UNSPACED_OPPOSITES = tuple(tuple(pair.split("/")) for pair in _UNSPACED.split())

# How much a word claims, from left to right, each line a scale of its own. A claim may say less than its
# source, but not more.
_SCALE_LINES = """
some several few < many half < most < all every each both any entire whole
may might could possibly perhaps < can would should likely probably < is are was were will must does do did
  has have certainly definitely
sometimes occasionally < often frequently < usually typically generally mostly < always invariably
slightly partially partly somewhat < moderately < considerably significantly substantially < completely
  entirely fully
approximately about around roughly < nearly almost < exactly precisely
suggest suggests < indicate indicates < show shows demonstrate demonstrates < prove proves
"""


def _lines(text: str) -> list[str]:
    return text.replace("\n ", " ").strip().splitlines()


@cache
def _opposites() -> dict[str, frozenset[str]]:
    """The stems of each word's opposites."""
    opposites: dict[str, frozenset[str]] = {}
    for line in _lines(_OPPOSITES):
        one, other = ({stemmed(word) for word in side.split()} for side in line.split(" / "))
        for words, against in ((one - other, other - one), (other - one, one - other)):
            for word in words:
                opposites[word] = opposites.get(word, frozenset()) | against
    return opposites


_SCALES = tuple(
    {word: level for level, words in enumerate(line.split(" < ")) for word in words.split()}
    for line in _lines(_SCALE_LINES)
)
LIMITS = frozenset({"only", "solely", "exclusively", "up", "least", "most", "than", "nur", "seulement"})
DOUBTS = frozenset(
    {"may", "might", "could", "possibly", "perhaps", "likely", "probably", "sometimes", "often"}
)


def negations(words: Sequence[str]) -> int:
    """How many negations stand among the words of a sentence (folded, in order)."""
    count = len(_NEGATED_CHARACTERS.findall("".join(words))) if any(not w.isascii() for w in words) else 0
    for word, behind in zip(words, [*words[1:], ""], strict=False):
        denies = word in NEGATIONS or word.endswith("n't")
        count += denies and behind not in _NO_NEGATION_BEFORE
    return count


def prefixed(one: str, other: str) -> bool:
    """Whether one word is the other with a prefix that denies it: unlikely and likely."""
    longer, shorter = sorted((one, other), key=len, reverse=True)
    if len(shorter) < 4 or not longer.endswith(shorter[-4:]):
        return False
    return any(longer.replace("-", "") == prefix + shorter for prefix in _PREFIXES)


def opposite(one: str, other: str) -> bool:
    """Whether two folded words are opposites, in any of their inflections."""
    against = opposites_of(one)
    return bool(against) and _stem(other) in against


def opposites_of(word: str) -> frozenset[str]:
    """The stems of a folded word's opposites; empty for most words."""
    return _opposites().get(_stem(word), frozenset())


@lru_cache(maxsize=1 << 14)
def _stem(word: str) -> str:
    return stemmed(word)


def opposite_signs(one: str, other: str) -> bool:
    """Whether two stretches of a script without spaces hold opposites of one another."""
    for pair in _UNSPACED_OPPOSITES:
        for a, b in (pair, pair[::-1]):
            if a in one and b in other and a not in other and b not in one:
                return True
    return False


def claims_more(said: str, found: str) -> int:
    """1 where the first word claims more than the second, -1 where less, 0 where they do not compare."""
    for scale in _SCALES:
        if said in scale and found in scale:
            return (scale[said] > scale[found]) - (scale[said] < scale[found])
    return 0

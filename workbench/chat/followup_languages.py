"""How follow-up questions lean on the question before them, language by language.

English is in ``followups`` itself. A language here is used only where the words, or the script, of the
question and of the one before it show that they are in it, because "es" is a pronoun in German and a verb in
Spanish. Each table is strict rather than complete: a follow-up that is missed is searched as it was typed,
but a question that stands alone must not be mixed with another one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Language:
    """``small``: words that say nothing of the subject; the language is known by them. ``opens``: begins a
    follow-up, and is cut off. ``leans``: refers to what was said before, unless in ``apart``. ``places``:
    prepositions whose noun may be exchanged ("of X" → "of Y"). ``lone``: what stands around a number that is
    exchanged ("in 2023", "2023年呢"), for languages without spaces."""

    small: frozenset[str]
    opens: re.Pattern[str]
    leans: re.Pattern[str]
    apart: re.Pattern[str]
    places: str = ""
    lone: str = ""
    spaced: bool = True


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _any(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE)


_START = r"^[\s¿¡]*"
_END = r"[\s?!.？。！]*$"

GERMAN = Language(
    small=_words(
        "wie was wer wen wem wessen wo woher wann warum wieso weshalb welche welcher welches welchen "
        "welchem ist sind war waren wird werden wurde wurden hat haben hatte kann können gibt der die das "
        "den dem des ein eine einen einem einer im in von vom mit und oder aber für auf bei zu zum zur nach "
        "aus über es sich nicht auch noch hoch viel viele jahr jahre sagen zeigen"
    ),
    opens=_any(
        _START + r"(?:und|oder|aber|sowie|dann|was ist mit|wie (?:ist|steht|sieht) es (?:mit|um|bei)"
        r"|wie sieht es aus (?:mit|bei))\b[\s,]*"
    ),
    # "Sie" with a capital is a polite you, unless it opens the question.
    leans=re.compile(
        r"\b(?:es|er|sie|ihn|ihm|ihre?[nrsm]?|dies(?:e[nrsm]?)?|jene[nrsm]?|dabei|dafür|dagegen|davon|daran"
        r"|darin|dazu|dort|beiden?|beider|letztere[nrsm]?|erstere[nrsm]?"
        r"|(?:der|die|das|dem|den) (?:erste|zweite|dritte|letzte|andere)[nrsm]?(?=[\s?.!]*$| [a-zäöü]))\b"
        rf"|{_START}(?:Dies\w*|Dabei|Davon|Er)\b"
        rf"|{_START}(?i:warum|wieso|weshalb|inwiefern|seit wann|mehr dazu|zum Beispiel|genauer){_END}"
    ),
    apart=_any(
        r"\b(?:gibt es|es gibt|handelt es sich|geht es)\b|\bdies\w* (?:projekt|sammlung)\w*"
        r"|\b(?:autor\w*|forscher\w*|studien|arbeiten|verfasser\w*)\b[^?]{0,40}\bihre?\w*"
    ),
    places="von|vom|in|im|für|mit|bei|auf|aus|über|unter|gegen|zu|zum|zur",
)

FRENCH = Language(
    small=_words(
        "quel quelle quels quelles que qu quoi qui où quand comment pourquoi combien est sont était étaient "
        "a ont peut le la les l un une des du de d dans en et ou mais pour avec sur à au aux par ce se ne "
        "pas plus il y c année ans dire montrer fait"
    ),
    opens=_any(
        _START + r"(?:et|ou|mais|alors|puis|qu['’]en est[- ]il (?:de|du|des|d['’])|quid (?:de|du|des|d['’]))"
        r"(?:\b|(?<=['’]))[\s,]*"
    ),
    leans=_any(
        r"\b(?:celui|celle|ceux|celles|cela|ça|ceci|lui|leurs?|eux|ces|cette|cet|ce dernier|cette dernière"
        r"|(?:le|la|les) (?:premi(?:er|ère)|second|seconde|deuxième|troisième|derni(?:er|ère)|autre)s?"
        rf"(?={_END}| (?:est|sont|en|se|a)\b)|tous les deux|toutes les deux)\b"
        r"|\b(?:est|sont|a|ont|était|peut|fait|t)-(?:il|elle|ils|elles)\b"
        r"|\b(?:pourquoi|comment|quand|où|combien|est-ce qu['’]) ?(?:il|elle|ils|elles)\b(?! y a)"
        rf"|{_START}(?:pourquoi|comment ça|depuis quand|par exemple){_END}"
    ),
    # "Le point de fusion est-il …" names its subject before the pronoun.
    apart=_any(
        r"\b(?:(?:les|des) )?(?:auteurs|études|chercheurs|articles)\b[^?]{0,40}\bleurs?\b"
        r"|\by a-t-il\b|\bil y a\b|\b(?:ce|cet|cette) (?:projet|collection)\b|\best-ce que?\b"
        r"|\b(?:le|la|les|l['’]|un|une|des|ces) ?[\w’' -]{3,60}? \w+-(?:t-)?(?:il|elle|ils|elles)\b"
    ),
    places="de|du|des|dans|en|pour|avec|sur|à|au|aux|chez|par",
)

SPANISH = Language(
    small=_words(
        "qué que cuál cual cuáles cuales quién quien quiénes dónde donde cuándo cuando cómo como por cuánto "
        "cuánta cuántos cuántas es son era eran fue fueron ha han hay puede el la los las un una unos unas "
        "de del al en y o pero para con sobre a se no más lo año años decir mostrar"
    ),
    opens=_any(
        _START + r"(?:y|e|o|pero|entonces|y qué (?:hay|tal)|qué (?:hay|pasa con|tal)(?: de)?)\b[\s,]*"
    ),
    leans=_any(
        r"\b(?:él|ella|ellos|ellas|est[aeo]s?|es[ao]s?|aquell[oa]s?|ambos|ambas|ahí|allí"
        r"|(?:el|la|los|las) (?:primer[oa]|segund[oa]|tercer[oa]|últim[oa]|otr[oa]|mism[oa])s?"
        rf"(?={_END}| (?:es|son|se|en|tiene)\b)|(?:el|la|los|las) de)\b(?! (?:proyecto|colección)\b)"
        rf"|{_START}(?:por qué|cómo así|desde cuándo|por ejemplo){_END}"
        rf"|{_START}y su\b"
    ),
    apart=_any(
        r"\b(?:est[eo]|ese) (?:proyecto|colección)\b|\bpor eso\b|\bes decir\b"
        r"|\b(?:autores|estudios|investigadores|artículos)\b[^?]{0,40}\bsus?\b|\btod[oa]s (?:los|las) de\b"
    ),
    places="de|del|en|para|con|sobre|por|entre|contra|según",
)

# Without spaces there are no words to count: small words are cut out of the question that is taken over.
CHINESE = Language(
    small=_words(
        "是多少 是什么 是什麼 有多少 有哪些 是哪些 是否 为什么 為什麼 怎么样 怎麼樣 怎样 怎樣 怎么 怎麼 如何 "
        "多少 什么 什麼 哪些 哪个 哪個 哪一个 吗 嗎 呢 请问 請問"
    ),
    opens=_any(
        r"^\s*(?:那么|那麼|那|然后|然後|还有|還有|以及|而且|而|并且|並且)[，,\s]*(?!些|个|個|种|種|里|裡)"
    ),
    leans=_any(
        r"它|[他她][们們]|[这這][个個些种種]?|那[个個些种種里裡]|前者|[后後]者|[两兩]者|二者|上述|(?<![极極尤])其(?![他它中实實次余餘])"
        rf"|第[一二三四五][个個](?={_END}|[有是怎如和与與为為])|另一[个個]|呢{_END}"
        rf"|^\s*(?:为什么|為什麼|怎么会|怎麼會|比如|例如|更多|详细一点|詳細一點){_END}"
    ),
    apart=_any(r"[这這][个個些](?:项目|專案|文献库|文獻庫)"),
    lone="年在中里的呢",
    spaced=False,
)

JAPANESE = Language(
    small=_words(
        "とは何ですか は何ですか は何度ですか は何 ですか ますか でしたか ましたか どのくらい どれくらい "
        "どのような どのように どう なぜ いくつ いくら いつ どこ 誰 何"
    ),
    opens=_any(r"^\s*(?:それでは|それで|では|じゃあ?|そして|また|一方|ちなみに)[、,\s]*"),
    leans=_any(
        r"それ(?!ぞれ)|これ(?!まで|から)|あれ|その(?!他|後|ため)|この(?!プロジェクト|分野|ため)|そこ|彼ら|彼女"
        rf"|後者|前者|両者|[二三2-9２-９]つ目|[二2２]番目|もう一つ|は{_END}"
        rf"|^\s*(?:なぜ|どうして|例えば|たとえば|もっと詳しく)(?:ですか)?{_END}"
    ),
    apart=_any(r"ことは?$"),
    lone="年でにはのも",
    spaced=False,
)

_OTHER_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")  # Thai, Lao, Burmese, Khmer
_KANA = re.compile("[\u3041-\u30ff]")
_HAN = re.compile("[\u4e00-\u9fff]")
_WORD = re.compile(r"[^\W\d_]+")
_PUNCTUATION = re.compile(r"[^\w\s-]|(?<=\w)[的は](?=\s|$)")
_ENGLISH = _words(
    "what which who when where why how is are was were does do did the of and or in on for with to from by "
    "that there it this about"
)
_SPACED = (GERMAN, FRENCH, SPANISH)


def language_of(question: str, earlier: str = "") -> Language | None:
    """The language of a question and the one before it; None for English, and for any without a table."""
    text = f"{question} {earlier}"
    if _KANA.search(text):
        return JAPANESE
    if _HAN.search(text):
        return CHINESE
    words = [word.casefold() for word in _WORD.findall(text)]
    counts = [sum(word in language.small for word in words) for language in _SPACED]
    best = max(counts)
    known = best > sum(word in _ENGLISH for word in words) and counts.count(best) == 1
    return _SPACED[counts.index(best)] if known else None


def counts_as_words(question: str) -> bool:
    """Whether the question's words stand apart, so that their number tells how short it is."""
    return not any(script.search(question) for script in (_KANA, _HAN, _OTHER_UNSPACED))


def bare(text: str, language: Language) -> str:
    """A question in a language without spaces, without the words that only ask."""
    for word in sorted(language.small, key=len, reverse=True):
        text = text.replace(word, " ")
    return " ".join(_PUNCTUATION.sub(" ", text).split())

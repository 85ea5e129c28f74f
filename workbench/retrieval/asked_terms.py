"""What a question asks about: its terms without the words that only ask.

"How many papers say that BM25 is robust?" asks about BM25 and robust. The words left out are those that may
be missing from papers that answer the question: question words, words for papers, and words so general that
a paper says them otherwise. A question of nothing but such words ("Summarise these papers") is about all of
them.
"""

from __future__ import annotations

import re
from functools import lru_cache

from workbench.retrieval.terms import query_terms

_ENGLISH = """
about abstract according answer article ask author begin below besides brief briefly central certain come
conclusion contribution cover cut deal describe detail difference different discuss document each else ever
example explain explained fact few file filing find finding folder further general get give given go happen
help here idea important instead just keep key kind know later like list look main make many matter mean
mention method more most much must name need new note nothing one only other others outline overall overview
own paper papers part people place please point possible pros question quick quickly really reason refer
report result role said same say says see sentence several shall short should show slide some something sort
state story study studied subject such suggest sum summarise summarize summary sure survey take talk tell
term text thing three title together topic try two type use used user using various very want way well whole
work write yet you happened whether beside between than while during after before without within against per
via both either neither every any all no not nor but if because so too also still again once me my i us your
slow fast big small large long high low good bad best better worse worst first second last early late next
beat win lose reach achieve obtain choose chose chosen happens happening effect perform let became become
becomes turn start end done made faster slower larger smaller bigger higher lower longer shorter
recommend recommendation advise advice argue argument claim conclude advantage disadvantage drawback benefit
compare comparison contrast year date day month amount value percentage
""".split()
_OTHER = """
was wer wen wem wie wo wann warum wieso worum womit wovon wofür welche welcher welches welchen welchem ist
sind war waren wird werden wurde wurden hat haben hatte kann können gibt geht der die das den dem des ein
eine einen einem einer im in von vom mit und oder aber für auf bei zu zum zur nach aus über es sich nicht
auch nur noch sehr hoch viel viele diese dieser dieses diesen diesem dokument dokumente dokumenten arbeit
arbeiten artikel texte texten autor autoren fasse fassen zusammen zusammenfassung überblick inhalt inhalte
hier heißt wenn man quel quelle quels quelles que quoi qui où quand comment pourquoi combien est sont a ont
peut le la les un une du de en dans et ou mais pour avec sur à au aux par ce ces cet cette se ne pas plus il
elle ils y résume résumer résumez résumé articles article documents document auteurs auteur parlent parle
traitent traite donne donnent qué cuál cuáles quién cómo cuándo dónde son el los las una del con por para
sobre tratan resume artículos jahr jahre datum année date año fecha
""".split()
# Chinese and Japanese words that only ask, and the characters that join the others.
_ASKING_CJK = re.compile(
    "论文|文章|文献|文档|作者|使用|哪种|哪些|总结|概述|内容|主要|介绍|关于|論文|文書|著者|内容|要約|概要|資料|主題|"
    "[\u3040-\u309f、。？！?的了是在和与及有哪什么多少如何怎吗呢这些那为被把对从到几讲何]"
)
_COMPOUND = re.compile(r"\w+(?:-\w+)+")
_UNSPACED = re.compile("[\u2e80-\u9fff\uf900-\ufaff]+")


def asked_terms(question: str) -> list[str]:
    """The distinct terms of what is asked about, in order; empty where all is asked for."""
    return [term for term in query_terms(_ASKING_CJK.sub(" ", question)) if not _only_asks(term)]


def asks_for_everything(question: str) -> bool:
    """Whether the question is about the papers as such: what they are about, a summary, an overview."""
    return bool(query_terms(question)) and not asked_terms(question)


def parts_of_compounds(question: str) -> dict[str, set[str]]:
    """Of each compound of the question whose parts are asked for too, the whole's term and the parts'."""
    found = {}
    for compound in _COMPOUND.findall(question):
        whole, *parts = query_terms(compound) or [""]
        if parts:
            found[whole] = set(parts)
    return found


def _only_asks(term: str) -> bool:
    return term in _asking() or (len(term) == 1 and _UNSPACED.fullmatch(term) is not None)


@lru_cache(maxsize=1)
def _asking() -> frozenset[str]:
    return frozenset(term for word in (*_ENGLISH, *_OTHER) for term in (word, *query_terms(word)))

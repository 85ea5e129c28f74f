"""What the wording of a question says about where its answer stands."""

from __future__ import annotations

import re

_PAPERS = (
    r"(?:papers?|stud(?:y|ies)|documents?|reports?|articles?|publications?|manuscripts?|preprints?|filings?)"
)
_ABOUT_PAPERS = re.compile(
    "|".join(
        (
            r"\b(?:another|each|every|all|both|these|those|which|several|two|three|four|five|different|across|"
            rf"between|among)\s+(?:of\s+)?(?:(?:the|these|those|annual|other|quarterly)\s+)*{_PAPERS}\b",
            r"\b(?:welche[rsnm]?|jede[rsnm]?|alle[rn]?|beide[rn]?|diese[rsnm]?|anderen?)\s+(?:der\s+)?"
            r"(?:Arbeit|Studie|Artikel|Dokument|Bericht|Paper|Veröffentlichung)(?:e|en|n|s)?\b",
            r"\b(?:chaque|chacun des|tous les|ces|quels?|lesquels des|autres?)\s+"
            r"(?:articles?|études?|documents?|rapports?|publications?)\b",
            r"\b(?:cada|todos los|todas las|estos|estas|qué|otros?|otras?)\s+"
            r"(?:artículos?|estudios?|documentos?|informes?|publicaci(?:ón|ones))\b",
            r"(?:这些|每篇|各篇|哪些|所有|两篇|几篇)(?:论文|文章|文献|文档|报告)",
            r"(?:これらの|各|どの|すべての|二つの)(?:論文|文書|記事|文献|報告書)",
        )
    ),
    re.IGNORECASE,
)


def asks_about_papers(question: str) -> bool:
    """Whether a question is about the papers as such ("in which of these papers", "each annual report"), so
    that each of them has a say."""
    return _ABOUT_PAPERS.search(question) is not None

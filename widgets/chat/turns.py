"""One question and its answer as the chat panel shows them: plain values for the front end."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from widgets.richtext import Marker, answer_html
from widgets.wording import byline, one_line, scope_name
from workbench import asked_line, scope_line
from workbench import suggestions as questions_to_begin

if TYPE_CHECKING:
    from workbench import Answer, Citation, Dropped, Evidence, Passage


Turn = dict[str, Any]

NEAREST_DROPPED = 12
_NO_MARK: dict[str, Any] = {"n": 0, "quote": "", "start": 0, "end": 0}


def asked(question: str) -> Turn:
    """A turn whose answer has not begun."""
    return {
        "question": question,
        "state": "searching",
        "html": "",
        "text": "",
        "citations": [],
        "asked": "",
        "notes": [],
    }


def unanswered(question: str) -> Turn:
    """A stored turn whose answer never came."""
    return {**asked(question), "state": "failed"}


def answered(answer: Answer, *, message_id: int | None = None, changed: Sequence[str] = ()) -> Turn:
    """A complete turn, or one that was stopped. ``changed`` says what has become of its papers since;
    ``message_id`` is the stored answer's, without which its silent papers cannot be asked."""
    ended = "stopped" if answer.stopped else "done"
    judged = () if answer.refused else answer.audit
    asked, scope = asked_line(answer.evidence), scope_line(answer.warnings)
    return {
        "question": answer.question,
        "state": "refused" if answer.refused else ended,
        "html": answer_html(answer.text, markers=_markers(answer), audit=judged),
        "text": copied_text(answer),
        "citations": [_citation(c, refused=answer.refused) for c in answer.citations],
        "narrowed": bool(asked),
        "asked": one_line(" ".join(filter(None, [asked, scope]))),
        "notes": [one_line(w) for w in (*answer.warnings, *changed) if w not in (asked, scope)],
        "coverage": _coverage(answer),
        "message": message_id or 0,
        "foot": _foot(answer),
        "passages": [_passage(p) for p in answer.evidence.passages],
        "left_out": _left_out(answer),
    }


def listed(turn: Turn, among: str) -> list[dict[str, Any]]:
    """What of a turn the viewer can open: its "citations", its "passages", the "nearest" that were left out,
    or the papers that were "silent"."""
    place = turn.get("left_out", {}) if among in {"nearest", "silent"} else turn
    found = place.get(among if among in {"passages", "nearest", "silent"} else "citations", [])
    return list(found)


def provisional_citations(evidence: Evidence) -> list[dict[str, Any]]:
    """What a marker means while the answer still streams: the passage of that number."""
    return [{**_passage(p), "support": "pending"} for p in evidence.passages]


def copied_text(answer: Answer) -> str:
    """The answer as markdown with its sources, for the clipboard."""
    sources = [
        f"[{c.n}] {c.title}{_year(c.year)}, {c.page_unit} {c.page_label or c.page}: “{c.quote}”"
        for c in answer.citations
    ]
    return "\n".join([answer.text, *([""] if sources else []), *sources])


def _year(year: int | None) -> str:
    return f" ({year})" if year else ""


def _markers(answer: Answer) -> list[Marker]:
    """A refusal's citations are the nearest passages, which support nothing and are not to blame for it."""
    return [
        Marker(c.n, "pending" if answer.refused else c.support, c.claim_start, c.claim_end or sys.maxsize)
        for c in answer.citations
    ]


def _foot(answer: Answer) -> dict[str, Any]:
    verdicts = Counter(v.verdict for v in answer.audit if v.verdict != "uncited" or _is_claim(v.sentence))
    return {
        "extractive": answer.provider == "extractive",
        "quotes": len(answer.citations),
        "supported": verdicts["supported"],
        "partly": verdicts["partly"],
        "unsupported": verdicts["unsupported"],
        "uncited": verdicts["uncited"],
        "provider": answer.provider,
        "scope": scope_name(answer.scope_label),
        "seconds": round(answer.timing.get("total", 0.0), 1),
    }


def _coverage(answer: Answer) -> dict[str, Any]:
    """The line under the answer, how many papers were silent, and the first of them by title."""
    covered = answer.coverage
    if covered is None:
        return {}
    return {
        "line": str(covered),
        "silent": covered.papers_silent,
        "titles": one_line(covered.silent_titles()),
    }


def _is_claim(sentence: str) -> bool:
    """A heading or a paper's name above its sentences needs no citation."""
    return sentence.rstrip().endswith((".", "!", "?", "。", "！", "？"))


def _citation(citation: Citation, *, refused: bool) -> dict[str, Any]:
    return {
        "n": citation.n,
        "paper": citation.paper_id,
        "title": citation.title,
        "byline": byline(citation.authors, citation.year),
        "page": citation.page,
        "label": citation.page_label or "",
        "unit": citation.page_unit,
        "quote": citation.quote,
        "start": citation.char_start,
        "end": citation.char_end,
        "support": "" if refused else citation.support,
    }


def _passage(passage: Passage) -> dict[str, Any]:
    return {
        "n": passage.n,
        "paper": passage.paper_id,
        "title": passage.title,
        "byline": byline(passage.authors, passage.year),
        "page": passage.page_start,
        "label": "",
        "unit": passage.page_unit,
        "quote": passage.text,
        "start": passage.char_start,
        "end": passage.char_end,
        "support": "",
        "score": round(passage.score, 2),
        "ranks": _ranks(passage.vector_rank, passage.keyword_rank),
    }


def _left_out(answer: Answer) -> dict[str, Any]:
    """What the answer did not use and why: how many passages for each reason, the nearest of them, the papers
    of the scope that gave none, and how many passages the chat model's window had no room for."""
    evidence = answer.evidence
    reasons = evidence.dropped_reasons or Counter(d.reason for d in evidence.dropped)
    because = zip(evidence.silent, evidence.silent_because, strict=False)
    return {
        "reasons": [{"reason": one_line(reason), "count": count} for reason, count in reasons.items()],
        "nearest": [_dropped(d) for d in evidence.dropped[:NEAREST_DROPPED] if d.page_start],
        "silent": [
            {"paper": p.id, "title": one_line(p.title), "reason": one_line(reason), **_NO_MARK, "page": 1}
            for p, reason in because
        ],
        "more_silent": max(0, evidence.papers_silent - len(evidence.silent_because)),
        "unread": answer.unread,
    }


def _dropped(dropped: Dropped) -> dict[str, Any]:
    return {
        "paper": dropped.paper_id,
        "title": one_line(dropped.title),
        "page": dropped.page_start,
        "unit": dropped.page_unit,
        "label": "",
        "score": round(dropped.relevance, 2),
        "ranks": _ranks(dropped.vector_rank, dropped.keyword_rank),
        "reason": one_line(dropped.reason),
        **_NO_MARK,
    }


def _ranks(vector: int | None, keyword: int | None) -> str:
    found = [f"{name} {rank}" for name, rank in (("meaning", vector), ("words", keyword)) if rank]
    return ", ".join(found)


def suggestions(titles: Sequence[str]) -> list[str]:
    """Questions to begin with, from the titles in scope; none where there is no paper."""
    return list(questions_to_begin("project", titles))

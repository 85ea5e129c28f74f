"""What the command line prints: plain lines, a progress bar, JSON. Never a control character of a paper."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from workbench.records import Answer, Citation, Evidence, FileOutcome, Passage, Progress

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def plain(text: object) -> str:
    """``text`` without control characters, which could move the cursor or forge lines of a terminal."""
    return _CONTROL.sub("", str(text))


def one_line(text: object) -> str:
    return plain(" ".join(str(text).split()))


def show(text: str = "", *, end: str = "\n") -> None:
    """Prints in whatever encoding the terminal has; what it lacks becomes ``?``."""
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(plain(text).encode(encoding, "replace").decode(encoding) + end)
    sys.stdout.flush()


def show_json(value: dict[str, Any]) -> None:
    """One JSON object on standard output. ASCII only, so that it survives any terminal or pipe."""
    sys.stdout.write(json.dumps(value, default=str) + "\n")


def show_rows(header: list[str], rows: Iterable[Sequence[object]]) -> None:
    """Columns as wide as their widest value, separated by two spaces."""
    lines = [header, *[[one_line("" if v is None else v)[:80] for v in row] for row in rows]]
    widths = [max(len(line[i]) for line in lines) for i in range(len(header))]
    for line in lines:
        show("  ".join(value.ljust(width) for value, width in zip(line, widths, strict=True)).rstrip())


def outcome_json(outcome: FileOutcome) -> dict[str, Any]:
    return asdict(outcome)


def outcome_line(outcome: FileOutcome) -> str:
    if outcome.status == "failed":
        return f"failed     {one_line(outcome.file)}: {one_line(outcome.error)}"
    notes = "".join(f"; {one_line(w)}" for w in outcome.warnings)
    size = f"{outcome.pages} pages, {outcome.chunks} chunks"
    return f"{outcome.status:9}  {one_line(outcome.file)} ({size}{notes})"


def passage_json(passage: Passage) -> dict[str, Any]:
    return asdict(passage)


def evidence_json(evidence: Evidence) -> dict[str, Any]:
    return {
        "query": evidence.query,
        "scope": evidence.scope_label,
        "passages": [passage_json(p) for p in evidence.passages],
        "dropped": len(evidence.dropped),
        "papers_in_scope": evidence.papers_in_scope,
        "parameters": evidence.parameters,
        "warnings": list(evidence.warnings),
        "timing": _rounded(evidence.timing),
    }


def answer_json(answer: Answer) -> dict[str, Any]:
    return {
        "answer": answer.text,
        "refused": answer.refused,
        "citations": [asdict(c) for c in answer.citations],
        "audit": [asdict(v) for v in answer.audit],
        "provider": answer.provider,
        "scope": answer.scope_label,
        "warnings": list(answer.warnings),
        "timing": _rounded(answer.timing),
    }


def citation_line(citation: Citation) -> str:
    """``[2] ✓ Title, page 4: “quote”``."""
    mark = {"supported": "✓", "partly": "◐", "unsupported": "✗"}[citation.support]
    where = citation.page_label if citation.page_unit != "page" and citation.page_label else None
    place = where or f"{citation.page_unit} {citation.page}"
    return f"[{citation.n}] {mark} {one_line(citation.title)}, {place}: “{one_line(citation.quote)}”"


class ProgressBar:
    """Progress of adding papers on standard error; silent where that is not a terminal."""

    def __init__(self) -> None:
        from tqdm import tqdm

        self._bar = tqdm(
            total=1, unit="", leave=False, disable=None, file=sys.stderr, bar_format="{l_bar}{bar}| {desc}"
        )

    def __call__(self, step: Progress) -> None:
        self._bar.total = max(step.total, 1)
        self._bar.n = min(step.done, step.total)
        self._bar.set_description_str(f"{step.stage} {one_line(step.file)[:60]}", refresh=False)
        self._bar.refresh()

    def close(self) -> None:
        self._bar.close()


def _rounded(timing: dict[str, float]) -> dict[str, float]:
    return {step: round(seconds, 4) for step, seconds in timing.items()}

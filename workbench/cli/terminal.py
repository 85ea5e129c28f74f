"""What the command line prints: plain lines, a progress bar, JSON. Never a control character of a paper."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any, NoReturn

import click

from workbench.records import Answer, Citation, Coverage, Evidence, FileOutcome, Progress

_WIDEST_COLUMN, _NARROWEST_COLUMN = 80, 12
_BEGINNING = 60  # letters of a quote that tell whether it stands in an answer already
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


def plain(text: object) -> str:
    """``text`` without what could move the cursor, forge lines, turn the writing round or not be written."""
    return _CONTROL.sub("", str(text)).encode("utf-8", "replace").decode("utf-8")


def one_line(text: object) -> str:
    return plain(" ".join(str(text).split()))


def show(text: str = "", *, end: str = "\n") -> None:
    """Prints a line, or with another ``end`` a piece of one."""
    write(plain(text) + end)


def write(text: str) -> None:
    """Writes in whatever encoding the terminal has; what it lacks becomes ``?``. Only for what is plain."""
    encoding = sys.stdout.encoding or "utf-8"
    try:
        sys.stdout.write(text.encode(encoding, "replace").decode(encoding))
        sys.stdout.flush()
    except BrokenPipeError:  # who read it has seen enough
        raise
    except OSError as error:
        raise click.ClickException(f"The output cannot be written: {error.strerror or error}.") from error


def show_wrapped(text: str, *, hanging: int = 0) -> None:
    """Prints a line, on a terminal broken between words; ``hanging`` indents what follows the first part."""
    from workbench.cli.flow import Flow

    flow = Flow(hanging=hanging)
    flow.feed(text)
    flow.end()
    show()


def note(text: object) -> None:
    """A line on standard error that is no error."""
    click.echo(f"note: {one_line(text)}", err=True)


def fail(text: object, status: int = 1) -> NoReturn:
    """Ends the program with its one line of error."""
    click.echo(f"workbench: {one_line(text)}", err=True)
    sys.exit(status)


def show_json(value: dict[str, Any]) -> None:
    """One JSON object on standard output. ASCII only, so that it survives any terminal or pipe; a file name
    that is no text has ``?`` for each byte that is none."""
    text = json.dumps(value, default=str, ensure_ascii=False).encode("utf-8", "replace")
    write(json.dumps(json.loads(text)) + "\n")


def show_rows(header: list[str], rows: Iterable[Sequence[object]]) -> None:
    """Columns as wide as their widest value, separated by two spaces; on a terminal all fit on one line."""
    from workbench.cli.flow import cells, columns, shorten

    texts = [header, *[[one_line("" if v is None else v) for v in row] for row in rows]]
    widths = [max(min(cells(line[i]), _WIDEST_COLUMN) for line in texts) for i in range(len(header))]
    room = columns()
    while room is not None and sum(widths) + 2 * (len(widths) - 1) > room and max(widths) > _NARROWEST_COLUMN:
        widths[widths.index(max(widths))] -= 1
    for line in texts:
        fitted = [shorten(value, width) for value, width in zip(line, widths, strict=True)]
        padded = [text + " " * (width - cells(text)) for text, width in zip(fitted, widths, strict=True)]
        show("  ".join(padded).rstrip())


def outcome_line(outcome: FileOutcome) -> str:
    if outcome.status == "failed":
        return f"failed     {one_line(outcome.file)}: {one_line(outcome.error)}"
    notes = "".join(f"\n           {one_line(w)}" for w in outcome.warnings)
    size = f"pages: {outcome.pages}, chunks: {outcome.chunks}"
    return f"{outcome.status:9}  {one_line(outcome.file)} ({size}){notes}"


def evidence_json(evidence: Evidence) -> dict[str, Any]:
    return {
        "query": evidence.query,
        "scope": evidence.scope_label,
        "passages": [asdict(p) for p in evidence.passages],
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
        "coverage": _coverage_json(answer.coverage),
    }


def _coverage_json(coverage: Coverage | None) -> dict[str, Any] | None:
    return None if coverage is None else asdict(coverage) | {"papers_silent": coverage.papers_silent}


def show_coverage(answer: Answer) -> None:
    """How many papers the answer rests on, in one line, and the silent ones by title."""
    if answer.coverage is None:
        return
    silent = answer.coverage.silent_titles()
    show()
    show_wrapped(f"{answer.coverage}." + (f" Not retrieved: {one_line(silent)}." if silent else ""))


def show_citations(answer: Answer) -> None:
    """Where each number of an answer leads, once each, with the quote where the answer does not say it.

    In a refusal the answer names the pages itself, and no mark is due: nothing was claimed.
    """
    said = _letters(answer.text)
    lines: list[str] = []
    for citation in answer.citations:
        quoted = _letters(citation.quote)
        if answer.refused:  # which cuts long quotes
            quoted = quoted[:_BEGINNING]
        repeated = quoted in said and (answer.refused or citation.support == "supported")
        if not (repeated and answer.refused):
            lines.append(citation_line(citation, quote=not repeated, mark=not answer.refused))
    if lines:
        show()
    for line in dict.fromkeys(lines):
        show_wrapped(line, hanging=4)


def citation_line(citation: Citation, *, quote: bool = True, mark: bool = True) -> str:
    """``[2] ✓ Title, page 4 (paper 7): “quote”``, the paper by its id; one that is shared says so."""
    from workbench.chat.citing import place

    sign = {"supported": "✓ ", "partly": "◐ ", "unsupported": "✗ "}[citation.support] if mark else ""
    where = one_line(place(citation.page_unit, citation)) + (", shared" if citation.shared else "")
    words = f": “{one_line(citation.quote)}”" if quote else ""
    return f"[{citation.n}] {sign}{one_line(citation.title)}, {where} (paper {citation.paper_id}){words}"


def _letters(text: str) -> str:
    """The text's letters alone: an answer writes reference numbers and line ends in its own way."""
    return re.sub(r"\(refs?\.\s[^)]*\)|\[[^\]]*\]|[\W\d_]+", "", text).casefold()


class ProgressBar:
    """Which file of how many, and how far it is, on standard error; silent where that is not a terminal."""

    def __init__(self) -> None:
        from tqdm import tqdm

        self._bar = tqdm(
            total=1,
            leave=False,
            disable=None,
            file=sys.stderr,
            bar_format="{percentage:3.0f}%|{bar:20}| {desc}",
        )

    def __call__(self, step: Progress) -> None:
        total = max(step.total, 1)
        self._bar.total = step.files
        self._bar.n = step.number - (step.stage != "index" or step.done < total)
        doing = f"{step.stage} {100 * step.done // total} %" if step.total > 1 else step.stage
        self._bar.set_description_str(
            f"file {step.number} of {step.files}: {one_line(step.file)[:50]}, {doing}", refresh=False
        )
        self._bar.refresh()

    def close(self) -> None:
        self._bar.close()


def _rounded(timing: dict[str, float]) -> dict[str, float]:
    return {step: round(seconds, 4) for step, seconds in timing.items()}

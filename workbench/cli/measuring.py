"""Verbs that measure: eval, replay."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from workbench.cli import terminal
from workbench.cli.opening import Opening, as_json_option, chosen_scope, pass_opening, scope_options
from workbench.cli.tuned import number_options
from workbench.errors import InvalidInputError
from workbench.records import Progress
from workbench.tuning import Replay

if TYPE_CHECKING:
    import pandas

    from workbench.api import Workbench

_WHOLE_NUMBERS = {"top_k", "max_per_paper"}
_LATEST = 20


@click.command("eval")
@click.argument("questions", required=False, metavar="[QUESTIONS.jsonl]")
@scope_options
@click.option(
    "--grid",
    multiple=True,
    metavar="NAME=VALUES",
    help="Values to try, such as top_k=10,15; again for another name. Every combination is measured.",
)
@click.option(
    "--chunk-sizes", metavar="N,N", help="Cut the papers anew into chunks of so many tokens; takes long."
)
@click.option(
    "--audit",
    is_flag=True,
    help="Measure the citation audit on sentences made of the papers instead.",
)
@click.option("--answers", is_flag=True, help="Ask for answers too, and measure citations and refusals.")
@click.option(
    "--provider",
    type=click.Choice(["auto", "ollama", "extractive"]),
    help="Who writes the answers; extractive is the papers' own sentences.",
)
@as_json_option
@pass_opening
def eval_(
    opening: Opening,
    /,
    questions: str | None,
    project: str | None,
    all_papers: bool,
    orphans: bool,
    grid: tuple[str, ...],
    chunk_sizes: str | None,
    audit: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Measure searches on labelled questions.

    The questions are those of the file, one JSON object a line, or else those that "workbench questions"
    keeps for the scope. Each figure has a 95 % interval, and its difference to the first set of numbers,
    which is what the scope searches with now. Names for --grid: top_k, max_per_paper, min_relevance,
    qualify_fraction, keyword_weight.
    """
    if chunk_sizes is not None and grid:
        raise InvalidInputError("--grid and --chunk-sizes exclude each other: give one.")
    if audit and (questions or grid or chunk_sizes or options["answers"]):
        raise InvalidInputError("--audit makes its own sentences: leave questions and the other options out.")
    tried = _grid(grid)
    sizes = _sizes(chunk_sizes)
    with opening.workbench(must_exist=True) as wb:
        scope = chosen_scope(wb, project, all_papers=all_papers, orphans=orphans)
        if audit:
            _show_audit(wb.evaluate_audit(scope=scope), as_json=as_json)
            return
        with _progress() as progress:
            if sizes is not None:
                frame = wb.evaluate_chunk_sizes(sizes, questions, scope=scope, progress=progress, **options)
            else:
                frame = wb.evaluate(questions, scope=scope, grid=tried, progress=progress, **options)
    if as_json:
        found = {"evaluation": frame.attrs["evaluation"], "results": _records(frame)}
        terminal.show_json(found | {"warnings": list(frame.attrs["warnings"])})
        return
    for warning in frame.attrs["warnings"]:
        terminal.note(warning)
    _show_figures(frame)


@click.command(short_help="Choose again for an earlier search.")
@click.argument("retrieval", type=int, required=False)
@number_options
@click.option("--list", "listed", is_flag=True, help="List the latest searches with their numbers instead.")
@as_json_option
@pass_opening
def replay(opening: Opening, /, retrieval: int | None, listed: bool, as_json: bool, **numbers: Any) -> None:
    """Show what an earlier search would choose with other numbers.

    RETRIEVAL is the search's number as --list shows it; without it the latest is replayed. No chat model is
    asked.
    """
    with opening.workbench(must_exist=True) as wb:
        if listed:
            _show_latest(wb, as_json=as_json)
            return
        found = wb.replay(_latest(wb) if retrieval is None else retrieval, **numbers)
    if as_json:
        terminal.show_json(_replay_json(found))
        return
    for line in (*found.changed, *found.warnings):
        terminal.note(line)
    terminal.show(terminal.one_line(f"{found.query} ({found.scope_label})"))
    rows = []
    for p in found.passages:
        place = f"{p.title}, {p.page_start}" if p.page_start is not None else p.title
        rows.append([p.change, p.old_n, p.new_n, place, p.reason])
    terminal.show_rows(["", "was", "is", "paper, page", "why it left"], rows)


# --- what the options say ----------------------------------------------------------------------


def _grid(given: tuple[str, ...]) -> dict[str, list[float]] | None:
    """``top_k=10,15`` and so on, as a grid."""
    grid: dict[str, list[float]] = {}
    for text in given:
        name, equals, values = text.partition("=")
        name = name.strip().replace("-", "_")
        if not equals or not name or not values.strip():
            raise InvalidInputError(f"--grid {text}: write a name and its values, such as top_k=10,15.")
        if name in grid:
            raise InvalidInputError(f"--grid {name} is there twice: write all its values behind one.")
        grid[name] = [_number(v, f"--grid {name}", whole=name in _WHOLE_NUMBERS) for v in values.split(",")]
    return grid or None


def _sizes(given: str | None) -> list[int] | None:
    if given is None:
        return None
    return [int(_number(value, "--chunk-sizes", whole=True)) for value in given.split(",")]


def _number(text: str, where: str, *, whole: bool) -> float:
    try:
        return int(text) if whole else float(text)
    except ValueError as error:
        kind = "whole number" if whole else "number"
        raise InvalidInputError(f"{where}: {text.strip()!r} is no {kind}.") from error


@contextlib.contextmanager
def _progress() -> Iterator[Callable[[Progress], None]]:
    """Which question of how many, or what is done for a paper; silent where standard error is no terminal."""
    from tqdm import tqdm

    form = "{percentage:3.0f}%|{bar:20}| {desc}"
    with tqdm(total=1, leave=False, disable=None, file=sys.stderr, bar_format=form) as bar:

        def tell(step: Progress) -> None:
            bar.total, bar.n = max(step.total, 1), step.done
            what = f"question {min(step.done + 1, step.total)} of {step.total}"
            if step.stage != "measure":
                what = f"{step.stage}: {terminal.one_line(step.file)[:40]}, {step.number} of {step.files}"
            bar.set_description_str(what, refresh=False)
            bar.refresh()

        yield tell


# --- what is printed ---------------------------------------------------------------------------


def _records(frame: pandas.DataFrame) -> list[dict[str, Any]]:
    """The rows with null where a number is none."""
    rows: list[dict[str, Any]] = frame.astype(object).where(frame.notna(), None).to_dict("records")
    return rows


def _show_figures(frame: pandas.DataFrame) -> None:
    """A row per set and metric; of the parameters only those that differ between sets."""
    head = list(frame.columns[: list(frame.columns).index("metric")])
    varied = [name for name in head if name != "set" and frame[name].nunique(dropna=False) > 1]
    several = frame["set"].nunique() > 1
    rows = []
    for r in _records(frame):
        row = [r["metric"], f"{r['mean']:.3f}", f"{r['low']:.3f} to {r['high']:.3f}", r["questions"]]
        if several:
            row += (
                ["", ""]
                if r["set"] == 0 or r["difference"] is None
                else [f"{r['difference']:+.3f}", _p(r["p"])]
            )
        rows.append([*(r[name] for name in varied), *row])
    header = [
        *varied,
        "metric",
        "figure",
        "95 % interval",
        "questions",
        *(["difference", "p"] if several else []),
    ]
    terminal.show_rows(header, rows)


def _show_audit(frame: pandas.DataFrame, *, as_json: bool) -> None:
    found = _records(frame)
    if as_json:
        terminal.show_json({"results": found})
        return
    rows = [
        [r["metric"], f"{r['mean']:.3f}", f"{r['low']:.3f} to {r['high']:.3f}", r["sentences"]] for r in found
    ]
    terminal.show_rows(["metric", "figure", "95 % interval", "sentences"], rows)


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def _latest_searches(wb: Workbench) -> list[dict[str, Any]]:
    found = wb.sql(
        "SELECT retrieval_id AS id, created_at, query FROM retrievals ORDER BY retrieval_id DESC LIMIT ?",
        [_LATEST],
    )
    rows: list[dict[str, Any]] = found.to_dict("records")
    return rows


def _latest(wb: Workbench) -> int:
    rows = _latest_searches(wb)
    if not rows:
        raise InvalidInputError('There is no search to replay yet: ask with "workbench search" first.')
    return int(rows[0]["id"])


def _show_latest(wb: Workbench, *, as_json: bool) -> None:
    rows = _latest_searches(wb)
    if as_json:
        terminal.show_json({"retrievals": rows})
        return
    shown = [[r["id"], f"{r['created_at']:%Y-%m-%d %H:%M}", r["query"]] for r in rows]
    terminal.show_rows(["id", "when (UTC)", "question"], shown)


def _replay_json(found: Replay) -> dict[str, Any]:
    return {
        "query": found.query,
        "scope": found.scope_label,
        "before": found.before,
        "after": found.after,
        "passages": [asdict(p) for p in found.passages],
        "changed": list(found.changed),
        "warnings": list(found.warnings),
        "timing": {step: round(seconds, 4) for step, seconds in found.timing.items()},
    }

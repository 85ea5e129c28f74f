"""Verbs that ask: search, ask."""

from __future__ import annotations

from typing import Any

import click

from workbench.cli import terminal
from workbench.cli.opening import Opening, as_json_option, chosen_scope, pass_opening, scope_options
from workbench.records import AnswerDone, Notice, TextDelta


@click.command()
@click.argument("query")
@scope_options
@click.option("--top-k", type=int, help="How many passages at most.")
@click.option("--max-per-paper", type=int, help="How many of one paper while others have some to offer.")
@click.option("--min-relevance", type=float, help="Relevance (0 to 1) below which a passage never counts.")
@click.option(
    "--mode", type=click.Choice(["hybrid", "vector", "keyword"]), default="hybrid", show_default=True
)
@as_json_option
@pass_opening
def search(
    opening: Opening,
    /,
    query: str,
    project: str | None,
    all_papers: bool,
    orphans: bool,
    as_json: bool,
    **limits: Any,
) -> None:
    """Show the passages that a question finds."""
    with opening.workbench(must_exist=True) as wb:
        evidence = wb.search(
            query, scope=chosen_scope(wb, project, all_papers=all_papers, orphans=orphans), **limits
        )
    if as_json:
        terminal.show_json(terminal.evidence_json(evidence))
        return
    for warning in evidence.warnings:
        click.echo(f"note: {terminal.one_line(warning)}", err=True)
    if not evidence.passages:
        terminal.show(f"Nothing found in: {terminal.one_line(evidence.scope_label)}.")
    for p in evidence.passages:
        pages = f"{p.page_start}" if p.page_start == p.page_end else f"{p.page_start}–{p.page_end}"
        terminal.show(f"[{p.n}] {p.score:.2f}  {terminal.one_line(p.title)}, {p.page_unit} {pages}")
        terminal.show(f"    {terminal.one_line(p.text)[:240]}")


@click.command()
@click.argument("question")
@scope_options
@click.option(
    "--provider", type=click.Choice(["auto", "ollama", "extractive"]), help="Who writes the answer."
)
@click.option("--top-k", type=int, help="How many passages at most.")
@as_json_option
@pass_opening
def ask(
    opening: Opening,
    /,
    question: str,
    project: str | None,
    all_papers: bool,
    orphans: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Answer a question from the papers, each statement with its page."""
    with opening.workbench(must_exist=True) as wb:
        scope = chosen_scope(wb, project, all_papers=all_papers, orphans=orphans)
        if as_json:
            terminal.show_json(terminal.answer_json(wb.ask(question, scope=scope, **options)))
            return
        for event in wb.stream(question, scope=scope, **options):
            if isinstance(event, TextDelta):
                terminal.show(event.text, end="")
            elif isinstance(event, Notice):
                click.echo(f"note: {terminal.one_line(event.text)}", err=True)
            elif isinstance(event, AnswerDone):
                terminal.show("\n")
                for citation in event.answer.citations:
                    terminal.show(terminal.citation_line(citation))

"""Verbs that ask: search, ask."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import click

from workbench.cli import terminal
from workbench.cli.flow import Flow, Waiting, shorten
from workbench.cli.opening import Opening, as_json_option, chosen_scope, pass_opening, scope_options
from workbench.records import Answer, AnswerDone, Event, Evidence, EvidenceFound, Notice, TextDelta
from workbench.retrieval.parameters import SearchParameters
from workbench.scope import Scope

_PASSAGES = click.IntRange(1, int(SearchParameters.RANGES["top_k"][1]))


def limit_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The options that limit what a search finds; without them the settings count."""
    for option in (
        click.option(
            "--mode",
            type=click.Choice(["hybrid", "vector", "keyword"]),
            default="hybrid",
            show_default=True,
            help="Search by meaning, by words, or both.",
        ),
        click.option(
            "--min-relevance",
            type=click.FloatRange(0, 1),
            metavar="R",
            help="Relevance (0 to 1) below which a passage never counts.",
        ),
        click.option(
            "--max-per-paper",
            type=_PASSAGES,
            metavar="N",
            help="How many of one paper while others have some to offer.",
        ),
        click.option("--top-k", type=_PASSAGES, metavar="N", help="How many passages at most."),
    ):
        function = option(function)
    return function


@click.command()
@click.argument("query")
@scope_options
@limit_options
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
    """Show the numbered passages that a question finds."""
    with opening.workbench(must_exist=True) as wb:
        evidence = wb.search(
            query, scope=chosen_scope(wb, project, all_papers=all_papers, orphans=orphans), **limits
        )
    if as_json:
        terminal.show_json(terminal.evidence_json(evidence))
        return
    for warning in evidence.warnings:
        terminal.note(warning)
    if not evidence.passages:
        terminal.show(_nothing_found(evidence))
    for p in evidence.passages:
        shared = ", shared" if p.shared else ""
        pages = f"{p.page_start}" if p.page_start == p.page_end else f"{p.page_start}–{p.page_end}"
        terminal.show(f"[{p.n}] {p.score:.2f}  {terminal.one_line(p.title)}, {p.page_unit} {pages}{shared}")
        terminal.show_wrapped(f"    {shorten(terminal.one_line(p.text), 240)}", hanging=4)


@click.command()
@click.argument("question")
@scope_options
@click.option(
    "--provider",
    type=click.Choice(["auto", "ollama", "extractive"]),
    help="Who writes the answer; extractive is the papers' own sentences.",
)
@limit_options
@click.option("--silent", is_flag=True, help="Then ask the papers that gave no passage, on their own.")
@as_json_option
@pass_opening
def ask(
    opening: Opening,
    /,
    question: str,
    project: str | None,
    all_papers: bool,
    orphans: bool,
    silent: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Answer a question, with the page of each claim."""
    with opening.workbench(must_exist=True) as wb:
        scope = chosen_scope(wb, project, all_papers=all_papers, orphans=orphans)
        if as_json:
            answer = wb.ask(question, scope=scope, **options)
            shown = terminal.answer_json(answer)
            if silent:
                shown["silent_answer"] = terminal.answer_json(wb.ask_silent(answer, **options))
            terminal.show_json(shown)
            return
        told: set[str] = set()
        answers: list[Answer] = []
        show_answer(_kept(wb.stream(question, scope=scope, **options), answers), told=told)
        if silent:
            terminal.show()
            show_answer(wb.stream_silent(answers[0], **options), told=told)


def _kept(events: Iterable[Event], answers: list[Answer]) -> Iterator[Event]:
    """The events; the answer that ends them joins ``answers``."""
    for event in events:
        if isinstance(event, AnswerDone):
            answers.append(event.answer)
        yield event


def show_answer(events: Iterable[Event], *, told: set[str] | None = None, asked: str | None = None) -> None:
    """Prints an answer as it is made, then its sources; notes go to standard error, between lines.

    Notes that are ``told`` already are left out, and new ones join them. Where what was searched is not what
    was ``asked``, a note says so.
    """
    flow, waiting = Flow(), Waiting()
    try:
        waiting.say("Searching…")
        held = list(_shown(events, flow, waiting, set() if told is None else told, asked))
    finally:
        waiting.end()
        flow.end()  # also where Ctrl-C came in the middle of a word
    for text in held:
        terminal.note(text)


def _shown(
    events: Iterable[Event], flow: Flow, waiting: Waiting, told: set[str], asked: str | None
) -> Iterator[str]:
    """Shows the events; gives the notes that came in the middle of a line."""
    begun = False
    for event in events:
        waiting.end()
        if isinstance(event, TextDelta):
            begun = True
            flow.feed(event.text)
        elif isinstance(event, EvidenceFound):
            if asked is not None and event.evidence.query != asked:
                terminal.note(f"Searched for: {event.evidence.query}")
            if event.evidence.passages:
                waiting.say(_reading(event.evidence))
        elif isinstance(event, Notice):
            if event.text in told:
                continue
            told.add(event.text)
            if begun:
                yield event.text
            else:
                terminal.note(event.text)
        elif isinstance(event, AnswerDone):
            flow.end()
            terminal.show()
            terminal.show_citations(event.answer)
            terminal.show_coverage(event.answer)
            found = event.answer.evidence
            if event.answer.refused and not found.passages and _says_more(found):
                terminal.show()
                terminal.show_wrapped(_nothing_found(found))


def _reading(evidence: Evidence) -> str:
    papers = len({passage.paper_id for passage in evidence.passages})
    passages = "1 passage" if len(evidence.passages) == 1 else f"{len(evidence.passages)} passages"
    return f"Reading {passages} of {'1 paper' if papers == 1 else f'{papers} papers'}…"


def _says_more(evidence: Evidence) -> bool:
    """Whether the line of an empty search adds to a refusal, which tells of a scope without papers itself."""
    return evidence.scope == Scope.ORPHANS or evidence.papers_in_scope > 0


def _nothing_found(evidence: Evidence) -> str:
    count = "1 paper" if evidence.papers_in_scope == 1 else f"{evidence.papers_in_scope} papers"
    text = f"Nothing found in: {terminal.one_line(evidence.scope_label)} ({count})."
    return (
        f"{text} Use --project NAME or --all to look elsewhere." if evidence.scope == Scope.ORPHANS else text
    )

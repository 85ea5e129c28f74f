"""From a question and its evidence to a stream of events that ends in a checked answer."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from workbench.chat import extractive
from workbench.chat.citing import PagesOf, citation, cite, place
from workbench.chat.draft import Draft
from workbench.chat.nearest import nearest_words
from workbench.chat.prompts import REFUSAL_SIGN, Prompt, answer_prompt
from workbench.chat.tool_loop import ToolRun, run_tools, tool_caller
from workbench.errors import ProviderError, ProviderUnavailableError
from workbench.interfaces import ChatMessage, ChatModel, ToolBox
from workbench.records import (
    Answer,
    AnswerDone,
    Citation,
    Event,
    Evidence,
    EvidenceFound,
    Notice,
    Page,
    Passage,
    ScopeChange,
    SentenceVerdict,
    TextDelta,
)
from workbench.retrieval.answerability import Answerability
from workbench.retrieval.citations import quote_at
from workbench.retrieval.markers import MarkerStream, as_prose, own_numbers
from workbench.retrieval.sentences import sentence_spans
from workbench.scope import Scope

EXTRACTIVE = "extractive"
NEAREST_SHOWN = 3
INSTEAD = "Answering in the papers' own sentences instead."
REFUSAL = "The papers in this scope do not answer this question."


class Retrieved(Protocol):
    """What a search gives to an answer."""

    @property
    def evidence(self) -> Evidence: ...
    @property
    def answerable(self) -> Answerability: ...
    def pages_of(self, passage: Passage, /) -> Sequence[Page]: ...


@dataclass(frozen=True)
class AnswerTask:
    """All that one answer needs. ``pages_of`` gives the pages a passage stands on; ``similarity`` helps to
    choose sentences where no chat model writes.

    ``question`` stands alone; ``typed`` is what the user typed, where that is something else. ``history`` is
    earlier turns, oldest first, and ``memory`` what the user said in other threads: both help to understand
    the question and are never evidence. Where ``toolbox`` is given, a chat model that can call tools may do
    so before it reads any passage; if that changes the scope, ``retrieve`` searches the new one.
    ``preface`` is what the tools did, for an answer that has nothing else to say.
    """

    question: str
    evidence: Evidence
    pages_of: PagesOf
    chat_model: ChatModel | None
    answerable: Answerability
    warnings: tuple[str, ...] = ()
    similarity: extractive.Similarity | None = None
    history: tuple[ChatMessage, ...] = ()
    memory: tuple[str, ...] = ()
    typed: str | None = None
    toolbox: ToolBox | None = None
    retrieve: Callable[[Scope], Retrieved] | None = None
    preface: str = ""
    started: float = field(default_factory=time.perf_counter)


def answer_events(task: AnswerTask) -> Iterator[Event]:
    """Events of one answer: the evidence, text and notices as they come, and last ``AnswerDone``.

    Tools come before them all. Closing the iterator stops the chat model. A chat model that fails before its
    first word is replaced by the papers' own sentences; one that fails later leaves a partial answer that
    says so.
    """
    run = _tool_run(task)
    change = run.scope_change
    if change is not None and change.rag_project_id == task.evidence.scope.rag_project_id:
        change = None
    replied = run.done or (change is not None and task.retrieve is None)
    task = _after_tools(task, run, change, replied=replied)
    for event in _told(task, run) if replied else _answered(task, change):
        yield replace(event, scope_change=change) if isinstance(event, AnswerDone) else event


def _answered(task: AnswerTask, change: ScopeChange | None) -> Iterator[Event]:
    yield EvidenceFound(task.evidence)
    if change is not None:
        yield Notice(f"Now searching: {change.label}.")
    for warning in (*task.evidence.warnings, *task.warnings):
        yield Notice(warning)
    if not task.evidence.passages:
        name = EXTRACTIVE if task.chat_model is None else task.chat_model.name
        yield from _refuse(task, name, _why_nothing_was_found(task.evidence) + _stored(task.evidence))
    elif task.chat_model is None:
        yield from _extracted(task)
    else:
        yield from _written(task, task.chat_model)


# --- tools -----------------------------------------------------------------------------------


def _tool_run(task: AnswerTask) -> ToolRun:
    caller = tool_caller(task.chat_model) if task.chat_model is not None else None
    if task.toolbox is None or caller is None:
        return ToolRun()
    question, label = task.typed or task.question, task.evidence.scope_label
    return run_tools(caller, task.toolbox, question, scope_label=label, history=task.history)


def _after_tools(task: AnswerTask, run: ToolRun, change: ScopeChange | None, *, replied: bool) -> AnswerTask:
    """The task with the evidence of the scope that was set, and with what became of the chat model."""
    if isinstance(run.failure, ProviderUnavailableError):
        text = f"{run.failure} {INSTEAD}"
        task = replace(task, chat_model=None, warnings=(*task.warnings, text))
    elif run.failure is not None:
        task = replace(task, warnings=(*task.warnings, f"Tools could not be used: {run.failure}"))
    if change is not None and replied:
        nothing = Evidence(task.evidence.query, Scope(change.rag_project_id), change.label, ())
        return replace(task, evidence=nothing)
    if change is not None and task.retrieve is not None:
        found = task.retrieve(Scope(change.rag_project_id))
        task = replace(task, evidence=found.evidence, pages_of=found.pages_of, answerable=found.answerable)
    return replace(task, preface=run.reply)


def _told(task: AnswerTask, run: ToolRun) -> Iterator[Event]:
    """The answer to a message that asked nothing of the papers: what the tools did."""
    evidence = replace(task.evidence, passages=(), dropped=(), warnings=())
    yield EvidenceFound(evidence)
    yield TextDelta(run.reply)
    name = EXTRACTIVE if task.chat_model is None else task.chat_model.name
    yield _done(replace(task, evidence=evidence), name, run.reply, (), ())


def _why_nothing_was_found(evidence: Evidence) -> str:
    if not evidence.papers_in_scope:
        return f"There are no papers in it ({evidence.scope_label}): add some, or choose another scope."
    return "No passage reaches the minimum relevance." if evidence.dropped else ""


def _stored(evidence: Evidence) -> str:
    """The stored summaries, for where there is nothing else; said to be what they are."""
    lines = [f"- {as_prose(summary)}" for summary in evidence.summaries]
    return (
        "\n\n".join(["\n\nStored project summaries, not checked against any page:", *lines]) if lines else ""
    )


# --- with a chat model -----------------------------------------------------------------------


def _written(task: AnswerTask, model: ChatModel) -> Iterator[Event]:
    prompt = answer_prompt(
        task.question,
        task.evidence.passages,
        window=model.context_window,
        history=task.history,
        memory=task.memory,
    )
    warnings = _prompt_warnings(task, prompt)
    task = replace(task, warnings=(*task.warnings, *warnings))
    yield from map(Notice, warnings)
    shown = task.evidence.passages[: len(task.evidence.passages) - prompt.left_out]
    own = {n for passage in shown for n in own_numbers(passage.text)}
    draft = Draft(MarkerStream(range(1, len(shown) + 1), own))
    failure = ""
    try:
        yield from draft.read(model, prompt.messages)
    except ProviderError as error:
        yield from draft.finish()
        failure = str(error)
        again = "" if failure.endswith("Ask again.") else " Ask again."
        draft.warnings.append(f"The answer is incomplete: {failure}{again}")
    if draft.empty or (failure and not draft.refused and not draft.markers.used):
        what = "a tool call instead of words" if draft.called_tool else "nothing"
        text = f"{failure or f'{model.name} answered with {what}.'} {INSTEAD}"
        yield Notice(text)
        yield from _extracted(replace(task, warnings=(*task.warnings, text)), after=draft.text)
    else:
        yield from _finish_written(task, model, draft)


def _prompt_warnings(task: AnswerTask, prompt: Prompt) -> tuple[str, ...]:
    """What the reader should know before the answer is written."""
    warnings = []
    if prompt.turns_left_out or prompt.memory_left_out:
        what = "Earlier turns" if prompt.turns_left_out else "Remembered statements"
        warnings.append(f"{what} were left out to fit the chat model's window.")
    if prompt.left_out:
        what = "1 passage was" if prompt.left_out == 1 else f"{prompt.left_out} passages were"
        warnings.append(f"{what} left out to fit the chat model's window; raise WORKBENCH_CONTEXT_WINDOW.")
    if not prompt.fits:
        warnings.append("The chat model's window is too small even for one passage, so it may be cut.")
    warnings.append(_not_mentioned(task.answerable))
    return tuple(filter(None, warnings))


def _not_mentioned(answerable: Answerability) -> str:
    names = ", ".join(answerable.missing_names)
    return f"No passage found mentions {names}." if names else ""


def _finish_written(task: AnswerTask, model: ChatModel, draft: Draft) -> Iterator[Event]:
    if draft.markers.unknown:
        numbers = ", ".join(str(n) for n in dict.fromkeys(draft.markers.unknown))
        draft.warnings.append(
            f"The chat model cited passages that do not exist ({numbers}); those marks were removed."
        )
    text = draft.text.strip()
    if draft.refused:
        yield from _refuse(task, model.name, _refusal_reason(text), tuple(draft.warnings))
        return
    if not draft.markers.used:
        draft.warnings.append(
            "The chat model answered without citing any passage, so its text was set aside."
        )
        yield from _refuse(task, model.name, "", tuple(draft.warnings), after=draft.text)
        return
    citations, audit = cite(text, task.evidence, task.pages_of)
    if not any(verdict.verdict in {"supported", "partly"} for verdict in audit):
        draft.warnings.append("None of its statements is supported by the passages that it cites.")
    yield from map(Notice, draft.warnings)
    yield _done(
        task, model.name, text, citations, audit, warnings=tuple(draft.warnings), first=draft.first_token
    )


def _refusal_reason(text: str) -> str:
    """The one sentence that says what is missing; what a model adds to it stands on nothing."""
    reason = text[len(REFUSAL_SIGN) :].lstrip(' :.-—\n*_"”')
    spans = sentence_spans(reason)
    markers = MarkerStream(())
    said = (markers.feed(reason[slice(*spans[0])]) + markers.close()).strip() if spans else ""
    return f"The chat model says, unchecked: “{said}”" if said else ""


# --- without a chat model --------------------------------------------------------------------


def _extracted(task: AnswerTask, *, after: str = "") -> Iterator[Event]:
    """The papers' own sentences. ``after`` is text that was shown before and given up."""
    chosen = []
    if task.answerable.answerable:
        chosen = extractive.choose_sentences(task.question, task.evidence, similarity=task.similarity)
    if not chosen:
        yield from _refuse(task, EXTRACTIVE, _missing(task.answerable), after=after)
        return
    not_mentioned = _not_mentioned(task.answerable)
    if not_mentioned and not_mentioned not in task.warnings:
        yield Notice(not_mentioned)
        task = replace(task, warnings=(*task.warnings, not_mentioned))
    yield from _parted(after)
    text = ""
    citations: list[Citation] = []
    audit: list[SentenceVerdict] = []
    groups = extractive.grouped(chosen)
    for heading, group in zip(extractive.paper_headings(groups), groups, strict=True):
        piece = ("\n\n" if text else "") + heading + "\n"
        for sentence in group:
            n, shown = sentence.passage.n, extractive.shown_sentence(sentence)
            line = f"{shown} [{n}]"
            start = len(text) + len(piece) + len("\n- ")
            place = (start, start + len(line))
            piece += f"\n- {line}"
            quote = quote_at(sentence.char_start, sentence.char_end, task.pages_of(sentence.passage))
            if quote:
                citations.append(citation(sentence.passage, quote, "supported", place))
            audit.append(
                SentenceVerdict(shown, "supported", "it stands there word for word", n, sentence.text, *place)
            )
        text += piece
        yield TextDelta(piece)
    yield _done(task, EXTRACTIVE, text, tuple(citations), tuple(audit))


def _parted(after: str) -> Iterator[Event]:
    """An empty line behind text that was shown and given up."""
    if after.strip():
        yield TextDelta("\n\n")


def _missing(answerable: Answerability) -> str:
    if answerable.missing_names:
        return f"They do not mention {', '.join(answerable.missing_names)}."
    if answerable.apart:
        return f"None of them mentions {' and '.join(answerable.apart)} together."
    return ""


# --- endings ---------------------------------------------------------------------------------


def _refuse(
    task: AnswerTask, provider: str, reason: str, warnings: tuple[str, ...] = (), *, after: str = ""
) -> Iterator[Event]:
    """Says that the papers do not answer, why if known, and which passages come nearest."""
    yield from map(Notice, warnings)
    yield from _parted(after)
    text = f"{task.preface}\n\n" if task.preface else ""
    text += REFUSAL + (f" {reason}" if reason else "")
    citations = []
    nearest = task.evidence.passages[:NEAREST_SHOWN]
    if nearest:
        text += "\n\nNearest passages:\n"
    for passage in nearest:
        quote, words = nearest_words(task.question, passage, task.pages_of(passage))
        if quote is None:
            continue
        said = f": “{words}”" if words else ""
        line = f"{as_prose(passage.title)}, {place(passage.page_unit, quote)}{said} [{passage.n}]"
        start = len(text) + len("\n- ")
        text += f"\n- {line}"
        citations.append(citation(passage, quote, "unsupported", (start, start + len(line))))
    yield TextDelta(text)
    yield _done(task, provider, text, tuple(citations), (), refused=True, warnings=warnings)


def _done(
    task: AnswerTask,
    provider: str,
    text: str,
    citations: tuple[Citation, ...],
    audit: tuple[SentenceVerdict, ...],
    *,
    refused: bool = False,
    warnings: tuple[str, ...] = (),
    first: float | None = None,
) -> AnswerDone:
    now = time.perf_counter()
    timing = {**task.evidence.timing, "total": now - task.started}
    if first is not None:
        timing["first_token"] = first - task.started
    return AnswerDone(
        Answer(
            question=task.question,
            text=text,
            citations=citations,
            evidence=task.evidence,
            refused=refused,
            provider=provider,
            scope_label=task.evidence.scope_label,
            audit=audit,
            warnings=tuple(dict.fromkeys((*task.evidence.warnings, *task.warnings, *warnings))),
            timing=timing,
        )
    )

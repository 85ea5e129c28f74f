"""From a question and its evidence to a stream of events that ends in a checked answer."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import replace

from workbench.chat.coverage import asked_line
from workbench.chat.endings import done, refuse
from workbench.chat.quoted import quoted_answer
from workbench.chat.task import EXTRACTIVE, AnswerTask
from workbench.chat.tool_loop import ToolRun, run_tools, scope_set_line, tool_caller
from workbench.chat.written import INSTEAD, written_answer
from workbench.errors import ProviderUnavailableError
from workbench.records import AnswerDone, Event, Evidence, EvidenceFound, Notice, ScopeChange, TextDelta
from workbench.retrieval.markers import as_prose
from workbench.scope import Scope


def answer_events(task: AnswerTask) -> Generator[Event, None, None]:
    """Events of one answer: the evidence, text and notices as they come, and last ``AnswerDone``.

    Tools come before them all. Closing the iterator stops the chat model. A chat model that fails before its
    first word is replaced by the papers' own sentences; one that fails later leaves a partial answer that
    says so.
    """
    run = _tool_run(task)
    before = task.evidence.scope
    change = run.scope_change
    if change is not None and change.rag_project_id == before.rag_project_id:
        change = None
    replied = run.done or (change is not None and task.retrieve is None)
    task = _after_tools(task, run, change, replied=replied)
    change = _as_it_is(change, task.evidence, before=before)
    for event in _told(task, run) if replied else _answered(task, change):
        yield replace(event, scope_change=change) if isinstance(event, AnswerDone) else event


def _answered(task: AnswerTask, change: ScopeChange | None) -> Iterator[Event]:
    asked = asked_line(task.evidence)
    if asked and not task.evidence.papers_in_scope:
        yield from _said(task, asked, refused=True)
        return
    if asked:
        task = replace(task, warnings=(asked, *task.warnings))
    if change is not None:
        task = replace(task, warnings=(scope_set_line(change.label), *task.warnings))
    yield EvidenceFound(task.evidence)
    for warning in (*task.evidence.warnings, *task.warnings):
        yield Notice(warning)
    if not task.evidence.passages:
        name = EXTRACTIVE if task.chat_model is None else task.chat_model.name
        yield from refuse(task, name, _why_nothing_was_found(task.evidence) + _stored(task.evidence))
    elif task.chat_model is None:
        yield from quoted_answer(task)
    else:
        yield from written_answer(task, task.chat_model)


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
        chosen = Scope(change.rag_project_id)
        found = task.retrieve(chosen)
        task = replace(task, evidence=found.evidence, pages_of=found.pages_of, answerable=found.answerable)
        if found.evidence.scope != chosen:
            return task  # what the tool did holds no more
    return replace(task, preface=run.reply)


def _as_it_is(change: ScopeChange | None, evidence: Evidence, *, before: Scope) -> ScopeChange | None:
    """The change that the evidence was searched with: the project that a tool chose may be gone since."""
    if change is None or evidence.scope == Scope(change.rag_project_id):
        return change
    gone_back = evidence.scope == before
    return None if gone_back else ScopeChange(evidence.scope.rag_project_id, evidence.scope_label)


def _told(task: AnswerTask, run: ToolRun) -> Iterator[Event]:
    """The answer to a message that asked nothing of the papers: what the tools did."""
    evidence = replace(
        task.evidence,
        passages=(),
        dropped=(),
        dropped_reasons={},
        warnings=(),
        papers_in_scope=0,
        papers_silent=0,
        silent=(),
        silent_because=(),
    )
    yield from _said(replace(task, evidence=evidence), run.reply)


def _said(task: AnswerTask, text: str, *, refused: bool = False) -> Iterator[Event]:
    """An answer for which no passage is needed."""
    yield EvidenceFound(task.evidence)
    yield TextDelta(text)
    name = EXTRACTIVE if task.chat_model is None else task.chat_model.name
    yield done(task, name, text, (), (), refused=refused)


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

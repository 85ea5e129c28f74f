"""The answer that a chat model writes: prompted, read as it streams, cited, audited, or given up."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from workbench.chat.citing import cite
from workbench.chat.draft import Draft
from workbench.chat.endings import done, not_mentioned, refuse
from workbench.chat.prompts import REFUSAL_SIGN, Prompt, answer_prompt
from workbench.chat.quoted import quoted_answer
from workbench.chat.task import AnswerTask
from workbench.errors import ProviderError
from workbench.interfaces import ChatModel
from workbench.records import Event, Evidence, Notice, SentenceVerdict
from workbench.retrieval.audit import source_text
from workbench.retrieval.citations import claim_weights, coverage
from workbench.retrieval.languages import in_other_languages
from workbench.retrieval.markers import MarkerStream, own_numbers
from workbench.retrieval.sentences import sentence_spans

RELEVANT_FROM = 0.2  # of a sentence's terms in the passage it cites; below, it is about something else
INSTEAD = "Answering in the papers' own sentences instead."


def written_answer(task: AnswerTask, model: ChatModel) -> Iterator[Event]:
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
    if not prompt.fits:
        yield from quoted_answer(task)
        return
    task = replace(task, unread=prompt.left_out)
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
        instead = replace(task, warnings=(*task.warnings, text), unread=0)
        yield from quoted_answer(instead, after=draft.text)
    else:
        yield from _finish_written(task, model, draft)


def _prompt_warnings(task: AnswerTask, prompt: Prompt) -> tuple[str, ...]:
    """What the reader should know before the answer is written."""
    warnings = []
    if prompt.turns_left_out or prompt.memory_left_out:
        what = "Earlier turns" if prompt.turns_left_out else "Remembered statements"
        rest = ", or begin a new conversation" if prompt.turns_left_out else ""
        warnings.append(
            f"{what} were left out to fit the chat model's window; raise WORKBENCH_CONTEXT_WINDOW{rest}."
        )
    if prompt.left_out and prompt.fits:
        what = "1 passage was" if prompt.left_out == 1 else f"{prompt.left_out} passages were"
        warnings.append(f"{what} left out to fit the chat model's window; raise WORKBENCH_CONTEXT_WINDOW.")
    if not prompt.fits:
        warnings.append(
            "The chat model's window is too small for even one passage; raise WORKBENCH_CONTEXT_WINDOW."
            f" {INSTEAD}"
        )
    warnings.append(not_mentioned(task.answerable))
    return tuple(filter(None, warnings))


def _finish_written(task: AnswerTask, model: ChatModel, draft: Draft) -> Iterator[Event]:
    if draft.markers.unknown:
        numbers = ", ".join(str(n) for n in dict.fromkeys(draft.markers.unknown))
        draft.warnings.append(
            f"The chat model cited passages that do not exist ({numbers}); those marks were removed."
        )
    text = draft.text.strip()
    if draft.refused:
        yield from refuse(task, model.name, _refusal_reason(text), tuple(draft.warnings))
        return
    if not draft.markers.used:
        draft.warnings.append(
            "The chat model answered without citing any passage, so its text was set aside."
        )
        yield from refuse(task, model.name, "", tuple(draft.warnings), after=draft.text)
        return
    citations, audit = cite(text, task.evidence, task.pages_of)
    if not any(_relevant(verdict, task.evidence) for verdict in audit):
        draft.warnings.append(
            "The chat model's text has nothing to do with the passages that it cites, so it was set aside."
        )
        yield from refuse(task, model.name, "", tuple(draft.warnings), after=draft.text)
        return
    if not any(verdict.verdict in {"supported", "partly"} for verdict in audit):
        draft.warnings.append("None of its statements is supported by the passages that it cites.")
    yield from map(Notice, draft.warnings)
    yield done(
        task, model.name, text, citations, audit, warnings=tuple(draft.warnings), first=draft.first_token
    )


def _relevant(verdict: SentenceVerdict, evidence: Evidence) -> bool:
    """Whether a sentence at least speaks of what its passage does, be it right or wrong."""
    if verdict.verdict in {"supported", "partly"}:
        return True
    passage = evidence.passage(verdict.n) if verdict.n is not None else None
    if passage is None:
        return False
    claim, source = verdict.sentence, source_text(passage)
    return coverage(claim_weights(claim), source) >= RELEVANT_FROM or in_other_languages(claim, source)


def _refusal_reason(text: str) -> str:
    """The one sentence that says what is missing; what a model adds to it stands on nothing."""
    reason = text[len(REFUSAL_SIGN) :].lstrip(' :.-—\n*_"”')
    spans = sentence_spans(reason)
    markers = MarkerStream(())
    said = (markers.feed(reason[slice(*spans[0])]) + markers.close()).strip() if spans else ""
    return f"The chat model says, unchecked: “{said}”" if said else ""

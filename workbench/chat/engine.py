"""From a question and its evidence to a stream of events that ends in a checked answer."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from workbench.chat import extractive
from workbench.chat.draft import Draft
from workbench.chat.prompts import REFUSAL_SIGN, Prompt, answer_prompt
from workbench.errors import ProviderError
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
    SentenceVerdict,
    Support,
    TextDelta,
)
from workbench.retrieval.answerability import Answerability
from workbench.retrieval.audit import audit_text, claim_spans, passage_support, plain_claim
from workbench.retrieval.citations import Quote, find_quote, quote_at
from workbench.retrieval.markers import MarkerStream, as_prose, marker_numbers, own_numbers
from workbench.retrieval.sentences import sentence_spans
from workbench.scope import Scope

EXTRACTIVE = "extractive"
NEAREST_SHOWN = 3
REFUSAL = "The papers in this scope do not answer this question."

PagesOf = Callable[[Passage], Sequence[Page]]


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
    started: float = field(default_factory=time.perf_counter)


def answer_events(task: AnswerTask) -> Iterator[Event]:
    """Events of one answer: the evidence, text and notices as they come, and last ``AnswerDone``.

    Closing the iterator stops the chat model. A chat model that fails before its first word is replaced
    by the papers' own sentences; one that fails later leaves a partial answer that says so.
    """
    yield EvidenceFound(task.evidence)
    for warning in (*task.evidence.warnings, *task.warnings):
        yield Notice(warning)
    if not task.evidence.passages:
        name = EXTRACTIVE if task.chat_model is None else task.chat_model.name
        yield from _refuse(task, name, _why_nothing_was_found(task.evidence))
    elif task.chat_model is None:
        yield from _extracted(task)
    else:
        yield from _written(task, task.chat_model)


def _why_nothing_was_found(evidence: Evidence) -> str:
    if not evidence.papers_in_scope:
        return f"There are no papers in it ({evidence.scope_label}): add some, or choose another scope."
    return "No passage reaches the minimum relevance." if evidence.dropped else ""


# --- with a chat model -----------------------------------------------------------------------


def _written(task: AnswerTask, model: ChatModel) -> Iterator[Event]:
    prompt = answer_prompt(task.question, task.evidence.passages, window=model.context_window)
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
        failure = failure or f"{model.name} answered with nothing."
        text = f"{failure} Answering in the papers' own sentences instead."
        yield Notice(text)
        yield from _extracted(replace(task, warnings=(*task.warnings, text)), after=draft.text)
    else:
        yield from _finish_written(task, model, draft)


def _prompt_warnings(task: AnswerTask, prompt: Prompt) -> tuple[str, ...]:
    """What the reader should know before the answer is written."""
    warnings = []
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
    return (markers.feed(reason[slice(*spans[0])]) + markers.close()).strip() if spans else ""


def cite(
    text: str, evidence: Evidence, pages_of: PagesOf
) -> tuple[tuple[Citation, ...], tuple[SentenceVerdict, ...]]:
    """The citations of a finished answer, in order of use, and the verdict on each of its sentences."""
    audit = audit_text(text, evidence.passages)
    verdicts = {(v.char_start, v.char_end): v.verdict for v in audit}
    citations: dict[tuple[int, int, Support], Citation] = {}
    for start, end in claim_spans(text):
        claim, verdict = plain_claim(text[start:end]), verdicts.get((start, end))
        for n in dict.fromkeys(n for n, _, _ in marker_numbers(text[start:end])):
            passage = evidence.passage(n)
            quote = find_quote(claim, passage, pages_of(passage)) if passage else None
            if passage and quote:
                support = passage_support(claim, passage, verdict=verdict)
                key = (n, quote.char_start, support)
                citations.setdefault(key, _citation(passage, quote, support, (start, end)))
    return tuple(citations.values()), audit


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
                citations.append(_citation(sentence.passage, quote, "supported", place))
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
    text = REFUSAL + (f" {reason}" if reason else "")
    citations = []
    nearest = task.evidence.passages[:NEAREST_SHOWN]
    if nearest:
        text += "\n\nNearest passages:\n"
    for passage in nearest:
        quote = find_quote(task.question, passage, task.pages_of(passage))
        if quote is None:
            continue
        line = f"{as_prose(passage.title)}, {place(passage.page_unit, quote)} [{passage.n}]"
        start = len(text) + len("\n- ")
        text += f"\n- {line}"
        citations.append(_citation(passage, quote, "unsupported", (start, start + len(line))))
    yield TextDelta(text)
    yield _done(task, provider, text, tuple(citations), (), refused=True, warnings=warnings)


def place(page_unit: str, quote: Quote | Citation) -> str:
    """``page 7``, or the label of a section where a format has no pages."""
    if page_unit == "page":
        label = f" (printed {quote.page_label})" if quote.page_label else ""
        return f"page {quote.page}{label}"
    return quote.page_label or f"{page_unit} {quote.page}"


def _citation(passage: Passage, quote: Quote, support: Support, claim: tuple[int, int]) -> Citation:
    return Citation(
        n=passage.n,
        paper_id=passage.paper_id,
        title=passage.title,
        file=passage.file,
        page=quote.page,
        quote=quote.text,
        char_start=quote.char_start,
        char_end=quote.char_end,
        support=support,
        claim_start=claim[0],
        claim_end=claim[1],
        page_label=quote.page_label,
        page_unit=passage.page_unit,
        authors=passage.authors,
        year=passage.year,
    )


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

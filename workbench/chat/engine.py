"""From a question and its evidence to a stream of events that ends in a checked answer."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace

from workbench.chat import extractive
from workbench.chat.prompts import REFUSAL_SIGN, answer_prompt, surely_cut
from workbench.errors import ProviderError
from workbench.interfaces import ChatMessage, ChatModel, ChatUsage
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
from workbench.retrieval.audit import audit_text, claim_spans, plain_claim
from workbench.retrieval.citations import Quote, find_quote, quote_at
from workbench.retrieval.markers import MarkerStream, marker_numbers

EXTRACTIVE = "extractive"
NEAREST_SHOWN = 3
REFUSAL = "The papers in this scope do not answer this question."

PagesOf = Callable[[Passage], Sequence[Page]]


@dataclass(frozen=True)
class AnswerTask:
    """All that one answer needs. ``pages_of`` gives the pages a passage stands on."""

    question: str
    evidence: Evidence
    pages_of: PagesOf
    chat_model: ChatModel | None
    answerable: Answerability
    warnings: tuple[str, ...] = ()
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
        yield from _refuse(task, EXTRACTIVE if task.chat_model is None else task.chat_model.name, "")
    elif task.chat_model is None:
        yield from _extracted(task)
    else:
        yield from _written(task, task.chat_model)


# --- with a chat model -----------------------------------------------------------------------


def _written(task: AnswerTask, model: ChatModel) -> Iterator[Event]:
    prompt = answer_prompt(task.question, task.evidence.passages, window=model.context_window)
    if prompt.left_out:
        text = f"{prompt.left_out} passages were left out to fit the chat model's window; raise WORKBENCH_CONTEXT_WINDOW."
        task = replace(task, warnings=(*task.warnings, text))
        yield Notice(text)
    shown = len(task.evidence.passages) - prompt.left_out
    draft = _Draft(MarkerStream(range(1, shown + 1)))
    try:
        yield from draft.read(model, prompt.messages)
    except ProviderError as error:
        if not draft.text.strip():
            text = f"{error} Answering in the papers' own sentences instead."
            yield Notice(text)
            yield from _extracted(replace(task, warnings=(*task.warnings, text)))
            return
        draft.warnings.append(f"The answer is incomplete: {error} Ask again.")
    yield from _finish_written(task, model, draft)


@dataclass
class _Draft:
    """The answer as far as it has come."""

    markers: MarkerStream
    text: str = ""
    refused: bool = False
    warnings: list[str] = field(default_factory=list)
    first_token: float | None = None

    def read(self, model: ChatModel, messages: Sequence[ChatMessage]) -> Iterator[Event]:
        opening = ""
        undecided = True
        with closing(model.stream(messages)) as stream:  # type: ignore[type-var]  # a generator in every provider
            for piece in stream:
                if isinstance(piece, ChatUsage):
                    self._check(messages, piece)
                    continue
                self.first_token = self.first_token or time.perf_counter()
                opening += piece
                if undecided and _may_be_refusal(opening):
                    continue
                if undecided:
                    undecided, piece = False, opening
                    self.refused = opening.lstrip().upper().startswith(REFUSAL_SIGN)
                yield from self._show(self.markers.feed(piece))
        if undecided:
            self.refused = opening.strip().upper().startswith(REFUSAL_SIGN)
            yield from self._show(self.markers.feed(opening))
        yield from self._show(self.markers.close())

    def _show(self, text: str) -> Iterator[Event]:
        self.text += text
        if text and not self.refused:
            yield TextDelta(text)

    def _check(self, messages: Sequence[ChatMessage], usage: ChatUsage) -> None:
        if surely_cut(messages, usage.prompt_tokens):
            self.warnings.append(
                "The chat model's server cut the prompt, so rules or passages may be missing; raise its"
                " context length or lower WORKBENCH_CONTEXT_WINDOW."
            )


def _may_be_refusal(opening: str) -> bool:
    start = opening.lstrip().upper()
    return len(start) < len(REFUSAL_SIGN) and REFUSAL_SIGN.startswith(start)


def _finish_written(task: AnswerTask, model: ChatModel, draft: _Draft) -> Iterator[Event]:
    if draft.markers.unknown:
        numbers = ", ".join(str(n) for n in dict.fromkeys(draft.markers.unknown))
        draft.warnings.append(f"The chat model cited passages that do not exist ({numbers}); those marks were removed.")
    text = draft.text.strip()
    if draft.refused:
        reason = text[len(REFUSAL_SIGN) :].lstrip(" :.-—\n")
        yield from _refuse(task, model.name, reason, tuple(draft.warnings))
        return
    if not draft.markers.used:
        draft.warnings.append("The chat model answered without citing any passage, so its text was set aside.")
        yield from _refuse(task, model.name, "", tuple(draft.warnings))
        return
    for warning in draft.warnings:
        yield Notice(warning)
    citations, audit = cite(text, task.evidence, task.pages_of)
    yield _done(task, model.name, text, citations, audit, warnings=tuple(draft.warnings), first=draft.first_token)


def cite(
    text: str, evidence: Evidence, pages_of: PagesOf
) -> tuple[tuple[Citation, ...], tuple[SentenceVerdict, ...]]:
    """The citations of a finished answer, in order of use, and the verdict on each of its sentences."""
    audit = audit_text(text, evidence.passages)
    verdicts = {(v.char_start, v.char_end): v.verdict for v in audit}
    citations: dict[tuple[int, int], Citation] = {}
    for start, end in claim_spans(text):
        claim, verdict = plain_claim(text[start:end]), verdicts.get((start, end))
        for n in dict.fromkeys(n for n, _, _ in marker_numbers(text[start:end])):
            passage = evidence.passage(n)
            quote = find_quote(claim, passage, pages_of(passage)) if passage else None
            if passage and quote:
                support: Support = verdict if verdict in {"supported", "partly"} else "unsupported"  # type: ignore[assignment]
                key = (n, quote.char_start)
                citations.setdefault(key, _citation(passage, quote, support, (start, end)))
    return tuple(citations.values()), audit


# --- without a chat model --------------------------------------------------------------------


def _extracted(task: AnswerTask) -> Iterator[Event]:
    chosen = extractive.choose_sentences(task.question, task.evidence) if task.answerable.answerable else []
    if not chosen:
        yield from _refuse(task, EXTRACTIVE, _missing(task.answerable))
        return
    text, citations = "", []
    for group in extractive.grouped(chosen):
        piece = ("\n\n" if text else "") + extractive.paper_heading(group[0].passage) + "\n"
        for sentence in group:
            start = len(text) + len(piece) + 3
            line = f"{extractive.shown_sentence(sentence)} [{sentence.passage.n}]"
            piece += f"\n- {line}"
            quote = quote_at(sentence.char_start, sentence.char_end, task.pages_of(sentence.passage))
            if quote:
                citations.append(_citation(sentence.passage, quote, "supported", (start, start + len(line))))
        text += piece
        yield TextDelta(piece)
    audit = audit_text(text, task.evidence.passages)
    yield _done(task, EXTRACTIVE, text, tuple(citations), audit)


def _missing(answerable: Answerability) -> str:
    names = ", ".join(answerable.missing_names)
    return f"They do not mention {names}." if names else ""


# --- endings ---------------------------------------------------------------------------------


def _refuse(task: AnswerTask, provider: str, reason: str, warnings: tuple[str, ...] = ()) -> Iterator[Event]:
    """Says that the papers do not answer, why if known, and which passages come nearest."""
    for warning in warnings:
        yield Notice(warning)
    text = REFUSAL + (f" {MarkerStream(()).feed(reason)}" if reason else "")
    citations = []
    nearest = task.evidence.passages[:NEAREST_SHOWN]
    if nearest:
        text += "\n\nNearest passages:\n"
    for passage in nearest:
        quote = find_quote(task.question, passage, task.pages_of(passage))
        if quote is None:
            continue
        line = f"{' '.join(passage.title.split())}, {place(passage.page_unit, quote)} [{passage.n}]"
        start = len(text) + 3
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

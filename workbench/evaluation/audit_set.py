"""A labelled set for the citation audit, made from any papers: true sentences, and false ones made of
them.

Each item is one sentence with one marker and the numbered passages that it may cite. A true sentence cites
the passage that it stands in, a foreign one a passage of another paper, a shifted one the neighbour of its
own number. The same papers and seed give the same items.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random

from workbench.evaluation.perturbations import PERTURBATIONS, entities, renamed
from workbench.records import Passage, SentenceVerdict
from workbench.retrieval.sentences import sentence_spans

FALSE_KINDS = (
    "number", "unit", "negation", "direction", "exchange", "entity", "qualifier", "foreign", "shifted",
)  # fmt: skip
TRUE_KINDS = ("true", "paraphrase")
KINDS = (*TRUE_KINDS, *FALSE_KINDS)

PASSAGES = 8  # of an item, the cited one among them
_OWN = 4  # of these from the same paper, where it has so many
_WORDS = range(8, 46)
_LETTERS = 0.78
_NO_PROSE = re.compile(
    r"https?:|www\.|arXiv|\bdoi\b|Proceedings|Conference|pages \d|pp\. |\.{4}|\d{4}[a-z]?\.$|"
    r"^[A-Z]\w+ [A-Z]\w+, |@|©|[=∑∫≤≥∈⊆]"
)
_CJK = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")
_REFERENCE = re.compile(r"\s*\[\d[\d,\s–-]*\]")


@dataclass(frozen=True, slots=True)
class AuditPaper:
    """A paper with its passages (chunks), numbered in any way. ``group`` names a folder of related papers."""

    group: str
    file: str
    passages: tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class Paraphrase:
    """A true sentence in other words. ``original`` is the sentence, or a phrase of it, in the paper."""

    group: str
    file: str
    original: str
    text: str


@dataclass(frozen=True, slots=True)
class AuditItem:
    """``text`` holds one sentence with its marker. ``how`` tells a kind's varieties; ``base`` whether the
    sentence was made of the paper's own ("sentence") or of a paraphrase; ``original`` is the true one."""

    kind: str
    how: str
    base: str
    group: str
    file: str
    text: str
    passages: tuple[Passage, ...]
    original: str


Audit = Callable[[str, Sequence[Passage]], Sequence[SentenceVerdict]]


def audit_items(
    papers: Sequence[AuditPaper],
    *,
    seed: int = 0,
    per_kind: int = 20,
    paraphrases: Sequence[Paraphrase] = (),
) -> list[AuditItem]:
    """At most ``per_kind`` items of each kind and group from the papers' own sentences, and for each
    paraphrase that is found one true item and one false one of each kind that can be made of it.

    Foreign items need a second paper; it may be one of another group.
    """
    items: list[AuditItem] = []
    for group in dict.fromkeys(paper.group for paper in papers):
        rng = Random(f"{seed}/{group}")
        own = [paper for paper in papers if paper.group == group]
        found = [_Sentence(paper, passage, text) for paper in own for passage, text in _prose(paper)]
        rng.shuffle(found)
        for kind in KINDS:
            if kind != "paraphrase":
                items += _of_kind(kind, found, papers, per_kind, Random(f"{seed}/{group}/{kind}"))
        for given in (p for p in paraphrases if p.group == group):
            items += _of_paraphrase(given, own, papers, Random(f"{seed}/{given.text}"))
    return items


def verdict_of(item: AuditItem, audit: Audit) -> str:
    """The worst verdict that an audit gives to an item's sentence, or to a part it takes it for."""
    order = ("supported", "partly", "uncited", "unsupported")
    return max((v.verdict for v in audit(item.text, item.passages)), key=order.index, default="none")


def figures_by_kind(
    verdicts: Iterable[tuple[AuditItem, str]],
    *,
    key: Callable[[AuditItem], str] = lambda item: item.kind,
) -> Mapping[str, tuple[int, float, float]]:
    """For each key: how many items, the share marked unsupported, and the share not plainly supported."""
    told: dict[str, list[str]] = {}
    for item, verdict in verdicts:
        told.setdefault(key(item), []).append(verdict)
    return {
        name: (
            len(given),
            sum(v == "unsupported" for v in given) / len(given),
            sum(v != "supported" for v in given) / len(given),
        )
        for name, given in told.items()
    }


@dataclass(frozen=True, slots=True)
class _Sentence:
    paper: AuditPaper
    passage: Passage
    text: str
    base: str = "sentence"
    original: str = ""


def _prose(paper: AuditPaper) -> Iterator[tuple[Passage, str]]:
    """The sentences of running text with the passage each stands in; once, where passages overlap."""
    seen: set[str] = set()
    for passage in paper.passages:
        for start, end in sentence_spans(passage.text):
            sentence = _REFERENCE.sub("", " ".join(passage.text[start:end].split()))
            if sentence not in seen and _is_prose(sentence):
                seen.add(sentence)
                yield passage, sentence


def _is_prose(sentence: str) -> bool:
    if len(_CJK.findall(sentence)) > 0.4 * len(sentence):
        return 15 <= len(sentence) <= 120 and sentence[-1] == "。"
    letters = sum(c.isalpha() or c == " " for c in sentence) / max(1, len(sentence))
    ends = sentence[:1].isupper() and sentence[-1:] == "."
    return ends and len(sentence.split()) in _WORDS and letters >= _LETTERS and not _NO_PROSE.search(sentence)


def _of_kind(
    kind: str, found: Sequence[_Sentence], papers: Sequence[AuditPaper], count: int, rng: Random
) -> list[AuditItem]:
    items: list[AuditItem] = []
    for sentence in found:
        if len(items) == count:
            break
        item = _item(kind, sentence, papers, rng)
        if item:
            items.append(item)
    return items


def _of_paraphrase(
    given: Paraphrase, own: Sequence[AuditPaper], papers: Sequence[AuditPaper], rng: Random
) -> Iterator[AuditItem]:
    paper = next((p for p in own if p.file == given.file), None)
    squeezed = _squeezed(given.original)
    passage = next((p for p in paper.passages if squeezed in _squeezed(p.text)), None) if paper else None
    if paper is None or passage is None:
        return
    sentence = _Sentence(paper, passage, given.text, "paraphrase", given.original)
    for kind in ("paraphrase", *FALSE_KINDS):
        item = _item(kind, sentence, papers, rng)
        if item:
            yield item


def _item(kind: str, sentence: _Sentence, papers: Sequence[AuditPaper], rng: Random) -> AuditItem | None:
    """One item of a kind, or None where the sentence cannot be made one."""
    how, text = kind, sentence.text
    if kind in PERTURBATIONS or kind == "entity":
        changes = (
            renamed(text, rng, _names_nearby(sentence, rng))
            if kind == "entity"
            else PERTURBATIONS[kind](text, rng)
        )
        changes = [c for c in changes if _squeezed(c[1]) not in _squeezed(sentence.passage.text)]
        if not changes:
            return None
        how, text = rng.choice(changes)
    passages = _numbered(sentence, papers, rng)
    cited = next(p for p in passages if p.chunk_id == sentence.passage.chunk_id)
    if kind == "foreign":
        others = [p for p in passages if p.paper_id != cited.paper_id and not _says(p, sentence)]
        if not others:
            return None
        cited = rng.choice(others)
        if rng.random() < 0.5:
            how = "foreign, own passage not given"
            passages = [p for p in passages if p.chunk_id != sentence.passage.chunk_id]
    if kind == "shifted":
        beside = [p for p in passages if abs(p.n - cited.n) == 1 and not _says(p, sentence)]
        if not beside:
            return None
        same = cited.paper_id
        cited = rng.choice(beside)
        how = "to the same paper" if cited.paper_id == same else "to another paper"
    marked = f"{text[:-1]} [{cited.n}]{text[-1]}"
    group, file = sentence.paper.group, sentence.paper.file
    original = sentence.original or sentence.text
    return AuditItem(kind, how, sentence.base, group, file, marked, tuple(passages), original)


def _names_nearby(sentence: _Sentence, rng: Random) -> list[str]:
    """Names of the same passage; failing those, of the paper."""
    near = [name for name in entities(sentence.passage.text) if name not in sentence.text]
    if len(near) > 2:
        return near
    others = rng.sample(sentence.paper.passages, min(10, len(sentence.paper.passages)))
    return near + [name for passage in others for name in entities(passage.text)]


def _numbered(sentence: _Sentence, papers: Sequence[AuditPaper], rng: Random) -> list[Passage]:
    """The sentence's passage among others of its paper and its group, in random order, numbered from 1."""
    at = next(i for i, p in enumerate(sentence.paper.passages) if p.chunk_id == sentence.passage.chunk_id)
    near = [p for i, p in enumerate(sentence.paper.passages) if 0 < abs(i - at) <= 6]
    group = [p for p in papers if p.group == sentence.paper.group and p is not sentence.paper]
    far = [p for paper in group or [q for q in papers if q is not sentence.paper] for p in paper.passages]
    chosen = [sentence.passage, *rng.sample(near, min(_OWN - 1, len(near)))]
    chosen += rng.sample(far, min(PASSAGES - len(chosen), len(far)))
    rng.shuffle(chosen)
    return [replace(passage, n=n) for n, passage in enumerate(chosen, start=1)]


def _says(passage: Passage, sentence: _Sentence) -> bool:
    """Whether a passage holds the sentence too, as neighbours that overlap do."""
    text = _squeezed(passage.text)
    said = _squeezed(sentence.original or sentence.text)
    return said in text or said[:40] in text or said[-40:] in text


def _squeezed(text: str) -> str:
    return re.sub(r"[\s-]+", "", text).casefold()

"""``wb.replay``: a stored retrieval chosen again with other numbers, without a chat model."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from workbench.asking import Asking
from workbench.errors import EmbedderMismatchError, InvalidInputError
from workbench.pooling import MODES, Chosen, Mode
from workbench.records import Answer, Chunk, Evidence, Message, Paper, Passage
from workbench.retrieval.parameters import NAMES, SearchParameters
from workbench.scope import Scope
from workbench.storage import chunks, papers, retrievals
from workbench.tuning import Replay, ReplayedPassage

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Replayable = int | Message | Answer | Evidence

_GONE = "(no longer in your library)"


@dataclass(frozen=True)
class _Old:
    """One passage as the retrieval chose it. ``text`` and ``passage`` only where the answer kept them."""

    n: int
    chunk_id: int
    paper_id: int
    score: float
    passage: Passage | None = None


@dataclass(frozen=True)
class _Stored:
    """What is replayed."""

    query: str
    scope: Scope
    parameters: Mapping[str, Any]
    old: tuple[_Old, ...]


@dataclass(frozen=True)
class _Today:
    """What the library has today of what a retrieval chose. ``known`` are the papers of the old passages that
    the user still has, with those ``in_scope``; ``again`` maps old chunk ids to the chunk each is now, whose
    ``texts`` are here; ``as_before`` is what the numbers of before choose."""

    in_scope: Mapping[int, Paper]
    known: Mapping[int, Paper]
    again: Mapping[int, int]
    texts: Mapping[int, Chunk]
    as_before: Chosen


def replay(asking: Asking, what: Replayable, given: Mapping[str, Any]) -> Replay:
    """See ``Workbench.replay``. ``given`` are new parameters, by the names of ``SearchParameters``."""
    started = time.perf_counter()
    stored = _stored(asking, what)
    before = SearchParameters().with_values(
        {name: value for name, value in stored.parameters.items() if name in NAMES and value is not None}
    )
    after = before.with_values(given)
    try:
        return _replayed(asking, stored, before, after, started)
    except EmbedderMismatchError:  # another process has given the library other vectors since
        asking.forget_embedder()
        return _replayed(asking, stored, before, after, started)


def _stored(asking: Asking, what: Replayable) -> _Stored:
    if isinstance(what, Message):
        if what.answer is None:
            raise InvalidInputError("This message is a question: give the answer that follows it.")
        what = what.answer
    if isinstance(what, Answer):
        what = what.evidence
    if isinstance(what, Evidence):
        old = tuple(_Old(p.n, p.chunk_id, p.paper_id, p.score, p) for p in what.passages)
        stored = _Stored(what.query, what.scope, what.parameters, old)
    elif isinstance(what, int) and not isinstance(what, bool):
        with asking.database.read() as cursor:
            found = retrievals.get(cursor, asking.user, what)
        old = tuple(_Old(c.n, c.chunk_id, c.paper_id, c.relevance) for c in found.chunks if c.n is not None)
        stored = _Stored(found.query, found.scope, found.parameters, old)
    else:
        raise InvalidInputError(
            f"{what!r} cannot be replayed: give a retrieval's id, an evidence, an answer or its message."
        )
    if stored.parameters.get("mode") not in MODES:
        raise InvalidInputError(
            "Nothing was chosen for this answer, so there is nothing to replay: it read the whole paper, or "
            "needed no passages."
        )
    return stored


def _replayed(
    asking: Asking, stored: _Stored, before: SearchParameters, after: SearchParameters, started: float
) -> Replay:
    mode: Mode = stored.parameters["mode"]
    gathering = asking.searcher().gather(
        stored.query,
        scope=stored.scope,
        sets=[after],
        mode=mode,
        paper=stored.parameters.get("paper"),
        without=stored.parameters.get("without", ()),
    )
    with gathering as gathered:
        chosen = gathered.choose(after)
        passages = gathered.passages(chosen)
        view, warnings, timing = gathered.pool.view, gathered.warnings, dict(gathered.watch.seconds)
        known = _known(gathered.cursor, asking.user, stored.old, view.papers)
        again = _same_passages(gathered.cursor, stored.old, known)
        texts = {c.id: c for c in chunks.by_ids(gathered.cursor, list(again.values()))}
        today = _Today(view.papers, known, again, texts, gathered.choose(before))
    return Replay(
        query=stored.query,
        scope=stored.scope,
        scope_label=view.label,
        before=before.values() | {"mode": mode},
        after=after.values() | {"mode": mode},
        passages=_compared(stored, today, chosen, passages),
        changed=_changed(stored, today),
        warnings=warnings,
        timing=timing | {"total": time.perf_counter() - started},
    )


def _known(
    cursor: DuckDBPyConnection, user: str, old: Sequence[_Old], in_scope: Mapping[int, Paper]
) -> dict[int, Paper]:
    """The papers of the old passages that the user still has, in the scope or not."""
    elsewhere = sorted({o.paper_id for o in old} - set(in_scope))
    found = {p.id: p for p in papers.list_papers(cursor, user, elsewhere)} if elsewhere else {}
    return {**in_scope, **found}


def _same_passages(
    cursor: DuckDBPyConnection, old: Sequence[_Old], known: Mapping[int, Paper]
) -> dict[int, int]:
    """Old chunk ids, and the chunk each is now: itself, or, in a paper that was indexed again, the one that
    holds the middle of its text. An old chunk that is nowhere is left out."""
    visible = [o for o in old if o.paper_id in known]
    there = set(chunks.standing_of(cursor, [o.chunk_id for o in visible]))
    now = {o.chunk_id: o.chunk_id for o in visible if o.chunk_id in there}
    lost = [o for o in visible if o.chunk_id not in there and o.passage is not None]
    renewed = chunks.of_papers(cursor, [o.paper_id for o in lost]) if lost else []
    for each in lost:
        assert each.passage is not None
        middle = (each.passage.char_start + each.passage.char_end) // 2
        holding = (c for c in renewed if c.paper_id == each.paper_id and c.char_start <= middle < c.char_end)
        place = next(holding, None)
        if place is not None and place.id not in now.values():
            now[each.chunk_id] = place.id
    return now


def _compared(
    stored: _Stored, today: _Today, chosen: Chosen, passages: Sequence[Passage]
) -> tuple[ReplayedPassage, ...]:
    """The new passages in their order, then those that left, in their old order."""
    old_of = _continued(stored, today.again, chosen)
    held_back = _held_back(stored, today)
    reasons = {d.chunk_id: d for d in chosen.selection.dropped}
    ranks = {c.chunk_id: (c.vector_rank, c.keyword_rank) for c in chosen.ranked}
    lines = [_line(old_of.get(p.chunk_id), p, held_back.get(p.chunk_id, "")) for p in passages]
    part_of = _parts(chosen, {p.chunk_id: p.n for p in passages})
    there = {old.n for old in old_of.values()}
    for old in stored.old:
        if old.n in there:
            continue
        now = today.again.get(old.chunk_id)
        dropped = reasons.get(now) if now is not None else None
        score = dropped.relevance if dropped is not None else None
        chunk = today.texts.get(now) if now is not None else None
        if dropped is not None:
            reason = dropped.reason
        elif now in part_of:
            reason = f"it stands in [{part_of[now]}] now, as a part of it"
        else:
            reason = _why_gone(old, today)
        left = _left(old, today.known.get(old.paper_id), chunk, score, reason)
        vector, keyword = ranks.get(now, (None, None)) if now is not None else (None, None)
        lines.append(replace(left, vector_rank=vector, keyword_rank=keyword))
    return tuple(lines)


def _continued(stored: _Stored, again: Mapping[int, int], chosen: Chosen) -> dict[int, _Old]:
    """The old passage that each seat continues, by the seat's chunk: the one that had it, or one whose chunk
    stands there as a part now (of two that stand together either may have the seat)."""
    seats = {c.chunk_id for c in chosen.selection.chosen}
    now_at = {again[o.chunk_id]: o for o in stored.old if o.chunk_id in again}
    found = {chunk: old for chunk, old in now_at.items() if chunk in seats}
    for seat, part in chosen.selection.joined.items():
        if seat not in found and part in now_at:
            found[seat] = now_at[part]
    return found


def _parts(chosen: Chosen, numbers: Mapping[int, int]) -> dict[int, int]:
    """The number of the passage in which a chunk stands as a part, by chunk."""
    joined = chosen.selection.joined
    return {part: numbers[seat] for seat, part in joined.items() if seat in numbers}


def _held_back(stored: _Stored, today: _Today) -> dict[int, str]:
    """Why a chunk had no seat with the numbers of before, as far as that is known."""
    numbers = {today.again[o.chunk_id]: o.n for o in stored.old if o.chunk_id in today.again}
    parts = {chunk: f"a part of [{n}]" for chunk, n in _parts(today.as_before, numbers).items()}
    return {d.chunk_id: d.reason for d in today.as_before.selection.dropped} | parts


def _line(old: _Old | None, new: Passage, held_back: str) -> ReplayedPassage:
    return ReplayedPassage(
        change="enters" if old is None else "stays",
        old_n=None if old is None else old.n,
        new_n=new.n,
        paper_id=new.paper_id,
        chunk_id=new.chunk_id,
        title=new.title,
        file=new.file,
        page_start=new.page_start,
        page_end=new.page_end,
        old_score=None if old is None else old.score,
        new_score=new.score,
        reason="",
        text=new.text,
        held_back=held_back if old is None else "",
        vector_rank=new.vector_rank,
        keyword_rank=new.keyword_rank,
        page_unit=new.page_unit,
        char_start=new.char_start,
        char_end=new.char_end,
    )


def _left(
    old: _Old, paper: Paper | None, chunk: Chunk | None, score: float | None, reason: str
) -> ReplayedPassage:
    """A passage of a paper that the user has no more shows nothing of it but the number it had."""
    shown = (chunk or old.passage) if paper is not None else None
    return ReplayedPassage(
        change="leaves",
        old_n=old.n,
        new_n=None,
        paper_id=old.paper_id,
        chunk_id=old.chunk_id,
        title=paper.title if paper is not None else _GONE,
        file=paper.file if paper is not None else "",
        page_start=shown.page_start if shown is not None else None,
        page_end=shown.page_end if shown is not None else None,
        old_score=old.score,
        new_score=None if score is None else round(score, 6),
        reason=reason,
        text=shown.text if shown is not None else "",
        page_unit=paper.page_unit if paper is not None else "page",
        char_start=shown.char_start if shown is not None else None,
        char_end=shown.char_end if shown is not None else None,
    )


def _why_gone(old: _Old, today: _Today) -> str:
    if old.paper_id not in today.known:
        return "its paper has left your library"
    if old.paper_id not in today.in_scope:
        return "its paper is not in this scope any more"
    if old.chunk_id not in today.again:
        return "its paper has changed since, and this passage is not there any more"
    return "the search does not find it any more"


def _changed(stored: _Stored, today: _Today) -> tuple[str, ...]:
    """What has become of the library since, where that alone would change the passages."""
    lines = []
    for paper_id in dict.fromkeys(o.paper_id for o in stored.old):
        own = [o for o in stored.old if o.paper_id == paper_id]
        paper = today.known.get(paper_id)
        if paper is None:
            title = next((o.passage.title for o in own if o.passage is not None), f"Paper {paper_id}")
            lines.append(f"“{title}” has left your library since.")
        elif paper_id not in today.in_scope:
            lines.append(f"“{paper.title}” has left this scope since.")
        elif any(today.again.get(o.chunk_id) != o.chunk_id for o in own):
            lines.append(f"“{paper.title}” was indexed again since.")
    kept = {o.n for o in stored.old}
    forgotten = [f"[{n}]" for n in range(1, max(kept, default=0)) if n not in kept]
    if forgotten:  # what is stored of a search goes with a paper
        lines.append(f"Papers have left the library since: nothing is known of {', '.join(forgotten)}.")
    now = [c.chunk_id for c in today.as_before.selection.chosen]
    if not lines and now != [o.chunk_id for o in stored.old]:
        lines.append("The same numbers would not choose the same passages today: papers have come or gone.")
    return tuple(lines)

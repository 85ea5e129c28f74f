from __future__ import annotations

import itertools
import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.errors import InvalidInputError
from workbench.ingest.blurbs import blurb, cut_at_word, fitted_blurb
from workbench.ingest.chunking import ChunkingParameters, chunk_document
from workbench.ingest.document import Document, Heading, ReadPage
from workbench.providers.fake_embedder import FakeEmbedder
from workbench.providers.token_estimate import estimated_spans
from workbench.storage.drafts import ChunkDraft

_WORDS = re.compile(r"\w+|[^\w\s]")


def words(text: str) -> list[tuple[int, int]]:
    """One token per word or sign, however long: the tokeniser that forgives nothing."""
    return [match.span() for match in _WORDS.finditer(text)]


def document(*pages: str, headings: tuple[Heading, ...] = (), title: str | None = "A Title") -> Document:
    return Document(kind="pdf", pages=tuple(ReadPage(text) for text in pages), title=title, headings=headings)


def sentence(number: int) -> str:
    return f"Sentence number {number} says something about the matter at hand and then it ends."


def check(made: Document, chunks: list[ChunkDraft], token_spans: object, max_tokens: int) -> None:
    """What holds for every chunking of every text."""
    text = made.text
    starts = made.page_starts()
    covered = set()
    for number, chunk in enumerate(chunks):
        assert chunk.ordinal == number
        assert chunk.text == text[chunk.char_start : chunk.char_end]
        assert chunk.text.strip() == chunk.text
        whole = f"{chunk.blurb}\n{chunk.text}".strip()
        assert len(token_spans(whole)) + 2 <= max_tokens  # type: ignore[operator]  # a function
        first, last = starts[chunk.page_start - 1], starts[chunk.page_end - 1]
        assert first <= chunk.char_start
        assert last < chunk.char_end
        assert chunk.page_end == len(starts) or chunk.char_end <= starts[chunk.page_end]
        covered.update(range(chunk.char_start, chunk.char_end))
    assert all(char.isspace() or index in covered for index, char in enumerate(text))
    places = [(chunk.char_start, chunk.char_end) for chunk in chunks]
    assert places == sorted(places)


anything = st.text(
    st.one_of(st.characters(exclude_categories=["Cs"]), st.sampled_from("ab \n.,;。!?🚀👩‍👩‍👧한é\u0301-")),
    max_size=1500,
)


@settings(max_examples=60, deadline=None)
@given(st.lists(anything, min_size=1, max_size=3), st.sampled_from([24, 40, 240]), st.booleans())
def test_chunks_of_any_text_are_exact_fit_and_lose_nothing(
    pages: list[str], max_tokens: int, estimated: bool
) -> None:
    spans = estimated_spans if estimated else FakeEmbedder().token_spans
    made = document(*pages)
    check(made, chunk_document(made, token_spans=spans, max_tokens=max_tokens), spans, max_tokens)


@pytest.mark.parametrize(
    "text",
    [
        "보험" * 2000,
        "x" * 10_000,
        "🚀" * 5000,
        "👩‍👩‍👧" * 2000,
        "中文没有空格也没有句号" * 1000,
        " ".join(str(n) for n in range(6000)),
        "12,345\t" * 4000,
        ("word, " * 900 + "end; " * 20 + "\n") * 2,
        "e\u0301" * 4000,
    ],
    ids=["hangul", "letters", "emoji", "families", "han", "numbers", "table", "clauses", "marks"],
)
@pytest.mark.parametrize("spans", [words, estimated_spans, FakeEmbedder().token_spans])
def test_text_without_sentences_is_cut_in_bounded_time(text: str, spans: object) -> None:
    start = time.monotonic()
    made = document(text)
    chunks = chunk_document(made, token_spans=spans, max_tokens=64)  # type: ignore[arg-type]  # a function
    assert time.monotonic() - start < 10
    check(made, chunks, spans, 64)
    assert max(len(chunk.text) for chunk in chunks) <= 64 * 12


def test_families_of_emoji_and_accents_are_not_torn_apart() -> None:
    made = document("👩‍👩‍👧 " * 300 + "e\u0301" * 400)
    for chunk in chunk_document(made, token_spans=estimated_spans, max_tokens=40):
        assert not chunk.text.startswith(("\u200d", "\u0301"))
        assert not chunk.text.endswith("\u200d")


def test_chunks_are_whole_sentences_and_repeat_about_the_share_asked_for() -> None:
    made = document(" ".join(sentence(n) for n in range(200)))
    chunks = chunk_document(made, token_spans=words, max_tokens=240, overlap=0.15)
    assert all(c.text.startswith("Sentence") and c.text.endswith("ends.") for c in chunks)
    repeated = [a.char_end - b.char_start for a, b in itertools.pairwise(chunks)]
    assert all(0.05 < r / len(c.text) < 0.25 for r, c in zip(repeated, chunks, strict=False))
    apart = chunk_document(made, token_spans=words, max_tokens=240, overlap=0.0)
    assert all(b.char_start > a.char_end for a, b in itertools.pairwise(apart))
    assert len(apart) < len(chunks)


def test_a_fact_that_crosses_a_page_is_on_both_pages() -> None:
    made = document(
        "First page. " * 30, "Padding. " * 60 + "The fact begins", "and ends on page three. " + "More. " * 60
    )
    chunks = chunk_document(made, token_spans=words, max_tokens=120)
    both = [c for c in chunks if "The fact begins" in c.text and "ends on page three" in c.text]
    assert both
    assert all((c.page_start, c.page_end) == (2, 3) for c in both)
    assert {c.page_start for c in chunks} == {1, 2, 3}


def test_headings_begin_chunks_and_name_them_and_references_stand_apart() -> None:
    parts = [
        "Introduction",
        " ".join(sentence(n) for n in range(12)),
        "Methods",
        " ".join(sentence(n) for n in range(12, 20)),
        "References",
        "[1] Ann Author. A paper. 2020.\n\n[2] Bob Writer. Another paper. 2021.",
        "Appendix",
        "The appendix has a sentence.",
    ]
    text = "\n\n".join(parts)
    headings = tuple(Heading(1, text.index(name), name) for name in parts[::2])
    chunks = chunk_document(document(text, headings=headings), token_spans=words, max_tokens=120)
    named = {c.heading for c in chunks}
    assert named == {"Introduction", "Methods", "References", "Appendix"}
    for chunk in chunks:
        assert ("Ann Author" in chunk.text) <= (chunk.heading == "References")
        assert not chunk.text.endswith(("Methods", "References", "Appendix"))
        assert f"· {chunk.heading}" in chunk.blurb
    references = [c for c in chunks if c.heading == "References"]
    assert len(references) == 1
    assert "Sentence" not in references[0].text


def test_a_full_chunk_ends_with_a_paragraph_where_one_ends_near() -> None:
    paragraphs = [" ".join(sentence(n * 10 + k) for k in range(4)) for n in range(30)]
    chunks = chunk_document(document("\n\n".join(paragraphs)), token_spans=words, max_tokens=200, overlap=0.0)
    assert all(c.text.startswith("Sentence number") and c.text.count("\n\n") >= 1 for c in chunks[:-1])
    assert all(re.search(r"number \d*3 says", c.text.rsplit("Sentence", 1)[1]) for c in chunks[:-1])


def test_rows_of_tables_and_logs_are_not_repeated() -> None:
    rows = "\n\n".join(f"name: row {n}; value: {n * 7}" for n in range(400))
    made = Document(kind="csv", pages=(ReadPage(rows),), page_unit="section")
    chunks = chunk_document(made, token_spans=words)
    assert all(b.char_start > a.char_end for a, b in itertools.pairwise(chunks))


def test_an_empty_document_has_no_chunks() -> None:
    assert chunk_document(document("", "  \n "), token_spans=words) == []


def test_parameters_that_cannot_work_are_refused() -> None:
    for bad in ({"max_tokens": 8}, {"blurb_tokens": 200}, {"overlap": 0.9}):
        with pytest.raises(InvalidInputError):
            ChunkingParameters(**bad)  # type: ignore[arg-type]  # one value of each kind


def test_a_blurb_says_title_section_and_place_once() -> None:
    assert blurb("A Paper", "2 Methods", "page 3 of 9") == "A Paper · 2 Methods · page 3 of 9"
    assert blurb("A  Paper\n", "a paper", "") == "A Paper"
    assert blurb("", None, "") == ""


def test_a_long_title_is_cut_at_a_word_and_the_place_stays() -> None:
    title = "A very long title about everything that can be said of anything " * 5
    short = fitted_blurb(title, "A heading", "page 3 of 9", token_spans=words, max_tokens=20)
    assert len(words(short)) <= 20
    assert short.endswith("· A heading · page 3 of 9")
    assert re.match(r"A very long title\b.*\w… ·", short)
    assert cut_at_word("one two three", token_spans=words, max_tokens=3) == "one two three"
    assert cut_at_word("one two three four", token_spans=words, max_tokens=3) == "one two…"

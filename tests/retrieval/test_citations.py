from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from workbench.records import PAGE_BREAK, Page, Passage
from workbench.retrieval.citations import LONGEST_QUOTE, Quote, find_quote, quote_at


def paper(*texts: str, labels: Sequence[str | None] = ()) -> list[Page]:
    pages, start = [], 0
    for number, text in enumerate(texts, start=1):
        label = labels[number - 1] if labels else None
        pages.append(Page(1, number, label, text, start, start + len(text)))
        start += len(text) + len(PAGE_BREAK)
    return pages


def passage(pages: Sequence[Page], start: int = 0, end: int | None = None) -> Passage:
    whole = PAGE_BREAK.join(p.text for p in pages)
    text = whole[start:end]
    on = [p.page for p in pages if p.char_start < start + len(text) and p.char_end > start]
    return Passage(
        n=1, chunk_id=1, paper_id=1, title="Filters", file="filters.pdf", page_start=min(on, default=1),
        page_end=max(on, default=1), text=text, score=1.0, vector_rank=1, keyword_rank=1,
        char_start=start, char_end=start + len(text),
    )  # fmt: skip


def assert_verbatim(quote: Quote, pages: Sequence[Page]) -> None:
    page = pages[quote.page - 1]
    start = quote.char_start - page.char_start
    assert page.text[start : quote.char_end - page.char_start] == quote.text
    assert quote.text == quote.text.strip()


def test_the_page_is_that_of_the_supporting_sentence_and_not_the_passages_first() -> None:
    pages = paper(
        "We built a graph index. It took 91 s.",
        "With a filter of ten papers the recall fell to 0.205. Nothing else changed.",
        "We also tried IVF.",
        labels=("iv", "1", "2"),
    )
    assert find_quote("The recall fell to 0.205 with a filter.", passage(pages), pages) == Quote(
        "With a filter of ten papers the recall fell to 0.205.", 2, "1", 39, 92, 1.0
    )


def test_a_figure_decides_between_sentences_of_the_same_words() -> None:
    pages = paper("The recall of the index was 0.868. The recall of the index was 0.205.")
    quote = find_quote("The recall of the index was 0.205.", passage(pages), pages)
    assert quote is not None
    assert (quote.text, quote.char_start) == ("The recall of the index was 0.205.", 35)


def test_equal_sentences_give_the_earlier_one() -> None:
    pages = paper("Deleted rows stay in the index.", "Deleted rows stay in the index.")
    quote = find_quote("Deleted rows stay.", passage(pages), pages)
    assert quote is not None
    assert (quote.page, quote.char_start) == (1, 0)


def test_of_a_sentence_across_a_page_break_the_part_that_says_it_is_quoted() -> None:
    pages = paper("First. With a filter of ten papers, which is", "common, the recall fell to 0.205. Last.")
    later = find_quote("The recall fell to 0.205.", passage(pages), pages)
    assert later is not None
    assert (later.text, later.page) == ("common, the recall fell to 0.205.", 2)
    assert_verbatim(later, pages)


def test_a_sentence_across_pages_is_not_joined_by_the_page_break() -> None:
    pages = paper("A filter of ten papers and", "a graph index disagree.")
    whole = passage(pages)
    for claim in ("A filter of ten papers disagrees.", "A graph index disagrees."):
        quote = find_quote(claim, whole, pages)
        assert quote is not None
        assert_verbatim(quote, pages)


def test_a_passage_inside_the_paper_is_quoted_at_the_papers_offsets() -> None:
    pages = paper("Zero. One. Two.", "Three wins. Four.")
    quote = find_quote("Three wins", passage(pages, 11, 28), pages[1:])
    assert quote == Quote("Three wins.", 2, None, 17, 28, 1.0)


def test_a_long_table_is_quoted_by_whole_lines_around_the_row_that_matches() -> None:
    rows = [f"index {i} with {i} probes, recall 0.{i:03}, build {i} s" for i in range(100, 140)]
    pages = paper("Table 2 lists them.\n" + "\n".join(rows))
    quote = find_quote("The index 127 had a recall of 0.127.", passage(pages), pages)
    assert quote is not None
    assert rows[27] in quote.text
    assert len(quote.text) <= LONGEST_QUOTE
    assert quote.text.splitlines() == [line for line in rows if line in quote.text]
    assert_verbatim(quote, pages)


def test_a_long_sentence_is_cut_between_words_around_the_match() -> None:
    words = [f"word{i}" for i in range(150)]
    words[120] = "needle"
    pages = paper(" ".join(words) + ".")
    quote = find_quote("the needle", passage(pages), pages)
    assert quote is not None
    assert "needle" in quote.text.split()
    assert set(quote.text.rstrip(".").split()) <= set(words)
    assert len(quote.text) <= LONGEST_QUOTE


def test_a_long_sentence_without_spaces_is_quoted_around_the_match() -> None:
    pages = paper("検索" * 400 + "精度は高い" + "索引" * 100)
    quote = find_quote("精度は高い", passage(pages), pages)
    assert quote is not None
    assert "精度は高い" in quote.text
    assert len(quote.text) <= LONGEST_QUOTE


def test_a_short_sentence_is_preferred_to_a_long_stretch_that_holds_little_more() -> None:
    table = "\n".join(f"recall index filter papers {i}" for i in range(60))
    pages = paper(f"{table}\n\nThe recall of the graph index fell to 0.205 under a filter.")
    quote = find_quote(
        "Under a filter of ten papers the recall of a graph index fell to 0.205.", passage(pages), pages
    )
    assert quote is not None
    assert quote.text == "The recall of the graph index fell to 0.205 under a filter."


def test_a_passage_without_text_or_without_its_pages_gives_no_quote() -> None:
    pages = paper("One sentence.")
    assert find_quote("One", passage(paper("  ")), pages) is None
    assert find_quote("One", passage(pages), []) is None
    assert find_quote("One", passage(pages), paper("")) is None


def test_a_claim_without_terms_still_gets_a_verbatim_quote() -> None:
    pages = paper("One sentence. Another.")
    quote = find_quote("", passage(pages), pages)
    assert quote is not None
    assert_verbatim(quote, pages)


def test_a_known_stretch_is_cut_to_the_page_that_holds_most_of_it() -> None:
    pages = paper("Short start", "and a much longer end of it.", labels=(None, "7"))
    assert quote_at(6, 41, pages) == Quote("and a much longer end of it.", 2, "7", 13, 41, 1.0)
    assert quote_at(0, 20, pages) == Quote("Short start", 1, None, 0, 11, 1.0)
    assert quote_at(50, 60, pages) is None


_TEXTS = st.lists(
    st.sampled_from(
        [
            "The recall fell to 0.2. ",
            "filter ",
            "\n",
            "\n\n",
            "検索は",
            "x" * 90 + " ",
            "0.5\t",
            "—",
            " ",
            "é",
            "\ud800",
        ]
    ),
    max_size=40,
).map("".join)


@given(st.lists(_TEXTS, min_size=1, max_size=4), _TEXTS, st.integers(0, 300), st.integers(0, 2000))
def test_every_quote_is_a_verbatim_slice_of_the_page_it_names(
    texts: list[str], claim: str, start: int, length: int
) -> None:
    pages = paper(*texts)
    chosen = passage(pages, start, start + length)
    quote = find_quote(claim, chosen, pages)
    if quote is None:
        assert not chosen.text.strip()
        return
    assert_verbatim(quote, pages)
    assert 0 < len(quote.text) <= LONGEST_QUOTE
    assert chosen.char_start <= quote.char_start < quote.char_end <= chosen.char_end

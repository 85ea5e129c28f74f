"""Short texts: names, counts, cut lines."""

from __future__ import annotations

import pytest

from widgets.wording import byline, counted, one_line, place_label


@pytest.mark.parametrize(
    ("authors", "year", "shown"),
    [
        (("Patrick Lewis", "Ethan Perez"), 2020, "Lewis et al. 2020"),
        (("Lewis, Patrick",), 2020, "Lewis 2020"),
        (("Vision working group",), None, "Vision working group"),
        (("王伟",), 2021, "王伟 2021"),
        ((" ",), 1999, "1999"),
        ((), None, ""),
    ],
)
def test_a_byline_names_the_first_author_and_the_year(
    authors: tuple[str, ...], year: int | None, shown: str
) -> None:
    assert byline(authors, year) == shown


def test_a_long_line_is_cut_at_a_word_and_a_long_word_anywhere() -> None:
    assert one_line("one\n two   three", 11) == "one two…"
    assert one_line("x" * 50, 10) == "x" * 9 + "…"
    assert one_line("short") == "short"


def test_counts_agree_with_their_nouns() -> None:
    assert (counted(1, "page"), counted(0, "page"), counted(12, "page")) == ("1 page", "0 pages", "12 pages")


def test_a_path_in_the_persons_own_folder_begins_with_a_tilde(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/people/ada")
    assert place_label("/people/ada/papers/library.duckdb") == "~/papers/library.duckdb"
    assert place_label("/people/adam/library.duckdb") == "/people/adam/library.duckdb"

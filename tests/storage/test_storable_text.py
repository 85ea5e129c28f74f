from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.storage.cleaning import clean_label, clean_text, file_name, name_key

ANY = st.text(alphabet=st.characters())  # lone surrogates and NULs included


@pytest.mark.parametrize(
    ("given_name", "kept"),
    [
        ("paper.pdf", "paper.pdf"),
        ("/home/ann/paper.pdf", "paper.pdf"),
        ("..\\..\\outside.txt", "outside.txt"),
        ("../../outside.txt", "outside.txt"),
        ("a\\b.txt", "b.txt"),
        ("..", "unnamed"),
        ("folder/", "unnamed"),
        ("", "unnamed"),
        ("🚀 研究.md", "🚀 研究.md"),
        ("line\nbreak\t.txt", "line break .txt"),
        ("x" * 300 + ".pdf", "x" * 251 + ".pdf"),
        ("x" * 300, "x" * 255),
    ],
)
def test_a_file_is_known_by_its_last_part_only(given_name: str, kept: str) -> None:
    assert file_name(given_name) == kept


@given(ANY)
def test_clean_text_can_be_stored_and_keeps_every_offset(text: str) -> None:
    cleaned = clean_text(text)
    cleaned.encode("utf-8")
    assert len(cleaned) == len(text)
    assert "\x00" not in cleaned
    assert clean_text(cleaned) == cleaned


@given(ANY)
def test_a_label_is_one_line_that_can_be_stored(text: str) -> None:
    label = clean_label(text)
    label.encode("utf-8")
    assert label == clean_label(label)
    assert len(label.splitlines()) <= 1


def test_what_is_taken_out_of_a_label_leaves_no_gap() -> None:
    assert clean_label(" a \x80 b\u2028c\x07d\ud800 ") == "a b cd\ufffd"


@given(ANY)
def test_a_file_name_holds_no_folder(text: str) -> None:
    name = file_name(text)
    assert 1 <= len(name) <= 255
    assert not set(name) & {"/", "\\", "\n", "\x00"}
    assert name not in {".", ".."}


@given(st.text())
def test_a_key_is_the_key_of_itself(text: str) -> None:
    assert name_key(name_key(text)) == name_key(text)

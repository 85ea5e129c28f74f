"""Files of labelled questions, as they should be and as they come."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench import Gold, Question
from workbench.errors import InvalidInputError
from workbench.evaluation.question_files import (
    MOST_QUESTIONS,
    parse_questions,
    question_lines,
    read_questions,
)

GOOD = {"id": "a", "question": "Why?", "gold": [{"file": "a.pdf", "page": 3, "phrase": "because"}]}
ROOT = Path(__file__).resolve().parents[2]


def line(**changes: Any) -> bytes:
    return json.dumps(
        {name: value for name, value in {**GOOD, **changes}.items() if value is not ...}
    ).encode()


def test_a_line_becomes_a_question_with_its_labels() -> None:
    data = (
        b"\xef\xbb\xbf"
        + line(type="single", answer=" So. ", note="n", more=1)
        + b"\r\n\n"
        + line(id="b", gold=[])
    )
    assert parse_questions(data, name="q") == [
        Question("a", "Why?", (Gold("a.pdf", 3, "because"),), "single", "So.", "n"),
        Question("b", "Why?", (), "unanswerable"),
    ]


def test_the_type_follows_from_the_files_where_it_is_not_given() -> None:
    gold = [{"file": name, "page": 1} for name in ("a.pdf", "folder/b.pdf", "c:\\b.pdf")]
    [found] = parse_questions(line(gold=gold), name="q")
    assert (found.type, found.files) == ("cross", ("a.pdf", "b.pdf"))


def test_the_questions_of_the_sample_project_are_read_and_written_as_they_are() -> None:
    path = ROOT / "data" / "questions.jsonl"
    found = read_questions(path)
    assert len(found) >= 12
    assert question_lines(found) == path.read_text(encoding="utf-8")


def test_the_questions_of_the_shared_papers_are_read_and_written_as_they_are(shared: Path) -> None:
    files = sorted(shared.glob("papers/*/questions.jsonl"))
    assert len(files) >= 5
    for path in files:
        given_lines = [json.loads(text) for text in path.read_text(encoding="utf-8").splitlines()]
        written = [json.loads(text) for text in question_lines(read_questions(path)).splitlines()]
        assert written == given_lines


PLACES = st.builds(
    Gold,
    file=st.from_regex(r"[a-zé\u4e00-\u4e10]{1,8}\.pdf", fullmatch=True),
    page=st.integers(1, 1_000_000),
    phrase=st.text(max_size=20).map(lambda t: " ".join(t.replace("\0", "").split())),
)


@given(
    st.lists(PLACES, max_size=4),
    st.text(min_size=1, max_size=50).map(lambda t: t.replace("\0", "").strip()).filter(bool),
)
def test_whatever_a_question_holds_comes_back_from_its_line(gold: list[Gold], text: str) -> None:
    question = Question("q", text, tuple(gold))
    assert parse_questions(question_lines([question]).encode(), name="q") == [question]


HOSTILE: list[tuple[bytes, str]] = [
    (b"", "q holds no question: each line is one, as a JSON object."),
    (b"\n \n", "q holds no question: each line is one, as a JSON object."),
    (b"[1]", "q, line 1: a question is an object, {…}, not a list."),
    (b"null", "q, line 1: a question is an object, {…}, not null."),
    (b"{", "q, line 1: this is no JSON object (Expecting property name enclosed in double quotes)."),
    (b"\xff\xfe{", "q, line 1: this is no UTF-8 text."),
    (b"[" * 100_000, "q, line 1: this is no JSON object (nested too deeply, or a number too long)."),
    (
        line() + b"\n" + b'{"id": 1' + b"0" * 5000 + b"}",
        "q, line 2: this is no JSON object (nested too deeply",
    ),
    (b" " * 1_000_001 + b"{}", "q, line 1: the line is longer than 1,000,000 bytes."),
    (line(question=...), "q, line 1: there is no “question”."),
    (line(question="  "), "q, line 1: there is no “question”."),
    (line(question=["Why?"]), "q, line 1: “question” is a text, not a list."),
    (line(question="x" * 4001), "q, line 1: “question” has 4,001 characters; at most 4,000 work."),
    (line(id=...), "q, line 1: there is no “id”."),
    (line(id=7), "q, line 1: “id” is a text, not a number."),
    (line(id="a\x1b[31m"), "q, line 1: “id” holds a control character or a line break."),
    (line(type="a\nb"), "q, line 1: “type” holds a control character or a line break."),
    (line(gold="a.pdf"), "q, line 1: “gold” is a list of file, page and phrase, not a text."),
    (line(gold=None), "q, line 1: “gold” is a list of file, page and phrase, not null."),
    (line(gold=[3]), "q, line 1: a place in “gold” is an object, not a number."),
    (line(gold=[{"page": 1}]), "q, line 1: a place in “gold” has no “file”."),
    (line(gold=[{"file": "x/", "page": 1}]), "q, line 1: a place in “gold” has no “file”."),
    (
        line(gold=[{"file": "a.pdf"}]),
        "q, line 1: “page” of a.pdf is missing; pages are whole numbers from 1.",
    ),
    *[
        (line(gold=[{"file": "a.pdf", "page": page}]), f"q, line 1: “page” of a.pdf is {shown}; pages are")
        for page, shown in [
            (0, "0"),
            (-1, "-1"),
            (1.5, "1.5"),
            ("3", "3"),
            (True, "True"),
            (10**30, "a very large number"),
            (["x" * 90], "['xxx"),
        ]
    ],
    (line(gold=[{"file": "a.pdf", "page": 1}] * 201), "q, line 1: “gold” has 201 places; at most 200 work."),
    (line(type="unanswerable"), "q, line 1: the question is of type “unanswerable”, but it has gold"),
    (line(type="single", gold=[]), "q, line 1: the question is of type “single”, but it has no gold"),
    (line() + b"\n\n" + line(), "q, line 3: the id “a” is that of line 1 already."),
]


@pytest.mark.parametrize(("data", "error"), HOSTILE, ids=range(len(HOSTILE)))
def test_what_is_no_question_is_one_line_that_names_its_line(data: bytes, error: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        parse_questions(data, name="q")
    assert str(caught.value).startswith(error[: error.find("['xxx")] if "['xxx" in error else error)
    assert len(str(caught.value).splitlines()) == 1
    assert len(str(caught.value)) < 250


def test_there_is_an_end_to_how_many_questions_a_file_may_hold() -> None:
    many = b"\n".join(line(id=str(number)) for number in range(MOST_QUESTIONS + 1))
    with pytest.raises(InvalidInputError, match="more than 10,000 questions: split it"):
        parse_questions(many, name="q")


def test_text_that_cannot_be_stored_is_made_storable() -> None:
    [found] = parse_questions(b'{"id": "a", "question": "Why \\u0000 \\ud800?", "gold": []}', name="q")
    assert found.question == "Why \ufffd \ufffd?"


@pytest.mark.parametrize("path", ["missing.jsonl", ".", "a\0b"])
def test_a_file_that_cannot_be_read_is_one_line(path: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="cannot be read"):
        read_questions(f"{tmp_path}/{path}")

from __future__ import annotations

from dataclasses import replace

from workbench.chat.history import LONGEST_ANSWER, history_messages
from workbench.chat.small_talk import SMALL_TALK
from workbench.interfaces import ChatMessage
from workbench.records import Answer, Evidence
from workbench.scope import Scope


def turn(n: int, text: str | None = None) -> Answer:
    evidence = Evidence(f"Question {n}, standing alone", Scope.ALL, "All notes", ())
    said = f"Answer {n} [1]. More [2][3]." if text is None else text
    return Answer(f"Question {n}", said, (), evidence, False, "fake-chat", "All notes")


def shown(n: int, text: str | None = None) -> list[ChatMessage]:
    said = f"Answer {n}. More." if text is None else text
    return [ChatMessage("user", f"Question {n}"), ChatMessage("assistant", said)]


def test_the_last_turns_are_shown_oldest_first_without_their_passage_numbers() -> None:
    assert history_messages([turn(1), turn(2)], window=8192) == (*shown(1), *shown(2))
    assert history_messages([], window=8192) == ()


def test_of_many_turns_only_the_last_ones_are_shown() -> None:
    found = history_messages([turn(n) for n in range(40)], window=8192, most_messages=5)
    assert found == (*shown(38), *shown(39))


def test_history_takes_at_most_a_quarter_of_the_window_in_whole_turns() -> None:
    long = "word " * 240
    found = history_messages([turn(n, long) for n in range(9)], window=4096)
    assert found == (*shown(7, long.strip()), *shown(8, long.strip()))
    assert history_messages([turn(1, long)], window=1024) == ()


def test_a_very_long_answer_is_cut_at_its_end() -> None:
    (_, answer) = history_messages([turn(1, "x" * 9000)], window=100_000)
    assert answer.content == "x" * (LONGEST_ANSWER - 1) + "…"


def test_of_a_refusal_only_the_refusal_is_shown_and_of_nothing_nothing() -> None:
    refusal = replace(turn(1, "The papers do not say.\n\nNearest passages:\n\n- A [1]"), refused=True)
    talk = replace(turn(2, "Hello."), provider=SMALL_TALK)
    stopped = replace(turn(3, ""), stopped=True)
    assert history_messages([refusal, talk, stopped, turn(4)], window=8192) == (
        *shown(1, "The papers do not say."),
        *shown(4),
    )

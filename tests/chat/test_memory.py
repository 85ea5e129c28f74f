from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from workbench.chat.memory import is_copied, recalled, statements, text_key
from workbench.records import Memory


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("I use mice.", ["I use mice."]),
        ("We care about recall@10", ["We care about recall@10"]),
        ("I use mice. Which dose is safe?", ["I use mice."]),
        ("Hello! My lab studies sleep in zebrafish. Thanks!", ["My lab studies sleep in zebrafish."]),
        (
            "Our dataset has 412 patients, and we report AUC.",
            ["Our dataset has 412 patients, and we report AUC."],
        ),
        ("Remember that the deadline is 3 May.", ["the deadline is 3 May."]),
        ("Please remember: GPUs are scarce here", ["GPUs are scarce here"]),
        (
            "- I use mice\n- we never pool males and females",
            ["I use mice", "we never pool males and females"],
        ),
        ("Our research questions are about sleep.", ["Our research questions are about sleep."]),
        ("I use mice, so which strain is best?", ["I use mice"]),
        ("We have 8 GB of memory; does it fit?", ["We have 8 GB of memory"]),
        ("No, I use mice.", ["I use mice."]),
        ("OK, and we never pool them.", ["we never pool them."]),
        ("Given that I use mice, which strain is best?", []),
        ("When I use mice, which strain is best?", []),
        ("Of the strains that we use, which is best?", []),
        ("We need it in May 2027.", ["We need it in May 2027."]),
        ("Wir arbeiten mit Mäusen.", ["Wir arbeiten mit Mäusen."]),
        ("我们使用小鼠做实验。", ["我们使用小鼠做实验。"]),
        ("I do not eat while I read.", ["I do not eat while I read."]),
    ],
)
def test_what_users_state_of_themselves_is_kept_in_their_own_words(said: str, kept: list[str]) -> None:
    assert statements(said) == kept


@pytest.mark.parametrize(
    "said",
    [
        # questions, plain and indirect
        "Which mice do they use?",
        "Do we need mice",
        "I wonder whether mice sleep.",
        "I would like to know how mice sleep.",
        "I don't understand the second one.",
        "I am looking for papers on mice.",
        "Ich frage mich, ob Mäuse schlafen.",
        # suppositions
        "If we used mice, the dose would be lower.",
        "Suppose I use mice.",
        "Maybe we use mice.",
        "Let's say our budget is 10 million.",
        "We might switch to rats next year.",
        "如果我们使用小鼠。",
        # requests
        "Compare our results with theirs.",
        "Please show me my papers.",
        "I want you to answer in French.",
        "Tell me about mice.",
        # another's word
        "They use mice.",
        "Type I errors are common in phase I trials.",
        "The US market grew by 5 percent.",
        "MI patients were older.",
        "The paper says 'recall@10 is 0.9'.",
        'The authors write "we use mice".',
        "> We use mice.\n> Our results are new.",
        "```\nI use mice\n```",
        "Explain this: We propose a new kind of filter.",
        "We use mice as in [12].",
        "We follow Miller et al. in this.",
        "In this paper we study mice.",
        "We propose a new kind of filter.",
        "I use mice. " * 200,
        # said of the conversation
        "I said mice.",
        "As we discussed, mine is the second.",
        "I like this answer.",
        "I have two questions.",
        "I will check that later.",
        # small talk and noise
        "Thanks, I see.",
        "I see.",
        "I agree.",
        "hello",
        "",
        "   \n ",
        "I",
        "I " + "really " * 60 + "use mice.",
    ],
)
def test_questions_suppositions_requests_and_the_words_of_others_are_not(said: str) -> None:
    assert statements(said) == []


def test_what_only_repeats_a_text_that_was_shown_is_not_kept() -> None:
    passage = "The trial is small. We treated 40 mice with arvenite for six weeks. All of them lived."
    said = "We treated 40 mice with arvenite for six weeks. I use rats."
    assert statements(said, shown=[passage]) == ["I use rats."]
    assert statements("So we care about recall@10.", shown=["We care about recall@10."]) == []


@pytest.mark.parametrize(
    ("statement", "copied"),
    [
        ("We recorded the sleep of forty zebra\ufb01sh", True),
        ("we RECORDED the sleep of forty zebra fish!", True),
        ("We recorded sleep in forty zebrafish with cameras at night.", True),
        ("We record fish.", False),  # too short to tell
        ("We study the sleep of zebrafish.", False),  # the same subject in the user's own words
        ("I recorded forty zebrafish with cameras of my own, which failed.", False),
    ],
)
def test_a_sentence_that_stands_in_a_paper_is_known_again(statement: str, copied: bool) -> None:
    paper = "Fish sleep. We recorded the sleep of forty zebra-\nfish at night, with cameras."
    assert is_copied(statement, ["Nothing.", paper]) is copied


def test_a_turn_gives_five_memories_at_most_and_none_twice() -> None:
    said = " ".join(f"I own tank number {n}." for n in range(9)) + " I own tank number 0."
    assert statements(said) == [f"I own tank number {n}." for n in range(5)]
    assert statements("I use mice. I use mice.") == ["I use mice."]


@pytest.mark.parametrize(
    ("one", "two", "same"),
    [
        ("I use mice.", "We use mice", True),
        ("I use mice", "I am using mice!", True),
        ("I use mice", "I do not use mice", False),
        ("A8 beats B2", "B2 beats A8", False),
        ("We have 40 mice", "We have 41 mice", False),
    ],
)
def test_two_memories_are_one_where_only_small_words_and_endings_differ(
    one: str, two: str, same: bool
) -> None:
    assert (text_key(one) == text_key(two)) is same


def memory(number: int, text: str) -> Memory:
    moment = datetime(2030, 1, number, tzinfo=UTC)
    return Memory(number, text, None, moment, moment)


MEMORIES = [
    memory(1, "I use mice."),
    memory(2, "We care about recall@10."),
    memory(3, "My lab studies sleep in zebrafish."),
    memory(4, "Our mice are kept in the dark."),
]


@pytest.mark.parametrize(
    ("question", "ids"),
    [
        ("Which dose is safe for mice?", [4, 1]),
        ("How do zebrafish rest?", [3]),
        ("What recall do the papers report?", [2]),
        ("Which methods do the papers use?", []),
        ("What is the melting point of arvenite?", []),
        ("", []),
    ],
)
def test_a_question_calls_up_what_has_to_do_with_it_newest_first(question: str, ids: list[int]) -> None:
    assert [m.id for m in recalled(question, MEMORIES)] == ids
    assert [m.id for m in recalled(question, MEMORIES[::-1])] == ids


def test_likeness_finds_what_no_word_does_and_the_limit_holds() -> None:
    def cosines(question: str, texts: Sequence[str]) -> list[float]:
        assert question == "rodents"
        return [0.6 if "mice" in text else 0.1 for text in texts]

    assert [m.id for m in recalled("rodents", MEMORIES, cosines=cosines)] == [4, 1]
    assert [m.id for m in recalled("rodents", MEMORIES, cosines=cosines, limit=1)] == [4]
    assert recalled("rodents", [], cosines=cosines) == []


@pytest.mark.parametrize(
    ("values", "ids"),
    [
        ([0.5, 0.1, 0.1, 0.1], [4]),
        ([0.5, 0.5, 0.5, 0.5], []),  # some embedders find everything alike
        ([0.36, 0.1, 0.1, 0.1], [4]),
        ([0.34, 0.0, 0.0, 0.0], []),
        ([0.46], [4]),
        ([0.44], []),
    ],
)
def test_a_memory_without_a_common_word_must_be_alike_and_stand_out(
    values: list[float], ids: list[int]
) -> None:
    newest = MEMORIES[::-1][: len(values)]
    assert [m.id for m in recalled("rodents", newest, cosines=lambda question, texts: values)] == ids

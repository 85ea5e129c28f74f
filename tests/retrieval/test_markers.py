from __future__ import annotations

import re
from collections.abc import Collection, Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from workbench.retrieval.markers import (
    MAX_PER_SENTENCE,
    MarkerStream,
    as_prose,
    marker_numbers,
    own_numbers,
    without_own_markers,
)

FIVE = range(1, 6)


def streamed(
    pieces: Sequence[str], *, known: Collection[int] = FIVE, own: Collection[int] | None = None
) -> tuple[str, list[int], list[int]]:
    """The text that left the stream, the numbers used, and the unknown ones."""
    stream = MarkerStream(known, own)
    text = "".join([*map(stream.feed, pieces), stream.close()])
    return text, stream.used, stream.unknown


def cleaned(text: str) -> str:
    return streamed([text])[0]


EXAMPLES: dict[str, tuple[str, list[int], list[int]]] = {
    "Recall fell [2].": ("Recall fell [2].", [2], []),
    "Recall fell. [2] It rose. [1]": ("Recall fell. [2] It rose. [1]", [2, 1], []),
    "It fell [1, 2] and rose [3-5].": ("It fell [1][2] and rose [3].", [1, 2, 3], []),
    "A【1】 b [^2] c [ 3 ].": ("A[1] b [2] c [3].", [1, 2, 3], []),
    "A 【4†source】 b [passage 2] c [Sources 1 and 3].": ("A [4] b [2] c [1].", [4, 2, 1], []),
    "A [1; 2] b [1–2] c [^3, ^4]": ("A [1][2] b c [3]", [1, 2, 3], []),
    "A [[1]] b.": ("A [1] b.", [1], []),
    "It fell [1][1], it fell [1].": ("It fell [1], it fell.", [1], []),
    "It fell [1], [2]; [3].": ("It fell [1][2][3].", [1, 2, 3], []),
    "It fell [1], [99], and rose [2], [see below].": (
        "It fell [1], and rose [2], [see below].",
        [1, 2],
        [99],
    ),
    "It fell [1], ": ("It fell [1],", [1], []),
    "它很快[1]、[2]。": ("它很快[1][2]。", [1, 2], []),
    "It fell [99].": ("It fell.", [], [99]),
    "It fell [99] [1].": ("It fell [1].", [1], [99]),
    "It [99] fell [1, 77]!": ("It fell [1]!", [1], [99, 77]),
    "- [99] It fell [1]": ("- It fell [1]", [1], [99]),
    "the[99]end": ("the end", [], [99]),
    "[1[99]2]": ("[1 2]", [], [99]),
    "All agree [1][2][3][4][5].": ("All agree [1][2][3].", [1, 2, 3], []),
    "It fell [1]. [2] shows that it rose [2].": ("It fell [1]. [2] shows that it rose.", [1, 2], []),
    "It fell. [1][2]\nIt rose [1].": ("It fell. [1][2]\nIt rose [1].", [1, 2], []),
    "They say “it holds [12]” [1].": ("They say “it holds (ref. 12)” [1].", [1], []),
    'They say "it holds [2, 3]" and more [1].': ('They say "it holds (ref. 2, 3)" and more [1].', [1], []),
    "Er sagt „es gilt [2]“ hier [1].": ("Er sagt „es gilt (ref. 2)“ hier [1].", [1], []),
    "Il dit « vrai [2] » ici [1].": ("Il dit « vrai (ref. 2) » ici [1].", [1], []),
    '5" disks hold it [1] in 3" bays [2].': ('5" disks hold it [1] in 3" bays [2].', [1, 2], []),
    "Call `a[1]` and [1].": ("Call `a[1]` and [1].", [1], []),
    "Call ``a`[7]`` and [1].": ("Call ``a`[7]`` and [1].", [1], []),
    "A stray ` mark [1] and [9].": ("A stray ` mark [1] and.", [1], [9]),
    "Use [1]:\n```\nx[9] = y[1]\n```\nIt works [2].": (
        "Use [1]:\n```\nx[9] = y[1]\n```\nIt works [2].",
        [1, 2],
        [],
    ),
    "Open [1]\n```\nx[9]": ("Open [1]\n```\nx[9]", [1], []),
    "Values lie in [0, 1] and [0.5, 2] [3].": ("Values lie in [0, 1] and [0.5, 2] [3].", [3], []),
    "A [see the appendix, which is long enough to be prose and nothing else] [1].": (
        "A [see the appendix, which is long enough to be prose and nothing else] [1].",
        [1],
        [],
    ),
    "It fell [1].\n\nReferences\n[1] Smith 2020\n[2] Jones 2021": ("It fell [1].\n\n", [1], []),
    "It fell [1].\n\n**Sources:**\n- [1] a.pdf": ("It fell [1].\n\n", [1], []),
    "It fell [1].\n\nReferences: [1] Smith 2020.": ("It fell [1].\n\n", [1], []),
    "Es fiel [1].\n\n**Quellen:**\n[1] Smith 2020": ("Es fiel [1].\n\n", [1], []),
    "Il baissa [1].\n\nRéférences :\n1. Smith 2020": ("Il baissa [1].\n\n", [1], []),
    "下降了 [1]。\n\n参考文献：[1] 王 2020": ("下降了 [1]。\n\n", [1], []),
    "It fell [1].\n[^1]: Smith 2020.\n[^2]: Jones.": ("It fell [1].\n", [1], []),
    "It fell [1].\n## References\n1. Smith\n\n## Limits\nNone [2].": (
        "It fell [1].\n## Limits\nNone [2].",
        [1, 2],
        [],
    ),
    "It fell [1].\nSources: the authors name none [2].": (
        "It fell [1].\nSources: the authors name none [2].",
        [1, 2],
        [],
    ),
    "Sources of error are two [1].": ("Sources of error are two [1].", [1], []),
    "References\nare counted [1].": ("References\nare counted [1].", [1], []),
    "检索是精确的。[1]它很快【2】。": ("检索是精确的。[1]它很快[2]。", [1, 2], []),
    "An open [": ("An open [", [], []),
    "An open [1": ("An open [1", [], []),
    "": ("", [], []),
}


@pytest.mark.parametrize("given_text", EXAMPLES, ids=lambda text: text[:30])
def test_an_answer_leaves_with_known_markers_only(given_text: str) -> None:
    assert streamed([given_text]) == EXAMPLES[given_text]


@pytest.mark.parametrize("given_text", EXAMPLES, ids=lambda text: text[:30])
def test_every_cut_of_every_example_in_two_gives_the_same_answer(given_text: str) -> None:
    for cut in range(len(given_text) + 1):
        assert streamed([given_text[:cut], given_text[cut:]]) == EXAMPLES[given_text], cut
    assert streamed(list(given_text)) == EXAMPLES[given_text]


_PIECES = st.sampled_from(
    [
        *"[]【】^`\"“”„«»0123469,.;:!?-–#*_ \n\tabZ。†(é😀",
        "[1]", "[9]", "[[", "]]", "[0, 1]", "```", "``", ". ", "\n\n", "References", "Sources", ":",
        ", [1]", "; [9]", "Works cited", "[^1]:", " and ", "passage ", "word ", "Word ", "    ", "\u00a0",
        "\ud800", "１",
    ]
)  # fmt: skip
_ANSWERS = st.one_of(st.lists(_PIECES, max_size=40).map("".join), st.text(max_size=60))


@st.composite
def _cut_answers(draw: st.DrawFn) -> list[str]:
    text = draw(_ANSWERS)
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=8)))
    return [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]


@given(_cut_answers())
def test_how_an_answer_is_cut_makes_no_difference(pieces: list[str]) -> None:
    whole = streamed(["".join(pieces)])
    assert streamed(pieces) == whole
    assert streamed(list("".join(pieces))) == whole


@given(_ANSWERS)
@example("[9[99]9]")
@example("``[99]`[7]")
@example("[1]`[99]`")
def test_no_unknown_number_and_no_long_run_of_numbers_leaves_any_text(text: str) -> None:
    shown, used, unknown = streamed([text])
    numbers = [n for n, _, _ in marker_numbers(shown)]
    assert set(numbers) == set(used) <= set(FIVE)
    assert not set(unknown) & set(FIVE)
    assert not re.search(rf"(\[[1-5]\]){{{MAX_PER_SENTENCE + 1},}}", "".join(shown)) or "`" in shown


@given(st.text(alphabet=st.characters(exclude_characters="[]【】`"), max_size=80))
def test_text_without_brackets_and_code_leaves_as_it_came(text: str) -> None:
    assert cleaned(text) == text.rstrip(" ")


def test_what_cannot_become_a_marker_is_shown_at_once() -> None:
    stream = MarkerStream(FIVE)
    shown = [
        stream.feed(piece) for piece in ["Recall ", "fell [", "2", "]", " to 0.2", " [see", " below]", "."]
    ]
    assert shown == ["Recall", " fell", "", " [2]", " to 0.2", "", " [see below]", "."]


def test_a_number_in_quotes_is_ours_where_no_paper_writes_it() -> None:
    text = "They say “recall fell to 0.2 [2]” and “it rose [3]”."
    assert streamed([text], own={3})[0] == "They say “recall fell to 0.2 [2]” and “it rose (ref. 3)”."


def test_marker_numbers_come_with_their_places_and_leave_code_out() -> None:
    assert marker_numbers("A [1] `b[2]` c [3]\n```\n[4]") == [(1, 2, 5), (3, 15, 18)]


def test_a_papers_own_numbers_can_no_longer_be_taken_for_ours() -> None:
    text = "As shown [12], [3–5] and [1, 2], values lie in [0, 1]; run `x`."
    assert without_own_markers(text) == (
        "As shown (ref. 12), (ref. 3–5) and (ref. 1, 2), values lie in (0, 1); run `x`."
    )
    assert as_prose("Run `x`,\n as\tin [4].") == "Run 'x', as in (ref. 4)."
    assert own_numbers(text) == {0, 1, 2, 3, 4, 5, 12}


def test_a_long_answer_in_single_characters_takes_little_time() -> None:
    text = "Recall fell [1], [2] `code` “quoted [3]”. " * 2_000
    assert streamed(list(text)) == streamed([text])

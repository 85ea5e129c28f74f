from __future__ import annotations

from collections.abc import Sequence

import pytest

from workbench.retrieval.likeness import second_opinion

SOURCE = "A smaller row group did not help. The file was copied twice, with a backup on tape."


def fixed(cosine: float) -> object:
    def likeness(claim: str, texts: Sequence[str]) -> list[float]:
        return [cosine] * len(texts)

    return likeness


@pytest.mark.parametrize(
    ("verdict", "reason", "cosine", "expected"),
    [
        ("unsupported", "only 33% of it", 0.9, "partly"),
        ("unsupported", "only 33% of it", 0.6, "unsupported"),
        ("unsupported", "14 ms does not stand", 0.9, "unsupported"),
        ("partly", "only 45% of it", 0.9, "partly"),
        ("partly", "only 45% of it", 0.2, "unsupported"),
        ("supported", "62% of it", 0.2, "partly"),
        ("supported", "62% of it", 0.6, "supported"),
    ],
)
def test_an_embedder_lifts_to_partly_at_most_and_clears_nothing_that_figures_or_names_decided(
    verdict: str, reason: str, cosine: float, expected: str
) -> None:
    claim = "Reducing row groups brought no improvement."
    assert second_opinion(claim, SOURCE, verdict, reason, fixed(cosine))[0] == expected  # type: ignore[arg-type]


def test_no_embedder_is_asked_of_a_sentence_whose_words_stand_there() -> None:
    def never(claim: str, texts: Sequence[str]) -> list[float]:
        raise AssertionError(claim)

    claim = "A smaller row group did not help."
    assert second_opinion(claim, SOURCE, "supported", "100% of it", never) == ("supported", "100% of it")

"""The numbers of a search as controls: what each does in plain words, where it may go, what is usual."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from workbench import SearchParameters

if TYPE_CHECKING:
    from workbench import Settings

Numbers = dict[str, Any]
"""A value for each control; ``keyword_weight`` is None where the search's own holds."""

AUTOMATIC = "automatic"


@dataclass(frozen=True, slots=True)
class _Control:
    """``reach`` is where the slider ends; the field beside it takes all that the range allows."""

    name: str
    label: str
    explained: str
    step: float
    reach: float


_CONTROLS = (
    _Control(
        "top_k",
        "Passages in all",
        "How many passages an answer is written from, at most.",
        1,
        40,
    ),
    _Control(
        "max_per_paper",
        "Most from one paper",
        "While other papers still have some to offer.",
        1,
        20,
    ),
    _Control(
        "min_relevance",
        "Least relevance",
        "A passage below it never counts; the best stand near 1.",
        0.01,
        1,
    ),
    _Control(
        "qualify_fraction",
        "Share of the best",
        "How near to the best passage one must come to win its paper a seat.",
        0.05,
        1,
    ),
    _Control(
        "keyword_weight",
        "Word weight",
        "0 goes by meaning alone, 1 by words alone; automatic is the search's own balance.",
        0.05,
        1,
    ),
)

LABELS = {control.name: control.label for control in _CONTROLS}


def controls() -> list[dict[str, Any]]:
    """The controls in the order shown, with the ranges that searches accept."""
    return [
        {
            **asdict(control),
            "low": SearchParameters.RANGES[control.name][0],
            "high": SearchParameters.RANGES[control.name][1],
            "automatic": control.name == "keyword_weight",
        }
        for control in _CONTROLS
    ]


def usual(settings: Settings) -> Numbers:
    """What the settings have, for every place without a preset."""
    return checked(
        {
            "top_k": settings.top_k,
            "max_per_paper": settings.max_chunks_per_paper,
            "min_relevance": settings.min_relevance,
        }
    )


def checked(given: Mapping[str, Any]) -> Numbers:
    """``given`` and the defaults of the rest. Raises InvalidInputError for a number that cannot be."""
    return asdict(SearchParameters().with_values(given))


def in_words(numbers: Mapping[str, Any], usual: Mapping[str, Any]) -> str:
    """ "6 passages, 2 from a paper": what differs from the usual numbers; empty where nothing does."""
    forms = {
        "top_k": "{:g} passages" if numbers.get("top_k") != 1 else "1 passage",
        "max_per_paper": "{:g} from a paper",
        "min_relevance": "relevance from {:.2g}",
        "qualify_fraction": "{:.0%} of the best",
        "keyword_weight": "words {:.0%}",
    }
    differ = [name for name in forms if numbers.get(name) != usual[name]]
    return ", ".join(
        "words automatic" if numbers.get(name) is None else forms[name].format(numbers[name])
        for name in differ
    )

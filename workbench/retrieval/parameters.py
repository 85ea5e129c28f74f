"""The numbers of a search that can be tuned, as one value: per call, per project, by the settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from numbers import Integral, Real
from typing import Any, ClassVar

from workbench.errors import InvalidInputError
from workbench.retrieval.fusion import FusionWeights
from workbench.retrieval.selection import SelectionLimits


@dataclass(frozen=True, slots=True)
class SearchParameters:
    """What ``SelectionLimits`` says, and ``keyword_weight``: the keyword list's part (0 to 1) of the fused
    relevance, None for what the search's mode has.

    ``RANGES`` has the lowest and the highest value of each that makes sense.
    """

    RANGES: ClassVar[Mapping[str, tuple[float, float]]] = {
        "top_k": (1, 200),
        "max_per_paper": (1, 200),
        "min_relevance": (0.0, 1.0),
        "qualify_fraction": (0.0, 1.0),
        "keyword_weight": (0.0, 1.0),
    }

    top_k: int = 15
    max_per_paper: int = 5
    min_relevance: float = 0.05
    qualify_fraction: float = 0.6
    keyword_weight: float | None = None

    def __post_init__(self) -> None:
        _ = self.limits  # which checks them
        weight: Any = self.keyword_weight
        if weight is None:
            return
        if isinstance(weight, bool) or not isinstance(weight, Real) or not 0 <= float(weight) <= 1:
            raise InvalidInputError(f"keyword_weight must be a number from 0 to 1, not {weight!r}.")

    @property
    def limits(self) -> SelectionLimits:
        return SelectionLimits(self.top_k, self.max_per_paper, self.min_relevance, self.qualify_fraction)

    @property
    def weights(self) -> FusionWeights | None:
        """The weights of the fusion, None for those of the mode."""
        weight: Any = self.keyword_weight
        return None if weight is None else FusionWeights(keyword=weight, vector=1 - weight)

    def with_values(self, values: Mapping[str, Any]) -> SearchParameters:
        """These, with other values by name. Raises InvalidInputError for a name that is none of them, or a
        value that cannot be."""
        unknown = sorted(set(map(str, values)) - set(NAMES))
        if unknown:
            raise InvalidInputError(
                f"No such search parameter: {', '.join(unknown)}. Known: {', '.join(NAMES)}."
            )
        changed = replace(self, **{name: _number(value) for name, value in values.items()})
        for name in ("top_k", "max_per_paper"):
            highest = self.RANGES[name][1]
            if name in values and getattr(changed, name) > highest:
                raise InvalidInputError(
                    f"{name} must be a whole number from 1 to {highest:g}, not {getattr(changed, name)}."
                )
        return changed

    def values(self) -> dict[str, Any]:
        """Name to value; ``keyword_weight`` only where it is set."""
        return {name: value for name, value in asdict(self).items() if value is not None}


NAMES = tuple(f.name for f in fields(SearchParameters))


def _number(value: Any) -> Any:
    """A number of numpy's or pandas' as Python's own; everything else as it is."""
    if isinstance(value, bool):
        return value
    return int(value) if isinstance(value, Integral) else float(value) if isinstance(value, Real) else value

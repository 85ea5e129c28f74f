"""How records show themselves: a table in a notebook, a DataFrame when asked."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from workbench.rendering import record_html

if TYPE_CHECKING:
    import pandas


class Displayed:
    """Gives a record its table in a notebook."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return record_html(self)


def frame_of(rows: tuple[Any, ...]) -> pandas.DataFrame:
    import pandas

    return pandas.DataFrame([asdict(row) for row in rows])

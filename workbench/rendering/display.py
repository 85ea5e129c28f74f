"""What every record and every list of records has: one line of text, and a table in a notebook."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any, ClassVar, SupportsIndex, TypeVar, overload

from workbench.rendering.html import table_html
from workbench.rendering.markdown import table_markdown
from workbench.rendering.wording import names_shown, record_line

if TYPE_CHECKING:
    import pandas

Record = TypeVar("Record")


class Displayed:
    """Gives a record its line and its table of names and values. ``shown`` are the fields of the line and of
    a row in a list; by default all. For dataclasses with ``repr=False``."""

    __slots__ = ()

    shown: ClassVar[tuple[str, ...]] = ()

    def __repr__(self) -> str:
        return record_line(self)

    def _repr_markdown_(self) -> str:
        return table_markdown([type(self).__name__, ""], _fields(self))

    def _repr_html_(self) -> str:
        return table_html([type(self).__name__, ""], _fields(self))


class Listing(list[Record]):
    """A list of records of one kind. A notebook shows it as a table."""

    __slots__ = ("kind",)

    MOST_SHOWN = 100

    def __init__(self, kind: type[Record], records: Iterable[Record] = ()) -> None:
        super().__init__(records)
        self.kind = kind

    @overload
    def __getitem__(self, at: SupportsIndex, /) -> Record: ...
    @overload
    def __getitem__(self, at: slice, /) -> Listing[Record]: ...
    def __getitem__(self, at: SupportsIndex | slice, /) -> Record | Listing[Record]:
        return Listing(self.kind, list(self)[at]) if isinstance(at, slice) else super().__getitem__(at)

    def __repr__(self) -> str:
        lines = ",\n ".join(map(repr, self[: self.MOST_SHOWN].copy()))
        return f"[{lines}{self._more(',')}]"

    def to_frame(self) -> pandas.DataFrame:
        """One row per record, with its fields as columns."""
        import pandas

        columns = [field.name for field in fields(self.kind)]  # type: ignore[arg-type]  # records are dataclasses
        rows = [asdict(record) for record in self]  # type: ignore[call-overload]  # the same
        return pandas.DataFrame(rows, columns=columns)

    def _repr_markdown_(self) -> str:
        return table_markdown(*self._table()) + (f"\n\n{self._more()}" if self._more() else "")

    def _repr_html_(self) -> str:
        return table_html(*self._table()) + (f"<p>{self._more()}</p>" if self._more() else "")

    def _table(self) -> tuple[list[str], list[list[object]]]:
        names = names_shown(self.kind)
        rows = [[getattr(record, name) for name in names] for record in list(self)[: self.MOST_SHOWN]]
        return [name.replace("_", " ") for name in names], rows

    def _more(self, before: str = "") -> str:
        more = len(self) - self.MOST_SHOWN
        return f"{before} and {more} more".lstrip() if more > 0 else ""


def frame_of(rows: tuple[Any, ...], kind: type) -> pandas.DataFrame:
    """One row per record; the columns of ``kind`` also where there is none."""
    return Listing(kind, rows).to_frame()


def _fields(record: Any) -> list[list[object]]:
    values = [[field.name, getattr(record, field.name)] for field in fields(record)]
    return [[name, f"{len(value)} bytes" if isinstance(value, bytes) else value] for name, value in values]

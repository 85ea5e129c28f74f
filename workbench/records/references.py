"""References of ``.bib`` and ``.ris`` files, the papers they describe, and what is written for others."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from workbench.rendering.display import Displayed
from workbench.rendering.html import notes_html, table_html
from workbench.rendering.markdown import notes_markdown, table_markdown

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, slots=True, repr=False)
class Reference(Displayed):
    """A paper as a ``.bib`` or ``.ris`` file describes it.

    ``files`` are names of linked files, without folders; ``fields`` hold what has no place of its own here
    (journal, volume, pages, url …), by BibTeX's names, as plain text.
    """

    shown = ("key", "title", "authors", "year", "doi")

    key: str | None
    entry_type: str
    title: str | None
    authors: tuple[str, ...]
    year: int | None
    doi: str | None
    files: tuple[str, ...]
    fields: dict[str, str]


@dataclass(frozen=True, slots=True, repr=False)
class MatchedReference(Displayed):
    """A reference and the paper it describes; ``by`` says what matched: doi, file or title."""

    key: str | None
    title: str | None
    paper_id: int
    paper_title: str
    by: str


@dataclass(frozen=True, slots=True, repr=False)
class UnmatchedReference(Displayed):
    """A reference that describes none of the user's papers for certain, and why."""

    key: str | None
    title: str | None
    reason: str


@dataclass(frozen=True, slots=True, repr=False)
class ReferenceReport(Displayed):
    """What became of the references of one file."""

    matched: tuple[MatchedReference, ...]
    unmatched: tuple[UnmatchedReference, ...]
    warnings: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<ReferenceReport: {len(self.matched)} matched, {len(self.unmatched)} unmatched>"

    def to_frame(self) -> pandas.DataFrame:
        """One row per reference; those without a paper have a reason instead."""
        import pandas

        return pandas.DataFrame([*map(asdict, self.matched), *map(asdict, self.unmatched)])

    def _repr_markdown_(self) -> str:
        return "\n\n".join([table_markdown(*self._table()), *notes_markdown(self.warnings)])

    def _repr_html_(self) -> str:
        return table_html(*self._table()) + notes_html(self.warnings)

    def _table(self) -> tuple[list[str], list[list[object]]]:
        rows: list[list[object]] = [[m.key, m.title, m.paper_title, m.by] for m in self.matched]
        rows += [[u.key, u.title, "", u.reason] for u in self.unmatched]
        return ["key", "title", "paper", "matched by, or why not"], rows


@dataclass(frozen=True, slots=True, repr=False)
class ExportedConversation(Displayed):
    """A conversation as Markdown with pandoc's citation keys, and the BibTeX they stand for, which the
    Markdown expects beside it under ``bibliography``."""

    markdown: str
    bibtex: str
    bibliography: str

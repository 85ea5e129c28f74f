"""References of ``.bib`` and ``.ris`` files, the papers they describe, and what is written for others."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from workbench.records.display import Displayed

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, slots=True)
class Reference(Displayed):
    """A paper as a ``.bib`` or ``.ris`` file describes it.

    ``files`` are names of linked files, without folders; ``fields`` hold what has no place of its own here
    (journal, volume, pages, url …), by BibTeX's names, as plain text.
    """

    key: str | None
    entry_type: str
    title: str | None
    authors: tuple[str, ...]
    year: int | None
    doi: str | None
    files: tuple[str, ...]
    fields: dict[str, str]


@dataclass(frozen=True, slots=True)
class MatchedReference:
    """A reference and the paper it describes; ``by`` says what matched: doi, file or title."""

    key: str | None
    title: str | None
    paper_id: int
    paper_title: str
    by: str


@dataclass(frozen=True, slots=True)
class UnmatchedReference:
    """A reference that describes none of the user's papers for certain, and why."""

    key: str | None
    title: str | None
    reason: str


@dataclass(frozen=True, slots=True)
class ReferenceReport(Displayed):
    """What became of the references of one file."""

    matched: tuple[MatchedReference, ...]
    unmatched: tuple[UnmatchedReference, ...]
    warnings: tuple[str, ...] = ()

    def to_frame(self) -> pandas.DataFrame:
        """One row per reference; those without a paper have a reason instead."""
        import pandas

        return pandas.DataFrame([*map(asdict, self.matched), *map(asdict, self.unmatched)])


@dataclass(frozen=True, slots=True)
class ExportedConversation:
    """A conversation as Markdown with pandoc's citation keys, and the BibTeX they stand for, which the
    Markdown expects beside it under ``bibliography``."""

    markdown: str
    bibtex: str
    bibliography: str

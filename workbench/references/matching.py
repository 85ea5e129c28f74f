"""Which reference belongs to which paper: by DOI, by the linked file, by title. In doubt, to none."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence

from workbench.records import MatchedReference, Paper, Reference, UnmatchedReference
from workbench.references.reading import doi_in

_SHORT = 3  # words: a shorter title names a paper only together with its year or an author


def match_references(
    references: Sequence[Reference], papers: Sequence[Paper]
) -> tuple[list[tuple[Reference, MatchedReference]], list[UnmatchedReference]]:
    """Each reference with the papers it describes, and those that describe none, in the file's order.

    A DOI is surer than a linked file, and that surer than a title: a paper goes to the surest reference,
    and among equals to the first. Several copies of one paper, with one DOI, all get it.
    """
    known = _Papers(papers)
    found: dict[int, list[MatchedReference]] = {}
    reasons: dict[int, str] = {}
    taken: dict[int, int] = {}
    for by, candidates in _WAYS.items():
        for index, reference in enumerate(references):
            if index in found:
                continue
            fitting = candidates(reference, known)
            if len(fitting) > 1 and by != "doi":
                reasons[index] = f"{len(fitting)} papers fit by {by}"
                continue
            free = [paper for paper in fitting if paper.id not in taken]
            if fitting and not free:
                reasons[index] = f"“{fitting[0].title}” has a reference of this file already"
            for paper in free:
                taken[paper.id] = index
                found.setdefault(index, []).append(_matched(reference, paper, by))
    matched = [(references[i], match) for i in sorted(found) for match in found[i]]
    unmatched = [
        UnmatchedReference(r.key, r.title, reasons.get(i, "no paper fits by DOI, file or title"))
        for i, r in enumerate(references)
        if i not in found
    ]
    return matched, unmatched


def title_key(title: str) -> str:
    """What two titles are compared by: letters and digits alone, without case and accents."""
    plain = unicodedata.normalize("NFKD", title).casefold()
    kept = "".join(c for c in plain if not unicodedata.combining(c))
    return " ".join(re.findall(r"\w+", kept))


class _Papers:
    """The papers by what a reference may be matched by."""

    def __init__(self, papers: Sequence[Paper]) -> None:
        self.by_doi: dict[str, list[Paper]] = {}
        self.by_file: dict[str, list[Paper]] = {}
        self.by_title: dict[str, list[Paper]] = {}
        for paper in papers:
            if paper.doi and (doi := doi_in(paper.doi)):
                self.by_doi.setdefault(doi, []).append(paper)
            self.by_file.setdefault(_file_key(paper.file), []).append(paper)
            if key := title_key(paper.title):
                self.by_title.setdefault(key, []).append(paper)


def _by_doi(reference: Reference, papers: _Papers) -> list[Paper]:
    return papers.by_doi.get(reference.doi or "", [])


def _by_file(reference: Reference, papers: _Papers) -> list[Paper]:
    names = dict.fromkeys(_file_key(name) for name in reference.files)
    fitting = [paper for name in names for paper in papers.by_file.get(name, ())]
    key = title_key(reference.title or "")
    return [paper for paper in fitting if title_key(paper.title) == key] or fitting


def _by_title(reference: Reference, papers: _Papers) -> list[Paper]:
    key = title_key(reference.title or "")
    fitting = [p for p in papers.by_title.get(key, ()) if not _contradicts(reference, p)]
    certain = [p for p in fitting if p.year == reference.year is not None or _same_author(reference, p)]
    return certain if len(key.split()) < _SHORT or (len(fitting) > 1 and certain) else fitting


def _file_key(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()


def _contradicts(reference: Reference, paper: Paper) -> bool:
    """Two different DOIs, of which each names another work."""
    return bool(reference.doi and paper.doi and doi_in(paper.doi) != reference.doi)


def _same_author(reference: Reference, paper: Paper) -> bool:
    surnames = [
        {title_key(name).split()[-1] for name in names if title_key(name)}
        for names in (reference.authors, paper.authors)
    ]
    return bool(surnames[0] & surnames[1])


def _matched(reference: Reference, paper: Paper, by: str) -> MatchedReference:
    return MatchedReference(reference.key, reference.title, paper.id, paper.title, by)


_WAYS: dict[str, Callable[[Reference, _Papers], list[Paper]]] = {
    "doi": _by_doi,
    "file": _by_file,
    "title": _by_title,
}

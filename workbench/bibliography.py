"""``wb.bibliography``: what reference managers know of papers, in and out."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.errors import NotFoundError
from workbench.named_files import read_named
from workbench.records import ExportedConversation, Message, Paper, Reference, ReferenceReport
from workbench.retrieval.markers import marker_numbers
from workbench.scope import Scope
from workbench.storage import bibliography as store
from workbench.storage import papers as paper_store
from workbench.storage import scopes
from workbench.storage.database import Database

if TYPE_CHECKING:
    from workbench.conversing import Conversation


class Bibliography:
    """What ``.bib`` and ``.ris`` files say of papers comes in, papers and conversations go out as BibTeX."""

    def __init__(
        self, database: Database, user: str, *, conversation: Callable[[Conversation | int], Conversation]
    ) -> None:
        self._database, self._user, self._conversation = database, user, conversation

    def add(self, path: str | Path) -> ReferenceReport:
        """Reads a ``.bib`` or ``.ris`` file (Zotero, Mendeley) and gives the user's papers what it says.

        References are matched by DOI, else by the name of the linked file, else by title, and what matches
        no paper, or several, is listed. What the file says stands before what the papers say of themselves,
        for this user alone; a title given when a paper was added stays. Raises InvalidInputError for a file
        that is neither.
        """
        from workbench.ingest.decoding import decode
        from workbench.references.matching import match_references
        from workbench.references.reading import read_references

        references, warnings = read_references(decode(read_named(path)).text)
        with self._database.read() as cursor:
            own = paper_store.linked_ids(cursor, self._user)
            papers = paper_store.list_papers(cursor, self._user, sorted(own))
        matched, unmatched = match_references(references, papers)
        if matched:
            with self._database.write() as cursor:
                still_there = paper_store.linked_ids(cursor, self._user)
                for reference, match in matched:
                    if match.paper_id in still_there:
                        store.put(cursor, self._user, match.paper_id, reference)
        return ReferenceReport(tuple(match for _, match in matched), tuple(unmatched), warnings)

    def bibtex(self, scope: Scope = Scope.ALL) -> str:
        """The scope's papers as BibTeX, notes left out, each under a key of its own.

        An imported entry keeps its key, type and fields; nothing is made up for the others.
        """
        from workbench.references.writing import bibtex, with_keys

        with self._database.read() as cursor:
            papers = paper_store.list_papers(
                cursor, self._user, scopes.paper_ids(cursor, self._user, scope, shared=False)
            )
            known = store.of_papers(cursor, self._user, [paper.id for paper in papers])
        listed = _references([paper for paper in papers if paper.kind != "note"], known)
        return bibtex(with_keys(listed).values())

    def conversation(
        self, conversation: Conversation | int, *, name: str = "references.bib"
    ) -> ExportedConversation:
        """A conversation as Markdown with pandoc's citation keys (``[@key, p. 7]``), and the BibTeX of what
        it cites, to be saved beside it as ``name``. Raises NotFoundError."""
        from workbench.references.markdown import conversation_markdown
        from workbench.references.writing import bibtex, with_keys

        found = self._conversation(conversation)
        messages = found.messages
        cited = _as_cited(messages)
        with self._database.read() as cursor:
            papers = paper_store.list_papers(cursor, self._user, list(cited))
            known = store.of_papers(cursor, self._user, [paper.id for paper in papers])
        keyed = with_keys({**cited, **_references(papers, known)})
        text = conversation_markdown(
            messages,
            {paper_id: reference.key or "" for paper_id, reference in keyed.items()},
            title=found.title,
            scope_label=found.scope_label,
            bibliography=name,
        )
        return ExportedConversation(text, bibtex(keyed.values()), name)

    def notebook(self, conversation: Conversation | int) -> str:
        """A conversation as a notebook (JSON, nbformat 4): a cell per question, ready to run on this library
        again, with the answer it got as Markdown below it. Raises NotFoundError."""
        from workbench.references.notebook import conversation_notebook

        found = self._conversation(conversation)
        messages = found.messages
        names: dict[int, str] = {}
        with self._database.read() as cursor:
            for scope in {m.scope for m in messages if m.scope.project_id is not None}:
                with contextlib.suppress(NotFoundError):  # the project has gone since
                    names[scope.project_id or 0] = scopes.label(cursor, self._user, scope)
        return conversation_notebook(messages, title=found.title, projects=names, paper=found.info.paper_id)


def _references(papers: list[Paper], known: dict[int, Reference]) -> dict[int, Reference]:
    from workbench.references.writing import paper_reference

    return {paper.id: paper_reference(paper, known.get(paper.id)) for paper in papers}


def _as_cited(messages: Sequence[Message]) -> dict[int, Reference]:
    """What the answers themselves say of the papers they cite, which may have left the library since."""
    cited: dict[int, Reference] = {}
    for message in messages:
        if message.answer is None:
            continue
        used = {n for n, _, _ in marker_numbers(message.answer.text)}
        for source in (p for p in message.answer.evidence.passages if p.n in used):
            cited[source.paper_id] = Reference(
                None, "misc", source.title, source.authors, source.year, None, (source.file,), {}
            )
    return cited

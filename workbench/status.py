"""How a library is: where it lies, what it holds for one user, and what it lacks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.asking import Asking
from workbench.errors import ProviderError
from workbench.interfaces import ChatModel, Embedder
from workbench.library import Papers
from workbench.projects import Projects
from workbench.scope import Scope
from workbench.serving import ServingEmbedder
from workbench.storage import generations
from workbench.storage.generations import Generation


def status_of(
    asking: Asking, embedder: ServingEmbedder, papers: Papers, projects: Projects
) -> dict[str, Any]:
    """What ``Workbench.status`` returns."""
    database = asking.database
    held = papers.list()
    with database.read() as cursor:
        serving, moving = generations.serving(cursor), generations.under_way(cursor)
    found, model, warnings = _providers(asking, embedder)
    if serving is not None and found is not None and found.name != serving.embedder:
        asking.forget_embedder()  # the library has been moved since
        found, model, warnings = _providers(asking, embedder)
    return {
        "library": str(database.path),
        "user": asking.user,
        "bytes": database.path.stat().st_size,
        "papers": len(held),
        "indexing": sum(paper.state != "ready" for paper in held),
        "chunks": sum(paper.chunks for paper in held),
        "projects": len(projects.list(status=None)),
        "embedder": found.name if found else None,
        "generation": serving.generation if serving else None,
        "chat_model": model.name if model else "extractive",
        "warnings": warnings + _move_under_way(moving) + _not_indexed(papers.index_failures()),
    }


def _providers(
    asking: Asking, serving: ServingEmbedder
) -> tuple[Embedder | None, ChatModel | None, list[str]]:
    """The embedder and the chat model; one that is set and cannot be had is a warning here."""
    embedder, model = None, None
    warnings: list[str] = []
    try:
        embedder, notes = serving.for_searching()
        warnings += notes
    except ProviderError as error:
        warnings.append(str(error))
    try:
        model, notes = asking.chat_model(None, Scope.ORPHANS)
        warnings += notes
    except ProviderError as error:
        warnings.append(str(error))
    return embedder, model, warnings


def _move_under_way(moving: tuple[Generation, int] | None) -> list[str]:
    if moving is None:
        return []
    generation, left = moving
    count = "1 paper" if left == 1 else f"{left} papers"
    return [
        f"A move to {generation.embedder} is under way, {count} left: until then the old vectors"
        " answer. It goes on where that embedder is set, in the dashboard or when papers are added;"
        " `workbench reprocess --all` or papers.move_soon() goes on with it now."
    ]


def _not_indexed(failures: Mapping[int, str]) -> list[str]:
    """One line on papers whose indexing failed, with the newest one's reason."""
    if not failures:
        return []
    count = "1 paper" if len(failures) == 1 else f"{len(failures)} papers"
    reason = failures[max(failures)].rstrip(".")
    return [f"{count} could not be indexed ({reason}); run `workbench reprocess --all` to try again."]

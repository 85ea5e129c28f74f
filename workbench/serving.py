"""Which embedder serves this library, as the library, the settings and the caller have it now.

A library never mixes two embedders: the one its vectors were made by serves it, and other processes may give
it its first vectors, or switch it to another embedder, while this one runs.
"""

from __future__ import annotations

import threading
import time
from typing import NamedTuple

from workbench.interfaces import Embedder
from workbench.settings import Settings
from workbench.storage import generations
from workbench.storage.database import Database

RETRY_AFTER = 10.0  # s, before an embedder that could not be had is looked for again


class Choice(NamedTuple):
    """An embedder, or None where none can be had, and what to tell the user."""

    embedder: Embedder | None
    warnings: tuple[str, ...] = ()


class ServingEmbedder:
    """Chooses once and remembers. ``given`` is the embedder that the caller brought."""

    def __init__(self, database: Database, settings: Settings, given: Embedder | None) -> None:
        self._database, self._settings, self._given = database, settings, given
        self._lock = threading.Lock()
        self._choice: Choice | None = None
        self._renewing: Choice | None = None
        self._look_again = 0.0  # on time.monotonic()

    def for_searching(self) -> Choice:
        """The embedder whose vectors the library has."""
        with self._lock:
            choice = self._choice
            if choice is None or (choice.embedder is None and time.monotonic() >= self._look_again):
                choice = self._chosen(self._recorded())
            return choice

    def for_adding(self) -> Choice:
        """The same, after a look whether another process has given the library its vectors since; a given
        embedder whatever the library has."""
        if self._given is not None:
            return Choice(self._given)
        with self._lock:
            recorded = self._recorded()
            known = self._choice.embedder if self._choice is not None else None
            if known is not None and recorded in (None, known.name):
                return Choice(known)
            return self._chosen(recorded)

    def for_renewing(self, *, everything: bool = False) -> Choice:
        """The embedder that papers shall be searched by from now on: one set by name, else the same.

        Where the library's own cannot be had, and ``everything`` is renewed, it is the one that a new
        library would get: so a library can always move on.
        """
        from workbench.providers.choose import choose_embedder

        if self._given is not None or self._settings.embedder == "auto":
            choice = self.for_adding()
            if choice.embedder is not None or not everything:
                return choice
            return Choice(*choose_embedder(self._settings, recorded=None))
        with self._lock:
            if self._renewing is None:
                self._renewing = Choice(*choose_embedder(self._settings, recorded=None))
            return self._renewing

    def forget(self) -> None:
        """Chooses anew at the next question: the library's vectors are another embedder's."""
        with self._lock:
            self._choice = None

    def _recorded(self) -> str | None:
        with self._database.read() as cursor:
            serving = generations.serving(cursor)
        return serving.embedder if serving else None

    def _chosen(self, recorded: str | None) -> Choice:
        from workbench.providers.choose import choose_embedder

        if self._given is None:
            self._choice = Choice(*choose_embedder(self._settings, recorded=recorded))
        elif recorded in (None, self._given.name):
            self._choice = Choice(self._given)
        else:
            text = (
                f"Searching by keywords only: this library was indexed with {recorded}, and "
                f"{self._given.name} is in use. Reprocess every paper to switch to it."
            )
            self._choice = Choice(None, (text,))
        self._look_again = time.monotonic() + (RETRY_AFTER if self._given is None else 0.0)
        return self._choice

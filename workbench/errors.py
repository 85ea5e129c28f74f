"""Every error a caller can act on.

::

    WorkbenchError
    ├── SettingsError            a setting has a value that cannot work
    ├── LibraryError             the library file itself
    │   ├── LibraryLockedError   another program is writing to it
    │   └── LibraryVersionError  it was made by a newer program
    ├── NotFoundError            no such project, paper or page for this user
    ├── ConflictError            the name is taken, or a limit is reached
    ├── InvalidInputError        an argument cannot be used as given
    ├── DocumentError            a file cannot become a paper
    │   └── ReaderCrashedError   reading it took too long, too much memory, or killed the reader
    └── ProviderError            an embedder or chat model failed
        ├── ProviderUnavailableError   it does not answer, or has no such model
        ├── UnembeddableTextError      one text of several has no vector; ``index`` says which
        └── EmbedderMismatchError      the library was indexed by another embedder

The text of each error is one line that says what happened and what to do next.
"""

from __future__ import annotations


class WorkbenchError(Exception):
    """Base of every error the workbench raises on purpose. Its text can be printed anywhere: half a
    character (a lone surrogate, out of a file's name for one) is shown as its code."""

    def __init__(self, *parts: object) -> None:
        super().__init__(*(_printable(part) if isinstance(part, str) else part for part in parts))


def _printable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


class SettingsError(WorkbenchError):
    """A setting has a value that cannot work; the text names the variable and the allowed range."""


class LibraryError(WorkbenchError):
    """The library file, or the place for temporary copies of its papers, cannot be used."""


class LibraryLockedError(LibraryError):
    """Another program kept the library busy for longer than the allowed wait; the text names it."""


class LibraryVersionError(LibraryError):
    """The library was written by a newer workbench than this one."""


class NotFoundError(WorkbenchError):
    """No such project, paper, page or conversation exists for this user."""


class ConflictError(WorkbenchError):
    """The change would break a rule: a name is taken, or a limit is reached."""


class InvalidInputError(WorkbenchError):
    """An argument cannot be used as given."""


class DocumentError(WorkbenchError):
    """A file cannot become a paper; the text is the reason a person understands."""


class ReaderCrashedError(DocumentError):
    """Reading a file took too long, needed too much memory, or ended the reading process."""


class ProviderError(WorkbenchError):
    """An embedder or a chat model failed while it was working."""


class ProviderUnavailableError(ProviderError):
    """An embedder or a chat model cannot be reached, or does not have the requested model."""


class UnembeddableTextError(ProviderError):
    """An embedder has no vector for one text: too long, or the model fails on it.

    ``index`` is its place in the sequence that was given, from 0. The other texts may be tried without it.
    """

    def __init__(self, message: str, *, index: int) -> None:
        super().__init__(message)
        self.index = index


class EmbedderMismatchError(ProviderError):
    """The library's vectors were made by another embedder than the one in use."""

"""Files sent by the browser, in slices, because one message of a kernel may hold about ten megabytes.

A file's name is a label and never a path: slices go to a numbered file in a private folder.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from traitlets import Dict, Int

from widgets.panel import PanelState, action
from workbench import InvalidInputError, LibraryError, Scope
from workbench.scratch import scratch_folder

SLICE_BYTES = 1 << 20
LABEL_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class Upload:
    """One file that has arrived whole: the label a person knows it by, where its bytes are, and the scope
    that was shown when it set out."""

    label: str
    path: Path
    scope: Scope | None = None

    def discard(self) -> None:
        self.path.unlink(missing_ok=True)


@dataclass(slots=True)
class _Arriving:
    upload: Upload
    size: int
    received: int = 0


class UploadsState(PanelState):
    """Puts slices together and hands each finished batch to ``received``.

    ``accepted`` answers every message, ``{"key", "bytes", "answer"}`` with the bytes of that file so far, or
    −1 where it was refused, and a running number; the front end sends the next slice only then.
    """

    slice_bytes = Int(SLICE_BYTES).tag(sync=True)
    accepted = Dict().tag(sync=True)

    error_stays = True  # the next file of a batch must not wipe out why this one was refused

    def __init__(
        self,
        received: Callable[[Sequence[Upload]], None],
        *,
        max_bytes: int,
        scope: Callable[[], Scope | None] = lambda: None,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self._scope = scope
        self._received = received
        self._max_bytes = max_bytes
        self._held = ExitStack()
        self._folder: Path | None = None
        self._arriving: dict[str, _Arriving] = {}
        self._batch: list[Upload] = []
        self._count = 0

    @action
    def begin(self, *, key: str, name: str, size: int) -> None:
        """Expect a file of ``size`` bytes; refuse one that is larger than the library takes."""
        if size > self._max_bytes:
            self._answer(key, -1)
            most = f"{self._max_bytes // 1_000_000} MB"
            raise InvalidInputError(f"{file_label(name)} is larger than {most}; raise WORKBENCH_MAX_FILE_MB.")
        self._count += 1
        with self._room_for(name, key):
            path = self._private_folder() / f"upload-{self._count}"
            path.touch(mode=0o600)
        self._arriving[key] = _Arriving(Upload(file_label(name), path, self._scope()), size)
        self._answer(key, 0)

    @action
    def receive(self, *, key: str, offset: int, data: bytes = b"") -> None:
        """Add one slice. Slices come in order; a gap or an overrun ends the file."""
        file = self._arriving.get(key)
        if file is None:
            return  # it was cancelled while this slice was on its way
        if offset != file.received or file.received + len(data) > file.size:
            self.cancel(key=key)
            raise InvalidInputError(f"{file.upload.label} did not arrive whole. Add it again.")
        with self._room_for(file.upload.label, key), file.upload.path.open("ab") as target:
            target.write(data)
        file.received += len(data)
        if file.received == file.size:
            self._batch.append(self._arriving.pop(key).upload)
        self._answer(key, file.received)

    @action
    def finish(self) -> None:
        """Hand over what has arrived since the last time."""
        batch, self._batch = self._batch, []
        if batch:
            self._received(batch)

    @action
    def cancel(self, *, key: str) -> None:
        file = self._arriving.pop(key, None)
        if file is not None:
            file.upload.discard()
        self._answer(key, -1)

    def _answer(self, key: str, received: int) -> None:
        self.accepted = {"key": key, "bytes": received, "answer": self.accepted.get("answer", 0) + 1}

    @contextmanager
    def _room_for(self, name: str, key: str) -> Iterator[None]:
        """Ends the file where the disk takes no more of it, and answers the browser, which waits."""
        try:
            yield
        except LibraryError:
            self.cancel(key=key)
            raise
        except OSError as error:
            self.cancel(key=key)
            raise LibraryError(
                f"{file_label(name)} could not be kept ({error.strerror}): free some space on the disk, and "
                "add it again."
            ) from error

    def _private_folder(self) -> Path:
        """A folder that only this user can enter; it goes with the kernel, after a kill at the next start."""
        if self._folder is None:
            self._folder = self._held.enter_context(scratch_folder())
        return self._folder


def file_label(name: str) -> str:
    """The last part of ``name`` without control characters, at most 200 characters, ending kept."""
    last = name.replace("\\", "/").rsplit("/", 1)[-1]
    shown = "".join(c for c in last if unicodedata.category(c)[0] != "C").strip()
    if not shown.strip("."):
        return "upload"
    if len(shown) <= LABEL_CHARACTERS:
        return shown
    stem, dot, suffix = shown.rpartition(".")
    kept = f"{dot}{suffix}" if stem and len(suffix) <= 12 else ""
    return shown[: LABEL_CHARACTERS - len(kept) - 1] + "…" + kept

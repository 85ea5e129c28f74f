"""Every step that the product takes, seen from outside: no hook, no branch in the product.

A step is a call of the engine or the system that one of the product's functions makes, by the names of both
(``storage.database.Database._commit > execute``, ``indexes.folders.write_note > replace``). Python tells of
them by itself (``sys.setprofile``). A stage of the ledger is a step too (``stage embed``).
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from types import CodeType, FrameType
from typing import Any

# Whose functions are steps: whatever writes the library, its indexes, or calls what does.
ROOMS = ("workbench.storage.", "workbench.indexes.", "workbench.ingest.pipeline", "workbench.ingest.renewal",
         "workbench.ingest.progress", "workbench.ingest.texts", "workbench.ingest.embedding",
         "workbench.ingest.sandbox", "workbench.library", "workbench.projects", "workbench.summaries",
         "workbench.turns", "workbench.memory", "workbench.unfinished", "workbench.stored_files")  # fmt: skip
CALLS = frozenset(
    "execute commit close replace rename unlink rmdir mkdir open write truncate fsync add_document"
    " sleep acquire".split()
)
_NO_STEPS = ("<genexpr>", "<listcomp>", "<dictcomp>", "<setcomp>", "<lambda>", "<module>")


@dataclass(frozen=True, slots=True)
class Step:
    """``passed``: it is over. ``frame`` is the product's function that takes it; ``failed``: it raised."""

    name: str
    passed: bool
    frame: FrameType
    failed: bool = False


@dataclass
class Watch:
    """Calls ``told`` with every step that any thread of this process takes, while it is in effect."""

    told: Callable[[Step], None]
    _names: dict[CodeType, str | None] = field(default_factory=dict)

    def __enter__(self) -> Watch:
        threading.setprofile(self._profile)
        sys.setprofile(self._profile)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]  # as the documentation says

    def _profile(self, frame: FrameType, event: str, arg: Any) -> None:
        if event in ("call", "return"):
            name = self._name(frame)
            if name is not None and name.startswith("stage "):
                self.told(Step(name, event == "return", frame))
        elif getattr(arg, "__name__", None) in CALLS:
            caller: FrameType | None = frame
            for _ in range(3):  # pathlib stands between the product and the system
                name = None if caller is None else self._name(caller)
                if caller is not None and name is not None:
                    failed = event == "c_exception"
                    self.told(Step(f"{name} > {arg.__name__}", event != "c_call", caller, failed))
                    return
                caller = caller.f_back if caller is not None else None

    def _name(self, frame: FrameType) -> str | None:
        code = frame.f_code
        if code not in self._names:
            module = str(frame.f_globals.get("__name__", ""))
            is_step = module.startswith(ROOMS) and code.co_name not in _NO_STEPS
            self._names[code] = f"{module.removeprefix('workbench.')}.{code.co_qualname}" if is_step else None
        name = self._names[code]
        if name == "ingest.progress.FileWork.timed":
            return f"stage {frame.f_locals.get('stage')}"
        return name

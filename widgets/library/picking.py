"""Papers chosen to go into a project: how many of them are new to it, whether they fit, and what to say."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from widgets.library.rows import Library
from widgets.wording import counted, one_line

NEW_PROJECT = -1
"""The target that is a project still to be made; 0 is none."""


@dataclass(frozen=True, slots=True)
class Fit:
    """``fits`` tells whether the chosen papers may go into the target now; ``says`` is for the person."""

    fits: bool
    says: str
    over: bool = False


def fit(library: Library, chosen: Collection[int], *, target: int, limit: int) -> Fit:
    """Whether ``chosen`` fit into the project ``target``, of at most ``limit`` papers (0: no limit)."""
    if target == 0:
        return Fit(False, f"A project holds up to {counted(limit, 'paper')}." if limit else "")
    if target == NEW_PROJECT:
        name, held, new = "A new project", 0, len(chosen)
    else:
        project = library.projects.get(target)
        if project is None:
            return Fit(False, "This project is gone. Choose another.")
        name, held = f"“{one_line(project.name, 60)}”", library.members(target)
        inside = {entry.id for entry in library.entries if target in entry.projects}
        new = len(set(chosen) - inside)
    if chosen and not new:
        return Fit(False, f"{name} has all of these already.")
    if not limit:
        return Fit(bool(new), f"{counted(new, 'paper')} new to it." if new else "")
    return _within(name, held, new, limit)


def _within(name: str, held: int, new: int, limit: int) -> Fit:
    room = limit - held
    if room <= 0:
        return Fit(False, f"{name} is full: {held} of {limit}. Take a paper out of it first.", over=True)
    if new > room:
        out = new - room
        return Fit(
            False,
            f"{name} has room for {room} more, and {new} of these are new to it: "
            f"untick {out}, or choose another project.",
            over=True,
        )
    if new == room:
        return Fit(True, f"{name} is full with {'this' if new == 1 else 'these'}: {limit} of {limit}.")
    return Fit(bool(new), f"{name} has room for {room - new} more{' after these' if new else ''}.")

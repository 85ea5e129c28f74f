"""What was done to many papers, in one line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from widgets.wording import counted, one_line

if TYPE_CHECKING:
    from workbench import FileOutcome


def of_batch(outcomes: Sequence[dict[str, str]]) -> str:
    """ "3 added, 1 in the library already, 1 failed." with the reason where one file alone failed."""
    ready, twins, failed, cancelled = (
        [o for o in outcomes if o["status"] == status]
        for status in ("ready", "duplicate", "failed", "cancelled")
    )
    parts = [
        f"{len(ready)} added" if ready else "",
        f"{len(twins)} in the library already" if twins else "",
        f"{len(failed)} failed" if failed else "",
        f"cancelled: {cancelled[0]['file']} not added" if cancelled else "",
    ]
    said = ", ".join(part for part in parts if part)
    return f"{said[:1].upper()}{said[1:]}{_why(failed)}." if said else "There is no file to add."


def _why(failed: Sequence[dict[str, str]]) -> str:
    if len(failed) != 1:
        return ""
    return f" ({one_line(failed[0]['file'], 60)}: {one_line(failed[0]['detail'], 160).rstrip('.')})"


def of_removal(titles: Sequence[str], *, left: int) -> str:
    """What left the library; ``left`` papers stay because the work was cancelled."""
    stays = f" Cancelled: {counted(left, 'paper')} {'stays' if left == 1 else 'stay'}." if left else ""
    if len(titles) == 1:
        return f"“{one_line(titles[0], 120)}” is removed from the library.{stays}"
    return f"{counted(len(titles), 'paper')} are removed from the library.{stays}"


def of_reprocessing(outcomes: Sequence[FileOutcome], *, left: int) -> str:
    """How processing again went; ``left`` papers keep what they had because the work was cancelled."""
    failed = [outcome for outcome in outcomes if outcome.status == "failed"]
    good = len(outcomes) - len(failed)
    parts = [f"{counted(good, 'paper')} processed again"] if good or not (failed or left) else []
    parts += [f"{len(failed)} failed"] if failed else []
    parts += [f"cancelled: {counted(left, 'paper')} left as before"] if left else []
    why = f" ({one_line(failed[0].error or 'unknown reason', 160).rstrip('.')})" if len(failed) == 1 else ""
    said = ", ".join(parts)
    return f"{said[:1].upper()}{said[1:]}{why}."

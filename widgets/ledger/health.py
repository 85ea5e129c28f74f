"""What the library's check found, in plain words with what to do."""

from __future__ import annotations

import re

from widgets.wording import one_line

AGAIN = "Process the papers again: in the Library tab, or all of them with `workbench reprocess --all`."
LEFTOVER = (
    "No paper of yours is lost by it. Make a backup, and keep this line for whoever looks into it: {line}"
)
RESTORE = "Close the dashboard and put your newest backup in the place of the library file."

INDEX = "No paper is lost by it. Close the dashboard, and do as this line says: {line}"

# The start of a check's name, what it means to a reader, and what to do.
_MEANINGS = (
    (
        "papers without their source file",
        "The stored file of some papers is missing. They can be read and searched, but not processed again.",
        "Add their files again, after removing the papers from the library.",
    ),
    (
        "stored files that are not the ones added",
        "The stored file of some papers is not the one that was added, or only a part of it.",
        "Make a backup, then remove those papers from the library and add their files again.",
    ),
    ("papers without every page", "Some papers have lost pages.", AGAIN),
    ("papers without every chunk", "Some papers have lost passages, so searches miss parts of them.", AGAIN),
    ("chunks whose text is not on their page", "Some passages no longer stand on the page they name.", AGAIN),
    ("chunks on pages their paper does not have", "Some passages name pages that are not there.", AGAIN),
    ("chunk ids used twice", "Some passages cannot be told apart, so a citation may open another's.", AGAIN),
    ("papers without a record of their last change", "Searches may miss the newest text of papers.", AGAIN),
    ("changes of papers that are newer", "Searches may miss the newest text of papers.", AGAIN),
    ("moves to no generation", "It is not clear to which embedder the library is moving.", AGAIN),
    ("removed papers recorded as present", "Papers that were removed are still noted as present.", LEFTOVER),
    ("one generation of vectors serves searches", "It is not clear which embedder's vectors count.", AGAIN),
    ("The vector index", "The index by meaning differs from the library, so searches may miss text.", INDEX),
    ("The keyword index", "The index by words differs from the library, so searches may miss text.", INDEX),
    ("vectors_", "Some passages cannot be found by meaning, only by their words.", AGAIN),
)
_LEFTOVER_WORDS = (
    " of no ",
    "links to no",
    "nobody",
    "not their user",
    "twice",
    "of one name",
    "without a summary",
    "shared",
    "does not have",
    "project entries",
    "no answer",
)


def explained(line: str) -> dict[str, str]:
    """One line of ``Workbench.doctor`` as ``{"what", "todo", "line"}``."""
    shown = one_line(line)
    for start, meaning, todo in _MEANINGS:
        if line.startswith(start):
            return {"what": meaning, "todo": todo.format(line=shown), "line": shown}
    name = line.partition(":")[0]
    if re.search(r": \d+ found$", line) and any(word in name for word in _LEFTOVER_WORDS):
        return {
            "what": "Something was left behind by work that ended early.",
            "todo": LEFTOVER.format(line=shown),
            "line": shown,
        }
    return {"what": shown, "todo": RESTORE, "line": shown}

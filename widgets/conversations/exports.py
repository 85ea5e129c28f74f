"""Conversations as files, handed to the browser to save."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Any

from traitlets import Dict

from widgets.panel import PanelState, action
from workbench import InvalidInputError

if TYPE_CHECKING:
    from workbench import Workbench

LONGEST_STEM = 60
FORMS = {
    "markdown": (".md", "text/markdown"),
    "notebook": (".ipynb", "application/x-ipynb+json"),
    "bibtex": (".bib", "application/x-bibtex"),
}
# Names that Windows gives to devices, whatever ending follows.
_DEVICES = {"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))}


class ExportsState(PanelState):
    """``download`` is empty, or ``{"name", "type", "text"}``: a file for the browser that asked for it."""

    download = Dict().tag(sync=True)
    _workbench: Workbench

    @action
    def export(self, *, id: int, form: str) -> None:
        """Hand over a conversation as "markdown", "notebook" or "bibtex"."""
        if form not in FORMS:
            raise InvalidInputError(f"A conversation cannot be exported as {form!r}.")

        def work() -> None:
            self.download = exported(self._workbench, id, form)

        self.in_background("exporting the conversation", work)

    @action
    def taken(self) -> None:
        """The browser has the file."""
        self.download = {}


def exported(workbench: Workbench, conversation: int, form: str) -> dict[str, Any]:
    """The conversation as a file: name, media type and text. The Markdown names the BibTeX's file."""
    ending, kind = FORMS[form]
    stem = file_stem(workbench.conversations.get(conversation).title)
    if form == "notebook":
        text = workbench.bibliography.notebook(conversation)
    else:
        files = workbench.bibliography.conversation(conversation, name=f"{stem}.bib")
        text = files.markdown if form == "markdown" else files.bibtex
    return {"name": f"{stem}{ending}", "type": kind, "text": text}


def file_stem(title: str) -> str:
    """A file's name, without its ending, that every system takes: letters and digits of the title, in any
    script, joined by hyphens."""
    plain = unicodedata.normalize("NFKC", title)
    words = "".join(c if unicodedata.category(c)[0] in "LNM" else " " for c in plain).split()
    stem = ""
    for word in words:
        longer = f"{stem}-{word}" if stem else word[:LONGEST_STEM]
        if len(longer) > LONGEST_STEM:
            break
        stem = longer
    return f"conversation-{stem}" if stem.casefold() in _DEVICES else stem or "conversation"

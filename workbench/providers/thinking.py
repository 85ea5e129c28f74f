"""Keeps a model's private reasoning out of its answer."""

from __future__ import annotations

import re

_OPENING = ("<think>", "<thinking>")
_CLOSING = ("</think>", "</thinking>")
_TAG = re.compile(r"<(/?)think(?:ing)?>", re.IGNORECASE)
_CLOSING_TAG = re.compile(r"</think(?:ing)?>", re.IGNORECASE)


class ThinkingFilter:
    """Takes an answer piece by piece and gives back what stands outside ``<think>…</think>``.

    Tags may be split between pieces, and an opened one that is never closed hides all the rest. A tag
    in code quotes (a back quote right before it) is text: papers are written about such models too.

    ``strayed`` becomes true when a closing tag arrives without an opening one after text was given back:
    that text was reasoning. ``begins_inside`` is for models known to start that way.
    """

    def __init__(self, *, begins_inside: bool = False) -> None:
        self.strayed = False
        self._inside = begins_inside
        self._held = ""
        self._last = ""  # the last character given back

    def feed(self, piece: str) -> str:
        """The part of the answer that is certain after this piece; may be empty."""
        text, self._held = self._held + piece, ""
        shown = ""
        while text:
            if self._inside:
                tag = _CLOSING_TAG.search(text)
                if tag is None:
                    self._held = _beginning_of_tag(text, _CLOSING)
                    break
                self._inside, text = False, text[tag.end() :]
                continue
            tag = _TAG.search(text)
            if tag is None:
                self._held = _beginning_of_tag(text, _OPENING + _CLOSING)
                shown += self._show(text[: len(text) - len(self._held)])
                break
            shown += self._show(text[: tag.start()])
            shown += self._meet(tag)
            text = text[tag.end() :]
        return shown

    def finish(self) -> str:
        """What was still held back when the answer ended."""
        held, self._held = self._held, ""
        return "" if self._inside else self._show(held)

    def _meet(self, tag: re.Match[str]) -> str:
        if self._last == "`":
            return self._show(tag[0])
        if tag[1]:
            self.strayed = self.strayed or bool(self._last)
        else:
            self._inside = True
        return ""

    def _show(self, text: str) -> str:
        if not self._last:
            text = text.lstrip()
        self._last = text[-1:] or self._last
        return text


def without_thinking(text: str) -> str:
    """A whole reply without its reasoning; also without one whose opening tag stood in the prompt."""
    for begins_inside in (False, True):
        thinking = ThinkingFilter(begins_inside=begins_inside)
        shown = thinking.feed(text) + thinking.finish()
        if not thinking.strayed:
            break
    return shown.strip()


def _beginning_of_tag(text: str, tags: tuple[str, ...]) -> str:
    """The end of ``text`` that may be the beginning of one of the tags, or an empty string."""
    start = text.rfind("<")
    ending = text[start:].lower() if start >= 0 else ""
    return text[start:] if ending and any(tag.startswith(ending) for tag in tags) else ""

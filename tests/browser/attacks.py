"""Text that would do harm where it is taken for more than text, and a look at what it did."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Page

from tests.browser.visiting import Visit

EVIL = "evil.example"
"""A host that nothing may ask for anything. A script that runs sets ``window.harmed``."""

ATTACKS = {
    "picture": '<img src=x onerror="window.harmed=1">',
    "script": "</script><script>window.harmed=1</script>",
    "drawing": '<svg/onload="window.harmed=1"><a xlink:href="javascript:window.harmed=1">x</a></svg>',
    "frame": f'"><iframe srcdoc="<script>parent.harmed=1</script>" src="http://{EVIL}/f"></iframe>',
    "handler": '" onfocus="window.harmed=1" autofocus x=\'',
    "style": f"<style>@import 'http://{EVIL}/s.css';</style><link rel=stylesheet href=//{EVIL}/s>",
    "remote picture": f"![chart](http://{EVIL}/i.png)",
    "reference": f"![chart][r]\n\n[r]: http://{EVIL}/r.png",
    "script link": "[open](javascript:window.harmed=1) <javascript:window.harmed=1>",
    "data link": "[open](data:text/html;base64,PHNjcmlwdD53aW5kb3cuaGFybWVkPTE8L3NjcmlwdD4=)",
    "formula": f"$\\href{{javascript:window.harmed=1}}{{x}}$ $$\\includegraphics{{http://{EVIL}/t}}$$",
    "template": "{{constructor.constructor('window.harmed=1')()}} ${window.harmed=1}",
    "turned": "invoice\u202efdp.exe\u2066 and after",
    "long": "W" * 300,
}
EVERY = "\n\n".join(ATTACKS.values())
ONE_LINE = {name: re.sub(r"[\s\u202a-\u2069]+", " ", text)[:200] for name, text in ATTACKS.items()}
"""The attacks as names may be: of projects, presets and conversations, which refuse signs that turn text."""

_ALIVE = Path(__file__).with_suffix(".js").read_text("utf-8")


def harm(visited: Visit, inside: str = ".wb-page") -> list[str]:
    """What is alive in the page that no text may bring to life, or turns the text around it; with it what
    was asked of other machines, dialogs, and failed scripts so far."""
    alive: list[str] = visited.page.evaluate(_ALIVE, inside)
    return [*alive, *visited.outside, *visited.faults]


def overflow(page: Page) -> list[str]:
    """Parts of the dashboard that a long name has made wider than their place."""
    parts = [".wb-app", ".wb-side", ".wb-views", ".wb-shown > *", ".wb-thread", ".wb-viewer"]
    wide: list[str] = page.evaluate(
        """(parts) => parts.flatMap((part) => [...document.querySelectorAll(part)]
          .filter((node) => node.scrollWidth > node.clientWidth + 1)
          .map((node) => `${part} ${node.scrollWidth} > ${node.clientWidth}`))""",
        parts,
    )
    return wide

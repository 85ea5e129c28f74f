"""Files that verbs write."""

from __future__ import annotations

import click

from workbench.named_files import write_named

output_option = click.option(
    "--output", "-o", metavar="FILE", help="Where to write it; an existing file is replaced."
)


def written(output: str | None, content: str | bytes) -> str | None:
    """Writes the content, whole or not at all, and returns the path; nothing without one."""
    if output is None:
        return None
    return str(write_named(output, content.encode("utf-8") if isinstance(content, str) else content))

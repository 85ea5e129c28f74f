"""Files that verbs write."""

from __future__ import annotations

from pathlib import Path

import click

from workbench.errors import InvalidInputError

output_option = click.option(
    "--output", "-o", metavar="FILE", help="Where to write it; an existing file is replaced."
)


def written(output: str | None, content: str | bytes) -> str | None:
    """Writes the content, whole or not at all, and returns the path; nothing without one."""
    if output is None:
        return None
    path = Path(output).expanduser()
    spare = path.with_name(f".{path.name}.part")
    try:
        spare.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
        spare.replace(path)
    except OSError as error:
        spare.unlink(missing_ok=True)
        raise InvalidInputError(f"{path} cannot be written: {error.strerror or error}.") from error
    return str(path)

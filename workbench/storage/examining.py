"""Looking at a file that may be damaged, in a process of its own: what it breaks is that process.

``python -m workbench.storage.examining FILE`` prints what is wrong with it as a JSON list of lines.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import duckdb

from workbench.errors import LibraryError
from workbench.storage import migrate, soundness
from workbench.storage.opening import check_is_library, opening_error

PATIENCE = 600.0
"""Seconds that looking may take: some minutes for a library of many gigabytes on a slow disk."""


def examine_apart(path: Path, *, patience: float = PATIENCE) -> list[str]:
    """What is wrong with the library file at ``path``, one line each; empty for a sound one.

    The file is read whole and nothing is written. A file that hangs or ends the process that looks at it is
    one line, too.
    """
    command = [sys.executable, "-m", "workbench.storage.examining", str(path)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=patience, check=False)
    except subprocess.TimeoutExpired:
        return [f"reading it takes more than {patience:g} s"]
    if done.returncode != 0:
        return [f"reading it ended the process that looked at it ({done.returncode})"]
    return [str(line) for line in json.loads(done.stdout)]


def _problems(path: Path) -> list[str]:
    try:
        check_is_library(path)
        with duckdb.connect(str(path), read_only=True, config={"enable_external_access": "false"}) as cursor:
            pending = migrate.pending(cursor)
            for (table,) in cursor.execute("SELECT table_name FROM duckdb_tables()").fetchall():
                cursor.execute(f'SELECT count(*), sum(hash(t)::HUGEINT) FROM "{table}" t').fetchone()
            # An older schema lacks tables that the checks ask: it is checked once it is brought up to date.
            found = [] if pending else soundness.findings(cursor)
    except duckdb.Error as error:
        return [str(opening_error(path, error))]
    except LibraryError as error:
        return [str(error)]
    return [f"{finding.check}: {finding.detail}" for finding in found if not finding.ok]


if __name__ == "__main__":
    sys.stdout.write(json.dumps(_problems(Path(sys.argv[1]))))

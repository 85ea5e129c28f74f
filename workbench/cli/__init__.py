"""The command line: ``workbench …``. Each verb is a thin layer over the public API.

Exit status 0 only if all went well. An error is one plain line on standard error.
"""

from __future__ import annotations

import signal
import sys

from workbench.cli.stopping import Stopping


def main(arguments: list[str] | None = None) -> None:
    """Runs the command line and exits. Ctrl+C is one line too, also while the verbs are being loaded."""
    try:
        with Stopping() as stopping:
            from workbench.cli.running import run

            run(arguments, stopping)
    except KeyboardInterrupt:
        sys.stderr.write("workbench: Stopped. What was finished is kept.\n")
        sys.exit(130)
    finally:
        if arguments is None:  # the program ends: one more Ctrl+C ends it at once, without a traceback
            signal.signal(signal.SIGINT, signal.SIG_DFL)

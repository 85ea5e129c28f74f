"""The command line: ``workbench …``. Each verb is a thin layer over the public API.

Exit status 0 only if all went well. An error is one plain line on standard error.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys

from workbench.cli.stopping import Stopping


def main(arguments: list[str] | None = None) -> None:
    """Runs the command line and exits. Ctrl+C is one line too, also while the verbs are being loaded."""
    stopped = False

    def leave() -> None:
        """Ends the process before native code takes apart what Ctrl+C left half made: that may abort."""
        if stopped:
            os._exit(130)

    if arguments is None:
        atexit.register(leave)  # the first to be registered, so the last to be called
    try:
        with Stopping() as stopping:
            from workbench.cli.running import run

            run(arguments, stopping)
    except KeyboardInterrupt as stop:
        stopped = True
        told = stop.args[0] if stop.args else "What was finished is kept."
        sys.stderr.write(f"workbench: Stopped. {told}\n")
        sys.stderr.flush()
        sys.exit(130)
    finally:
        if arguments is None:  # the program ends: one more Ctrl+C ends it at once, without a traceback
            signal.signal(signal.SIGINT, signal.SIG_DFL)

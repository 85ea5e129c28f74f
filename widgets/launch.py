"""How the dashboard is started: the command that serves it on this machine."""

from __future__ import annotations

import sys
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent
SITE = PACKAGE / "site"
"""Our part of Jupyter's data folders: the page's template and the server's settings."""

START_FOLDER = "WORKBENCH_START_FOLDER"
"""The environment's name for the folder in which the dashboard was started. Kernels run elsewhere."""


def dashboard_notebook() -> Path:
    """The notebook that shows the dashboard: the checkout's, else the one inside the package."""
    in_checkout = PACKAGE.parent / "notebooks" / "dashboard.ipynb"
    return in_checkout if in_checkout.is_file() else SITE / "dashboard.ipynb"


def voila_command(
    library: Path, *, port: int = 8866, open_browser: bool = True, base_url: str = "/"
) -> list[str]:
    """The command that serves the dashboard of ``library`` at 127.0.0.1, with a token of its own.

    It prints the address with the token, and opens it in a browser where ``open_browser``; if ``port`` is
    taken it finds another. ``base_url`` is the path under which a reverse proxy has it. The user is the
    environment's ``WORKBENCH_USER``, the token its ``JUPYTER_TOKEN``, else a new one.
    """
    command = [
        sys.executable,
        "-m",
        "widgets",
        f"--port={port}",
        f"--DashboardServer.library={library}",
    ]
    if base_url.strip("/"):
        command.append(f"--DashboardServer.base_url=/{base_url.strip('/')}/")
    return [*command, *([] if open_browser else ["--no-browser"]), str(dashboard_notebook())]

"""``python -m widgets NOTEBOOK`` serves the dashboard (see ``launch`` and ``server``)."""

from __future__ import annotations

import sys


def main() -> None:
    # jsonschema compiles a grammar of international addresses when it is imported, which nothing here checks:
    # a second of every start. It does without where the package is not there.
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]  # None: an import of it fails
    from widgets.server import DashboardServer

    DashboardServer.launch_instance()


if __name__ == "__main__":
    main()

"""Voila with this dashboard's settings: ``python -m widgets NOTEBOOK`` (see ``launch``)."""

from __future__ import annotations

import os
import signal
import threading
import webbrowser
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import click
from jupyter_server.utils import url_path_join
from tornado.httputil import HTTPServerRequest
from tornado.ioloop import IOLoop
from tornado.routing import Matcher
from tornado.web import ErrorHandler, HTTPError
from traitlets import Unicode, default
from voila.app import Voila
from voila.shutdown_kernel_handler import VoilaShutdownKernelHandler

from widgets.launch import PACKAGE, SITE, START_FOLDER

STOP_SECONDS = 12.0
"""How long the kernels may take to end, which is usually five seconds at the most, before they are killed."""


class DashboardServer(Voila):  # type: ignore[misc]  # Voila ships no types
    """Binds to this machine only, asks for a token, and says where the dashboard is.

    Settings come from ``site/voila.json`` and the command line, not from the folder it is started in.
    """

    library = Unicode(help="The library to open.").tag(config=True)

    @default("config_file_paths")
    def _our_settings(self) -> list[str]:
        return [str(SITE)]

    def initialize(self, argv: Any = None) -> None:
        _put_first("JUPYTER_PATH", str(SITE))
        _put_first("PYTHONPATH", str(PACKAGE.parent))  # kernels start in the notebook's folder
        os.environ.setdefault(START_FOLDER, str(Path.cwd()))
        super().initialize(argv)
        if self.library:
            os.environ["WORKBENCH_LIBRARY"] = self.library

    def init_settings(self) -> dict[str, Any]:
        """At the root only this machine's own names are answered, so that no other page can have a name of
        its own lead here. Behind a proxy, which has a path, the name is the proxy's to check."""
        return {**super().init_settings(), "allow_remote_access": self.base_url != "/"}

    def init_handlers(self) -> list[Any]:
        # Voila serves its login page at the top only, so that under another path it led to itself for ever.
        logins = [(url_path_join(self.server_url, path), *rest) for path, *rest in self._logins()]
        nothing = {"status_code": 404}
        # Voila takes every path below its templates for one of its own files, and fails where it is none.
        no_template = url_path_join(self.server_url, r"/voila/templates/(?![^/]+/static/[^/]).*")
        return [
            (LeadsOut(), ErrorHandler, nothing),
            (no_template, ErrorHandler, nothing),
            *logins,
            (url_path_join(self.server_url, r"/voila/api/shutdown/(.*)"), EndKernel),
            *super().init_handlers(),
        ]

    def _logins(self) -> list[Any]:
        return list(self.identity_provider.get_handlers())

    def start(self) -> None:
        IOLoop.current().add_callback(self._announce)
        super().start()

    def stop(self) -> None:
        """Ends the kernels and then the server, by force where they do not end in time."""
        by_force = threading.Timer(STOP_SECONDS, self._end_by_force)
        by_force.daemon = True
        by_force.start()
        try:
            super().stop()
        finally:
            by_force.cancel()

    def _end_by_force(self) -> None:
        click.echo("The dashboard's kernels did not end in time and are killed.", err=True)
        for kernel in [self.kernel_manager.get_kernel(id) for id in self.kernel_manager.list_kernel_ids()]:
            pid = getattr(kernel.provisioner, "pid", None)
            if pid:
                with suppress(OSError):
                    os.kill(pid, getattr(signal, "SIGKILL", signal.SIGTERM))
        os._exit(1)

    def _announce(self) -> None:
        click.echo(f"The dashboard is at {self.display_url}\nPress Ctrl+C to stop it.")

    def launch_browser(self) -> None:
        """Voila's own opens the address without the token and so ends at a login page."""
        threading.Thread(target=webbrowser.open, args=(self.display_url,), daemon=True).start()


class LeadsOut(Matcher):
    """Paths with a part that no place of the site has, however it is written: "..", ".", one with a
    backslash or a NUL, and an empty one, after which an absolute path may stand."""

    def match(self, request: HTTPServerRequest) -> dict[str, Any] | None:
        parts = unquote(request.path).split("/")[1:]
        leads_out = "" in parts[:-1] or any(part in {".", ".."} or set(part) & set("\\\0") for part in parts)
        return {} if leads_out else None


class EndKernel(VoilaShutdownKernelHandler):  # type: ignore[misc]  # Voila ships no types
    """Ends a page's kernel when the page closes.

    A closing page cannot send the form token that Jupyter's servers ask for, so Voila's own handler
    refuses and every visit leaves a kernel behind. Only the page knows its kernel's id; that, the login
    and the browser's word that the request is our own page's stand for the token.
    """

    def check_xsrf_cookie(self) -> None:
        if self.request.headers.get("Sec-Fetch-Site", "same-origin") != "same-origin":
            raise HTTPError(403, "Only the dashboard's own page may end its kernel.")


def _put_first(variable: str, folder: str) -> None:
    others = os.environ.get(variable)
    os.environ[variable] = f"{folder}{os.pathsep}{others}" if others else folder

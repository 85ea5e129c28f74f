"""A real nginx before the dashboards, with the block that the README gives."""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

README = Path(__file__).parents[2] / "README.md"
NGINX = "/usr/sbin/nginx"
_STARTING = 20.0  # s
_SERVER = """
daemon off;
pid {folder}/nginx.pid;
error_log stderr;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    server {{
        listen 127.0.0.1:{port};
{blocks}
    }}
}}
"""


@contextmanager
def reverse_proxy(servers: Mapping[str, str], folder: Path) -> Iterator[str]:
    """The proxy's address. ``servers`` are the addresses behind it (``http://127.0.0.1:8866``), each by the
    path that leads there; ``folder`` is for what nginx itself keeps."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    blocks = "\n".join(_block(path, server) for path, server in servers.items())
    configuration = folder / "nginx.conf"
    configuration.write_text(_SERVER.format(folder=folder, port=port, blocks=blocks), encoding="utf-8")
    running = subprocess.Popen([NGINX, "-p", folder, "-c", configuration])
    try:
        _await(port)
        yield f"http://127.0.0.1:{port}"
    finally:
        running.terminate()
        running.wait(_STARTING)


def missing() -> str | None:
    """Why there can be no proxy here, or None."""
    return None if shutil.which(NGINX) else f"there is no {NGINX} (Debian's nginx-light)"


def _block(path: str, server: str) -> str:
    """The README's block for another path and another server."""
    found = re.search(r"```nginx\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    block = found[1].replace("/research/ada/", path).replace("http://127.0.0.1:8866", server)
    assert path in block
    assert server in block
    return block


def _await(port: int) -> None:
    end = time.monotonic() + _STARTING
    while True:
        with socket.socket() as knocking:
            if knocking.connect_ex(("127.0.0.1", port)) == 0:
                return
        assert time.monotonic() < end, "nginx does not listen"
        time.sleep(0.05)

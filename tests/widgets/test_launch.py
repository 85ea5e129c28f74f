"""Starting the dashboard: on this machine only, with a token, and with nothing from elsewhere."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import psutil

from widgets.launch import PACKAGE, SITE, dashboard_notebook, voila_command


def test_the_command_names_library_port_and_notebook() -> None:
    command = voila_command(Path("/data/my library.duckdb"), port=9001, open_browser=False)
    assert command[1:] == [
        "-m",
        "widgets",
        "--port=9001",
        "--DashboardServer.library=/data/my library.duckdb",
        "--no-browser",
        str(dashboard_notebook()),
    ]
    assert "--no-browser" not in voila_command(Path("x"))
    for written in ("/research/ada/", "research/ada", "/research/ada"):
        command = voila_command(Path("x"), base_url=written)
        assert "--DashboardServer.base_url=/research/ada/" in command


def test_the_settings_bind_to_this_machine_keep_the_token_and_cull_idle_kernels() -> None:
    settings = json.loads((SITE / "voila.json").read_text("utf-8"))
    assert settings["Voila"]["ip"] == "127.0.0.1"
    assert settings["Voila"]["auto_token"] is True
    configuration = settings["VoilaConfiguration"]
    assert (configuration["strip_sources"], configuration["show_tracebacks"]) == (True, False)
    assert configuration["file_allowlist"] == []
    assert settings["MappingKernelManager"] == {
        "cull_idle_timeout": 900,
        "cull_interval": 60,
        "cull_connected": False,
    }
    readme = PACKAGE.parent / "README.md"
    assert not readme.exists() or "after 15 minutes" in " ".join(readme.read_text("utf-8").split())


def test_nothing_we_ship_to_the_page_names_another_host() -> None:
    files = [p for p in PACKAGE.rglob("*") if p.suffix in {".js", ".css", ".j2"}]
    assert len(files) > 12
    addresses = {a for p in files for a in re.findall(r"(?:https?:)?//[\w.-]+\.\w{2,}", p.read_text("utf-8"))}
    assert addresses <= {"http://www.w3.org"}


def test_leaves_set_html_in_one_place_only() -> None:
    uses = [
        (path.name, line.strip())
        for path in PACKAGE.rglob("*.js")
        for line in path.read_text("utf-8").splitlines()
        if re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", line)
    ]
    assert [name for name, _ in uses] == ["chat.js"]
    assert "sanitised in richtext.py" in uses[0][1]


def test_no_panel_prints_or_catches_what_is_printed() -> None:
    """Printed text goes to the cell that runs at that moment, whichever thread prints it."""
    called = {
        (path.name, node.func.id if isinstance(node.func, ast.Name) else node.func.attr)
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute)
    }
    prints = {"print", "display", "Output", "clear_output", "capture_output", "redirect_stdout"}
    assert {(file, name) for file, name in called if name in prints} == set()
    assert ("panel.py", "exception") in called, "calls are no longer found"


def test_a_server_whose_kernels_do_not_end_ends_all_the_same_and_takes_them_along() -> None:
    script = """
import subprocess, sys, time
from types import SimpleNamespace
from widgets import server
server.STOP_SECONDS = 0.5
server.Voila.stop = lambda self: time.sleep(60)
kernel = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
print(kernel.pid, flush=True)
class Kernels:
    def list_kernel_ids(self):
        return ["one"]
    def get_kernel(self, id):
        return SimpleNamespace(provisioner=SimpleNamespace(pid=kernel.pid))
app = server.DashboardServer()
app.kernel_manager = Kernels()
app.stop()
"""
    ran = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=50, check=False
    )
    assert ran.returncode == 1
    assert ran.stderr.endswith("The dashboard's kernels did not end in time and are killed.\n")
    with suppress(psutil.NoSuchProcess):
        assert psutil.Process(int(ran.stdout)).status() == psutil.STATUS_ZOMBIE

"""With local settings nothing leaves this computer, whatever is called."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.ollama_server import OllamaServer

# Every look-up of a name and every connection beyond this computer is noted and refused.
BLOCKED = """
import ipaddress, socket, sys
tried = []
def local(address):
    host = address[0] if isinstance(address, tuple) else address
    return host in ("localhost", None, "") or ipaddress.ip_address(host).is_loopback
def guard(real, place):
    def call(*given, **named):
        family_unix = place and getattr(given[0], "family", None) == socket.AF_UNIX
        try:
            fine = family_unix or local(given[place])
        except ValueError:  # a name that would be looked up
            fine = False
        if not fine:
            tried.append(given[place])
            raise OSError(101, "Network is unreachable")
        return real(*given, **named)
    return call
socket.socket.connect = guard(socket.socket.connect, 1)
socket.socket.connect_ex = guard(socket.socket.connect_ex, 1)
socket.socket.sendto = guard(socket.socket.sendto, -1)
socket.getaddrinfo = guard(socket.getaddrinfo, 0)
"""
WORK = """
import workbench
from pathlib import Path
from workbench import Scope
folder = Path(sys.argv[1])
with workbench.open(folder / "library.duckdb", user="ann") as wb:
    project = wb.projects.create("Beasts")
    report = wb.papers.add_many(sorted((folder / "papers").iterdir()), project=project)
    assert [f.status for f in report.files] == ["ready", "ready"], report
    scope = Scope.project(project)
    found = wb.search("How heavy is the wombat?", scope=scope)
    assert found.passages[0].vector_rank == 1, found
    answer = wb.ask("How heavy is the wombat?", scope=scope)
    assert answer.provider.startswith(sys.argv[2]) and answer.citations, answer
    wb.audit(answer.text, answer.evidence)
    talk = wb.conversations.create(scope)
    talk.ask("I work on wombats. How heavy is the wombat?")
    wb.project_chat(project).ask("And the quokka?")
    wb.paper_chat(report.files[0].paper_id).ask("How heavy is it?")
    assert wb.summaries.refresh(project).text
    wb.memory.recall("wombats")
    wb.notes.create("A note", "Wombats dig.", project=project)
    wb.papers.reprocess_all()
    wb.matrix("How heavy is it?", scope=scope)
    wb.sql("SELECT count(*) FROM papers")
    wb.status()
    wb.compact()
    wb.backup(folder / "copy.duckdb")
    assert wb.doctor() == []
print(tried)
"""


def test_every_kind_of_work_is_done_in_a_new_home_without_a_way_to_the_network(
    tmp_path: Path, ollama_server: OllamaServer
) -> None:
    beasts = tmp_path / "papers"
    beasts.mkdir()
    for name, kilograms in (("wombat", 26), ("quokka", 4)):
        (beasts / f"{name}.md").write_text(f"# The {name}\n\nA grown {name} weighs about {kilograms} kg.\n")
    own = {k: v for k, v in os.environ.items() if not k.startswith(("WORKBENCH_", "PROJECT_", "XDG_"))}
    for host, provider in (("http://127.0.0.1:9", "extractive"), (ollama_server.url, "ollama")):
        folder = tmp_path / provider
        folder.mkdir()
        (folder / "papers").symlink_to(beasts)
        done = subprocess.run(
            [sys.executable, "-c", BLOCKED + WORK, str(folder), provider],
            capture_output=True,
            text=True,
            env=own | {"HOME": str(folder / "home"), "OLLAMA_HOST": host},
            timeout=300,
            check=False,
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, "[]\n", "")

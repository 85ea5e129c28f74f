"""A password in an address is used and never shown: not in errors, status, settings, records or exports."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import workbench
from workbench import Scope, Settings, WorkbenchError
from workbench.errors import SettingsError
from workbench.settings import without_password

PASSWORD = "s3cr3t"


@pytest.mark.parametrize("embedder", ["fake", "ollama"])
@pytest.mark.parametrize(
    "host",
    [
        f"http://user:{PASSWORD}@127.0.0.1:9",
        f"user:{PASSWORD}@127.0.0.1:9",
        f"http://user:{PASSWORD}@127.0.0.1:99999",
        f"http://user:{PASSWORD}@[::bad",
    ],
)
def test_a_password_of_the_chat_server_is_never_shown(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    host: str,
    embedder: str,
) -> None:
    monkeypatch.setenv("OLLAMA_HOST", host)
    monkeypatch.setenv("WORKBENCH_CHAT", "ollama")
    monkeypatch.setenv("WORKBENCH_EMBEDDER", embedder)
    caplog.set_level("DEBUG")
    shown: list[object] = []
    try:
        with workbench.open(tmp_path / "library.duckdb") as wb:
            shown += [wb, wb.settings, wb.status(), wb.doctor()]
            shown.append(wb.papers.add_many([("kiln.md", b"# Kiln\n\nThe kiln reached 900 degrees.")]))
            talk = wb.conversations.create(Scope.ALL)
            shown.append(talk.ask("Which temperature did the kiln reach?"))
            shown += [talk.export(kind) for kind in ("markdown", "notebook", "bibtex")]
            shown += [
                wb.sql(f"SELECT * FROM {view}").to_json() for view in ("retrievals", "messages", "ledger")
            ]
    except WorkbenchError as error:
        shown.append(error)
    assert shown
    assert PASSWORD not in " ".join(f"{each} {each!r}" for each in shown)
    assert PASSWORD not in caplog.text


def test_a_setting_still_holds_what_it_was_given() -> None:
    host = f"http://user:{PASSWORD}@127.0.0.1:9"
    assert Settings(ollama_host=host).ollama_host == host
    assert json.loads(Settings(ollama_host=host).model_dump_json())["ollama_host"] == host


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("http://user:pass@host:1", "http://host:1"),
        ("user:pass@host:1", "host:1"),
        ("http://user:pa@ss@host:1", "http://host:1"),
        ("'https://:token@host/path'", "'https://host/path'"),
        ("no answer from http://a:b@c (url http://a:b@c/api)", "no answer from http://c (url http://c/api)"),
        ("http://127.0.0.1:11434", "http://127.0.0.1:11434"),
        ("mail me@example.org", "mail me@example.org"),
    ],
)
def test_what_stands_before_the_at_sign_of_an_address_is_left_out(text: str, shown: str) -> None:
    assert without_password(text) == shown


@pytest.mark.parametrize(
    "host", ["user:pa@ss@host:99999", "http://user:pa/ss@host:1", "http://user:pass@[host"]
)
def test_an_address_that_is_none_is_refused_with_nothing_of_its_password(host: str) -> None:
    with pytest.raises(SettingsError, match="allowed is an address such as") as refused:
        Settings.load(ollama_host=host)
    assert "pa" not in str(refused.value)
    assert "ss@" not in str(refused.value)

"""What a page may send: every action of every panel, asked for in ways that it does not take."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest

import workbench
from widgets.dashboards import Dashboard
from widgets.messages import MISFIT
from widgets.panel import PanelState, at_once
from workbench import Scope, Workbench
from workbench.providers.fake_embedder import FakeEmbedder

PANELS = (
    "projects papers uploads library ledger library_uploads chat conversations viewer tuning header"
).split()
NO_MESSAGES: list[Any] = [
    None, [], "ask", 5, {}, {"do": None}, {"do": ["ask"]}, {"do": "__init__"}, {"do": "act"},
    {"do": "_begin", "with": {"question": "x"}}, {"do": "dismiss_error", "with": 5},
    {"do": "dismiss_error", "with": "xy"}, {"do": "dismiss_error", "with": [1]},
]  # fmt: skip
OTHERS: dict[str, list[Any]] = {
    "int": [None, True, 1.5, "1", [], {}],
    "float": [None, True, "1", []],
    "str": [None, False, 7, ["x"], {}],
    "bool": [None, 1, "yes"],
    "Sequence[int]": [None, 3, "12", {"1": 2}, [None], ["1"], [True], [1.5]],
    "Mapping[str, Any]": [None, 3, "{}", [1]],
}


@pytest.fixture
def shown(wb: Workbench) -> Dashboard:
    return Dashboard(wb, run=at_once)


def actions(panel: PanelState) -> dict[str, list[inspect.Parameter]]:
    """The arguments of each action of the panel, but for those that a listing knows by their traits."""
    found = {}
    for kind in reversed(type(panel).__mro__):
        for name, method in vars(kind).items():
            if getattr(method, "action", False):
                parameters = list(inspect.signature(method).parameters.values())[1:]
                found[name] = [p for p in parameters if p.kind is p.KEYWORD_ONLY]
    return found


def rows(wb: Workbench) -> list[list[tuple[Any, ...]]]:
    """What a person sees of the library."""
    tables = ("papers", "projects", "project_papers", "retrievals", "ledger")
    shown = [wb.sql(f"SELECT * FROM {name}").astype(str) for name in tables]
    return [sorted(frame.itertuples(index=False, name=None)) for frame in shown]


def test_what_is_no_message_or_no_action_does_nothing(shown: Dashboard) -> None:
    for panel in PANELS:
        for message in NO_MESSAGES:
            getattr(shown, panel)._on_message(None, message, [])
            assert getattr(shown, panel).error == ""


def test_arguments_of_other_types_names_or_number_change_nothing_and_are_told_in_one_line(
    wb: Workbench, shown: Dashboard
) -> None:
    before, told = rows(wb), 0
    for panel in (getattr(shown, name) for name in PANELS):
        for name, parameters in actions(panel).items():
            given = {p.name: [] if "Sequence" in str(p.annotation) else 1 for p in parameters}
            wrong: list[dict[str, Any]] = [{**given, "unknown": 1}, {**given, "self": 1}]
            for p in parameters:
                others = OTHERS.get(str(p.annotation), [])
                wrong += [{**given, p.name: value} for value in others]
                if p.default is p.empty:
                    wrong.append({n: value for n, value in given.items() if n != p.name})
            for arguments in wrong:
                panel.act({"do": name, "with": arguments})
                assert panel.error == MISFIT, (name, arguments)
                panel.error, told = "", told + 1
    assert told > 300
    assert rows(wb) == before


@pytest.mark.parametrize(
    "how", [{"query": 7}, {"query": None}, {"start": "1"}, {"chosen": [1]}, {"error": ""}]
)
def test_a_listing_takes_only_what_it_is_looked_at_by(shown: Dashboard, how: dict[str, Any]) -> None:
    for panel in (shown.library, shown.ledger):
        page = panel.page
        panel.act({"do": "look", "with": how})
        assert (panel.error, panel.page, panel.query) == (MISFIT, page, "")


def test_ids_that_are_not_there_or_another_users_change_nothing(wb: Workbench, shown: Dashboard) -> None:
    with workbench.open(wb.settings.library, user="eve", embedder=FakeEmbedder()) as other:
        project = other.projects.create("Secrets of eve")
        texts = [{"title": f"Of eve {n}", "text": f"The loom weaves {n}."} for n in range(2)]
        added = other.papers.add_texts(texts, project=project).files
        other.conversations.create()  # so that no id is one of a row of this user's
        chat = other.conversations.create(Scope.project(project.id))
        chat.ask("What does the loom weave?")
        theirs, before = rows(other), rows(wb)
        foreign = [0, -1, 2**63, -(10**30), project.id, added[1].paper_id or 0, chat.info.id]
        for panel in (getattr(shown, name) for name in PANELS):
            for name, parameters in actions(panel).items():
                if not {p.name for p in parameters} & {"id", "ids", "project"}:
                    continue
                for wanted in foreign:
                    panel.act({"do": name, "with": _aimed(parameters, wanted)})
                    assert "\n" not in panel.error
                    assert "went wrong" not in panel.error, (name, panel.error)
                    assert "eve" not in panel.error
        assert rows(wb) == before
        assert rows(other) == theirs


def _aimed(parameters: list[inspect.Parameter], wanted: int) -> dict[str, Any]:
    """Arguments in which every id is ``wanted``."""
    usual = {"int": wanted, "str": "markdown", "bool": True, "Sequence[int]": [wanted]}
    return {p.name: usual[str(p.annotation)] for p in parameters}


def test_a_message_that_is_in_order_still_does_what_it_says(
    wb: Workbench, shown: Dashboard, tmp_path: Path
) -> None:
    shown.library.act({"do": "look", "with": {"query": "loom", "start": 50}})
    shown.viewer.act({"do": "fit", "with": {"width": 500, "ratio": 1.5}})
    shown.projects.act({"do": "create", "with": {"name": "Looms"}})
    assert [shown.library.query, shown.library.error, shown.viewer.error] == ["loom", "", ""]
    assert sorted(p.name for p in wb.projects.list()) == ["Looms", "Weaving"]

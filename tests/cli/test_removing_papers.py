from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Cli
from tests.mineral_papers import minerals


def test_several_papers_are_removed_at_once_or_none(cli: Cli, tmp_path: Path) -> None:
    cli("add", *(str(mineral.write(tmp_path)) for mineral in minerals(3)))
    assert cli("papers", "remove", "1", "9", "2").error.startswith("Paper not found")
    assert len(cli("papers", "list", "--json").json["papers"]) == 3
    removed = cli("papers", "remove", "1", "3", "1", "--json").json["papers"]
    assert [paper["id"] for paper in removed] == [1, 3]
    assert [paper["id"] for paper in cli("papers", "list", "--json").json["papers"]] == [2]


def test_more_passages_than_a_search_gives_are_refused_by_the_options_name(cli: Cli, tmp_path: Path) -> None:
    cli("add", str(minerals(1)[0].write(tmp_path)))
    for verb in ("search", "ask"):
        assert "--top-k" in cli(verb, "arvenite", "--top-k", "100000").error
        assert cli(verb, "arvenite", "--top-k", "200").status == 0


def test_no_words_find_the_first_projects(cli: Cli) -> None:
    for number in range(7):
        cli("projects", "create", f"Project {number}")
    found = cli("projects", "find", "", "--json").json["projects"]
    assert [project["id"] for project in found] == [1, 2, 3, 4, 5]

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from workbench.chat.tools import ConversationTools, Tools
from workbench.errors import NotFoundError
from workbench.records import ConversationInfo, ProjectMatch
from workbench.scope import Scope
from workbench.storage import conversations, projects
from workbench.storage.database import Database

FOUND = [ProjectMatch(3, "SciFi", "Dragons and ships.", 1.25), ProjectMatch(1, "Mice", "", 0.1)]
WORKSPACE = "Cannot change RAG scope in workspace view"


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    database = Database(tmp_path / "library.duckdb")
    yield database
    database.close()


@pytest.fixture
def asked() -> list[str]:
    """The queries that reached the search of projects."""
    return []


@pytest.fixture
def tools(database: Database, asked: list[str]) -> Tools:
    def find(query: str) -> list[ProjectMatch]:
        asked.append(query)
        return FOUND

    return Tools(database, "ada", find_projects=find)


@pytest.fixture
def thread(database: Database) -> ConversationInfo:
    with database.write() as cursor:
        return conversations.create(cursor, "ada", scope=Scope.ALL)


def project(database: Database, name: str, *, user: str = "ada") -> int:
    with database.write() as cursor:
        return projects.create(cursor, user, name).id


def scope_of(database: Database, conversation: ConversationInfo) -> Scope:
    with database.read() as cursor:
        return conversations.get(cursor, "ada", conversation.id).scope


def test_both_tools_are_defined_in_the_form_that_chat_models_know(tools: Tools) -> None:
    search, scope = tools.definitions()
    assert (search["type"], search["function"]["name"]) == ("function", "search_projects")
    assert search["function"]["parameters"] == {
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "Words of the project's name or subject."},
        },
        "required": ["query"],
    }
    assert (scope["type"], scope["function"]["name"]) == ("function", "set_rag_scope")
    assert scope["function"]["parameters"]["properties"]["project_id"]["type"] == ["integer", "null"]
    assert scope["function"]["parameters"]["required"] == ["project_id"]


def test_search_projects_gives_a_list_of_projects_with_snippet_and_score(
    tools: Tools, asked: list[str]
) -> None:
    assert tools.execute("search_projects", {"query": "  dragons "}) == {
        "success": True,
        "type": "projects_list",
        "projects": [
            {"id": 3, "title": "SciFi", "summary_snippet": "Dragons and ships.", "score": 1.25},
            {"id": 1, "title": "Mice", "summary_snippet": "", "score": 0.1},
        ],
    }
    assert asked == ["dragons"]


def test_a_scope_is_set_at_once_and_named(database: Database, tools: Tools, thread: ConversationInfo) -> None:
    scifi = project(database, "SciFi Project")
    for project_id, label, scope in (
        (scifi, "SciFi Project", Scope.project(scifi)),
        (None, "Orphan notes only", Scope.ORPHANS),
        (-1, "All notes", Scope.ALL),
    ):
        result = tools.execute("set_rag_scope", {"project_id": project_id}, conversation=thread)
        assert result == {"success": True, "type": "rag_scope_set", "scope_label": label}
        assert scope_of(database, thread) == scope


def test_a_conversation_may_be_given_by_its_id(
    database: Database, tools: Tools, thread: ConversationInfo
) -> None:
    assert tools.execute("set_rag_scope", {"project_id": None}, conversation=thread.id)["success"] is True
    assert scope_of(database, thread) == Scope.ORPHANS


def test_in_a_workspace_no_scope_is_set(database: Database, tools: Tools, thread: ConversationInfo) -> None:
    scifi = project(database, "SciFi")
    refused = {"success": False, "error": WORKSPACE}
    for project_id in (scifi, None, -1, 999, "nonsense"):
        arguments = {"project_id": project_id}
        assert (
            tools.execute("set_rag_scope", arguments, conversation=thread, workspace_project=scifi) == refused
        )
    assert scope_of(database, thread) == Scope.ALL


def test_a_projects_own_chat_is_a_workspace_even_where_the_caller_does_not_say_so(
    database: Database, tools: Tools
) -> None:
    scifi = project(database, "SciFi")
    with database.write() as cursor:
        chat = conversations.project_chat(cursor, "ada", scifi)
    assert tools.execute("set_rag_scope", {"project_id": -1}, conversation=chat) == {
        "success": False,
        "error": WORKSPACE,
    }
    assert scope_of(database, chat) == Scope.project(scifi)


def test_an_unknown_project_and_another_users_are_the_same_to_a_tool(
    database: Database, tools: Tools, thread: ConversationInfo
) -> None:
    foreign = project(database, "Secret", user="bob")
    for project_id in (foreign, foreign + 1, 10**30):
        assert tools.execute("set_rag_scope", {"project_id": project_id}, conversation=thread) == {
            "success": False,
            "error": "Project not found",
        }
    assert scope_of(database, thread) == Scope.ALL


def test_another_users_conversation_does_not_exist(database: Database, tools: Tools) -> None:
    with database.write() as cursor:
        foreign = conversations.create(cursor, "bob", scope=Scope.ALL)
    result = tools.execute("set_rag_scope", {"project_id": None}, conversation=foreign)
    assert result["success"] is False
    assert result["error"].startswith("Conversation not found")
    with database.read() as cursor, pytest.raises(NotFoundError):
        conversations.get(cursor, "ada", foreign.id)
    with database.read() as cursor:
        assert conversations.get(cursor, "bob", foreign.id).scope == Scope.ALL


@pytest.mark.parametrize(
    ("name", "arguments", "error"),
    [
        ("search_projects", {}, "search_projects takes one argument: query."),
        ("search_projects", {"query": "a", "limit": 9}, "search_projects takes one argument: query."),
        ("search_projects", {"query": " "}, "search_projects takes a query of 1 to 1000 characters."),
        ("search_projects", {"query": 7}, "search_projects takes a query of 1 to 1000 characters."),
        ("search_projects", {"query": "a" * 1001}, "search_projects takes a query of 1 to 1000 characters."),
        ("search_projects", ["a"], "search_projects takes one argument: query."),
        ("search_projects", None, "search_projects takes one argument: query."),
        ("set_rag_scope", {}, "set_rag_scope takes one argument: project_id."),
        ("set_rag_scope", {"scope": -1}, "set_rag_scope takes one argument: project_id."),
        *(
            (
                "set_rag_scope",
                {"project_id": wrong},
                "set_rag_scope takes a project's id, null, or -1 as project_id.",
            )
            for wrong in ("3", 0, -2, True, 1.5, [1])
        ),
        (
            "delete_paper",
            {"paper": 1},
            "There is no tool 'delete_paper': the tools are search_projects and set_rag_scope.",
        ),
    ],
)
def test_wrong_arguments_and_unknown_tools_are_told_and_change_nothing(
    database: Database,
    tools: Tools,
    thread: ConversationInfo,
    asked: list[str],
    name: str,
    arguments: Any,
    error: str,
) -> None:
    assert tools.execute(name, arguments, conversation=thread) == {"success": False, "error": error}
    assert scope_of(database, thread) == Scope.ALL
    assert asked == []


def test_without_a_conversation_there_is_no_scope_to_set(tools: Tools) -> None:
    assert tools.execute("set_rag_scope", {"project_id": None}) == {
        "success": False,
        "error": "There is no conversation whose scope could be set.",
    }


def test_a_box_of_tools_knows_its_conversation_and_its_workspace(
    database: Database, tools: Tools, thread: ConversationInfo
) -> None:
    box = tools.box(thread)
    assert box == ConversationTools(tools, thread)
    assert box.definitions() == tools.definitions()
    assert box.execute("set_rag_scope", {"project_id": None})["scope_label"] == "Orphan notes only"
    assert tools.box(thread, workspace_project=4).execute("set_rag_scope", {"project_id": -1}) == {
        "success": False,
        "error": WORKSPACE,
    }
    assert scope_of(database, thread) == Scope.ORPHANS

"""The tools that a chat model may call, and that a person may call as well."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from workbench.errors import InvalidInputError, NotFoundError, WorkbenchError
from workbench.records import ProjectMatch
from workbench.scope import Scope
from workbench.storage import conversations, projects, scopes
from workbench.storage.database import Database

SEARCH_PROJECTS = "search_projects"
SET_RAG_SCOPE = "set_rag_scope"
LONGEST_QUERY = 1000  # characters
WORKSPACE_GUARD = "Cannot change RAG scope in workspace view"
PROJECT_NOT_FOUND = "Project not found"

Result = dict[str, Any]


class _WrongArgumentsError(Exception):
    """The arguments are not what the tool takes; the text says what it takes."""


class Tools:
    """``wb.tools``: one user's tools. What goes wrong is in the result, for a chat model to read.

    ``find_projects`` gives the projects nearest to a query, best first.
    """

    def __init__(
        self, database: Database, user: str, *, find_projects: Callable[[str], Sequence[ProjectMatch]]
    ) -> None:
        self._database, self._user, self._find_projects = database, user, find_projects

    def definitions(self) -> list[dict[str, Any]]:
        """Name, description and parameters (JSON schema) of each tool, in the form chat models know."""
        return [
            _definition(
                SEARCH_PROJECTS,
                "Finds the user's projects that fit a few words, with their ids.",
                "query",
                {"type": "string", "description": "Words of the project's name or subject."},
            ),
            _definition(
                SET_RAG_SCOPE,
                "Sets which papers this conversation searches from now on. Only when the user asks for it.",
                "project_id",
                {
                    "type": ["integer", "null"],
                    "description": "A project's id; null for orphan notes (in no project); -1 for all notes.",
                },
            ),
        ]

    def execute(
        self,
        name: str,
        arguments: Mapping[str, Any],
        *,
        conversation: Any = None,
        workspace_project: Any = None,
    ) -> Result:
        """Runs a tool and returns what it found or did, or ``{"success": False, "error": …}``.

        ``conversation`` (or its id) is the one whose scope ``set_rag_scope`` sets. ``workspace_project`` is
        the project whose own chat is open, where no scope can be set.
        """
        try:
            if name == SEARCH_PROJECTS:
                return self._search_projects(_only(arguments, "query"))
            if name == SET_RAG_SCOPE:
                return self._set_rag_scope(_only(arguments, "project_id"), conversation, workspace_project)
        except _WrongArgumentsError as error:
            return _failed(f"{name} {error}")
        except WorkbenchError as error:
            return _failed(str(error))
        known = " and ".join(d["function"]["name"] for d in self.definitions())
        return _failed(f"There is no tool {name!r}: the tools are {known}.")

    def box(self, conversation: Any = None, *, workspace_project: Any = None) -> ConversationTools:
        """The tools of one conversation, to give to a chat model."""
        return ConversationTools(self, conversation, workspace_project)

    def _search_projects(self, query: Any) -> Result:
        if not isinstance(query, str) or not query.strip() or len(query) > LONGEST_QUERY:
            raise _WrongArgumentsError(f"takes a query of 1 to {LONGEST_QUERY} characters.")
        found = [asdict(match) for match in self._find_projects(query.strip())]
        return {"success": True, "type": "projects_list", "projects": found}

    def _set_rag_scope(self, project_id: Any, conversation: Any, workspace_project: Any) -> Result:
        if workspace_project is not None:
            return _failed(WORKSPACE_GUARD)
        conversation_id = getattr(conversation, "id", conversation)
        if conversation_id is None:
            return _failed("There is no conversation whose scope could be set.")
        with self._database.write() as cursor:
            if conversations.get(cursor, self._user, conversation_id).kind == "project":
                return _failed(WORKSPACE_GUARD)
            try:
                scope = Scope(project_id)
                if scope.project_id is not None:
                    projects.get(cursor, self._user, scope.project_id)
            except InvalidInputError:
                raise _WrongArgumentsError("takes a project's id, null, or -1 as project_id.") from None
            except NotFoundError:
                return _failed(PROJECT_NOT_FOUND)
            conversations.update(cursor, self._user, conversation_id, scope=scope)
            label = scopes.label(cursor, self._user, scope)
        return {"success": True, "type": "rag_scope_set", "scope_label": label}


@dataclass(frozen=True)
class ConversationTools:
    """The ToolBox of one conversation."""

    tools: Tools
    conversation: Any
    workspace_project: Any = None

    def definitions(self) -> list[dict[str, Any]]:
        return self.tools.definitions()

    def execute(self, name: str, arguments: Mapping[str, Any]) -> Result:
        return self.tools.execute(
            name, arguments, conversation=self.conversation, workspace_project=self.workspace_project
        )


def _definition(name: str, description: str, parameter: str, schema: dict[str, Any]) -> dict[str, Any]:
    parameters = {"type": "object", "properties": {parameter: schema}, "required": [parameter]}
    function = {"name": name, "description": description, "parameters": parameters}
    return {"type": "function", "function": function}


def _only(arguments: Mapping[str, Any], name: str) -> Any:
    """The one argument there must be. One that is left out is not null: that would be a choice of a scope."""
    if not isinstance(arguments, Mapping) or set(arguments) != {name}:
        raise _WrongArgumentsError(f"takes one argument: {name}.")
    return arguments[name]


def _failed(error: str) -> Result:
    return {"success": False, "error": error}

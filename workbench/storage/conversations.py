"""Conversations: a user's persistent threads, one rolling chat per project, one passing chat per paper.

Another user's conversation does not exist, on any call. A paper's chat is gone 24 hours after its last use.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from duckdb import DuckDBPyConnection

from workbench.errors import ConflictError, InvalidInputError, NotFoundError
from workbench.records import ConversationInfo
from workbench.retrieval.small_talk import small_talk_kind
from workbench.scope import Scope, as_scope
from workbench.storage import departures, papers, projects, scopes
from workbench.storage.cleaning import clean_label
from workbench.storage.moments import utc
from workbench.storage.projects import NOT_GIVEN, NotGiven

PAPER_CHAT_HOURS = 24
LONGEST_TITLE = 80  # characters of a title that is made from a question
LONGEST_GIVEN_TITLE = 200
NEW_TITLE = "New conversation"
TITLES_FROM = 8  # messages among which the first that is no small talk gives the title
NOT_FOUND = "Conversation not found: list your conversations to see their ids."

_NAMES = "concat_ws(' ', c.title, j.name, l.title, p.title)"

# One row per conversation of the user (bound thrice) that has not expired. Titles and scope labels follow the
# project or paper as it is called now.
_CONVERSATION = f"""
    SELECT c.conversation_id, c.kind, c.title, m.first, j.name, coalesce(l.title, p.title), c.rag_project_id,
           c.paper_id, coalesce(m.messages, 0), c.created_at AT TIME ZONE 'UTC', c.used_at AT TIME ZONE 'UTC'
    FROM conversations c
    LEFT JOIN (SELECT conversation_id, count(*) AS messages,
                      arg_min(text, message_id, {TITLES_FROM}) FILTER (WHERE role = 'user') AS first
               FROM messages GROUP BY conversation_id) m USING (conversation_id)
    LEFT JOIN projects j ON j.project_id = c.rag_project_id AND j.user_name = ?
    LEFT JOIN papers p ON p.paper_id = c.paper_id
    LEFT JOIN library_links l ON l.paper_id = c.paper_id AND l.user_name = ?
    WHERE c.user_name = ?
      AND NOT (c.kind = 'paper' AND c.used_at < now() - INTERVAL {PAPER_CHAT_HOURS} HOUR)
"""


def create(
    cursor: DuckDBPyConnection, user: str, *, scope: Scope = Scope.ORPHANS, title: str | None = None
) -> ConversationInfo:
    """A new thread. Without a title it goes by its first question. Raises NotFoundError for a project that
    is not the user's."""
    scopes.label(cursor, user, as_scope(scope))
    return _insert(cursor, user, "thread", scope=scope, title=_given_title(title))


def project_chat(cursor: DuckDBPyConnection, user: str, project_id: int) -> ConversationInfo:
    """The project's one rolling chat, begun where there is none. Raises NotFoundError."""
    found = existing_project_chat(cursor, user, project_id)
    return found or _insert(cursor, user, "project", scope=Scope.project(project_id))


def existing_project_chat(cursor: DuckDBPyConnection, user: str, project_id: int) -> ConversationInfo | None:
    """The project's chat, or None where nobody has begun it. Raises NotFoundError for an unknown project."""
    project = projects.get(cursor, user, project_id)
    row = cursor.execute(
        "SELECT conversation_id FROM conversations"
        " WHERE user_name = ? AND kind = 'project' AND rag_project_id = ?",
        [user, project.id],
    ).fetchone()
    return None if row is None else get(cursor, user, row[0])


def paper_chat(cursor: DuckDBPyConnection, user: str, paper_id: int) -> ConversationInfo:
    """The chat about one paper the user sees, begun anew where there is none or it has expired."""
    paper = papers.get(cursor, user, paper_id)
    remove_expired(cursor, user)
    row = cursor.execute(
        "SELECT conversation_id FROM conversations WHERE user_name = ? AND kind = 'paper' AND paper_id = ?",
        [user, paper.id],
    ).fetchone()
    if row is not None:
        touch(cursor, user, row[0])
        return get(cursor, user, row[0])
    return _insert(cursor, user, "paper", scope=Scope.ORPHANS, paper_id=paper.id)


def get(cursor: DuckDBPyConnection, user: str, conversation_id: int) -> ConversationInfo:
    """The user's conversation with this id. Raises NotFoundError."""
    checked = _checked_id(conversation_id)
    row = cursor.execute(_CONVERSATION + " AND c.conversation_id = ?", [user, user, user, checked]).fetchone()
    if row is None:
        raise NotFoundError(NOT_FOUND)
    return _info(row)


def list_conversations(
    cursor: DuckDBPyConnection, user: str, *, kinds: Sequence[str] = ("thread",)
) -> list[ConversationInfo]:
    """The user's conversations of these kinds, the one used last first."""
    rows = cursor.execute(
        _CONVERSATION
        + " AND c.kind IN (SELECT unnest(?::VARCHAR[])) ORDER BY c.used_at DESC, c.conversation_id DESC",
        [user, user, user, list(kinds)],
    ).fetchall()
    return [_info(row) for row in rows]


def find(
    cursor: DuckDBPyConnection, user: str, words: Sequence[str], *, kinds: Sequence[str] = ("thread",)
) -> list[ConversationInfo]:
    """The user's conversations of these kinds that hold every one of the words, the one used last first. A
    title made from a question is found by the question itself."""
    held = "".join(
        f" AND (contains({_folded(_NAMES)}, {_folded('?')}) OR c.conversation_id IN"
        f" (SELECT conversation_id FROM messages WHERE contains({_folded('text')}, {_folded('?')})))"
        for _ in words
    )
    rows = cursor.execute(
        _CONVERSATION
        + " AND c.kind IN (SELECT unnest(?::VARCHAR[]))"
        + held
        + " ORDER BY c.used_at DESC, c.conversation_id DESC",
        [user, user, user, list(kinds), *(word for word in words for _ in range(2))],
    ).fetchall()
    return [_info(row) for row in rows]


def _folded(text: str) -> str:
    """The SQL expression without case and accents."""
    return f"strip_accents(lower({text}))"


def update(
    cursor: DuckDBPyConnection,
    user: str,
    conversation_id: int,
    *,
    scope: Scope | NotGiven | None = NOT_GIVEN,
    title: str | NotGiven | None = NOT_GIVEN,
) -> ConversationInfo:
    """Changes what is given and leaves the rest.

    ``scope=None`` is the stored NULL: orphans. ``title=None`` gives the title back to the first question.
    Raises ConflictError for the scope of a project's or a paper's chat, NotFoundError for a project that is
    not the user's; then nothing has changed.
    """
    current = get(cursor, user, conversation_id)
    changes: dict[str, Any] = {}
    if scope is not NOT_GIVEN:
        chosen = Scope.ORPHANS if scope is None else as_scope(scope)
        scopes.label(cursor, user, chosen)
        _require_free_scope(current, chosen)
        changes |= {"rag_project_id": chosen.rag_project_id, "notice": None}
    if title is not NOT_GIVEN:
        changes["title"] = _given_title(title)
    if changes:
        assignments = ", ".join(f"{column} = ?" for column in changes)
        cursor.execute(
            f"UPDATE conversations SET {assignments} WHERE conversation_id = ? AND user_name = ?",
            [*changes.values(), current.id, user],
        )
    return get(cursor, user, current.id)


def touch(cursor: DuckDBPyConnection, user: str, conversation_id: int) -> None:
    """Notes that the conversation is in use now."""
    cursor.execute(
        "UPDATE conversations SET used_at = now() WHERE conversation_id = ? AND user_name = ?",
        [conversation_id, user],
    )


def notice(cursor: DuckDBPyConnection, user: str, conversation_id: int) -> str | None:
    """What the user should still be told about this conversation."""
    current = get(cursor, user, conversation_id)
    row = cursor.execute(
        "SELECT notice FROM conversations WHERE conversation_id = ?", [current.id]
    ).fetchone()
    return None if row is None else row[0]


def forget_notice(cursor: DuckDBPyConnection, user: str, conversation_id: int) -> None:
    """The user has been told."""
    cursor.execute(
        "UPDATE conversations SET notice = NULL WHERE conversation_id = ? AND user_name = ?",
        [conversation_id, user],
    )


def clear(cursor: DuckDBPyConnection, user: str, conversation_id: int) -> None:
    """Removes the conversation's messages; the conversation stays. Raises NotFoundError."""
    departures.remove_messages(cursor, [get(cursor, user, conversation_id).id])


def delete(cursor: DuckDBPyConnection, user: str, conversation_id: int) -> None:
    """Removes the conversation with its messages. Raises NotFoundError."""
    departures.remove_conversations(cursor, [get(cursor, user, conversation_id).id])


def remove_expired(cursor: DuckDBPyConnection, user: str) -> None:
    """Removes the user's paper chats that nobody has used for 24 hours."""
    rows = cursor.execute(
        "SELECT conversation_id FROM conversations WHERE user_name = ? AND kind = 'paper'"
        f" AND used_at < now() - INTERVAL {PAPER_CHAT_HOURS} HOUR",
        [user],
    ).fetchall()
    departures.remove_conversations(cursor, [row[0] for row in rows])


def title_of_question(text: str) -> str:
    """A question as a title: one line, cut at a word where it is long."""
    line = clean_label(text)
    if len(line) <= LONGEST_TITLE:
        return line or NEW_TITLE
    cut = line[: LONGEST_TITLE - 1]
    head, space, _ = cut.rpartition(" ")
    return (head if space and len(head) > LONGEST_TITLE // 2 else cut).rstrip(" ,;:") + "…"


def _insert(
    cursor: DuckDBPyConnection,
    user: str,
    kind: str,
    *,
    scope: Scope,
    title: str | None = None,
    paper_id: int | None = None,
) -> ConversationInfo:
    row = cursor.execute(
        "INSERT INTO conversations (user_name, kind, title, rag_project_id, paper_id) VALUES (?, ?, ?, ?, ?)"
        " RETURNING conversation_id",
        [user, kind, title, scope.rag_project_id, paper_id],
    ).fetchone()
    assert row is not None
    return get(cursor, user, row[0])


def _require_free_scope(current: ConversationInfo, chosen: Scope) -> None:
    if current.kind == "thread" or (current.kind == "project" and chosen == current.scope):
        return
    what = "project" if current.kind == "project" else "paper"
    raise ConflictError(
        f"This is the chat of one {what}, and its scope is fixed: begin a conversation to ask elsewhere."
    )


def _checked_id(conversation_id: Any) -> int:
    if isinstance(conversation_id, bool) or not isinstance(conversation_id, int):
        raise InvalidInputError(f"{conversation_id!r} is not a conversation's id: ids are whole numbers.")
    return conversation_id if 0 < conversation_id < 2**63 else 0  # which no conversation has


def _given_title(title: str | None) -> str | None:
    if title is None:
        return None
    if not isinstance(title, str):
        raise InvalidInputError(f"{title!r} is not a title: give a text.")
    line = clean_label(title)
    if not line:
        raise InvalidInputError("The title is empty: give at least one character.")
    if len(line) > LONGEST_GIVEN_TITLE:
        raise InvalidInputError(
            f"This title has {len(line)} characters, and {LONGEST_GIVEN_TITLE} is the most: shorten it."
        )
    return line


def _info(row: tuple[Any, ...]) -> ConversationInfo:
    (conversation_id, kind, given, first, project, paper, rag_project_id) = row[:7]
    paper_id, messages, created, used = row[7:]
    scope = Scope(rag_project_id)
    if kind == "paper":
        label = paper or "a paper that has left"
    elif scope.project_id is not None:
        label = project
    else:
        label = scopes.ALL_LABEL if scope == Scope.ALL else scopes.ORPHANS_LABEL
    asked = (text for text in first or () if small_talk_kind(text) is None)
    own = label if kind != "thread" else title_of_question(next(asked, ""))
    return ConversationInfo(
        id=conversation_id,
        kind=kind,
        title=given or own,
        scope=scope,
        scope_label=label,
        paper_id=paper_id,
        messages=messages,
        created_at=utc(created),
        used_at=utc(used),
    )

"""The turns of conversations: questions, and answers with everything they showed.

Every function checks that the conversation is the user's; another user's does not exist.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from duckdb import DuckDBPyConnection

from workbench.errors import NotFoundError
from workbench.records import Answer, Message
from workbench.scope import Scope
from workbench.storage import conversations, papers, revisions
from workbench.storage.answer_json import read_answer, write_answer
from workbench.storage.cleaning import clean_text
from workbench.storage.moments import utc

QUESTION_GONE = "The question was removed meanwhile: ask it again."
MOST_RECENT = 64  # answers that stay in messages; more are moved to kept_answers, all at once

_MESSAGE = """
    SELECT m.message_id, m.conversation_id, m.role, m.text, m.rag_project_id, coalesce(m.answer, k.answer),
           m.created_at AT TIME ZONE 'UTC'
    FROM messages m LEFT JOIN kept_answers k USING (message_id) WHERE m.conversation_id = ?
"""


def add_question(
    cursor: DuckDBPyConnection, user: str, conversation_id: int, text: str, *, scope: Scope
) -> int:
    """Stores what the user asked, and returns the message's id. Raises NotFoundError."""
    owned = conversations.get(cursor, user, conversation_id)
    conversations.touch(cursor, user, owned.id)
    return _insert(cursor, owned.id, "user", clean_text(text), scope, None)


def add_answer(
    cursor: DuckDBPyConnection,
    user: str,
    conversation_id: int,
    answer: Answer,
    *,
    revision: int,
    question_id: int | None = None,
) -> int:
    """Stores the whole answer, and returns the message's id.

    ``revision`` is the library's from before the answer's passages were found: a paper that changed while the
    answer was written counts as changed since. Raises NotFoundError, also where the question with
    ``question_id`` is not there any more: then the conversation was cleared, and stays empty.
    """
    owned = conversations.get(cursor, user, conversation_id)
    if question_id is not None and not _is_there(cursor, owned.id, question_id):
        raise NotFoundError(QUESTION_GONE)
    conversations.touch(cursor, user, owned.id)
    text, scope = clean_text(answer.text), answer.evidence.scope
    message_id = _insert(cursor, owned.id, "assistant", text, scope, write_answer(answer))
    cited = sorted({c.paper_id for c in answer.citations})
    cursor.execute(
        "INSERT INTO message_papers (message_id, paper_id, revision)"
        " SELECT ?, c.paper_id, least(c.revision, ?) FROM paper_changes c"
        " WHERE c.paper_id IN (SELECT unnest(?::BIGINT[]))",
        [message_id, revision, cited],
    )
    _move_recent(cursor)
    return message_id


def list_messages(cursor: DuckDBPyConnection, user: str, conversation_id: int) -> list[Message]:
    """The conversation's messages: questions oldest first, each answer behind its question. Raises
    NotFoundError."""
    owned = conversations.get(cursor, user, conversation_id)
    rows = cursor.execute(_MESSAGE + " ORDER BY m.message_id", [owned.id]).fetchall()
    return _with_changes(cursor, user, _by_question([_message(row) for row in rows]))


def _by_question(stored: list[Message]) -> list[Message]:
    """Answers behind their questions. Two windows that ask at once store both questions before the first
    answer, and the answer that is ready first may be the second question's."""
    turns: list[list[Message]] = []
    for message in stored:
        answered = message.answer.question if message.answer is not None else None
        asked = (t for t in reversed(turns) if len(t) == 1 and t[0].role == "user" and t[0].text == answered)
        turn = next(asked, None)
        if turn is not None:
            turn.append(message)
        else:
            turns.append([message])
    return [message for turn in turns for message in turn]


def _is_there(cursor: DuckDBPyConnection, conversation_id: int, message_id: int) -> bool:
    row = cursor.execute(
        "SELECT 1 FROM messages WHERE message_id = ? AND conversation_id = ?", [message_id, conversation_id]
    ).fetchone()
    return row is not None


def get(cursor: DuckDBPyConnection, user: str, message_id: int) -> Message:
    """One message of one of the user's conversations. Raises NotFoundError."""
    row = cursor.execute("SELECT conversation_id FROM messages WHERE message_id = ?", [message_id]).fetchone()
    if row is None:
        raise NotFoundError(conversations.NOT_FOUND)
    found = list_messages(cursor, user, row[0])
    return next(message for message in found if message.id == message_id)


def latest_answers(
    cursor: DuckDBPyConnection, user: str, conversation_id: int, *, limit: int
) -> list[Answer]:
    """The last answers of the conversation, at most ``limit``, oldest first. Raises NotFoundError."""
    owned = conversations.get(cursor, user, conversation_id)
    rows = cursor.execute(
        "SELECT coalesce(m.answer, k.answer) FROM messages m LEFT JOIN kept_answers k USING (message_id)"
        " WHERE m.conversation_id = ? AND m.role = 'assistant' ORDER BY m.message_id DESC LIMIT ?",
        [owned.id, limit],
    ).fetchall()
    return [read_answer(row[0]) for row in reversed(rows)]


def _move_recent(cursor: DuckDBPyConnection) -> None:
    """Keeps the table that every turn changes small (the reason is in migration 0005)."""
    row = cursor.execute("SELECT count(answer) FROM messages").fetchone()
    if row is None or row[0] <= MOST_RECENT:
        return
    cursor.execute(
        "INSERT INTO kept_answers (message_id, answer)"
        " SELECT message_id, answer FROM messages WHERE answer IS NOT NULL ORDER BY message_id"
    )
    cursor.execute("UPDATE messages SET answer = NULL WHERE answer IS NOT NULL")


def _insert(
    cursor: DuckDBPyConnection, conversation_id: int, role: str, text: str, scope: Scope, answer: str | None
) -> int:
    row = cursor.execute(
        "INSERT INTO messages (conversation_id, role, text, rag_project_id, answer) VALUES (?, ?, ?, ?, ?)"
        " RETURNING message_id",
        [conversation_id, role, text, scope.rag_project_id, answer],
    ).fetchone()
    assert row is not None
    return int(row[0])


def _message(row: tuple[Any, ...]) -> Message:
    message_id, conversation_id, role, text, rag_project_id, answer, created = row
    return Message(
        id=message_id,
        conversation_id=conversation_id,
        role=role,
        text=text,
        scope=Scope(rag_project_id),
        answer=None if answer is None else read_answer(answer),
        created_at=utc(created),
    )


# --- papers that changed since -----------------------------------------------------------------


def _with_changes(cursor: DuckDBPyConnection, user: str, found: list[Message]) -> list[Message]:
    """The messages, each with what has become of the papers it cites."""
    seen = _revisions_seen(cursor, [m.id for m in found])
    wanted = sorted({c.paper_id for m in found if m.answer for c in m.answer.citations})
    visible = {p.id for p in papers.list_papers(cursor, user, wanted)} if wanted else set()
    now = revisions.of_papers(cursor, wanted)
    messages = []
    for message in found:
        changes = []
        for paper_id, title in _cited(message):
            if paper_id not in visible:
                changes.append(f"“{title}” has left your library.")
            elif now.get(paper_id) != seen.get((message.id, paper_id)):
                changes.append(_what_changed(cursor, message, paper_id, title))
        messages.append(replace(message, changed=tuple(changes)))
    return messages


def _cited(message: Message) -> Iterable[tuple[int, str]]:
    """Id and title of each paper the answer cites, each once."""
    citations = message.answer.citations if message.answer is not None else ()
    return {c.paper_id: c.title for c in citations}.items()


def _what_changed(cursor: DuckDBPyConnection, message: Message, paper_id: int, title: str) -> str:
    assert message.answer is not None
    pages = {p.page: p for p in papers.pages(cursor, paper_id)}
    gone = []
    for citation in message.answer.citations:
        if citation.paper_id != paper_id:
            continue
        page = pages.get(citation.page)
        start = citation.char_start - page.char_start if page is not None else 0
        if page is None or page.text[start : start + len(citation.quote)] != citation.quote:
            gone.append(f"[{citation.n}]")
    if not gone:
        return f"“{title}” was indexed again since; its quotes still stand on their pages."
    return f"“{title}” has changed since: what {', '.join(dict.fromkeys(gone))} cites is not there any more."


def _revisions_seen(cursor: DuckDBPyConnection, message_ids: list[int]) -> dict[tuple[int, int], int]:
    rows = cursor.execute(
        "SELECT message_id, paper_id, revision FROM message_papers"
        " WHERE message_id IN (SELECT unnest(?::BIGINT[]))",
        [message_ids],
    ).fetchall()
    return {(message_id, paper_id): revision for message_id, paper_id, revision in rows}

"""Verbs on conversations."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from workbench.cli import terminal
from workbench.cli.confirming import confirm, yes_option
from workbench.cli.opening import Opening, as_json_option, pass_opening
from workbench.records import ConversationInfo, Message

if TYPE_CHECKING:
    from workbench.conversing import Conversation

_id_argument = click.argument("conversation_id", type=int, metavar="ID")


@click.group()
def conversations() -> None:
    """List, show and change what you asked before.

    ID is a conversation's number as the list shows it. "workbench chat" goes on with one.
    """


@conversations.command("list")
@click.option("--everything", is_flag=True, help="Also the chats of projects and papers.")
@as_json_option
@pass_opening
def conversations_list(opening: Opening, everything: bool, as_json: bool) -> None:
    """List your conversations, the one used last first."""
    with opening.workbench(must_exist=True) as wb:
        known = wb.conversations.list(None)
    found = [info for info in known if everything or info.kind == "thread"]
    if as_json:
        terminal.show_json({"conversations": [info_json(info) for info in found]})
        return
    rows = [[c.id, f"{c.used_at:%Y-%m-%d %H:%M}", c.messages, c.scope_label, c.title] for c in found]
    terminal.show_rows(["id", "used (UTC)", "messages", "scope", "title"], rows)
    unlisted = len(known) - len(found)
    if unlisted:
        chats = (
            "1 chat of a project or paper is"
            if unlisted == 1
            else f"{unlisted} chats of projects and papers are"
        )
        terminal.note(f"{chats} not listed: --everything lists them too.")


@conversations.command("show")
@_id_argument
@as_json_option
@pass_opening
def conversations_show(opening: Opening, conversation_id: int, as_json: bool) -> None:
    """Show a conversation with its sources, and what has become of them."""
    with opening.workbench(must_exist=True) as wb:
        found = wb.conversations.get(conversation_id)
        info, messages = found.info, found.messages
    if as_json:
        shown = [message_json(message) for message in messages]
        terminal.show_json({"conversation": info_json(info), "messages": shown})
        return
    terminal.show(f"{terminal.one_line(info.title)} ({terminal.one_line(info.scope_label)})\n")
    told: set[str] = set()
    for message in messages:
        _show_message(message, told)


@conversations.command("rename")
@_id_argument
@click.argument("title")
@as_json_option
@pass_opening
def conversations_rename(opening: Opening, conversation_id: int, title: str, as_json: bool) -> None:
    """Give a conversation a title."""
    with opening.workbench(must_exist=True) as wb:
        renamed = wb.conversations.update(conversation_id, title=title).info
    _report(renamed, f"The conversation is now called “{renamed.title}”.", as_json=as_json)


@conversations.command("clear")
@_id_argument
@yes_option
@as_json_option
@pass_opening
def conversations_clear(opening: Opening, conversation_id: int, yes: bool, as_json: bool) -> None:
    """Remove all messages of a conversation; it stays."""
    with opening.workbench(must_exist=True) as wb:
        found = wb.conversations.get(conversation_id)
        title = found.title
        confirm(f"Remove all messages of “{title}”?", yes=yes)
        wb.conversations.clear(found)
        cleared = found.info
    _report(cleared, f"Cleared “{title}”.", as_json=as_json)


@conversations.command("delete")
@_id_argument
@yes_option
@as_json_option
@pass_opening
def conversations_delete(opening: Opening, conversation_id: int, yes: bool, as_json: bool) -> None:
    """Delete a conversation with all its messages."""
    with opening.workbench(must_exist=True) as wb:
        info = wb.conversations.get(conversation_id).info
        confirm(f"Delete “{info.title}” with all its messages?", yes=yes)
        wb.conversations.delete(conversation_id)
    _report(info, f"Deleted “{info.title}”.", as_json=as_json)


def info_json(info: ConversationInfo) -> dict[str, Any]:
    """The record, with its scope in the stored form."""
    fields = {name: value for name, value in asdict(info).items() if name != "scope"}
    return {**fields, "rag_project_id": info.scope.rag_project_id}


def conversation_json(conversation: Conversation) -> dict[str, Any]:
    return info_json(conversation.info)


def message_json(message: Message) -> dict[str, Any]:
    fields = {
        "id": message.id,
        "role": message.role,
        "text": message.text,
        "rag_project_id": message.scope.rag_project_id,
        "created_at": message.created_at,
        "changed": list(message.changed),
    }
    if message.answer is None:
        return fields
    answer = terminal.answer_json(message.answer)
    return {**fields, "stopped": message.answer.stopped, "searched": message.answer.evidence.query, **answer}


def _show_message(message: Message, told: set[str]) -> None:
    """Warnings that are ``told`` already, with an answer before, are left out."""
    if message.answer is None:
        terminal.show(f"> {terminal.one_line(message.text)}\n")
        return
    terminal.show_wrapped(message.text or "(nothing)")
    terminal.show_citations(message.answer)
    terminal.show()
    for line in (*[w for w in message.answer.warnings if w not in told], *message.changed):
        terminal.show_wrapped(f"({terminal.one_line(line)})\n")
    told.update(message.answer.warnings)


def _report(info: ConversationInfo, text: str, *, as_json: bool) -> None:
    if as_json:
        terminal.show_json({"conversation": info_json(info)})
    else:
        terminal.show(terminal.one_line(text))

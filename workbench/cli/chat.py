"""The verb that goes on asking: in a terminal, or line by line from a pipe."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import click

from workbench.cli import terminal
from workbench.cli.conversations import conversation_json
from workbench.cli.opening import (
    Opening,
    as_json_option,
    chosen_scope,
    pass_opening,
    project_named,
    scope_options,
)
from workbench.cli.questions import limit_options, show_answer
from workbench.errors import InvalidInputError, WorkbenchError
from workbench.records import AnswerDone
from workbench.scope import Scope

if TYPE_CHECKING:
    from workbench.api import Workbench
    from workbench.conversing import Conversation
    from workbench.streaming import EventStream

HELP = """\
Type a question. An empty line does nothing. Ctrl-C stops an answer and keeps what there was.
/scope          where the questions look now
/scope NAME     look in this project from now on; /scope all and /scope orphans look there
/silent         ask the papers that gave no passage to the last question
/clear          remove all messages of this conversation
/help, /quit    so do help, quit and exit alone; Ctrl-D ends too"""
_WORDS = {"help": "/help", "quit": "/quit", "exit": "/quit"}  # typed alone, in a terminal


@click.command()
@scope_options
@click.option("--conversation", "conversation_id", type=int, metavar="ID", help="Go on with this one.")
@click.option("--paper", "paper_id", type=int, metavar="ID", help="Ask one paper; kept for 24 hours.")
@click.option(
    "--provider",
    type=click.Choice(["auto", "ollama", "extractive"]),
    help="Who writes the answers; extractive is the papers' own sentences.",
)
@limit_options
@as_json_option
@pass_opening
def chat(
    opening: Opening,
    /,
    project: str | None,
    all_papers: bool,
    orphans: bool,
    conversation_id: int | None,
    paper_id: int | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Ask one question after another.

    Follow-ups know what was said before. With --project it is that project's one rolling chat, else a new
    conversation, kept like all others. From a pipe each line is a question. With --json one object is
    printed at the end.
    """
    if sum([project is not None, all_papers, orphans, conversation_id is not None, paper_id is not None]) > 1:
        raise InvalidInputError(
            "--project, --all, --orphans, --conversation and --paper exclude each other: give one."
        )
    with opening.workbench(must_exist=True) as wb:
        session = Session(wb, as_json=as_json, options=options)
        if conversation_id is not None:
            session.conversation = wb.conversations.get(conversation_id)
        elif paper_id is not None:
            session.conversation = wb.paper_chat(paper_id)
        elif project is not None:
            session.conversation = wb.project_chat(project_named(wb, project))
        else:
            session.scope = chosen_scope(wb, None, all_papers=all_papers, orphans=orphans)
        session.run()


class Session:
    """One run of the verb. ``conversation`` is None until the first question begins a new one."""

    def __init__(self, wb: Workbench, *, as_json: bool, options: dict[str, Any]) -> None:
        self.wb, self.as_json, self.options = wb, as_json, options
        self.conversation: Conversation | None = None
        self.scope = Scope.ORPHANS
        self._turns: list[dict[str, Any]] = []
        self._failed = 0
        self._told: set[str] = set()  # notes that were shown: one answer after another has the same
        self._interactive = sys.stdin.isatty() and not as_json

    def run(self) -> None:
        """Asks until the input ends or says so. Exit status 0 only if every question got an answer."""
        if self._interactive:
            self._greet()
        for line in self._lines():
            if line.startswith("/"):
                if line in ("/quit", "/exit"):
                    break
                self._guarded(lambda line=line: self._obey(line))  # type: ignore[misc]  # bound on purpose
            elif line:
                self._guarded(lambda line=line: self._ask(line))  # type: ignore[misc]  # bound on purpose
        self._end()

    def _greet(self) -> None:
        if self.conversation is None:
            terminal.show("Type a question; /help tells what else.")
            return
        terminal.show(
            f"{terminal.one_line(self.conversation.title)}. Type a question; /help tells what else."
        )
        suggestions = self.conversation.suggestions
        if suggestions:
            terminal.show("You could ask:")
        for suggestion in suggestions:
            terminal.show(f"  {terminal.one_line(suggestion)}")

    def _lines(self) -> Iterator[str]:
        """Lines of input, trimmed; in a terminal behind a prompt that can be edited."""
        if not self._interactive:
            yield from (line.strip() for line in sys.stdin)
            return
        with contextlib.suppress(ImportError):
            import readline  # noqa: F401  # gives ``input`` its history and its editing
        while True:
            try:
                line = input("\n> ").strip()
                yield _WORDS.get(line.lower(), line)
            except (EOFError, KeyboardInterrupt):
                terminal.show()
                return

    def _guarded(self, work: Callable[[], None]) -> None:
        """One question that fails is told, and the next one goes on."""
        try:
            work()
        except WorkbenchError as error:
            self._failed += 1
            terminal.note(error)

    def _ask(self, question: str) -> None:
        if self.conversation is None:
            self.conversation = self.wb.conversations.create(self.scope)
        self._show(question, self.conversation.stream(question, **self.options))

    def _show(self, question: str, stream: EventStream) -> None:
        with contextlib.closing(stream) as events:
            try:
                if self.as_json:
                    done = [event for event in events if isinstance(event, AnswerDone)]
                    self._turns += [_turn_json(question, event) for event in done]
                    return
                if not self._interactive:
                    terminal.show(f"> {terminal.one_line(question)}\n")
                show_answer(events, told=self._told, asked=question if self._interactive else None)
                if not self._interactive:
                    terminal.show()
            except KeyboardInterrupt:
                if not self._interactive:
                    raise
                events.close()
                terminal.show()
                terminal.note("Stopped. What there was is kept.")

    def _obey(self, line: str) -> None:
        word, _, rest = line.partition(" ")
        if word == "/help":
            terminal.show(HELP)
        elif word == "/scope":
            if rest.strip():
                self._set_scope(rest.strip())
            terminal.note(f"Now searching: {self._scope_label()}.")
        elif word == "/silent":
            self._ask_silent()
        elif word == "/clear":
            if self.conversation is not None:
                self.wb.conversations.clear(self.conversation)
            terminal.note("Cleared.")
        else:
            raise InvalidInputError(f"{line}: there is no such command. /help lists them.")

    def _ask_silent(self) -> None:
        if self.conversation is None:
            raise InvalidInputError("/silent asks a question again: ask one first.")
        asked = [m.text for m in self.conversation.messages if m.role == "user"]
        self._show(asked[-1] if asked else "", self.conversation.stream_silent(**self.options))

    def _set_scope(self, name: str) -> None:
        known = {"all": Scope.ALL, "orphans": Scope.ORPHANS}
        self.scope = known[name] if name in known else Scope.project(project_named(self.wb, name))
        if self.conversation is None:
            self.conversation = self.wb.conversations.create(self.scope)
        else:
            self.wb.conversations.update(self.conversation, scope=self.scope)

    def _scope_label(self) -> str:
        if self.conversation is not None:
            return self.conversation.scope_label
        from workbench.storage.scopes import ALL_LABEL, ORPHANS_LABEL

        return ALL_LABEL if self.scope == Scope.ALL else ORPHANS_LABEL  # for a project there is one

    def _end(self) -> None:
        if self.as_json:
            about = conversation_json(self.conversation) if self.conversation is not None else None
            terminal.show_json({"conversation": about, "turns": self._turns})
        elif self.conversation is not None and self._interactive:
            terminal.note(f'Kept. "workbench chat --conversation {self.conversation.id}" goes on.')
        if self._failed and not self._interactive:
            what = "1 line" if self._failed == 1 else f"{self._failed} lines"
            terminal.fail(f"{what} of the input could not be answered; the notes say why.")


def _turn_json(question: str, done: AnswerDone) -> dict[str, Any]:
    turn = {
        "question": question,
        "searched": done.answer.evidence.query,
        "message_id": done.message_id,
        **terminal.answer_json(done.answer),
    }
    if done.scope_change is not None:
        turn["new_rag_scope"] = done.scope_change.rag_project_id
        turn["new_rag_scope_label"] = done.scope_change.label
    return turn

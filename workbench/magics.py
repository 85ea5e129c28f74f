"""Magics for notebooks: ``%load_ext workbench`` gives ``%%ask``, ``%%wbsql`` and ``%scope``.

They use the notebook's variable ``wb`` where it is an open workbench, else they open the library of the
settings and call it ``wb``.
"""

from __future__ import annotations

import keyword
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any

from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics, cell_magic, line_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring
from IPython.display import display

from workbench.api import Workbench, open
from workbench.errors import InvalidInputError, NotFoundError, WorkbenchError
from workbench.records import Answer, AnswerDone, Project, TextDelta
from workbench.rendering.inert import inert, visible
from workbench.scope import Scope
from workbench.storage.readonly_sql import parameter_names

_NAMED_SCOPES = {"all": Scope.ALL, "orphans": Scope.ORPHANS}
_OPTIONS = ("--project", "--all", "--orphans", "--top-k", "--provider")
_LONGEST_ID = 18  # digits


@magics_class
class WorkbenchMagics(Magics):
    """The magics of one notebook; the scope that ``%scope`` sets is this notebook's."""

    def __init__(self, shell: InteractiveShell) -> None:
        super().__init__(shell)
        self._scope = Scope.ORPHANS

    @line_magic
    def scope(self, line: str) -> None:
        """Shows or sets what ``%%ask`` sees from here on.

        ``%scope``          shows it
        ``%scope orphans``  the papers in none of your projects
        ``%scope all``      all your papers
        ``%scope NAME``     the papers of one project; ``%scope #3`` takes its id
        """
        with _one_line():
            wb = self._workbench()
            if line.strip():
                self._scope = _scope_of(wb, _unquoted(line))
            print(f"⊙ {_label(wb, self._scope)}")  # noqa: T201  a line magic answers by printing

    @magic_arguments()
    @argument("--project", metavar="NAME", help="Ask the papers of this project (its name, or #id).")
    @argument("--all", action="store_true", help="Ask all your papers.")
    @argument("--orphans", action="store_true", help="Ask the papers that are in no project.")
    @argument("--top-k", type=int, metavar="N", help="How many passages at most, 1 to 200.")
    @argument("--provider", choices=["auto", "ollama", "extractive"], help="Who writes the answer.")
    @argument("name", nargs="?", help="A variable that gets the answer.")
    @cell_magic
    def ask(self, line: str, cell: str) -> None:
        """Asks the question in the cell, shows the answer as it comes, and leaves it as plain Markdown.

        Without an option it sees what ``%scope`` says.
        """
        with _one_line():
            given = _parsed(self.ask, line)
            wb = self._workbench()
            name = _variable(given.name)
            answer = _shown_as_it_comes(wb, cell, self._chosen(wb, given), given)
            if name and answer is not None:
                self._variables()[name] = answer

    @magic_arguments()
    @argument("name", nargs="?", help="A variable that gets the DataFrame, instead of showing it.")
    @cell_magic
    def wbsql(self, line: str, cell: str) -> Any:
        """The rows of one SELECT over your library as a DataFrame.

        ``$name`` is bound to the notebook's variable of that name; inside quotation marks it is text.
        """
        with _one_line():
            name = _variable(_parsed(self.wbsql, line).name)
            found = self._workbench().sql(cell, self._parameters(cell))
            if not name:
                return found
            self._variables()[name] = found
        return None

    def complete(self, _: Any, event: Any) -> list[str]:
        """What may follow: scopes and projects, for ``%%ask`` its options too. Opens no library."""
        symbol, before = str(event.symbol), str(event.line).split()
        options = list(_OPTIONS) if event.command == "%%ask" else list(_NAMED_SCOPES)
        of_project = event.command == "%scope" or "--project" in before[-2 if symbol else -1 :]
        wb = self._variables().get("wb")
        if of_project and isinstance(wb, Workbench):
            try:
                names = [project.name for project in wb.projects.list()]
            except WorkbenchError:  # such as a library that is held by another process
                names = []
            options += [f'"{name}"' if " " in name else name for name in names]
        return [option for option in options if option.startswith(symbol)]

    def _chosen(self, wb: Workbench, given: Any) -> Scope:
        if sum((given.project is not None, given.all, given.orphans)) > 1:
            raise InvalidInputError("Give one of --project, --all and --orphans.")
        if given.project is not None:
            return Scope.project(_project(wb, _unquoted(given.project)))
        return Scope.ALL if given.all else Scope.ORPHANS if given.orphans else self._scope

    def _parameters(self, query: str) -> dict[str, Any] | None:
        names = sorted(parameter_names(query))
        for name in names:
            if name not in self._variables():
                raise InvalidInputError(f"${name} stands in the query, and there is no variable {name}.")
        return {name: self._variables()[name] for name in names} or None

    def _workbench(self) -> Workbench:
        wb = self._variables().get("wb")
        if not isinstance(wb, Workbench):
            wb = open()
            self._variables()["wb"] = wb
        return wb

    def _variables(self) -> dict[str, Any]:
        assert self.shell is not None
        variables: dict[str, Any] = self.shell.user_ns
        return variables


def _shown_as_it_comes(wb: Workbench, question: str, scope: Scope, given: Any) -> Answer | None:
    """The text grows in one place, as plain text because it is not checked yet; then the answer itself takes
    its place. None where it was interrupted: what was there stays."""
    shown: Any = None
    text = ""
    with closing(wb.stream(question, scope=scope, top_k=given.top_k, provider=given.provider)) as events:
        try:
            for event in events:
                if shown is None:
                    shown = display({"text/plain": "…"}, raw=True, display_id=True)
                if isinstance(event, TextDelta):
                    text += visible(event.text)
                    shown.update({"text/plain": text}, raw=True)
                elif isinstance(event, AnswerDone):
                    shown.update(event.answer)
                    return event.answer
        except KeyboardInterrupt:
            stopped = f"{inert(text)}\n\n*Interrupted; this is not checked.*".strip()
            (shown.update if shown else display)({"text/markdown": stopped, "text/plain": text}, raw=True)
            return None
        except WorkbenchError:
            if shown is not None:
                shown.update({"text/plain": ""}, raw=True)  # no answer comes; the error says why
            raise
    raise AssertionError("a stream ends with AnswerDone or an error")


def _scope_of(wb: Workbench, name: str) -> Scope:
    plain = _NAMED_SCOPES.get(name.removeprefix("--").casefold())
    if plain is None:
        return Scope.project(_project(wb, name))
    same = None if name.startswith("--") else _named(wb, name)
    if same is not None:
        raise InvalidInputError(
            f"“{name}” could also mean your project “{same.name}”: write %scope --{name.casefold()} for the "
            f"papers, %scope #{same.id} for the project."
        )
    return plain


def _project(wb: Workbench, text: str) -> Project:
    """The project with this name, or with this id (``3`` or ``#3``). Raises NotFoundError, and
    InvalidInputError where it could be two."""
    digits = text.removeprefix("#")
    if not digits.isdecimal() or len(digits) > _LONGEST_ID:
        return wb.projects.get(text)
    named = _named(wb, text)
    if named is None:
        return wb.projects.get(int(digits))
    other = _named(wb, int(digits))
    if other is not None and other != named:
        raise InvalidInputError(
            f"“{text}” could be two projects: “{named.name}” by its name and “{other.name}” by its id: write "
            f"#{named.id} or #{other.id}."
        )
    return named


def _named(wb: Workbench, name: str | int) -> Project | None:
    try:
        return wb.projects.get(name)
    except NotFoundError:
        return None


def _label(wb: Workbench, scope: Scope) -> str:
    if scope.project_id is not None:
        return visible(wb.projects.get(scope.project_id).name)
    return "All notes" if scope == Scope.ALL else "Orphan notes"


def _parsed(magic: Any, line: str) -> Any:
    try:
        return parse_argstring(magic, line)
    except ValueError as error:  # a quotation mark that is not closed
        raise InvalidInputError(f"The line of the magic cannot be read: {error}.") from None


def _variable(name: str | None) -> str | None:
    """``name``, where it can name a variable."""
    if name is not None and (not name.isidentifier() or keyword.iskeyword(name) or name == "wb"):
        raise InvalidInputError(f"“{name}” cannot name the variable for the result.")
    return name


def _unquoted(text: str) -> str:
    text = text.strip()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text


@contextmanager
def _one_line() -> Iterator[None]:
    """An error of the workbench is told in one line, as IPython tells a wrong use: without a traceback."""
    try:
        yield
    except WorkbenchError as error:
        raise UsageError(str(error)) from None


def load(shell: InteractiveShell) -> None:
    """Registers the magics in ``shell``, and what may follow them when Tab is pressed."""
    magics = WorkbenchMagics(shell)
    register: Callable[[Magics], None] = shell.register_magics
    register(magics)
    for command in ("%scope", "%%ask"):
        shell.set_hook("complete_command", magics.complete, str_key=command)

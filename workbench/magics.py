"""Magics for notebooks: ``%load_ext workbench`` gives ``%%ask``, ``%%wbsql`` and ``%scope``.

They use the notebook's variable ``wb`` where it is an open workbench, else they open the library of the
settings and call it ``wb``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics, cell_magic, line_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring
from IPython.display import display

from workbench.api import Workbench, open
from workbench.errors import InvalidInputError, WorkbenchError
from workbench.records import Answer, AnswerDone, TextDelta
from workbench.rendering.inert import visible
from workbench.scope import Scope

_PARAMETER = re.compile(r"\$([A-Za-z_]\w*)")
_NAMED_SCOPES = {"all": Scope.ALL, "orphans": Scope.ORPHANS}


@magics_class
class WorkbenchMagics(Magics):
    """The magics of one notebook; the scope that ``%scope`` sets is this notebook's."""

    def __init__(self, shell: InteractiveShell) -> None:
        super().__init__(shell)
        self._scope = Scope.ORPHANS

    @line_magic
    def scope(self, line: str) -> None:
        """``%scope`` shows what ``%%ask`` sees; ``%scope all``, ``%scope orphans`` or ``%scope NAME`` (a
        project's name) sets it."""
        with _one_line():
            wb = self._workbench()
            if line.strip():
                self._scope = _scope_of(wb, _unquoted(line))
            print(f"⊙ {_label(wb, self._scope)}")  # noqa: T201  a line magic answers by printing

    @magic_arguments()
    @argument("--project", metavar="NAME", help="Ask the papers of this project.")
    @argument("--all", action="store_true", help="Ask all your papers.")
    @argument("--orphans", action="store_true", help="Ask the papers that are in no project.")
    @argument("--top-k", type=int, metavar="N", help="How many passages at most.")
    @argument("--provider", choices=["auto", "ollama", "extractive"], help="Who writes the answer.")
    @argument("name", nargs="?", help="A variable that gets the answer.")
    @cell_magic
    def ask(self, line: str, cell: str) -> None:
        """Asks the question in the cell and shows the answer as it comes; leaves it as plain Markdown too."""
        with _one_line():
            given = parse_argstring(self.ask, line)
            wb = self._workbench()
            answer = _shown_as_it_comes(wb, cell, self._chosen(wb, given), given)
            if given.name:
                self._keep(given.name, answer)

    @magic_arguments()
    @argument("name", nargs="?", help="A variable that gets the DataFrame, instead of showing it.")
    @cell_magic
    def wbsql(self, line: str, cell: str) -> Any:
        """The rows of one SELECT over your library as a DataFrame; ``$name`` is bound to the notebook's
        variable of that name."""
        with _one_line():
            given = parse_argstring(self.wbsql, line)
            found = self._workbench().sql(cell, self._parameters(cell))
            if not given.name:
                return found
            self._keep(given.name, found)
        return None

    def _chosen(self, wb: Workbench, given: Any) -> Scope:
        if sum((given.project is not None, given.all, given.orphans)) > 1:
            raise InvalidInputError("Give one of --project, --all and --orphans.")
        if given.project is not None:
            return Scope.project(wb.projects.get(_unquoted(given.project)))
        return Scope.ALL if given.all else Scope.ORPHANS if given.orphans else self._scope

    def _parameters(self, query: str) -> dict[str, Any] | None:
        names = dict.fromkeys(_PARAMETER.findall(query))
        missing = next((name for name in names if name not in self._variables()), None)
        if missing is not None:
            raise InvalidInputError(f"${missing} stands in the query, and there is no variable {missing}.")
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

    def _keep(self, name: str, value: object) -> None:
        if not name.isidentifier():
            raise InvalidInputError(f"“{name}” cannot name a variable.")
        self._variables()[name] = value


def _shown_as_it_comes(wb: Workbench, question: str, scope: Scope, given: Any) -> Answer:
    """The text grows in one place, as plain text because it is not checked yet; then the answer itself."""
    shown = display({"text/plain": "…"}, raw=True, display_id=True)
    text = ""
    for event in wb.stream(question, scope=scope, top_k=given.top_k, provider=given.provider):
        if isinstance(event, TextDelta):
            text += visible(event.text)
            shown.update({"text/plain": text}, raw=True)
        elif isinstance(event, AnswerDone):
            shown.update(event.answer)
            return event.answer
    raise AssertionError("a stream ends with AnswerDone or an error")


def _scope_of(wb: Workbench, name: str) -> Scope:
    return _NAMED_SCOPES.get(name.casefold()) or Scope.project(wb.projects.get(name))


def _label(wb: Workbench, scope: Scope) -> str:
    if scope.project_id is not None:
        return wb.projects.get(scope.project_id).name
    return "All notes" if scope == Scope.ALL else "Orphan notes"


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
    """Registers the magics in ``shell``."""
    register: Callable[[Magics], None] = shell.register_magics
    register(WorkbenchMagics(shell))

"""The tuning panel's state: numbers to search with, what they would do to questions asked before, presets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from traitlets import Bool, Dict, Int, List, Unicode

from widgets.panel import action, explained_errors
from widgets.places import scope_of
from widgets.tuning.labels import is_marked, same_question, toggle
from widgets.tuning.measuring import MeasuringState
from widgets.tuning.numbers import Numbers, checked, controls, in_words, usual
from widgets.tuning.replays import Latest, Show, citations, past_questions, replayed, shown
from workbench import InvalidInputError, Scope

if TYPE_CHECKING:
    from workbench import Paper, Preset, Question, Replay, Workbench


class TuningState(MeasuringState):
    """``place`` is a project's id, 0 for the orphans or -1 for all papers, and ``name`` what it is called.

    ``numbers`` are the controls' values; ``placed`` counts the times that they were set from here, so that
    a slider in hand is never moved. ``usual`` are the settings' numbers, ``in_force`` those that the place
    searches with, of the preset ``preset`` where it is not empty. ``questions`` are those asked here before,
    ``{"id", "text", "when"}``, and ``chosen`` the one whose passages ``replay`` shows; ``marked`` are the
    keys of the passages that answer it.
    """

    place = Int(0).tag(sync=True)
    name = Unicode("").tag(sync=True)
    loaded = Bool(False).tag(sync=True)
    controls = List(Dict()).tag(sync=True)
    numbers = Dict().tag(sync=True)
    placed = Int(0).tag(sync=True)
    usual = Dict().tag(sync=True)
    in_force = Dict().tag(sync=True)
    preset = Unicode("").tag(sync=True)
    presets = List(Dict()).tag(sync=True)
    questions = List(Dict()).tag(sync=True)
    chosen = Int(0).tag(sync=True)
    replay = Dict().tag(sync=True)
    replaying = Bool(False).tag(sync=True)
    marked = List(Int()).tag(sync=True)
    told = Unicode("").tag(sync=True)

    def __init__(
        self,
        workbench: Workbench,
        *,
        on_open: Callable[[Sequence[dict[str, Any]], int], None] = lambda *_: None,
        **options: Any,
    ) -> None:
        """``on_open`` is called with the replay's passages and the chosen one's index."""
        base = usual(workbench.settings)
        super().__init__(controls=controls(), usual=base, in_force=base, numbers=base, **options)
        self._workbench = workbench
        self._on_open = on_open
        self._latest = Latest(lambda job: self.in_background("replaying", job))
        self._replayed: Replay | None = None
        self._papers: dict[int, Paper] = {}
        self._label: tuple[int, Question | None] = 0, None  # of the chosen search: read once, not per replay

    @property
    def project(self) -> int | None:
        return self.place if self.place > 0 else None

    def show(self, place: int, name: str) -> None:
        """Show a place, or read again what is shown of it. Numbers that were moved stay as they are."""
        with self._applying:
            if place != self.place or not self.loaded:
                self._latest.drop()
                self.place, self.loaded = place, False
                self.questions, self.presets, self.chosen = [], [], 0
                self.replay, self.replaying, self.marked = {}, False, []
                self.told = ""
                self.leave_figures()
            self.name = name
        self.in_background("reading what was asked here", lambda: self._read(place))

    def _read(self, place: int) -> None:
        scope = scope_of(place)
        questions = past_questions(self._workbench, scope)
        papers = {paper.id: paper for paper in self._workbench.papers.list(scope)}
        presets = self._workbench.presets.list(place) if place > 0 else []
        self.read_measured(scope)
        with self._applying:
            if place != self.place:
                return
            self._papers = papers
            self._label = 0, None
            newest = self.questions[0]["id"] if self.questions else 0
            asked_since = bool(questions) and questions[0]["id"] > newest
            self._show_presets(presets)
            self.questions = questions
            if asked_since or all(q["id"] != self.chosen for q in questions):
                self.chosen = questions[0]["id"] if questions else 0
            self.loaded = True
            self._replay_now()

    # --- numbers ---------------------------------------------------------------------------------

    @action
    def tune(self, *, numbers: Mapping[str, Any]) -> None:
        """Take the controls' numbers, and show what they would do."""
        self.numbers = checked(numbers)
        self._replay_now()

    @action
    def reset(self) -> None:
        """Back to the numbers in force."""
        self._place(self.in_force)

    @action
    def as_asked(self) -> None:
        """The numbers that the chosen question was asked with."""
        if self._replayed is not None:
            before = self._replayed.before
            self._place(checked({name: before[name] for name in self.usual if name in before}))

    def _place(self, numbers: Numbers) -> None:
        """Set the controls from here."""
        self.numbers = dict(numbers)
        self.placed += 1
        self._replay_now()

    # --- replay ----------------------------------------------------------------------------------

    @action
    def choose(self, *, id: int) -> None:
        """Show what became of another question's passages."""
        if any(question["id"] == id for question in self.questions):
            self.chosen = id
            self._replay_now()

    def _replay_now(self) -> None:
        chosen, numbers = self.chosen, dict(self.numbers)
        if not chosen:
            self._latest.drop()
            self._replayed, self.replay, self.replaying, self.marked = None, {}, False, []
            return
        self.replaying = True
        self._latest.ask(lambda: self._found(chosen, numbers))

    def _found(self, chosen: int, numbers: Numbers) -> Show:
        """Replays, and returns what shows it; a fault is shown only where no newer replay is wanted."""
        faults: list[str] = []
        found: Replay | None = None
        content: dict[str, Any] = {}
        before = label = self._label
        with explained_errors("replaying", faults.append):
            found = replayed(self._workbench, chosen, numbers)
            content = shown(found, self._papers, self.usual)
            if label[0] != chosen:
                label = chosen, self._labelled(found.query)

        def show() -> None:
            self.replaying = False
            if faults:
                self.error, self._replayed, self.replay, self.marked = faults[0], None, {}, []
                return
            self._replayed, self.replay = found, content
            if self._label is before:  # else a label was set or taken back meanwhile
                self._label = label
            self._show_marks(label[1])

        return show

    @action
    def open_page(self, *, index: int) -> None:
        """Show a passage of the replay on its page."""
        passages = citations(self._replayed) if self._replayed else []
        there = [k for k, passage in enumerate(passages) if passage["page"]]
        if index in there:
            self._on_open([passages[k] for k in there], there.index(index))

    # --- labels ----------------------------------------------------------------------------------

    @action
    def mark(self, *, index: int) -> None:
        """Say that a passage's page answers the question, or take that back."""
        replay, rows = self._replayed, self.replay.get("rows", [])
        if replay is None or not 0 <= index < len(rows):
            return
        place, row, query = self.place, rows[index], replay.query

        def keep() -> None:
            told = toggle(self._workbench, query, row, self._labelled(query), self.project)
            if place == self.place:
                self._label = 0, None
                self._replay_now()
                self.told = told
                self.read_measured(self.scope)

        self.in_background("keeping the label", keep)

    def _labelled(self, text: str) -> Question | None:
        scope = Scope.project(self.project) if self.project else Scope.ORPHANS
        return same_question(self._workbench.questions.list(scope), text, self.project)

    def _show_marks(self, known: Question | None) -> None:
        rows = self.replay.get("rows", [])
        self.marked = [row["key"] for row in rows if row["page"] and is_marked(known, row)]

    @action
    def unlabel(self, *, id: str, project: int) -> None:
        """Delete a labelled question with its labels."""

        def forget() -> None:
            self._workbench.questions.delete(id, project=project or None)
            self._label = 0, None
            self.read_measured(self.scope)
            self._replay_now()

        self.in_background("deleting the labelled question", forget)

    # --- presets ---------------------------------------------------------------------------------

    @action
    def save(self, *, name: str, choose: bool = True) -> None:
        """Keep the controls' numbers under a name, in force at once unless ``choose`` is False."""
        project, numbers = self._own_project(), dict(self.numbers)
        if not name.strip():
            raise InvalidInputError("A preset needs a name.")

        def keep() -> str:
            saved = self._workbench.presets.save(project, name.strip(), choose=choose, **numbers)
            use = "The project searches with it from now on." if saved.chosen else "It is not in force."
            return f"“{saved.name}” is saved. {use}"

        self._change_presets("saving the preset", keep)

    @action
    def load(self, *, name: str) -> None:
        """Set the controls to a preset's numbers, or to the settings' with an empty name; nothing changes in
        the project."""
        found = next((preset for preset in self.presets if preset["name"] == name), None)
        if found is not None or not name:
            self._place(found["numbers"] if found else self.usual)

    @action
    def use(self, *, name: str) -> None:
        """Put a preset in force, or with an empty name the settings; the controls follow."""
        project = self._own_project()

        def choose() -> str:
            self._workbench.presets.choose(project, name or None)
            self.load(name=name)
            return f"“{name}” is in force." if name else "The settings' numbers are in force."

        self._change_presets("choosing the preset", choose)

    @action
    def delete(self, *, name: str) -> None:
        project = self._own_project()

        def go() -> str:
            self._workbench.presets.delete(project, name)
            return f"“{name}” is deleted."

        self._change_presets("deleting the preset", go)

    def _own_project(self) -> int:
        if self.project is None:
            raise InvalidInputError("Presets belong to projects: choose a project at the left first.")
        return self.project

    def _change_presets(self, doing: str, change: Callable[[], str]) -> None:
        """Carry out ``change``, read the presets again, and show what it tells."""
        project = self.place

        def work() -> None:
            told = change()
            presets = self._workbench.presets.list(project)
            if project == self.place:
                self._show_presets(presets)
                self.told = told

        self.in_background(doing, work)

    def _show_presets(self, presets: Sequence[Preset]) -> None:
        """Show presets; controls that nobody has moved follow what is in force."""
        chosen = next((preset for preset in presets if preset.chosen), None)
        in_force = {**self.usual, **(chosen.parameters if chosen else {})}
        untouched = not self.loaded or self.numbers == self.in_force
        self.in_force = in_force
        self.preset = chosen.name if chosen else ""
        self.presets = [
            {
                "name": preset.name,
                "numbers": {**self.usual, **preset.parameters},
                "said": in_words({**self.usual, **preset.parameters}, self.usual),
            }
            for preset in presets
        ]
        if untouched and self.numbers != in_force:
            self._place(in_force)

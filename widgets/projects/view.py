"""The projects panel's leaf."""

from __future__ import annotations

from widgets.assets import module, style
from widgets.projects.state import ProjectsState
from widgets.view import Leaf


class Projects(ProjectsState, Leaf):
    """The user's projects to choose from, and a line to make a new one."""

    _esm = module("menu.js", "projects/projects.js")
    _css = style("projects/projects.css")

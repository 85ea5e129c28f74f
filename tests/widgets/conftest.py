"""What tests of the panels may use: a workbench that follows a script."""

from __future__ import annotations

import pytest

from tests.widgets.scripted import ScriptedWorkbench


@pytest.fixture
def scripted() -> ScriptedWorkbench:
    """A workbench with two projects, the second used last, and no paper."""
    made = ScriptedWorkbench()
    made.projects.create("Notes on engines")
    made.projects.create("Weaving")
    return made

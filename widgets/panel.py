"""What every panel's state can do: act on the front end's messages, work beside the kernel's main
thread, and say in one line what went wrong.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, TypeVar

from traitlets import HasTraits, Unicode

import workbench
from widgets.messages import asked_for, check_arguments
from widgets.wording import one_line
from workbench.crash_reports import write_crash_report

log = logging.getLogger("widgets")

Run = Callable[[Callable[[], None]], None]
Method = TypeVar("Method", bound=Callable[..., None])


def in_thread(job: Callable[[], None]) -> None:
    """Run ``job`` beside the kernel's main thread, so that clicks still arrive while it works."""
    threading.Thread(target=job, name="dashboard work", daemon=True).start()


def at_once(job: Callable[[], None]) -> None:
    """Run ``job`` here and now: what tests and scripts use in place of ``in_thread``."""
    job()


def action(method: Method) -> Method:
    """Let the front end call this method by its name; no other can be reached from there."""
    method.__dict__["action"] = True
    return method


class PanelState(HasTraits):
    """Base of every panel's state. Traits tagged ``sync`` are what the panel's leaf shows.

    ``error`` is empty, or one line for the person at the panel; details are in the log.
    """

    error = Unicode("").tag(sync=True)

    error_stays = False
    """Whether the last error outlives the next action; else any action clears it."""

    def __init__(self, *, run: Run = in_thread, **traits: Any) -> None:
        super().__init__(**traits)
        self._run = run
        self._refreshing = threading.RLock()
        """Held while a list is read and shown, so that an older reading never replaces a newer one."""

    def act(self, message: dict[str, Any], buffers: Sequence[bytes | memoryview] = ()) -> None:
        """Carry out one message of the front end, ``{"do": name, "with": arguments}``.

        An error of the action is shown in ``error``, and so are arguments that it does not take; an unknown
        name is only logged.
        """
        name, arguments = asked_for(message)
        method = getattr(type(self), name, None)
        if method is None or not getattr(method, "action", False):
            log.warning("%s: the front end asked for %.80r, which is no action", type(self).__name__, name)
            return
        if buffers:
            arguments["data"] = bytes(buffers[0])
        if not self.error_stays:
            self.error = ""
        with self.shown_errors(name.replace("_", " ")):
            check_arguments(method, arguments)
            method(self, **arguments)

    @action
    def dismiss_error(self) -> None:
        self.error = ""

    def in_background(self, doing: str, job: Callable[[], None]) -> None:
        """Run ``job`` beside the main thread; its errors are shown like an action's."""

        def guarded() -> None:
            with self.shown_errors(doing):
                job()

        self._run(guarded)

    def shown_errors(self, doing: str) -> AbstractContextManager[None]:
        """Show what goes wrong inside in ``error``, and log it."""
        return explained_errors(doing, lambda line: self.set_trait("error", line))


@contextmanager
def explained_errors(doing: str, show: Callable[[str], object]) -> Iterator[None]:
    """Hand one line about what goes wrong inside to ``show``; details are in the log.

    This is the edge of the program: what leaves a callback or a thread unseen is lost.
    """
    try:
        yield
    except workbench.WorkbenchError as error:
        log.info("%s: %s", doing, error)
        show(one_line(str(error)))
    except Exception as error:
        log.exception("%s failed", doing)
        report = write_crash_report(error, doing=doing)
        where = f"To report it, attach {report}" if report is not None else "The log has the details"
        show(f"Something went wrong ({doing}: {type(error).__name__}). {where}.")

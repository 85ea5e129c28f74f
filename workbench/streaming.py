"""Events of an answer, which any thread may end and asynchronous code may read."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import threading
from collections.abc import AsyncGenerator, Callable, Generator, Iterator, Sequence
from contextlib import aclosing, closing
from typing import Any

from workbench.errors import ProviderError, WorkbenchError
from workbench.interfaces import ChatMessage, ChatModel, ChatStream, ChatUsage
from workbench.records import Answer, AnswerDone, Event
from workbench.storage.cleaning import clean_text


class EventStream(Iterator[Event]):
    """The events of one answer. ``close`` ends it, also while another thread waits for the next event.

    Closing a generator that runs is a ValueError. So ``stop`` ends the chat model's work underneath, at once
    and from any thread, and the thread that waits closes the generator as soon as it comes back.
    """

    def __init__(
        self, events: Generator[Event, None, None], *, stop: Callable[[], None] | None = None
    ) -> None:
        self._events, self._stop = events, stop
        self._running = threading.Lock()
        self._closed = threading.Event()

    def __next__(self) -> Event:
        with self._running:
            event = None if self._closed.is_set() else next(self._events)
        if event is None or self._closed.is_set():  # closed by another thread, perhaps this very moment
            self.close()
            raise StopIteration
        return event

    def close(self) -> None:
        """No further event comes, and the chat model stops. Nothing happens the second time."""
        self._closed.set()
        if self._stop is not None:
            self._stop()
        if self._running.acquire(blocking=False):
            try:
                self._events.close()
            finally:
                self._running.release()


class StoppableModel:
    """A chat model whose streams and decisions about tools, begun or still to come, all end with ``stop``,
    from any thread."""

    def __init__(self, model: ChatModel) -> None:
        self._model = model
        self._lock = threading.Lock()
        self._open: list[ChatStream] = []
        self._cuts: list[Callable[[], None]] = []
        self._stopped = False

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._model, name)  # whatever else the model has, and the tools it may be offered
        return functools.partial(value, stoppable=self._hold) if name == "call_tools" else value

    @property
    def name(self) -> str:
        return self._model.name

    @property
    def context_window(self) -> int:
        return self._model.context_window

    def stream(self, messages: Sequence[ChatMessage]) -> Generator[str | ChatUsage, None, None]:
        """As the model's own, in characters that the library can hold; it ends early where it was stopped.
        Whatever else it fails with is a ProviderError."""
        try:
            for piece in self._pieces(messages):
                if not isinstance(piece, str | ChatUsage):
                    raise ProviderError(f"The chat model gave {piece!r} instead of text.")
                yield clean_text(piece) if isinstance(piece, str) else piece
        except WorkbenchError:
            raise
        except Exception as error:  # anybody's model may be given, and fail with anything
            reason = " ".join(str(error).split())[:300].rstrip(".") or type(error).__name__
            raise ProviderError(f"The chat model failed: {reason}.") from error

    def _pieces(self, messages: Sequence[ChatMessage]) -> Generator[str | ChatUsage, None, None]:
        stream = self._model.stream(messages)
        with self._lock:
            stopped = self._stopped
            if not stopped:
                self._open.append(stream)
        with closing(stream):
            if stopped:
                return
            try:
                for piece in stream:
                    if self._stopped:
                        return
                    yield piece
            finally:
                with self._lock:
                    self._open.remove(stream)

    def _hold(self, cut: Callable[[], None]) -> None:
        with self._lock:
            self._cuts.append(cut)
            stopped = self._stopped
        if stopped:
            cut()

    def stop(self) -> None:
        with self._lock:
            self._stopped = True
            running, cuts = list(self._open), list(self._cuts)
        for cut in cuts:
            cut()
        for stream in running:
            # A plain generator that runs right now cannot be closed; it ends at its next piece.
            with contextlib.suppress(ValueError):
                stream.close()


def last_answer(events: Iterator[Event]) -> Answer:
    """The answer that ends the events."""
    for event in events:
        if isinstance(event, AnswerDone):
            return event.answer
    raise AssertionError("the stream of an answer ends with AnswerDone")


async def last_answer_async(events: AsyncGenerator[Event, None]) -> Answer:
    """The same for asynchronous code; the events are closed at every end."""
    async with aclosing(events):
        async for event in events:
            if isinstance(event, AnswerDone):
                return event.answer
    raise AssertionError("the stream of an answer ends with AnswerDone")


async def events_async(begin: Callable[[], EventStream]) -> AsyncGenerator[Event, None]:
    """The events that ``begin`` gives, for ``async for``: all work goes on in threads.

    Leaving the loop early, or cancelling the task, stops the chat model.
    """
    events = await asyncio.to_thread(begin)
    try:
        while (event := await asyncio.to_thread(next, events, None)) is not None:
            yield event
    finally:
        await asyncio.shield(asyncio.to_thread(events.close))

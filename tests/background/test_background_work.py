from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator

import pytest

from workbench.background import Background


@pytest.fixture
def background() -> Iterator[Background]:
    worker = Background(capacity=3)
    yield worker
    worker.close()


def test_work_is_done_in_the_order_given_on_one_other_thread(background: Background) -> None:
    done: list[tuple[int, str]] = []
    for number in range(3):
        assert background.start(lambda n=number: done.append((n, threading.current_thread().name)))
        assert background.wait(5)
    assert done == [(n, "workbench-background") for n in range(3)]


def test_starting_work_never_waits_for_it_and_a_full_queue_says_so(background: Background) -> None:
    gate, running = threading.Event(), threading.Event()
    background.start(lambda: (running.set(), gate.wait(5)))
    assert running.wait(5)
    started = time.monotonic()
    assert [background.start(lambda: None) for _ in range(4)] == [True, True, True, False]
    assert time.monotonic() - started < 1
    assert not background.wait(0.01)
    gate.set()
    assert background.wait(5)


def test_work_with_the_key_of_waiting_work_is_done_once_and_again_beside_running_work(
    background: Background,
) -> None:
    gate, running = threading.Event(), threading.Event()
    done: list[str] = []
    background.start(lambda: (running.set(), gate.wait(5), done.append("first")), key="summary 1")
    assert running.wait(5)
    for _ in range(5):
        assert background.start(lambda: done.append("again"), key="summary 1")
    assert background.start(lambda: done.append("other"), key="summary 2")
    gate.set()
    assert background.wait(5)
    assert done == ["first", "again", "other"]


def test_failing_work_is_logged_at_debug_and_the_next_goes_on(
    background: Background, caplog: pytest.LogCaptureFixture
) -> None:
    done: list[str] = []
    with caplog.at_level(logging.DEBUG, logger="workbench.background"):
        background.start(lambda: 1 // 0)
        background.start(lambda: done.append("next"))
        assert background.wait(5)
    assert done == ["next"]
    assert [(r.levelname, r.message) for r in caplog.records] == [("DEBUG", "work in the background failed")]


def test_closing_finishes_quick_work_drops_the_rest_and_takes_no_more() -> None:
    quick = Background()
    done: list[int] = []
    for number in range(5):
        quick.start(lambda n=number: done.append(n))
    quick.close()
    assert (done, quick.closing, quick.start(lambda: None)) == ([0, 1, 2, 3, 4], True, False)
    quick.close()  # twice does no harm

    slow, gate = Background(), threading.Event()
    slow.start(lambda: gate.wait(5))
    slow.start(lambda: done.append(99))
    started = time.monotonic()
    slow.close(patience=0.05)
    assert time.monotonic() - started < 1
    gate.set()
    assert slow.wait(5)
    assert 99 not in done


def test_work_may_close_or_wait_for_the_worker_it_runs_on_without_a_deadlock() -> None:
    worker = Background()
    said: list[bool] = []
    worker.start(lambda: (said.append(worker.wait(5)), worker.close()))
    worker.close()
    assert said == [False]


def test_an_unused_worker_has_no_thread() -> None:
    before = threading.active_count()
    worker = Background()
    worker.close()
    assert threading.active_count() == before


def test_a_worker_without_work_lets_its_thread_go_and_takes_another_when_there_is_some() -> None:
    worker = Background(idle=0.05)
    used: list[threading.Thread] = []
    for _ in range(2):
        assert worker.start(lambda: used.append(threading.current_thread()))
        assert worker.wait(5)
        used[-1].join(5)
        assert not used[-1].is_alive()
    assert used[0] is not used[1]
    worker.close()


def test_many_threads_may_start_work_at_once_and_all_of_it_is_done() -> None:
    worker = Background(capacity=10_000, idle=0.001)
    done: list[int] = []
    starters = [
        threading.Thread(
            target=lambda n=n: [worker.start(lambda i=i: done.append(n * 50 + i)) for i in range(50)]
        )
        for n in range(8)
    ]
    for starter in starters:
        starter.start()
    for starter in starters:
        starter.join()
    assert worker.wait(20)
    assert sorted(done) == list(range(400))
    worker.close()

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QObject, QTimer, Signal
from pytestqt.qtbot import QtBot

from app.core.events import Event, LoadProgress, Tokens, Unloaded
from app.gui.pump import Pump
from app.system.inbox import Inbox

WAIT_MS = 60_000


class Pumped(QObject):
    taken = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.inbox = Inbox()
        self.events: list[Event] = []
        self.errors: list[Exception] = []
        self.pump = Pump(self.inbox, self.take, self.errors.append)
        self.pump.start()

    def take(self, event: Event) -> None:
        if isinstance(event, Unloaded):
            raise ZeroDivisionError
        self.events.append(event)
        self.taken.emit()


@pytest.fixture
def pumped(qtbot: QtBot) -> Iterator[Pumped]:
    made = Pumped()
    yield made
    made.pump.stop()


def timers(pumped: Pumped) -> list[bool]:
    return [timer.isActive() for timer in pumped.pump.findChildren(QTimer)]


def test_events_of_another_thread_arrive_in_order_on_this_one(pumped: Pumped, qtbot: QtBot) -> None:
    def put() -> None:
        for percent in range(500):
            pumped.inbox.put(LoadProgress(1, percent))

    thread = threading.Thread(target=put)
    thread.start()
    qtbot.waitUntil(lambda: len(pumped.events) == 500, timeout=WAIT_MS)
    thread.join()
    assert pumped.events == [LoadProgress(1, percent) for percent in range(500)]


def test_an_idle_window_has_no_timer(pumped: Pumped, qtbot: QtBot) -> None:
    assert timers(pumped) == [False]
    for number in range(3):
        with qtbot.waitSignal(pumped.taken, timeout=WAIT_MS):
            pumped.inbox.put(LoadProgress(1, number))
    assert timers(pumped) == [False]


def test_what_follows_soon_after_waits_for_the_next_frame(
    pumped: Pumped, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.gui.pump.time.perf_counter_ns", lambda: 10**12)
    pumped.inbox.put(LoadProgress(1, 1))
    qtbot.waitUntil(lambda: len(pumped.events) == 1, timeout=WAIT_MS)
    pumped.inbox.put(LoadProgress(1, 2))
    qtbot.waitUntil(lambda: timers(pumped) == [True], timeout=WAIT_MS)
    assert len(pumped.events) == 1
    qtbot.waitUntil(lambda: len(pumped.events) == 2, timeout=WAIT_MS)


def test_the_first_tokens_of_an_answer_do_not_wait(
    pumped: Pumped, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.gui.pump.time.perf_counter_ns", lambda: 10**12)
    pumped.inbox.put(LoadProgress(1, 1))
    qtbot.waitUntil(lambda: len(pumped.events) == 1, timeout=WAIT_MS)
    pumped.inbox.put(LoadProgress(1, 2))
    qtbot.waitUntil(lambda: timers(pumped) == [True], timeout=WAIT_MS)
    pumped.inbox.put(Tokens(1, 0, 1, b"\0\0\0\0", "a", b"", 1, 0, 0))
    started = []
    pumped.pump.findChildren(QTimer)[0].timeout.connect(lambda: started.append(1))
    qtbot.waitUntil(lambda: len(pumped.events) == 3, timeout=WAIT_MS)
    assert started == []


def test_an_error_in_one_event_keeps_nothing_from_the_next(pumped: Pumped, qtbot: QtBot) -> None:
    pumped.inbox.put(Unloaded())
    pumped.inbox.put(LoadProgress(1, 1))
    qtbot.waitUntil(lambda: len(pumped.events) == 1, timeout=WAIT_MS)
    assert [type(error) for error in pumped.errors] == [ZeroDivisionError]


def test_a_stopped_pump_takes_nothing_more(pumped: Pumped, qtbot: QtBot) -> None:
    pumped.pump.stop()
    pumped.inbox.put(LoadProgress(1, 1))
    fence = []
    QTimer.singleShot(0, lambda: fence.append(1))
    qtbot.waitUntil(lambda: fence == [1], timeout=WAIT_MS)
    assert pumped.events == []

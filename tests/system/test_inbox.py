from __future__ import annotations

import threading

from app.core.events import LoadProgress, Tokens, Unloaded
from app.system.inbox import Inbox


def tokens(first: int) -> Tokens:
    return Tokens(1, first, 1, b"\0\0\0\0", "a", b"", 1, 0, 0)


def test_events_come_out_in_the_order_they_went_in() -> None:
    inbox = Inbox()
    events = [LoadProgress(1, percent) for percent in range(5)]
    for event in events:
        inbox.put(event)
    assert inbox.drain() == events
    assert inbox.drain() == []


def test_the_reader_is_woken_once_for_a_queue_that_fills() -> None:
    inbox = Inbox()
    woken: list[bool] = []
    inbox.on_first(woken.append)
    for _ in range(3):
        inbox.put(Unloaded())
    assert woken == [False]
    inbox.drain()
    inbox.put(Unloaded())
    assert woken == [False, False]


def test_the_first_tokens_of_an_answer_wake_the_reader_whatever_waits() -> None:
    inbox = Inbox()
    woken: list[bool] = []
    inbox.on_first(woken.append)
    inbox.put(LoadProgress(1, 50))
    inbox.put(tokens(0))
    inbox.put(tokens(1))
    assert woken == [False, True]


def test_what_came_before_the_reader_wakes_it_at_once() -> None:
    inbox = Inbox()
    inbox.put(Unloaded())
    woken: list[bool] = []
    inbox.on_first(woken.append)
    assert woken == [False]


def test_many_threads_lose_nothing() -> None:
    inbox = Inbox()

    def put(number: int) -> None:
        for percent in range(500):
            inbox.put(LoadProgress(number, percent))

    threads = [threading.Thread(target=put, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    taken = []
    while any(thread.is_alive() for thread in threads):
        taken += inbox.drain()
    for thread in threads:
        thread.join()
    taken += inbox.drain()
    assert len(taken) == 2000
    for number in range(4):
        own = [event.percent for event in taken if isinstance(event, LoadProgress) and event.request == number]
        assert own == sorted(own)

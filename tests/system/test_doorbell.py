from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.system import doorbell as module
from app.system.doorbell import MOST_CALLS, Doorbell, ring
from app.system.doorbell_limits import MOST_BYTES

GUARD_S = 60.0
on_unix = pytest.mark.skipif(os.name == "nt", reason="sockets as Unix has them")


def nothing() -> None:
    pass


@pytest.fixture
def strange(tmp_path: Path) -> Iterator[socket.socket]:
    """Return a door behind which the test stands."""
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(str(tmp_path / "door"))
        door.listen()
        yield door


def test_what_is_said_is_answered() -> None:
    door = Doorbell(lambda message: b"heard " + message, nothing)
    assert ring(door.address, b"hello", GUARD_S) == b"heard hello"
    assert ring(door.address, b"x" * 50_000, GUARD_S) == b"heard " + b"x" * 50_000
    door.close()


def test_nobody_opens_a_door_that_was_closed() -> None:
    door = Doorbell(lambda message: message, nothing)
    door.close()
    with pytest.raises(OSError, match=r"\w") as refusal:
        ring(door.address, b"hello", GUARD_S)
    assert not isinstance(refusal.value, TimeoutError)


@on_unix
def test_somebody_who_drips_is_not_listened_to_for_longer(strange: socket.socket) -> None:
    ended = threading.Event()

    def drip() -> None:
        line, _ = strange.accept()
        with line:
            while not ended.wait(0.01):
                line.send(b"x")

    thread = threading.Thread(target=drip)
    thread.start()
    with pytest.raises(TimeoutError):
        ring(strange.getsockname(), b"hello", 0.2)
    ended.set()
    thread.join(GUARD_S)


@on_unix
def test_somebody_who_never_stops_talking_is_not_listened_to(strange: socket.socket) -> None:
    def talk() -> None:
        line, _ = strange.accept()
        with line, pytest.raises((BrokenPipeError, ConnectionResetError)):
            line.sendall(bytes(50_000_000))

    thread = threading.Thread(target=talk)
    thread.start()
    assert len(ring(strange.getsockname(), b"hello", GUARD_S)) <= 2 * MOST_BYTES
    thread.join(GUARD_S)


@on_unix
def test_somebody_who_hangs_up_is_nobody(strange: socket.socket) -> None:
    def hang_up() -> None:
        strange.accept()[0].close()

    thread = threading.Thread(target=hang_up)
    thread.start()
    outcome: bytes | OSError
    try:
        outcome = ring(strange.getsockname(), b"hello", GUARD_S)
    except OSError as error:  # it depends on who is faster
        outcome = error
    thread.join(GUARD_S)
    assert outcome == b"" or not isinstance(outcome, TimeoutError | bytes)


@on_unix
def test_too_many_callers_and_too_many_words_are_cut_off_before_their_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.system.doorbell.CALL_SECONDS", 10 * GUARD_S)
    door = Doorbell(lambda message: message, nothing)
    lines = [socket.socket(socket.AF_UNIX) for _ in range(MOST_CALLS + 1)]
    for line in lines:
        line.settimeout(GUARD_S)
        line.connect(door.address)
    assert lines[0].recv(10) == b""
    with pytest.raises((BrokenPipeError, ConnectionResetError)):
        lines[1].sendall(bytes(50_000_000))
    door.close()
    for line in lines:
        line.close()


@on_unix
def test_the_thread_of_a_door_looks_after_it_again_and_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LOOK_SECONDS", 0.01)
    threads: list[str] = []
    thrice = threading.Event()

    def look() -> None:
        threads.append(threading.current_thread().name)
        if len(threads) == 3:
            thrice.set()

    door = Doorbell(lambda message: message, look)
    assert thrice.wait(GUARD_S)
    assert ring(door.address, b"hello", GUARD_S) == b"hello"
    door.close()
    assert set(threads) == {"doorbell"}

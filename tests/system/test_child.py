"""A process of our own: its messages, its end, and that even one which cannot be ended holds up nothing."""

from __future__ import annotations

import multiprocessing
import multiprocessing.process
import os
import threading
from multiprocessing.connection import Connection

import psutil
import pytest

from app.system import child as children
from app.system.child import Child, ChildFault

GUARD_S = 60.0


def echo(connection: Connection, first: str, second: str) -> None:
    connection.send_bytes(f"{first} {second} {os.getpid()}".encode())
    connection.send_bytes(connection.recv_bytes())


def block(connection: Connection) -> None:
    connection.send_bytes(str(os.getpid()).encode())
    threading.Event().wait()


def test_messages_go_both_ways_and_the_end_is_told() -> None:
    child = Child(echo, "a", "b")
    assert child.receive(GUARD_S).startswith(b"a b ")
    child.send(b"more")
    assert child.receive(GUARD_S) == b"more"
    with pytest.raises(EOFError):
        child.receive(GUARD_S)
    child.send(b"to nobody")
    child.close()
    assert child.close() is not None
    child.kill()


def test_one_that_says_nothing_is_given_up_and_ended() -> None:
    child = Child(block)
    process = psutil.Process(int(child.receive(GUARD_S)))
    with pytest.raises(TimeoutError):
        child.receive(0.0)
    assert child.close() is not None
    assert not process.is_running()


def test_one_that_the_system_cannot_end_is_waited_for_by_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    child = Child(block)
    process = psutil.Process(int(child.receive(GUARD_S)))
    with monkeypatch.context() as patched:
        patched.setattr(multiprocessing.process.BaseProcess, "kill", lambda _process: None)
        patched.setattr(children, "END_SECONDS", 0.0)
        assert child.close() is None
    assert process.pid not in [each.pid for each in multiprocessing.active_children()]
    process.kill()
    process.wait(GUARD_S)


def fail(connection: Connection) -> None:
    connection.send_bytes(b"\x90")
    raise LookupError("nothing of the kind")


def test_a_fault_of_our_own_is_told_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    child = Child(fail)
    assert child.receive(GUARD_S) == b"\x90"
    with pytest.raises(ChildFault):
        child.receive(GUARD_S)
    assert "LookupError: nothing of the kind" in caplog.text
    with pytest.raises(EOFError):
        child.receive(GUARD_S)
    child.close()

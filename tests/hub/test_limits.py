"""Reading from a server is ended at once by whoever cancels it, also while the connection is only being made."""

from __future__ import annotations

import socket
import sys
import threading
from collections.abc import Iterator

import pytest

from app.core.errors import UserError
from app.hub.limits import Limits
from app.hub.web import Web

GUARD_S = 60.0
PATIENT_S = 600.0


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    """A server that takes connections and says nothing."""
    with socket.socket() as made:
        made.bind(("127.0.0.1", 0))
        made.listen(0)
        made.settimeout(GUARD_S)
        yield made


def reading(listener: socket.socket, limits: Limits, scheme: str) -> tuple[threading.Thread, list[str]]:
    """Begin to read on another thread, and return what it comes to."""
    said: list[str] = []

    def read() -> None:
        endpoint = f"{scheme}://127.0.0.1:{listener.getsockname()[1]}"
        try:
            Web(endpoint, proxies={}).get(endpoint, limits)
        except UserError as error:
            said.append(error.sentence.english())

    thread = threading.Thread(target=read)
    thread.start()
    return thread, said


def test_cancelled_while_the_server_says_nothing_to_the_handshake(listener: socket.socket) -> None:
    with Limits(PATIENT_S, PATIENT_S) as limits:
        thread, said = reading(listener, limits, "https")
        connection, _ = listener.accept()
        with connection:
            connection.settimeout(GUARD_S)
            assert connection.recv(1) == b"\x16", "the handshake has begun"
            limits.cancel()
            while connection.recv(1 << 16):
                pass
        thread.join(GUARD_S)
    assert not thread.is_alive() and len(said) == 1 and "cancelled" in said[0]


@pytest.mark.skipif(sys.platform != "linux", reason="a full queue of connections lets others wait on Linux alone")
def test_cancelled_while_the_server_takes_no_connection(
    listener: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = threading.Event()
    begin = Limits.begin

    def note(limits: Limits, connection: socket.socket) -> None:
        begin(limits, connection)
        begun.set()

    monkeypatch.setattr(Limits, "begin", note)
    full = [socket.socket() for _ in range(3)]
    for each in full:
        each.setblocking(False)
        each.connect_ex(listener.getsockname())
    with Limits(PATIENT_S, PATIENT_S) as limits:
        thread, said = reading(listener, limits, "http")
        assert begun.wait(GUARD_S)
        while thread.is_alive():  # a moment lies between what is noted and the call that waits
            limits.cancel()
            thread.join(0.01)
    for each in full:
        each.close()
    assert len(said) == 1 and "cancelled" in said[0]


def test_what_is_cancelled_makes_no_connection(listener: socket.socket) -> None:
    with Limits(PATIENT_S, PATIENT_S) as limits, socket.socket() as made:
        limits.cancel()
        with pytest.raises(OSError):  # noqa: PT011  any of them ends it
            limits.begin(made)

"""A proxy that makes every connection that it is asked for, as one of a company does."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from types import TracebackType
from typing import Self

from tests.hub.loopback_hub import GUARD_S

PIECE = 1 << 16


class ConnectingProxy:
    """Leads on whatever comes, both ways, until one side ends."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        """The head of each request."""
        self._door = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._door.getsockname()[1])
        self._threads = [threading.Thread(target=self._welcome)]
        self._ends: list[socket.socket] = []

    def __enter__(self) -> Self:
        self._threads[0].start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        socket.create_connection(("127.0.0.1", self.port)).close()  # wakes who waits at the door
        self._threads[0].join()
        self._door.close()
        for thread in self._threads[1:]:
            thread.join()
        for each in self._ends:
            each.close()

    def _welcome(self) -> None:
        while True:
            near, _ = self._door.accept()
            near.settimeout(GUARD_S)
            self._ends.append(near)
            head = b""
            while b"\r\n\r\n" not in head and (piece := near.recv(PIECE)):
                head += piece
            if not head:
                return
            self.asked.append(head.decode("latin-1"))
            host, _, port = head.split()[1].decode().rpartition(":")
            far = socket.create_connection((host, int(port)), GUARD_S)
            near.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
            self._ends.append(far)
            for source, goal in ((near, far), (far, near)):
                thread = threading.Thread(target=_lead, args=(source, goal))
                self._threads.append(thread)
                thread.start()


def _lead(source: socket.socket, goal: socket.socket) -> None:
    with suppress(OSError):  # one side has gone
        while piece := source.recv(PIECE):
            goal.sendall(piece)
    for each in (source, goal):
        with suppress(OSError):  # the other way has ended before
            each.shutdown(socket.SHUT_RDWR)

"""How long reading from a web server may take, and how it is ended from outside at any moment."""

from __future__ import annotations

import http.client
import socket
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

from app.hub import web_sentences
from app.hub.tunnel import open_tunnel

DEADLINE_S = 60.0
"""For all that is read of one file, or of one listing."""
SILENCE_S = 15.0
"""A server that says nothing for so long is given up."""


class Limits:
    """How long all reading of one file may take; past it, or when it is cancelled, its connection is shut.

    Also one that is only being made: all but the question for the server's address, which has no socket.
    """

    def __init__(self, seconds: float = DEADLINE_S, silence_s: float = SILENCE_S) -> None:
        self._end = time.monotonic() + seconds
        self._silence_s = silence_s
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self._early: socket.socket | None = None
        """The same connection while it is made, which is handed from one object to another until it is encrypted."""
        self._is_cancelled = self._is_over = False
        self.came: Callable[[int], None] | None = None
        """Is told how many bytes of bodies have come, on the thread that reads."""
        self.permit: Callable[[], None] = lambda: None
        """Raises where nothing may be read from the internet; asked before each connection and each piece."""
        self._timer = threading.Timer(seconds, self._run_out)
        self._timer.daemon = True
        self._timer.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._timer.cancel()
        self._timer.join()
        with self._lock:
            self._drop_early()

    @property
    def timeout(self) -> float:
        """Seconds that one step may take."""
        return max(0.05, min(self._silence_s, self._end - time.monotonic()))

    def cancel(self) -> None:
        """End all reading now; safe from any thread."""
        self._is_cancelled = True
        self._shut()

    def check(self, host: str) -> None:
        """Raise where it is not permitted, where it was cancelled, or where the time is over."""
        self.permit()
        if self._is_cancelled:
            raise web_sentences.cancelled(host)
        if self._is_over or time.monotonic() >= self._end:
            raise web_sentences.too_slow(host)

    def begin(self, connection: socket.socket) -> None:
        """Take note of a connection that is about to be made; OSError where that is not wanted any more."""
        with self._lock:
            self._drop_early()
            self._early = connection.dup()
        if self._is_cancelled or self._is_over:
            raise ConnectionAbortedError

    def use(self, connection: socket.socket) -> None:
        """Take note of the connection that a read waits on."""
        with self._lock:
            self._drop_early()
            self._socket = connection
        if self._is_cancelled or self._is_over:
            self._shut()

    def _run_out(self) -> None:
        self._is_over = True
        self._shut()

    def _shut(self) -> None:
        with self._lock:
            for connection in (self._early, self._socket):
                if connection is not None:
                    with suppress(OSError):  # it is closed already, or not made yet
                        # past TLS, whose own shutdown would have what is still there read as it came
                        socket.socket.shutdown(connection, socket.SHUT_RDWR)

    def _drop_early(self) -> None:
        if self._early is not None:
            self._early.close()  # a server sees the end of a connection with its last socket alone
            self._early = None


def connection_within(kind: type[http.client.HTTPConnection], limits: Limits) -> Any:
    """Return what makes a connection that the limits can shut, from its first moment on."""

    def create(address: tuple[str, int], timeout: float, _source: object = None) -> socket.socket:
        failed: OSError | None = None
        limits.permit()
        for family, sort, protocol, _, place in socket.getaddrinfo(*address, type=socket.SOCK_STREAM):
            limits.permit()
            made = socket.socket(family, sort, protocol)
            try:
                made.settimeout(timeout)
                limits.begin(made)
                made.connect(place)
            except OSError as error:
                failed = error
                made.close()
            else:
                return made
        raise failed if failed is not None else OSError("no address")

    class Connection(kind):  # type: ignore[valid-type, misc]
        def __init__(self, *args: Any, **settings: Any) -> None:
            super().__init__(*args, **settings)
            self._create_connection = create
            self._place = ("", 0)
            self._told: dict[str, str] = {}

        def set_tunnel(self, host: str, port: int | None = None, headers: Mapping[str, str] | None = None) -> None:
            super().set_tunnel(host, port, headers)
            self._place, self._told = self._get_hostport(host, port), dict(headers or {})

        def _tunnel(self) -> None:
            # what `connect` calls; the library's own has the status in words alone
            open_tunnel(self.sock, *self._place, self._told)

        def connect(self) -> None:
            super().connect()
            limits.use(self.sock)

    return Connection

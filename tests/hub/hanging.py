"""An answer of a hub that never comes."""

from __future__ import annotations

import threading

from tests.hub.loopback_hub import GUARD_S, Request


class Hanging:
    """Answers nothing until who asked has gone."""

    def __init__(self) -> None:
        self.begun, self.gone = threading.Event(), threading.Event()

    def __call__(self, request: Request) -> None:
        self.begun.set()
        request.connection.settimeout(GUARD_S)
        try:
            request.rfile.read(1)
        except OSError:
            return
        self.gone.set()

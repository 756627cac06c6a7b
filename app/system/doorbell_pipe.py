"""The doorbell of Windows: a named pipe, on which a message comes whole and to which only its owner may write."""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from multiprocessing.connection import Client, Listener

from app.system.doorbell_limits import CALL_SECONDS, MOST_BYTES, PREFIX, Answer, Look

_FAMILY = "AF_PIPE"


class Doorbell:
    """Hears one caller after the other, each for a second at most.

    Looks after nothing: Windows moves no folder in which a file is open.
    """

    def __init__(self, answer: Answer, _look: Look) -> None:
        self._answer = answer
        self._closing = threading.Event()
        self.address = rf"\\.\pipe\{PREFIX}{os.urandom(16).hex()}"
        self._listener = Listener(self.address, _FAMILY)
        self._thread = threading.Thread(target=self._listen, name="doorbell", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Hear nobody any more and take the door away."""
        self._closing.set()
        with suppress(OSError):
            Client(self.address, _FAMILY).close()
        self._thread.join()
        self._listener.close()

    def _listen(self) -> None:
        while not self._closing.is_set():
            with suppress(OSError, EOFError), self._listener.accept() as line:
                if not self._closing.is_set() and line.poll(CALL_SECONDS):
                    if answer := self._answer(line.recv_bytes(MOST_BYTES)):
                        line.send_bytes(answer)
                    line.poll(CALL_SECONDS)  # what is not read yet is lost when this end closes


def ring(address: str, message: bytes, seconds: float) -> bytes:
    """Say a message and return the answer, which is empty from somebody who did not listen.

    Raises TimeoutError when somebody is there and does not answer, another OSError when nobody is.
    """
    try:
        with Client(address, _FAMILY) as line:
            line.send_bytes(message)
            if not line.poll(seconds):
                raise TimeoutError
            return line.recv_bytes(MOST_BYTES)
    except EOFError:
        return b""


def remove_door(_address: str) -> None:
    """Do nothing: a pipe goes with its process."""

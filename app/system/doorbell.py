"""How one process of this user rings at another on this machine: a private door that a file may name, one short
message, one short answer.

Knows nothing of what is said. No door is on any network: a socket in a folder of its own, or a named pipe on Windows.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import shutil
import socket
import stat
import sys
import tempfile
import threading
import time
from pathlib import Path

from app.system.doorbell_limits import CALL_SECONDS, LOOK_SECONDS, MOST_BYTES, PREFIX, Answer, Look

__all__ = ["MOST_CALLS", "Doorbell", "remove_door", "ring"]
MOST_CALLS = 16
"""Callers that are heard at one time; one more, and the first of them is not."""
_MOST_BEFORE_THE_DOOR = 128
_LONGEST_ADDRESS = 100
"""Bytes; a socket's address holds 104 on macOS and 108 on Linux."""
_SOCKET_NAME = "door"
_TROUBLE_SECONDS = 0.1

if sys.platform == "win32":
    from app.system.doorbell_pipe import Doorbell, remove_door, ring
else:

    class _Call:
        """What one caller has said so far."""

        def __init__(self, line: socket.socket) -> None:
            self.line = line
            self.heard = b""
            self.ends_at = time.monotonic() + CALL_SECONDS

    class Doorbell:
        """Hears many callers at once, so that one who rings and says nothing keeps nobody waiting."""

        def __init__(self, answer: Answer, look: Look) -> None:
            self._answer = answer
            self._look = look
            self._looks_at = time.monotonic() + LOOK_SECONDS
            self._folder = _private_folder()
            self._closing = threading.Event()
            self._calls: dict[int, _Call] = {}
            self.address = str(self._folder / _SOCKET_NAME)
            self._sockets: list[socket.socket] = []
            try:
                self._socket = self._kept(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
                self._wake, self._waker = map(self._kept, socket.socketpair())
                self._socket.bind(self.address)
                Path(self.address).chmod(0o600)
                self._socket.listen(_MOST_BEFORE_THE_DOOR)
            except OSError:
                self._close_sockets()
                shutil.rmtree(self._folder, ignore_errors=True)
                raise
            self._thread = threading.Thread(target=self._listen, name="doorbell", daemon=True)
            self._thread.start()

        def close(self) -> None:
            """Hear nobody any more and take the door away."""
            self._closing.set()
            self._waker.send(b"x")
            self._thread.join()
            self._close_sockets()
            remove_door(self.address)

        def _kept(self, made: socket.socket) -> socket.socket:
            self._sockets.append(made)
            made.setblocking(False)
            return made

        def _close_sockets(self) -> None:
            for each in self._sockets:
                each.close()

        def _listen(self) -> None:
            with selectors.DefaultSelector() as selector:
                selector.register(self._socket, selectors.EVENT_READ)
                selector.register(self._wake, selectors.EVENT_READ)
                while not self._closing.is_set():
                    for key, _ in selector.select(self._patience()):
                        if key.fileobj is self._socket:
                            self._open(selector)
                        elif key.fd in self._calls:
                            self._hear(self._calls[key.fd], selector)
                    now = time.monotonic()
                    for call in [each for each in self._calls.values() if each.ends_at <= now]:
                        self._end(call, selector)
                    if self._looks_at <= now:
                        self._look()
                        self._looks_at = time.monotonic() + LOOK_SECONDS
                for call in list(self._calls.values()):
                    self._end(call, selector)

        def _patience(self) -> float:
            ends = [self._looks_at, *(call.ends_at for call in self._calls.values())]
            return max(min(ends) - time.monotonic(), 0)

        def _open(self, selector: selectors.BaseSelector) -> None:
            try:
                line, _ = self._socket.accept()
            except BlockingIOError:
                return  # whoever rang has gone
            except OSError:
                self._closing.wait(_TROUBLE_SECONDS)  # no room for another file: the bell would ring on and on
                return
            line.setblocking(False)
            while len(self._calls) >= MOST_CALLS:
                self._end(next(iter(self._calls.values())), selector)
            self._calls[line.fileno()] = _Call(line)
            selector.register(line, selectors.EVENT_READ)

        def _hear(self, call: _Call, selector: selectors.BaseSelector) -> None:
            try:
                piece = call.line.recv(MOST_BYTES)
                call.heard += piece
                if piece and len(call.heard) <= MOST_BYTES:
                    return
                if not piece and (answer := self._answer(call.heard)):
                    call.line.send(answer)
            except BlockingIOError:
                return
            except OSError:
                pass  # the caller has gone, and with it whoever would want to know
            self._end(call, selector)

        def _end(self, call: _Call, selector: selectors.BaseSelector) -> None:
            del self._calls[call.line.fileno()]
            selector.unregister(call.line)
            call.line.close()

    def ring(address: str, message: bytes, seconds: float) -> bytes:
        """Say a message and return the answer, which is empty from somebody who did not listen.

        Raises TimeoutError when somebody is there and does not answer, another OSError when nobody is.
        """
        ends_at = time.monotonic() + seconds
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
            line.settimeout(seconds)
            line.connect(address)
            line.sendall(message)
            line.shutdown(socket.SHUT_WR)
            answer = b""
            while len(answer) <= MOST_BYTES:
                line.settimeout(max(ends_at - time.monotonic(), 0.001))
                piece = line.recv(MOST_BYTES)
                if not piece:
                    break
                answer += piece
        return answer

    def remove_door(address: str) -> None:
        """Remove a door that nobody opens any more, if it is one of ours."""
        door = Path(address)
        if door.name != _SOCKET_NAME or not door.parent.name.startswith(PREFIX):
            return
        with contextlib.suppress(OSError):
            known = door.lstat()
            if stat.S_ISSOCK(known.st_mode) and known.st_uid == os.getuid():
                door.unlink()
                door.parent.rmdir()

    def _private_folder() -> Path:
        """Make a folder that only this user can enter, where an address is short enough for a socket."""
        candidates = (os.environ.get("XDG_RUNTIME_DIR", ""), tempfile.gettempdir(), "/tmp")
        problem = OSError("no folder has a short name")
        for folder in candidates:
            longest = len(os.fsencode(folder)) + len(f"/{PREFIX}12345678/{_SOCKET_NAME}")
            if not folder.startswith("/") or not folder.isascii() or longest > _LONGEST_ADDRESS:
                continue
            try:
                return Path(tempfile.mkdtemp(prefix=PREFIX, dir=folder))
            except OSError as error:
                problem = error
        raise problem

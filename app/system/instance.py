"""One window for each data folder: the first holds a lock and can be summoned, a later start summons it and ends.

The lock is the system's and goes with its process, so that no file that was left behind ever bars the way. Knows nothing
of windows. Where a folder cannot be locked (read-only, or a disk without locks), a window opens all the same.
"""

from __future__ import annotations

import ctypes
import errno
import hmac
import logging
import os
import stat
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import msgspec

from app.core.errors import ExitCode, UserError
from app.core.job_events import Summoned
from app.core.ports import EventSink
from app.core.words import translate
from app.system.doorbell import Doorbell, remove_door, ring

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

LOCK_NAME = "instance.lock"
ADDRESS_NAME = "instance.address"
ANSWER_SECONDS = 3.0
"""One that was rung and says nothing for so long will not."""
PATIENCE_SECONDS = 10.0
"""One that has the lock and no door is starting, or ending: for so long it is waited for."""
_PAUSE_SECONDS = 0.05
_HERE = b"tokenlight: here"
_HELD = (errno.EAGAIN, errno.EWOULDBLOCK, errno.EACCES, errno.EDEADLK)
_MOST_WAITING = 16
_MOST_ADDRESS_BYTES = 4096
_log = logging.getLogger(__name__)


class _Address(msgspec.Struct, frozen=True):
    """What the file beside the lock says: where to ring, and the word that is known to those who can read it."""

    door: str
    word: str


class _Call(msgspec.Struct, frozen=True):
    """What a later start says to the first one."""

    word: str
    model: bytes = b""
    """An absolute path as the system writes it, which may be no text."""


class Instance:
    """The claim of this process to a data folder: the lock, and the door at which later starts ring."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock_file: int | None = None
        self._door: Doorbell | None = None
        self._word = os.urandom(16).hex()
        self._sink: EventSink | None = None
        self._waiting: list[Summoned] = []
        self._guard = threading.Lock()
        self._problem: OSError | None = None

    def acquire(self) -> bool:
        """Take the lock and open the door; false while another process has the lock."""
        if self._lock_file is not None:
            return True
        try:
            self._lock_file = _lock(self._folder)
        except OSError as error:
            self._problem = error
            return True
        if self._lock_file is None:
            return False
        try:
            self._open_door()
        except OSError as error:
            self._problem = error
        return True

    def deliver_to(self, sink: EventSink) -> None:
        """Post every `Summoned` from now on, and those that came before."""
        if self._problem is not None:
            _log.warning("Later starts will not find this one: %s", self._problem)
        with self._guard:
            self._sink, waiting = sink, self._waiting
        for event in waiting:
            sink(event)

    def hang_up(self) -> None:
        """Be summoned no more, because the window closes: a later start waits for the lock instead."""
        with self._guard:
            door, self._door = self._door, None
        if door is not None:
            with suppress(OSError):
                (self._folder / ADDRESS_NAME).unlink()
            door.close()

    def close(self) -> None:
        """Let the next one have the folder."""
        self.hang_up()
        number, self._lock_file = self._lock_file, None
        if number is not None:
            os.close(number)

    def _open_door(self) -> None:
        earlier = _read_address(self._folder)
        if earlier is not None:
            remove_door(earlier.door)  # its process was killed
        door = Doorbell(self._take, self._renew)
        try:
            _write_address(self._folder, _Address(door.address, self._word))
        except OSError:
            door.close()
            raise
        self._door = door

    def _renew(self) -> None:
        """Claim the folder once more if it was moved away and is there anew, as the chats make it again, too."""
        with self._guard, suppress(OSError):
            if self._door is None or self._lock_file is None or not self._folder.is_dir():
                return
            if not _is_same_file(self._lock_file, self._folder / LOCK_NAME):
                fresh = _lock(self._folder)
                if fresh is None:
                    return  # a later start has it
                os.close(self._lock_file)
                self._lock_file = fresh
                _log.info("The data folder was moved: %s is claimed anew", self._folder)
            address = _Address(self._door.address, self._word)
            if _read_address(self._folder) != address:
                _write_address(self._folder, address)

    def _take(self, message: bytes) -> bytes:
        try:
            call = msgspec.msgpack.decode(message, type=_Call)
        except msgspec.MsgspecError:
            return b""
        model = os.fsdecode(call.model)
        is_path = not model or (os.path.isabs(model) and "\0" not in model)  # noqa: PTH117  pathlib takes no NUL
        if not hmac.compare_digest(call.word.encode(), self._word.encode()) or not is_path:
            return b""
        _log.info("A later start asks for the window")
        event = Summoned(model)
        with self._guard:
            sink = self._sink
            if sink is None:
                self._waiting = [*self._waiting, event][-_MOST_WAITING:]
        if sink is not None:
            sink(event)
        return _HERE


def claim(
    folder: Path, model: Path | None, *, patience_s: float = PATIENCE_SECONDS, answer_s: float = ANSWER_SECONDS
) -> Instance | None:
    """Return the claim to a folder, or None when the window that has it was told to come to the front.

    Raises `UserError` when that window is there and does not answer.
    """
    instance, pause = Instance(folder), threading.Event()
    ends_at = time.monotonic() + patience_s
    while not instance.acquire():
        try:
            if summon(folder, model, answer_s=answer_s):
                return None
        except TimeoutError as error:
            raise _no_answer() from error
        if time.monotonic() >= ends_at:
            raise _no_answer()
        pause.wait(_PAUSE_SECONDS)
    return instance


def summon(folder: Path, model: Path | None, *, answer_s: float = ANSWER_SECONDS) -> bool:
    """Tell the one that has a folder to come to the front, with a model; false when nobody opens.

    Raises TimeoutError when somebody is there and does not answer.
    """
    address = _read_address(folder)
    if address is None:
        return False
    named = os.fsencode(model.absolute()) if model is not None else b""
    message = msgspec.msgpack.encode(_Call(address.word, named))
    if sys.platform == "win32":
        ctypes.windll.user32.AllowSetForegroundWindow(-1)  # only who has the foreground may let another come there
    try:
        return ring(address.door, message, answer_s) == _HERE
    except TimeoutError:
        raise
    except (OSError, ValueError):  # an address that was written by nobody of ours is no door
        return False


def _no_answer() -> UserError:
    # As with every other reason why the window cannot open.
    return UserError(
        translate(
            "Instance",
            "Tokenlight is running already but does not answer: close its window or end it, then start it again.",
        ),
        ExitCode.WRONG_USE,
    )


def window_is_open(folder: Path) -> bool:
    """Return whether a window of this data folder is open; where nothing can be locked, none is known of."""
    try:
        number = _lock(folder)
    except OSError:
        return False
    if number is not None:
        os.close(number)
    return number is None


def _lock(folder: Path) -> int | None:
    """Return the open lock file, None while another process has it; raises OSError where nothing can be locked."""
    folder.mkdir(parents=True, exist_ok=True)
    number = os.open(folder / LOCK_NAME, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if sys.platform == "win32":
            msvcrt.locking(number, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(number)
        if error.errno in _HELD:
            return None
        raise
    return number


def _is_same_file(number: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(number), path.stat())
    except FileNotFoundError:
        return False


def _write_address(folder: Path, address: _Address) -> None:
    fresh = folder / f"{ADDRESS_NAME}.{os.getpid()}.new"
    try:
        fresh.unlink(missing_ok=True)
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(msgspec.json.encode(address))
        fresh.replace(folder / ADDRESS_NAME)
    finally:
        fresh.unlink(missing_ok=True)


def _read_address(folder: Path) -> _Address | None:
    path = folder / ADDRESS_NAME
    try:
        known = path.stat()
        if not stat.S_ISREG(known.st_mode) or (sys.platform != "win32" and known.st_uid != os.getuid()):
            return None
        with path.open("rb") as file:
            return msgspec.json.decode(file.read(_MOST_ADDRESS_BYTES), type=_Address)
    except (OSError, msgspec.MsgspecError):
        return None

"""Tries Qt in a process of its own: a window system that is not there, or a library that is missing, ends who tries.

Loads no Qt here; what tries it is a module that the caller names, loaded in that process alone.
"""

from __future__ import annotations

import ctypes
import errno
import importlib
import importlib.util
import logging
import os
import re
import socket
import stat
import sys
from collections.abc import Iterable, Mapping
from functools import lru_cache
from multiprocessing.connection import Connection
from pathlib import Path
from typing import BinaryIO, Literal

import msgspec

from app.core.shared_object import find_trouble
from app.system.child import Child, ChildFault

SECONDS = 90.0
"""How long Qt may take to load and to find its screen, on a machine that is busy with other things."""
QtFault = Literal["not_installed", "not_loadable", "not_startable", "blocked", "no_process", "own_fault"]
"""Why no window can be opened; with the last two that is not known."""
UNKNOWN: tuple[QtFault, ...] = ("no_process", "own_fault")

_MODULES = ("QtCore", "QtGui", "QtWidgets", "QtSvg")
_PLUGINS = ("Qt/plugins", "plugins")
_NEED_SCREEN = ("xcb", "wayland")
_DISPLAY = re.compile(r"(?:unix|(?P<host>[^/]*)):(?P<number>\d{1,5})(?:\.\d+)?")
"""How X11 names a screen; one without a host is on this machine."""
_X11_PORT = 6000
_X11_SECONDS = 2.0
_log = logging.getLogger(__name__)


class QtFacts(msgspec.Struct, frozen=True):
    """Whether a window can be opened, and what keeps it from it."""

    fault: QtFault | None = None
    version: str | None = None
    platform: str = ""
    """Qt's plugin for the window system: the one in use, or the one that would be."""
    missing: tuple[str, ...] = ()
    """Names of system libraries that Qt or its plugin needs and the loader does not find."""
    missing_to_print: tuple[str, ...] = ()
    """The same for what reaches printers; a window opens without it."""
    has_screen: bool = True
    """Whether the surroundings name a screen for that plugin."""
    silent_display: str = ""
    """The value of DISPLAY, where Qt would use it and no screen answers there."""


class _Files(msgspec.Struct, frozen=True, tag="files"):
    missing: tuple[str, ...]
    missing_to_print: tuple[str, ...]


class _Silent(msgspec.Struct, frozen=True, tag="silent"):
    display: str


class _Loaded(msgspec.Struct, frozen=True, tag="loaded"):
    version: str


class _Started(msgspec.Struct, frozen=True, tag="started"):
    platform: str


_Told = _Files | _Silent | _Loaded | _Started


def look_at_qt(check: str, environment: Mapping[str, str] = os.environ, seconds: float = SECONDS) -> QtFacts:
    """Try Qt as a window would; takes about a second, and at most `seconds` for each of its steps.

    `check` names the module that tries it: its `version()` returns Qt's, its `start()` starts it and returns the plugin.
    """
    wanted = wanted_platform(environment)
    has_screen = wanted not in _NEED_SCREEN or any(environment.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))
    facts = QtFacts(platform=wanted, has_screen=has_screen)
    if importlib.util.find_spec("PySide6") is None:
        return msgspec.structs.replace(facts, fault="not_installed")
    try:
        child = Child(_try, check, wanted, environment.get("DISPLAY", "") if wanted == "xcb" else "")
    except OSError:
        _log.exception("No process could be started to try Qt.")
        return msgspec.structs.replace(facts, fault="no_process")
    try:
        return _listen(child, facts, seconds)
    finally:
        child.close()


def _listen(child: Child, facts: QtFacts, seconds: float) -> QtFacts:
    """Return what the process tells until it has started Qt, or ends before that."""
    fault: QtFault = "not_loadable"
    try:
        while True:
            match msgspec.msgpack.decode(child.receive(seconds), type=_Told):
                case _Files(missing, missing_to_print):
                    facts = msgspec.structs.replace(facts, missing=missing, missing_to_print=missing_to_print)
                case _Silent(display):
                    facts = msgspec.structs.replace(facts, silent_display=display)
                case _Loaded(version):
                    facts = msgspec.structs.replace(facts, version=version)
                    fault = "not_startable"
                case _Started(platform):
                    return msgspec.structs.replace(facts, platform=platform)
    except TimeoutError:
        fault = "blocked"
    except EOFError:
        pass  # the step that it did not come to says what is wrong
    except ChildFault:
        fault = "own_fault"
    except msgspec.DecodeError:
        _log.exception("The process that tries Qt sent something unreadable.")
        fault = "own_fault"
    return msgspec.structs.replace(facts, fault=fault)


def wanted_platform(environment: Mapping[str, str]) -> str:
    """Return the name of the plugin that Qt tries first."""
    named = environment.get("QT_QPA_PLATFORM", "").partition(";")[0].partition(":")[0]
    if named:
        return named
    if sys.platform == "win32":
        return "windows"
    if sys.platform == "darwin":
        return "cocoa"
    return "wayland" if environment.get("WAYLAND_DISPLAY") else "xcb"


def _try(connection: Connection, check: str, wanted: str, display: str) -> None:
    """Look at Qt's files, load it, start it, and tell each step: the process may not outlive the next one."""
    spec = importlib.util.find_spec("PySide6")
    folders = [Path(folder) for folder in (spec.submodule_search_locations if spec is not None else None) or ()]
    missing = (name for folder in folders for name in missing_libraries(folder, wanted))
    to_print = (name for folder in folders for plugins in _PLUGINS for name in missing_to_print(folder / plugins))
    _tell(connection, _Files(tuple(missing), tuple(to_print)))
    if display and not display_answers(display):
        _tell(connection, _Silent(display))
    try:
        module = importlib.import_module(check)
    except (ImportError, OSError):
        return
    _tell(connection, _Loaded(module.version()))
    _tell(connection, _Started(module.start()))


def _tell(connection: Connection, told: _Told) -> None:
    connection.send_bytes(msgspec.msgpack.encode(told))


def display_answers(display: str) -> bool:
    """Return whether something takes connections where a value of DISPLAY points; waits for at most some seconds."""
    if display.startswith("/"):
        return _connects(socket.AF_UNIX, display)
    parts = _DISPLAY.fullmatch(display)
    if parts is None:
        return False
    host, number = parts["host"], int(parts["number"])
    path = f"/tmp/.X11-unix/X{number}"
    if not host and (_connects(socket.AF_UNIX, f"\0{path}") or _connects(socket.AF_UNIX, path)):
        return True
    try:
        with socket.create_connection((host or "localhost", _X11_PORT + number), _X11_SECONDS):
            return True
    except (OSError, OverflowError):  # nobody is there, or no such port is
        return False


def _connects(family: socket.AddressFamily, address: str) -> bool:
    with socket.socket(family, socket.SOCK_STREAM) as tried:
        tried.settimeout(_X11_SECONDS)
        try:
            tried.connect(address)
        except OSError:
            return False
        return True


def missing_libraries(folder: Path, wanted: str) -> tuple[str, ...]:
    """Return the system libraries that the modules and a plugin of PySide6 in a folder lack, as far as files tell."""
    modules = [folder / f"{name}.abi3.so" for name in _MODULES]
    files = (file for plugins in _PLUGINS for file in sorted((folder / plugins).glob(f"platforms/libq{wanted}*.so")))
    return _missing([*modules, *files])


def missing_to_print(plugins: Path) -> tuple[str, ...]:
    """Return the system libraries that a folder of Qt's plugins lacks to reach printers; Qt itself says nothing."""
    return _missing(sorted(plugins.glob("printsupport/*.so")))


def _missing(files: Iterable[Path]) -> tuple[str, ...]:
    if not sys.platform.startswith(("linux", "freebsd")):
        return ()
    found: dict[str, None] = {}
    for file in files:
        if file.is_file():
            found.update(dict.fromkeys(find_trouble(str(file), _open, _is_known).missing))
    return tuple(found)


def _open(path: str) -> BinaryIO:
    if not stat.S_ISREG(Path(path).stat().st_mode):
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL), path)  # opening a pipe waits for who writes to it
    return Path(path).open("rb")


@lru_cache(maxsize=256)
def _is_known(name: str) -> bool:
    try:
        ctypes.CDLL(name)
    except OSError:
        return False
    return True

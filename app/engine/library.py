"""Which folder of llama.cpp's libraries the engine loads: the usual one, or the plain one for the processor.

Tells why the usual one cannot be loaded by looking at the files and asking the loader, never by an error's text.
Knows nothing of the C API but which names the binding asks for; it is there before anything of llama.cpp is.
"""

from __future__ import annotations

import ctypes
import errno
import importlib.util
import os
import re
import stat
import sys
import traceback
from functools import lru_cache
from multiprocessing.connection import Connection
from pathlib import Path
from typing import BinaryIO

import msgspec

from app.core.events import EngineGone
from app.core.library_fault import (
    FOLDER_VARIABLE,
    LibraryFault,
    backend_name,
    fault_for,
    says_absent,
    says_instead,
    says_why,
)
from app.core.shared_object import Trouble, find_trouble
from app.core.words import Sentence
from app.engine.wire import encode

PACKAGE = "llama_cpp"
_FILES = {"win32": ("llama.dll", "libllama.dll"), "darwin": ("libllama.dylib", "libllama.so")}
"""What the binding opens, elsewhere `libllama.so`."""
_PART = re.compile(r"^(?:lib)?ggml-(?P<backend>[a-z]+)[.-]")
_PLAIN_PARTS = ("base", "cpu")
_ASKED_FOR = re.compile(r'^@ctypes_function\(\s*"(?P<name>\w+)"', re.MULTILINE)
"""How the binding names a function that a library has to hold."""
_ASKED_FOR_ALWAYS = "llama_backend_init"
_DRIVERS = {"cuda": "nvcuda.dll", "vulkan": "vulkan-1.dll"}
"""What a part for a GPU needs on Windows, where the files are not read."""

_READS_FILES = sys.platform.startswith(("linux", "freebsd"))
"""Whether libraries are ELF files here."""

_instead: list[LibraryFault] = []


def choose(plain_folder: str, *, unfit: bool = False) -> LibraryFault | None:
    """Load llama.cpp and make the binding use the same folder; return why, where not even the plain one can be.

    `plain_folder` is empty where there is none; `unfit` leaves out the usual folder, whose code this processor
    cannot run.
    """
    if not os.environ.get(FOLDER_VARIABLE):
        os.environ.pop(FOLDER_VARIABLE, None)  # an empty one sends the binding to the current folder
    package = _package_folder()
    if package is None:
        return LibraryFault("not_installed")
    named = os.environ.get(FOLDER_VARIABLE)
    usual = Path(named) if named else package / "lib"
    library = None if unfit else _load(usual)
    if isinstance(library, ctypes.CDLL):
        if not named or _holds(library, _asked_for(package)):
            return None
        return _told_with(LibraryFault("misdirected"), usual)  # beside its parts no other build can be loaded
    fault = _told_with(library or LibraryFault("processor"), usual, named=bool(named))
    if plain_folder and isinstance(_load(Path(plain_folder)), ctypes.CDLL):
        _instead.append(fault)
        os.environ[FOLDER_VARIABLE] = plain_folder
        return None
    return fault


def notes() -> tuple[Sentence, ...]:
    """Return why the plain build runs instead of the usual one; nothing where the usual one does."""
    return tuple(says_instead(fault) for fault in _instead)


def instead_of() -> LibraryFault | None:
    """Return what is wrong with the usual build, where the plain one runs instead of it."""
    return _instead[0] if _instead else None


def why_absent(file: Path) -> Sentence:
    """Return why a part of llama.cpp that lies in its folder as a file of its own was not loaded."""
    part = _PART.match(file.name)
    name = backend_name(part["backend"]) if part is not None else file.name
    return says_absent(_fault(file, (name,)))


def say_goodbye(connection: Connection, exit_code: int, fault: LibraryFault) -> None:
    """Tell the parent why this process ends."""
    try:
        connection.send_bytes(encode(EngineGone(exit_code, (), says_why(fault), fault=fault)))
    except OSError:  # the parent has gone; the log has the reason
        traceback.print_exc()


def _package_folder() -> Path | None:
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(spec.submodule_search_locations[0])


def _told_with(fault: LibraryFault, folder: Path, *, named: bool = False) -> LibraryFault:
    """Add where the build lies; what is wrong with one that the environment `named` is that it is named."""
    kind = "misdirected" if named and fault.kind in ("incomplete", "unfit") else fault.kind
    printable = os.fsencode(folder).decode("utf-8", "replace")
    return msgspec.structs.replace(fault, kind=kind, folder=printable)


def _asked_for(package: Path) -> tuple[str, ...]:
    """Return the functions that the binding asks of a library, as far as its file is there to be read."""
    file = package / f"{PACKAGE}.py"
    text = file.read_text("utf-8") if file.is_file() else ""
    return (_ASKED_FOR_ALWAYS, *_ASKED_FOR.findall(text))


def _holds(library: ctypes.CDLL, names: tuple[str, ...]) -> bool:
    return all(hasattr(library, name) for name in names)


def _load(folder: Path) -> ctypes.CDLL | LibraryFault:
    """Load llama.cpp from a folder for the rest of the process, or return why it cannot be."""
    names = _FILES.get(sys.platform, ("libllama.so",))
    file = next((folder / name for name in names if _is_file(folder / name)), folder / names[0])
    # the loader would wait for a pipe, and end this process at a file that ends too early
    if not _is_file(file) or (_READS_FILES and find_trouble(str(file), _open, lambda _name: True).damaged):
        return _fault(file, _backends(folder))
    try:
        if sys.platform == "win32":
            os.add_dll_directory(str(folder))
            return ctypes.CDLL(str(file), winmode=ctypes.RTLD_GLOBAL)
        return ctypes.CDLL(str(file))
    except OSError:
        traceback.print_exc()
        return _fault(file, _backends(folder))


def _fault(file: Path, backends: tuple[str, ...]) -> LibraryFault:
    """Look for what keeps a library from being loaded."""
    if not _is_file(file):
        return fault_for((), (file.name,), backends)
    if _READS_FILES:
        trouble = find_trouble(str(file), _open, _is_known)
    else:
        drivers = (library for part, library in _DRIVERS.items() if backend_name(part) in backends)
        trouble = Trouble(tuple(name for name in drivers if sys.platform == "win32" and not _is_known(name)))
    damaged = tuple(Path(path).name for path in trouble.damaged)
    return fault_for(trouble.missing, damaged, backends)


def _backends(folder: Path) -> tuple[str, ...]:
    """Return what the libraries of a folder compute on beside the processor."""
    try:
        files = sorted(file.name for file in folder.iterdir())
    except OSError:  # one that is not there, or that may not be listed, tells nothing
        files = []
    parts = dict.fromkeys(part["backend"] for name in files if (part := _PART.match(name)) is not None)
    return tuple(backend_name(part) for part in parts if part not in _PLAIN_PARTS)


def _is_file(path: Path) -> bool:
    return os.path.isfile(path)  # noqa: PTH113  Path.is_file raises in a folder that may not be entered


def _open(path: str) -> BinaryIO:
    if not stat.S_ISREG(Path(path).stat().st_mode):
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL), path)  # opening a pipe waits for who writes to it
    return Path(path).open("rb")


@lru_cache(maxsize=256)
def _is_known(name: str) -> bool:
    """Return whether the loader finds a library by its name."""
    try:
        ctypes.CDLL(name)
    except OSError:
        return False
    return True

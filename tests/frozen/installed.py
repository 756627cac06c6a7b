"""The frozen program as people use it: another user than its owner, another folder, no Python around."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import TracebackType

import psutil

from devtools.freeze import program_file
from tests.e2e.program import GUARD_SECONDS

NOBODY = 65534
OF_THE_CHECKOUT = ("PYTHON", "VIRTUAL_ENV", "PYTEST", "QT_PLUGIN", "LD_LIBRARY_PATH")


def is_root() -> bool:
    """Return whether the tests run as root, to whom no folder is read-only."""
    return sys.platform != "win32" and os.geteuid() == 0


class Running(subprocess.Popen[str]):
    """A program that was started; a test that fails does not wait for its end."""

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self.kill()
        super().__exit__(kind, value, trace)


class Installed:
    """Starts a program of a frozen folder and reads what it says."""

    def __init__(self, folder: Path, home: Path, *, as_owner: bool = False) -> None:
        self.folder = folder
        self.home = home
        kept = {name: value for name, value in os.environ.items() if not name.startswith(OF_THE_CHECKOUT)}
        self.environment = {
            **kept,
            "HOME": str(home),
            "TOKENLIGHT_HOME": str(home / "files"),
            "QT_QPA_PLATFORM": "offscreen",
            "XDG_RUNTIME_DIR": str(home),
        }
        give_up = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--")
        changes_user = is_root() and not as_owner and shutil.which("setpriv") is not None
        self._before: tuple[str, ...] = give_up if changes_user else ()

    def command(self, *words: str, program: str = "tokenlight") -> list[str]:
        """Return what is started; the process gets the id of what is first in it."""
        return [*self._before, str(self.folder / program_file(program)), *words]

    def start(self, *words: str, program: str = "tokenlight", **environment: str) -> Running:
        """Start the program in another folder; standard output and error come as text."""
        return Running(
            self.command(*words, program=program),
            cwd=self.home,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            env={**self.environment, **environment},
            start_new_session=os.name != "nt",
        )

    def run(self, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run the program to its end."""
        with self.start(*words, **environment) as process:
            output, errors = process.communicate(timeout=GUARD_SECONDS)
        return subprocess.CompletedProcess(words, process.returncode, output, errors)


def engine_of(process: subprocess.Popen[str]) -> psutil.Process:
    """Return the engine process of a frozen program: the program again, told to be one."""
    children = psutil.Process(process.pid).children(recursive=True)
    return next(child for child in children if "--multiprocessing-fork" in child.cmdline())


def listing(folder: Path) -> dict[str, tuple[int, int]]:
    """Return size and time of every file and folder."""
    found = ((path, path.lstat()) for path in sorted(folder.rglob("*")))
    return {str(path): (state.st_size, state.st_mtime_ns) for path, state in found}

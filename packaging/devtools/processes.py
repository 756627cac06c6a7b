"""Starts other programs, keeps their output in a log and hands each line on.

It must not know what the programs do.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

INTERRUPTED = 130


@dataclass(frozen=True)
class Outcome:
    """How a program ended and what it printed, both streams together."""

    code: int
    output: str

    @property
    def ok(self) -> bool:
        """Whether the program ended well."""
        return self.code == 0


def quiet(command: Sequence[str | Path], timeout_s: float = 60.0) -> Outcome:
    """Run a short program in silence; a missing or hanging one is an outcome too."""
    try:
        done = subprocess.run(
            [str(part) for part in command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=timeout_s,
            check=False,
            encoding="utf-8",
            errors="replace",
        )
    except OSError as error:
        return Outcome(127, str(error))
    except subprocess.TimeoutExpired:
        return Outcome(124, f"no answer within {timeout_s:.0f} s")
    return Outcome(done.returncode, done.stdout)


def logged(
    command: Sequence[str | Path],
    log: Path,
    on_line: Callable[[str], None],
    environment: Mapping[str, str] | None = None,
) -> Outcome:
    """Run a long program: each line of output goes to the log and to `on_line`."""
    log.parent.mkdir(parents=True, exist_ok=True)
    lines: list[str] = []
    with log.open("a", encoding="utf-8", errors="replace") as kept:
        kept.write(f"$ {subprocess.list2cmdline([str(part) for part in command])}\n")
        with subprocess.Popen(
            [str(part) for part in command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=None if environment is None else dict(environment),
            encoding="utf-8",
            errors="replace",
        ) as process:
            try:
                for line in process.stdout or ():
                    kept.write(line)
                    lines.append(line)
                    on_line(line.rstrip("\n"))
            except BaseException:
                process.terminate()
                raise
    return Outcome(process.returncode, "".join(lines))


def attached(command: Sequence[str | Path], cwd: Path, environment: Mapping[str, str] | None = None) -> int:
    """Run a program on this terminal and return its exit code; an interrupt is its own to handle."""
    with subprocess.Popen(
        [str(part) for part in command], cwd=cwd, env=None if environment is None else dict(environment)
    ) as process:
        while True:
            try:
                code = process.wait()
                break
            except KeyboardInterrupt:
                continue
    return code if code >= 0 else 128 - code


def replace_with(command: Sequence[str | Path], cwd: Path) -> int:
    """Become the program where the system allows it, else run it and return its exit code."""
    if sys.platform != "win32":
        os.chdir(cwd)
        sys.stdout.flush()
        sys.stderr.flush()
        os.execv(str(command[0]), [str(part) for part in command])
    return attached(command, cwd)

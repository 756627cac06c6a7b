"""Looks at a frozen folder: whether it starts and hangs together, and how large its parts are.

It must not change anything in it.
"""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

from devtools.console import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PARTS_SHOWN = 8
START_SECONDS = 120.0
MEGABYTE = 1_000_000


def dangling_links(folder: Path) -> list[str]:
    """List the links of a folder that lead nowhere."""
    return sorted(
        str(path.relative_to(folder)) for path in _entries(folder) if path.is_symlink() and not path.exists()
    )


def _entries(folder: Path) -> Iterator[Path]:
    return folder.rglob("*")


def check(folder: Path, program: str, says: str, home: Path) -> None:
    """Raise the sentence that says what is wrong with a folder that was just made."""
    dangling = dangling_links(folder)
    if dangling:
        raise Problem(f"The frozen folder has links that lead nowhere: {', '.join(dangling)}.")
    try:
        done = subprocess.run(
            [str(folder / program), "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=START_SECONDS,
            check=False,
            env={**os.environ, "TOKENLIGHT_HOME": str(home)},
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Problem(f"The frozen program does not start ({error}): look at the log of this build.") from None
    if (done.returncode, done.stdout.strip()) != (0, says):
        last = (done.stderr.strip().splitlines() or [f"it said “{done.stdout.strip()}”"])[-1]
        raise Problem(f"The frozen program does not work ({last}): look at the log of this build.")


def size_of(path: Path) -> int:
    """Return the bytes of a file, or of all files in a folder; a link counts as nothing."""
    if path.is_symlink():
        return 0
    if path.is_file():
        return path.stat().st_size
    return sum(each.stat().st_size for each in _entries(path) if each.is_file() and not each.is_symlink())


def size_lines(folder: Path) -> list[str]:
    """Return the size of the folder and of its largest parts as lines for people."""
    inner = folder / "_internal"
    parts = [path for path in folder.iterdir() if path != inner] + (list(inner.iterdir()) if inner.is_dir() else [])
    sizes = sorted(((size_of(path), path.name) for path in parts), reverse=True)
    shown = [f"  {size / MEGABYTE:6.1f} MB  {name}" for size, name in sizes[:PARTS_SHOWN]]
    rest = sum(size for size, _ in sizes[PARTS_SHOWN:])
    if rest:
        shown.append(f"  {rest / MEGABYTE:6.1f} MB  {len(sizes) - PARTS_SHOWN} others")
    return [f"{folder} has {sum(size for size, _ in sizes) / MEGABYTE:.0f} MB:", *shown]

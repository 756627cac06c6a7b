"""Main memory as this process may use it: what the machine has, and what a container allows of it.

Knows nothing of models. Figures of one moment, in bytes.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import psutil

from app.core.devices import MainMemory

_CONTROL_GROUPS = Path("/sys/fs/cgroup")
_OWN_GROUPS = Path("/proc/self/cgroup")


class _Files(NamedTuple):
    """What one version of control groups calls its figures."""

    limit: str
    usage: str
    inactive: str
    """The line of `memory.stat` that counts cached file pages, which make room when memory is needed."""


_VERSION_1 = _Files("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
_VERSION_2 = _Files("memory.max", "memory.current", "inactive_file")


class _Room(NamedTuple):
    limit: int
    left: int


def main_memory(groups: Path = _CONTROL_GROUPS, own: Path = _OWN_GROUPS) -> MainMemory:
    """Return what there is and what is available, within the limits of every control group that holds this process."""
    machine = psutil.virtual_memory()
    rooms = [room for room in _rooms(groups, own) if room.limit < machine.total] if sys.platform == "linux" else []
    return MainMemory(
        total=min((machine.total, *(room.limit for room in rooms))),
        available=max(0, min((machine.available, *(room.left for room in rooms)))),
        machine_total=machine.total,
    )


def _rooms(groups: Path, own: Path) -> Iterator[_Room]:
    """Yield the limits that hold for this process: a group's own and those of the groups around it."""
    for line in _text(own).splitlines():
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if number == "0" and not controllers:
            yield from _upwards(groups, path, _VERSION_2)
        elif "memory" in controllers.split(","):
            yield from _upwards(groups / "memory", path, _VERSION_1)


def _upwards(root: Path, path: str, files: _Files) -> Iterator[_Room]:
    # In a container the path may be the host's, of which only the root is to be seen.
    parts = [part for part in path.split("/") if part not in ("", "..")]
    for count in range(len(parts), -1, -1):
        room = _room(root.joinpath(*parts[:count]), files)
        if room is not None:
            yield room


def _room(folder: Path, files: _Files) -> _Room | None:
    limit, usage = _text(folder / files.limit).strip(), _text(folder / files.usage).strip()
    if not limit.isdigit() or not usage.isdigit():  # "max" is no limit
        return None
    inactive = 0
    for line in _text(folder / "memory.stat").splitlines():
        name, _, value = line.partition(" ")
        if name == files.inactive and value.isdigit():
            inactive = int(value)
    return _Room(int(limit), int(limit) - max(0, int(usage) - inactive))


def _text(path: Path) -> str:
    """Return a file of the kernel; one that is not there or not ours says nothing."""
    try:
        return path.read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""

"""Main memory, with the limits of containers."""

from __future__ import annotations

import sys
from pathlib import Path

import psutil
import pytest

from app.system.memory import main_memory

GIB = 1 << 30
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="control groups are Linux's")


def group(folder: Path, files: dict[str, int | str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name).write_text(f"{content}\n")


@pytest.fixture
def own(tmp_path: Path) -> Path:
    return tmp_path / "cgroup"


@pytest.fixture(autouse=True)
def _machine(monkeypatch: pytest.MonkeyPatch) -> None:
    figures = psutil.virtual_memory()._replace(total=16 * GIB, available=10 * GIB)
    monkeypatch.setattr(psutil, "virtual_memory", lambda: figures)


def test_without_a_limit_it_is_the_machines(tmp_path: Path, own: Path) -> None:
    memory = main_memory(tmp_path / "nothing", own)
    assert (memory.total, memory.available, memory.machine_total) == (16 * GIB, 10 * GIB, 16 * GIB)


def test_a_limit_of_the_second_version_holds_and_cached_files_make_room(tmp_path: Path, own: Path) -> None:
    own.write_text("0::/app.slice/tokenlight\n")
    files: dict[str, int | str] = {
        "memory.max": 4 * GIB,
        "memory.current": 3 * GIB,
        "memory.stat": f"anon 5\ninactive_file {GIB}",
    }
    group(tmp_path / "root" / "app.slice" / "tokenlight", files)
    memory = main_memory(tmp_path / "root", own)
    assert (memory.total, memory.available, memory.machine_total) == (4 * GIB, 2 * GIB, 16 * GIB)


def test_the_tightest_group_around_it_decides(tmp_path: Path, own: Path) -> None:
    own.write_text("0::/outer/inner\n")
    group(tmp_path / "outer", {"memory.max": 2 * GIB, "memory.current": GIB, "memory.stat": ""})
    group(tmp_path / "outer" / "inner", {"memory.max": 8 * GIB, "memory.current": 0, "memory.stat": ""})
    memory = main_memory(tmp_path, own)
    assert (memory.total, memory.available) == (2 * GIB, GIB)


def test_a_limit_of_the_first_version_holds_where_only_the_root_is_to_be_seen(tmp_path: Path, own: Path) -> None:
    own.write_text("4:memory:/docker/0123\n1:cpu,cpuacct:/docker/0123\n0::/\n")
    files: dict[str, int | str] = {
        "memory.limit_in_bytes": 3 * GIB,
        "memory.usage_in_bytes": 5 * GIB,
        "memory.stat": f"inactive_file 1\ntotal_inactive_file {GIB}",
    }
    group(tmp_path / "memory", files)
    memory = main_memory(tmp_path, own)
    assert (memory.total, memory.available) == (3 * GIB, 0)


@pytest.mark.parametrize("limit", ["max", 9223372036854771712, "nonsense", ""])
def test_what_is_no_limit_is_none(tmp_path: Path, own: Path, limit: int | str) -> None:
    own.write_text("0::/a\n")
    group(tmp_path / "a", {"memory.max": limit, "memory.current": 1, "memory.stat": ""})
    assert main_memory(tmp_path, own).total == 16 * GIB


def test_the_real_files_of_this_machine_can_be_read() -> None:
    memory = main_memory()
    assert 0 < memory.total <= memory.machine_total
    assert 0 <= memory.available <= memory.total

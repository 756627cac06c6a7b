"""The cores that are worth a thread."""

from __future__ import annotations

import os

import psutil
import pytest

from app.system.hardware import decode_threads, usable_cores


def test_there_are_never_more_threads_than_cores_of_either_kind() -> None:
    assert 1 <= decode_threads() <= usable_cores() <= (os.cpu_count() or 1)


@pytest.mark.parametrize(("physical", "usable", "threads"), [(8, 16, 8), (8, 4, 4), (None, 6, 6), (0, 1, 1)])
def test_a_thread_goes_on_every_physical_core_that_may_be_used(
    monkeypatch: pytest.MonkeyPatch, physical: int | None, usable: int, threads: int
) -> None:
    monkeypatch.setattr(psutil, "cpu_count", lambda logical: usable if logical else physical)
    monkeypatch.setattr("app.system.hardware.usable_cores", lambda: usable)
    assert decode_threads() == threads

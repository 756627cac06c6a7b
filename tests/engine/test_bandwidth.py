"""How much memory gives, measured through ggml on this machine."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import pytest

from app.core.commands import MeasureBandwidth
from app.core.devices import Device
from app.core.operations import BandwidthMeasured
from app.engine import bandwidth
from app.engine.bandwidth import LEAST_BYTES, MOST_BYTES, matrix_bytes, measure
from app.engine.devices import list_devices
from app.engine.thread_pool import USABLE
from tests.engine.harness import Engine

MIB = 1 << 20


def never() -> bool:
    return False


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measure little: the test looks at what is done, not at how fast it is."""
    for name, value in (("MOST_BYTES", 16 * MIB), ("LEAST_BYTES", 4 * MIB), ("SECONDS", 0.0)):
        monkeypatch.setattr(bandwidth, name, value)


@pytest.mark.usefixtures("small")
def test_main_memory_is_read_and_a_copy_counts_both_ways() -> None:
    devices = list_devices()
    found = measure(devices, 2, None, never)
    main = next(speed for speed in found if speed.kind == "read")
    assert (main.device, main.threads, main.reason) == ("CPU", 2, None)
    assert main.gb_per_s is not None and 0.01 < main.gb_per_s < 10_000
    place = next(place for place, device in enumerate(devices) if device.kind == "cpu")
    copied = bandwidth._best("copy", 16 * MIB, bandwidth._timed(place, "copy", 16 * MIB, 0, never))
    assert copied is not None and 0.01 < copied < 10_000


def passes_of(*walls: float, cpu: float = 1.0) -> list[bandwidth._Pass]:
    """Return passes in which this process got such a share of one core."""
    return [bandwidth._Pass(wall, wall * cpu) for wall in walls]


def test_the_quickest_pass_counts_and_a_copy_moves_its_bytes_twice() -> None:
    passes = passes_of(3.0, 1.0, 2.0)
    assert bandwidth._best("read", 16 * MIB, passes) == pytest.approx(16 * MIB / 1e9)
    assert bandwidth._best("copy", 16 * MIB, passes) == pytest.approx(32 * MIB / 1e9)
    assert bandwidth._best("copy", 16 * MIB, ()) is None


@pytest.mark.parametrize(
    ("kind", "walls", "cpu", "is_disturbed"),
    [
        ("read", (9.0, 1.0, 1.05, 1.1), 1.0, False),
        ("read", (1.0, 1.0, 1.5, 1.6), 1.0, True),
        ("read", (1.0, 1.0, 1.0, 1.0), 0.6, True),
        ("copy", (1.0, 1.0, 1.0, 1.0), 0.1, False),
        ("copy", (1.0, 1.0, 1.5, 1.6), 0.1, True),
        ("read", (1.0,), 0.1, False),
    ],
)
def test_passes_that_others_held_up_are_noticed(
    kind: str, walls: tuple[float, ...], cpu: float, is_disturbed: bool
) -> None:
    assert bandwidth._is_disturbed(kind, 1, passes_of(*walls, cpu=cpu)) is is_disturbed


@pytest.mark.usefixtures("small")
def test_the_thread_goes_back_to_its_core(monkeypatch: pytest.MonkeyPatch) -> None:
    if not USABLE:
        pytest.skip("this system does not bind threads")
    seen = []
    passes = bandwidth._passes

    def looked_at(one_pass: Callable[[], bool], stopped: Callable[[], bool]) -> Iterator[bandwidth._Pass]:
        seen.append(os.sched_getaffinity(0))
        return passes(one_pass, stopped)

    monkeypatch.setattr(bandwidth, "_passes", looked_at)
    os.sched_setaffinity(0, {min(USABLE)})
    try:
        measure(list_devices(), 1, None, never)
        assert os.sched_getaffinity(0) == {min(USABLE)}
    finally:
        os.sched_setaffinity(0, USABLE)
    assert seen and set(seen[0]) == set(USABLE)


@pytest.mark.usefixtures("small")
def test_a_wish_to_stop_is_heard_between_two_passes() -> None:
    left = [3]

    def stopped() -> bool:
        left[0] -= 1
        return left[0] < 0

    found = measure(list_devices(), 1, None, stopped)
    assert len(found) == 1 and found[0].gb_per_s is not None and left[0] < 0
    assert measure(list_devices(), 1, None, lambda: True) == ()


def test_too_little_memory_is_a_reason_and_no_figure() -> None:
    found = measure((Device("CPU", "x", "cpu", "CPU", None, None),), 1, 8 * LEAST_BYTES - 1, never)
    assert found[0].gb_per_s is None and found[0].reason is not None
    assert "too little free memory" in found[0].reason.english()


def test_a_buffer_that_a_device_refuses_is_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bandwidth, "_timed", lambda *_args: ())
    found = measure((Device("CUDA0", "x", "gpu", "CUDA", None, None),), 1, None, never)
    assert (found[0].kind, found[0].gb_per_s) == ("copy", None) and found[0].reason is not None


@pytest.mark.parametrize(
    ("free", "size"), [(None, MOST_BYTES), (1 << 40, MOST_BYTES), (8 * LEAST_BYTES, LEAST_BYTES), (0, 0)]
)
def test_so_much_is_read_as_there_is_room_for(free: int | None, size: int) -> None:
    assert matrix_bytes(free) == size


def test_the_engine_answers_with_every_device_of_its_build() -> None:
    with Engine("scripted") as engine:
        engine.send(MeasureBandwidth(7, 3))
        found = engine.wait(BandwidthMeasured, request=7)
    assert [(each.device, each.gb_per_s, each.threads) for each in found.speeds] == [("CPU", 20.0, 3)]

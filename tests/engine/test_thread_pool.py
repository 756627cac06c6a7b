"""Where the threads that evaluate run."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from app.engine import thread_pool
from app.engine.entry import FEWEST_SPINS, spins
from app.engine.thread_pool import MOST_CORES, PLACES, may_choose, pool_parameters
from tests.engine.harness import Engine

CORES = frozenset(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else frozenset()
needs_cores = pytest.mark.skipif(len(CORES) < 2, reason="needs two cores that a process can choose")


def bound_cores(process: int) -> list[int]:
    """Return the cores of the threads that may run on one only, in order."""
    threads = (each.name for each in Path(f"/proc/{process}/task").iterdir())
    found = [os.sched_getaffinity(int(thread)) for thread in threads]
    return sorted(core for cores in found if len(cores) == 1 for core in cores)


@needs_cores
def test_as_many_threads_as_cores_have_one_each_until_others_come(
    starter_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place in PLACES:
        monkeypatch.delenv(place, raising=False)
    with Engine() as engine:
        engine.load(starter_model, threads=len(CORES), context=512)
        engine.ask("Hello")
        process = engine.client.process_id
        assert process is not None
        assert bound_cores(process) == sorted(CORES)
        engine.load(starter_model, threads=1, context=512)
        engine.ask("Hello")
        assert min(CORES) not in bound_cores(process)  # where the thread that asks for it had evaluated


def test_fewer_threads_than_cores_may_run_anywhere() -> None:
    some, all_of_them = pool_parameters(3, range(4)), pool_parameters(4, range(4))
    assert some is not None
    assert all_of_them is not None
    assert (some.strict, all_of_them.strict) == (False, True)
    assert list(some.cores)[:6] == [True] * 4 + [False] * 2


def test_a_structure_that_this_library_does_not_fill_in_as_expected_is_not_used(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(thread_pool, "USUAL_POLL", 51)
    assert pool_parameters(4, range(4)) is None


@needs_cores
@pytest.mark.parametrize("name", PLACES)
def test_who_has_chosen_the_places_of_threads_keeps_them(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for place in PLACES:
        monkeypatch.delenv(place, raising=False)
    assert may_choose(CORES)
    monkeypatch.setenv(name, "0")
    assert not may_choose(CORES)


def test_cores_that_the_library_cannot_name_or_the_system_does_not_tell_are_left_alone() -> None:
    assert not may_choose(())
    assert not may_choose({0, MOST_CORES})


def test_the_more_cores_there_are_the_sooner_a_waiting_thread_gives_its_own_back() -> None:
    assert [spins(cores) for cores in (1, 2, 8)] == [200_000, 100_000, 25_000]
    assert spins(1024) == FEWEST_SPINS

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.engine.deadline import Deadline, Overdue

HANG_GUARD_S = 120


def for_ever() -> None:
    while True:
        pass


def test_work_gives_what_it_returns_or_raises() -> None:
    assert Deadline(60).run(lambda: 7) == 7
    with pytest.raises(ZeroDivisionError):
        Deadline(60).run(lambda: 1 // 0)


def test_work_that_does_not_end_is_stopped() -> None:
    before = threading.active_count()
    with pytest.raises(Overdue):
        Deadline(0.05).run(for_ever)
    assert threading.active_count() == before


def test_work_that_swallows_the_first_interrupt_is_stopped_by_the_next() -> None:
    swallowed = 0

    def stubborn() -> None:
        nonlocal swallowed
        for _ in range(2):
            try:
                for_ever()
            except SystemExit:
                swallowed += 1
        for_ever()

    with pytest.raises(Overdue):
        Deadline(0.05).run(stubborn)
    assert swallowed == 2


def test_work_that_swallows_an_interrupt_and_then_ends_gives_its_result() -> None:
    def late() -> int:
        try:
            for_ever()
        except SystemExit:
            pass
        return 5

    assert Deadline(0.05).run(late) == 5


def test_work_runs_in_a_thread_of_its_own() -> None:
    assert Deadline(60).run(threading.get_ident) != threading.get_ident()


@settings(max_examples=60)
@given(st.integers(0, 60_000), st.booleans())
def test_an_interrupt_at_any_moment_ends_in_a_result_or_in_overdue(count: int, fails: bool) -> None:
    def work() -> int:
        total = 0
        for number in range(count):
            total += number
        if fails:
            raise LookupError
        return total

    try:
        assert Deadline(0.002).run(work) == sum(range(count))
        assert not fails
    except LookupError:
        assert fails
    except Overdue:
        pass


def test_a_stopped_thread_leaves_the_interpreter_as_it_was() -> None:
    # With CPython's flag for pending work left set, the first traced function call would never return.
    def traced() -> Iterator[int]:
        yield from range(10)

    for _ in range(3):
        Deadline(60).run(lambda: 1)
        with pytest.raises(Overdue):
            Deadline(0.02).run(for_ever)
    seen: list[str] = []
    old = sys.getprofile()
    sys.setprofile(lambda frame, event, argument: seen.append(event))
    try:
        total = sum(traced())
    finally:
        sys.setprofile(old)
    assert total == 45
    assert "call" in seen


def script(body: str) -> subprocess.CompletedProcess[str]:
    head = "import sys\nfrom app.engine.deadline import Deadline, LastResort\n"
    return subprocess.run(
        [sys.executable, "-c", head + body], capture_output=True, text=True, timeout=HANG_GUARD_S, check=False
    )


def test_at_the_last_the_process_ends_when_one_long_call_holds_everything_up() -> None:
    ended = script(
        "last_resort = LastResort(1.0, sys.stderr)\n"
        "Deadline(0.1, last_resort).run(lambda: sum(range(10**12)))\n"
        "print('not reached')\n"
    )
    assert ended.returncode == 1
    assert "Timeout" in ended.stderr
    assert ended.stdout == ""


def test_the_last_resort_is_over_with_the_work() -> None:
    ended = script(
        "import threading\n"
        "last_resort = LastResort(0.3, sys.stderr)\n"
        "deadline = Deadline(60, last_resort)\n"
        "threads = [threading.Thread(target=lambda: deadline.run(lambda: 1)) for _ in range(20)]\n"
        "[thread.start() for thread in threads]\n"
        "[thread.join() for thread in threads]\n"
        "threading.Event().wait(1.0)\n"
        "print('fine')\n"
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "fine\n", "")


def test_the_earliest_of_several_ends_counts() -> None:
    ended = script(
        "import threading\n"
        "last_resort = LastResort(1.0, sys.stderr)\n"
        "started = threading.Event()\n"
        "def slow():\n"
        "    with last_resort:\n"
        "        started.set()\n"
        "        threading.Event().wait(100)\n"
        "threading.Thread(target=slow, daemon=True).start()\n"
        "started.wait()\n"
        "for _ in range(1000):\n"
        "    with last_resort:\n"
        "        threading.Event().wait(0.1)\n"
    )
    assert ended.returncode == 1
    assert "Timeout" in ended.stderr

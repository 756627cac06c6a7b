"""The loop says one speed of an answer: its average, while it is written and afterwards."""

from __future__ import annotations

from array import array

import pytest

from app.core.events import Tokens
from app.services.loop_run import LoopRun

MS = 1_000_000


def test_a_run_tells_its_average_and_not_the_speed_of_the_moment() -> None:
    run = LoopRun(1)
    at_ns = 0
    for first, step_ms in ((0, 10), (100, 10), (200, 100)):
        for place in range(first, first + 100):
            at_ns += step_ms * MS
            ids = array("i", [place]).tobytes()
            run.write(Tokens(1, place, 1, ids, "a", b"", 40, at_ns, at_ns))
    assert run.tokens_per_s == pytest.approx(299 * 1e9 / (at_ns - 10 * MS))

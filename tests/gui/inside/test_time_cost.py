"""What the part “Time” costs while an answer is written, counted in instructions: the same for a long one as for a short one."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING

import pytest

from app.gui.inside.timing.time_part import TimePart
from tests.gui.inside.conftest import Inspector, desk, inspector, model, stage
from tests.gui.inside.looking_at_time import shows_time, view
from tests.services.timed_answers import FIRST_US, GAPS_US, ask, begin, write

if TYPE_CHECKING:
    from _typeshed import TraceFunction

__all__ = ["desk", "inspector", "model", "stage"]
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")


def test_an_update_of_a_long_answer_costs_what_is_new_and_not_what_was_there(inspector: Inspector) -> None:
    desk = inspector.stage.desk
    ask(desk)
    shows_time(inspector)
    last_us, costs = write(desk, begin(desk) + FIRST_US, [12_000 + place % 700 for place in range(499)]), []
    for first in (500, 20_000):
        if first > 500:
            gaps = [12_000 + place % 700 for place in range(first - 504)]
            last_us = write(desk, last_us + 13_000, gaps, first=503)
        inspector.known()
        part = inspector.stage.find_as(TimePart, "inside_time")
        part._show()
        last_us = write(desk, last_us + 13_000, GAPS_US[:2], first=first)
        inspector.known()
        with counted_work() as work:
            desk.program.views.timeline._look()
            part._show()
        costs.append(work[0])
    assert len(view(inspector).picture.bars.steps_in(0, 1e15)) > 19_900
    assert costs[1] < 1.5 * costs[0]


@contextmanager
def counted_work() -> Iterator[list[int]]:
    """Count the instructions that this thread runs meanwhile."""
    counted = [0]

    def trace(frame: FrameType, event: str, _argument: object) -> TraceFunction:
        frame.f_trace_opcodes = True
        counted[0] += event == "opcode"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        yield counted
    finally:
        sys.settrace(before)

"""What llama.cpp tells of a plan for several conversations: all of it, or the weights alone."""

from __future__ import annotations

from app.core.metrics import DeviceMemory
from app.services.planning import Planning
from tests.desk import Desk
from tests.services.planned_here import ask

MIB = 1 << 20


def test_what_llama_cpp_told_of_several_conversations_is_shown(desk: Desk, planning: Planning) -> None:
    ask(desk, planning)
    desk.dry_run.answer(DeviceMemory("CPU", MIB, MIB, MIB))
    desk.settle()
    planning.change(sequences=2)
    desk.until(lambda: desk.dry_run.asked and desk.dry_run.asked[-1].options.context == 2 * planning.choice.context)
    desk.dry_run.answer(DeviceMemory("CPU", 111 * MIB, 7 * MIB, 5 * MIB, complete=True))
    desk.settle()
    shown = planning.view
    assert shown is not None and shown.is_asked and shown.is_asked_of_all
    rows = {row.kind: (row.bytes, row.source) for row in shown.devices[-1].rows}
    assert (rows["weights"], rows["kv"]) == ((111 * MIB, "asked"), (7 * MIB, "asked"))
    planning.change(sequences=200)
    desk.until(lambda: desk.dry_run.asked[-1].options.context == 200 * planning.choice.context)
    desk.dry_run.answer(DeviceMemory("CPU", 111 * MIB, 7 * MIB, 5 * MIB, complete=True))
    desk.settle()
    several = planning.view
    assert several is not None and several.is_asked and not several.is_asked_of_all
    rows = {row.kind: (row.bytes, row.source) for row in several.devices[-1].rows}
    assert rows["weights"] == (111 * MIB, "asked") and rows["kv"][1] == "formula"

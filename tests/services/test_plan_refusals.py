"""A file that llama.cpp refuses has no row in the comparison, and the reason is said."""

from __future__ import annotations

from pathlib import Path

from app.core.metrics import DeviceMemory
from app.services.plan_values import Chosen, ModelChoice
from tests.desk import Desk
from tests.fake_dry_run import CPU


def test_a_file_that_llama_cpp_refuses_fits_nowhere_and_says_why(desk: Desk, model: Path, other_model: Path) -> None:
    comparison = desk.program.planner.comparison
    comparison.watch(True)
    desk.until(lambda: desk.program.planner.devices.is_known)
    comparison.choose(Chosen((ModelChoice(str(model)), ModelChoice(str(other_model))), ("l4",)))
    desk.until(lambda: comparison.worked is not None and len(comparison.worked.rows) == 2)
    (asked,) = desk.dry_run.asked  # that whose header was read first
    paths = {str(model), str(other_model)}
    assert asked.path in paths and not comparison.problems
    (other,) = paths - {asked.path}
    desk.dry_run.fail("model", "It is damaged.")
    desk.until(lambda: comparison.worked is not None and len(comparison.worked.rows) == 1)
    assert [(path, said.english()) for path, said in comparison.problems] == [(asked.path, "It is damaged.")]
    assert comparison.worked is not None and comparison.worked.rows[0].path == other
    assert [each.path for each in desk.dry_run.asked] == [asked.path, other]
    desk.dry_run.answer(DeviceMemory("CPU", 1, 1, 1), devices=(CPU,))
    desk.settle()
    assert len(comparison.worked.rows) == 1 and len(desk.dry_run.asked) == 2

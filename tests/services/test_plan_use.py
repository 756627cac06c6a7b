"""What is set of a use in one part of the planner is the start of the other, until it is set there too."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from app.services.plan_comparison import PlanComparison
from app.services.plan_values import Chosen, Wanted
from app.services.planning import Planning
from tests.desk import Desk
from tests.ggufs import write_tiny_llama


class Parts:
    """Both parts, of which one is looked at."""

    def __init__(self, desk: Desk, model: Path) -> None:
        self.desk = desk
        desk.load(model)
        self.see_plan()
        self.see_comparison()

    @property
    def planning(self) -> Planning:
        return self.desk.program.planner.planning

    @property
    def comparison(self) -> PlanComparison:
        return self.desk.program.planner.comparison

    def see_plan(self) -> tuple[int, int, int]:
        """Look at one model, and return its context, conversations and prompt."""
        self.comparison.watch(False)
        self.planning.watch(True)
        self.desk.until(lambda: self.planning.view)
        choice = self.planning.choice
        return choice.context, choice.sequences, choice.prompt

    def see_comparison(self) -> tuple[int, int, int]:
        """Look at the comparison, and return the same of it."""
        self.planning.watch(False)
        self.comparison.watch(True)
        self.desk.until(lambda: self.comparison.worked and self.comparison.worked.rows)
        chosen = self.comparison.chosen
        return chosen.context, chosen.users, chosen.prompt

    def choose(self, **use: object) -> None:
        self.comparison.choose(replace(self.comparison.chosen, **use))


@pytest.fixture
def parts(desk: Desk, model: Path) -> Parts:
    return Parts(desk, model)


def test_what_is_set_for_one_model_is_where_the_comparison_begins(parts: Parts) -> None:
    usual = Chosen()
    before = parts.see_plan()
    assert parts.see_comparison() == (usual.context, usual.users, usual.prompt), "nobody has set anything"
    parts.see_plan()
    parts.planning.change(context=3000, sequences=4)
    assert parts.see_comparison() == (3000, 4, usual.prompt)
    assert parts.comparison.chosen.wanted == Wanted(), "a start is no need"
    parts.see_plan()
    parts.planning.change(prompt=77, context=3001)
    assert parts.see_comparison() == (3001, 4, 77) and parts.see_plan() == (3001, 4, 77) != before


def test_what_is_set_in_the_comparison_is_where_one_model_begins(parts: Parts) -> None:
    parts.choose(context=2222, users=3, prompt=99)
    assert parts.see_plan() == (2222, 3, 99)
    parts.planning.choose_model("elsewhere.gguf")
    parts.planning.choose_model(parts.desk.loaded_path)
    parts.desk.until(lambda: parts.planning.view)
    assert parts.planning.choice.context == 2222, "it is set there still"


def test_each_part_keeps_what_is_set_in_it(parts: Parts) -> None:
    parts.choose(context=2222)
    parts.see_plan()
    parts.planning.change(context=3000, sequences=2)
    assert parts.see_comparison()[:2] == (2222, 2)
    parts.choose(context=1111, users=5)
    assert parts.see_plan()[:2] == (3000, 2)
    parts.planning.change(context=4000, sequences=6)
    assert parts.see_comparison()[:2] == (1111, 5)


def test_a_context_that_is_needed_is_not_taken_over(parts: Parts) -> None:
    parts.choose(wanted=Wanted(room=True))
    usual = parts.see_comparison()
    parts.see_plan()
    parts.planning.change(context=3000, sequences=2, prompt=50)
    assert parts.see_comparison() == (*usual[:2], 50)


def test_a_context_that_was_set_stays_for_another_model_as_far_as_it_was_trained_for_it(
    parts: Parts, tmp_path: Path
) -> None:
    small, large = (str(write_tiny_llama(tmp_path / f"{context}.gguf", context=context)) for context in (2048, 65536))
    parts.see_plan()
    parts.planning.change(context=3000)
    for path, context in ((small, 2048), (large, 3000)):
        parts.planning.choose_model(path)
        parts.desk.until(lambda: parts.planning.view)
        assert parts.planning.choice.context == context
        remark = parts.planning.view.remark  # type: ignore[union-attr]
        said = remark.english() if remark is not None else ""
        assert said.startswith("2,048 tokens of context are planned instead of 3,000") is (path == small), said
    parts.planning.choose_model(small)
    parts.planning.change(context=1000)
    assert parts.planning.view is not None and parts.planning.view.remark is None
    parts.planning.choose_model(parts.desk.loaded_path)
    assert parts.see_plan()[0] == 1000
    assert parts.see_comparison()[0] == 1000

"""Tests of the benchmarks' arithmetic: which runs are made, how they become a value, and how a row reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bench.__main__ import main
from tests.bench.arithmetic import (
    Bar,
    BenchError,
    Measurement,
    ratio_to_control,
    ratio_to_neighbours,
    runs,
    spread,
)
from tests.bench.children import Child
from tests.bench.figures import FIGURES
from tests.bench.kv_map import slowest_kind
from tests.bench.setting import any_prompt

SPEED = Bar("speed", "ratio", 0.95, "higher")
TIME = Bar("time", "s", 0.5, "lower")


def runs_made(each_s: float, seconds: float, least: int = 1) -> int:
    """Count the runs that are made when each takes so long."""
    clock = [100.0]
    count = 0
    for _ in runs(seconds, least, lambda: clock[0]):
        clock[0] += each_s
        count += 1
    return count


@pytest.mark.parametrize(
    ("each_s", "made"),
    [(60.0, 1), (50.0, 1), (26.0, 1), (25.0, 2), (12.0, 4), (9.9, 5), (7.0, 7), (0.5, 100)],
)
def test_as_many_runs_are_made_as_fit_into_the_time(each_s: float, made: int) -> None:
    assert runs_made(each_s, 50.0) == made


def test_short_runs_are_made_five_times_even_when_the_time_is_over() -> None:
    assert runs_made(7.9, 10.0) == 5
    assert runs_made(8.0, 10.0) == 1


def test_a_figure_can_ask_for_more_runs() -> None:
    assert runs_made(18.0, 50.0, least=8) == 8
    assert runs_made(1.0, 50.0, least=8) == 50


def test_a_busy_machine_ends_a_figure_before_it_has_all_the_runs_it_asked_for() -> None:
    assert runs_made(40.0, 50.0, least=8) == 4
    assert runs_made(200.0, 50.0, least=8) == 1


def test_runs_are_numbered_from_zero() -> None:
    clock = iter(range(100))
    assert list(runs(3.0, 1, lambda: float(next(clock))))[:3] == [0, 1, 2]


def test_the_spread_is_the_distance_between_the_quartiles() -> None:
    assert spread([0.9, 1.0, 1.1, 1.2, 5.0]) == pytest.approx(0.2)
    assert spread([1.0]) == 0.0
    assert spread([1.0, 2.0]) == pytest.approx(0.5)


def test_a_ratio_is_the_median_divided_by_the_median_of_the_control() -> None:
    measured = ratio_to_control([0.8, 0.9, 1.3], [0.9, 1.0, 1.8])
    assert measured.value == pytest.approx(0.9)
    measured = ratio_to_control([0.8, 0.9, 1.3], [0.5, 0.5, 0.6])
    assert measured.value == pytest.approx(1.8)
    assert (measured.runs, measured.control) == ([0.8, 0.9, 1.3], 0.5)
    assert measured.control_spread == pytest.approx(0.05)
    assert measured.more["control_runs"] == [0.5, 0.5, 0.6]


def test_a_prefill_is_compared_with_the_references_before_and_after_it() -> None:
    measured = ratio_to_neighbours([100.0, 200.0, 100.0], [150.0, 75.0])
    assert list(measured.runs) == pytest.approx([1.0, 0.5])
    assert measured.value == pytest.approx(0.75)
    assert measured.control == pytest.approx(1.25)


def test_a_run_without_a_reference_behind_it_is_refused() -> None:
    with pytest.raises(ValueError, match="need 3 references"):
        ratio_to_neighbours([1.0, 2.0], [1.0, 2.0])


@pytest.mark.parametrize(
    ("bar", "value", "met"),
    [
        (SPEED, 0.95, True),
        (SPEED, 0.9499999, False),
        (SPEED, 2.0, True),
        (TIME, 0.5, True),
        (TIME, 0.51, False),
    ],
)
def test_a_bar_is_met_on_its_better_side(bar: Bar, value: float, met: bool) -> None:
    assert bar.row(Measurement(value, [value]))["met"] is met


def test_a_row_holds_every_run_and_what_else_was_measured() -> None:
    row = TIME.row(Measurement(0.25, [0.2, 0.25, 0.3], more={"worst_s": 0.3}))
    assert row == {
        "name": "time",
        "value": 0.25,
        "unit": "s",
        "bar": 0.5,
        "better": "lower",
        "runs": [0.2, 0.25, 0.3],
        "met": True,
        "worst_s": 0.3,
    }


def test_a_row_with_a_control_tells_its_spread() -> None:
    row = SPEED.row(ratio_to_control([0.9, 1.0], [1.0, 1.1]))
    assert (row["control"], row["control_spread"]) == (1.05, 0.05)


def test_a_figure_that_was_not_measured_has_no_value_and_says_why() -> None:
    row = SPEED.failed_row("The engine stopped.")
    assert (row["value"], row["met"], row["runs"], row["problem"]) == (None, False, [], "The engine stopped.")


@pytest.mark.parametrize(
    ("value", "control_spread", "verdict"),
    [
        (0.96, 0.1, "met"),
        (0.93, 0.03, "missed, within noise"),
        (0.90, 0.03, "missed"),
        (0.90, None, "missed"),
    ],
)
def test_a_line_says_whether_a_miss_is_within_the_noise(
    value: float, control_spread: float | None, verdict: str
) -> None:
    control = None if control_spread is None else 1.0
    words = SPEED.line(Measurement(value, [value], control, control_spread))
    assert verdict in words
    assert ("noise" in words) == ("noise" in verdict)


def test_every_figure_has_a_name_of_its_own() -> None:
    names = [figure.bar.name for figure in FIGURES]
    assert len(set(names)) == len(names) == 52


def test_no_two_prompts_share_a_beginning() -> None:
    prompts = [any_prompt(50, seed) for seed in range(200)]
    assert len({prompt[0] for prompt in prompts}) == 200
    assert {len(prompt) for prompt in prompts} == {50}
    assert any_prompt(50, 3) == prompts[3]


def test_an_unknown_name_gets_one_sentence_and_exit_code_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--json", "--only", "prefill", "speed"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("There is no benchmark called speed: choose among decode_cli_1_thread, ")
    assert said.err.count("\n") == 1


def test_a_child_answers_and_ends_with_the_block_that_uses_it(starter_model: Path) -> None:
    with Child("tests.bench.bare_process", str(starter_model), "1") as child:
        ids = child.ask("tokenize", text="<|im_start|>user\nHi")["ids"]
        answer = child.ask("decode", prompt=ids, tokens=4, seed=1)
    assert len(ids) == 4
    assert answer["steps"] == 3
    assert answer["ns"] > 0
    assert child._process.returncode == 0


def test_a_child_that_is_gone_is_told(starter_model: Path) -> None:
    with Child("tests.bench.bare_process", str(starter_model), "1") as child:
        child._process.kill()
        with pytest.raises(BenchError, match="bare_process ended with code"):
            child.ask("tokenize", text="Hi")


def test_the_kind_of_change_that_is_painted_slowest_is_the_figure_and_first_runs_stand_beside_it() -> None:
    found = slowest_kind(
        {"write": [90.0, 1.0, 1.0, 2.0], "blocks": [50.0, 20.0, 21.0, 40.0], "look": [9.0, 1.0, 1.0, 1.0]}
    )
    assert found.value == 21 and found.runs == [20, 21, 40]
    assert found.more["slowest"] == "blocks"
    assert found.more["first_by_change_ms"] == {"write": 90, "blocks": 50, "look": 9}
    assert found.more["median_by_change_ms"] == {"write": 1, "blocks": 21, "look": 1}

"""A row of a comparison that a person or a disk changed: what it hides is lost, and no word of a lane."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from app.core.store_commands import KeepComparison, RemoveMessages
from tests.store.lanes import GRID, texts_of
from tests.store.shelf import shelf
from tests.store.test_comparisons import BEGUN, MADE, WHOLE, lane_chunks


@pytest.mark.parametrize("damage", ["'nonsense'", "x'FF00'", "'[1,'", "NULL", "7", "'{}'"])
def test_damage_in_a_row_costs_what_it_hides_and_no_word_of_a_lane(tmp_path: Path, damage: str) -> None:
    with shelf(tmp_path) as kept:
        kept.send(BEGUN, *lane_chunks(BEGUN), KeepComparison(WHOLE))
        before = kept.read()
        bare = replace(WHOLE, kept=(0, 1, 2), layout=MADE.layout, plan=None, prefill=None)
        for column, seen in {
            "lanes": WHOLE,
            "kept": replace(WHOLE, kept=(0, 1, 2)),
            "layout": replace(WHOLE, layout=MADE.layout),
            "plan": replace(WHOLE, plan=None),
            "prefill": replace(WHOLE, prefill=None),
        }.items():
            kept.send(KeepComparison(WHOLE))
            kept.sql(f"UPDATE comparison SET {column} = {damage}")
            assert kept.read() == replace(before, comparisons=(seen,))
        kept.sql(f"UPDATE comparison SET lanes = {damage}, kept = {damage}, layout = {damage}, plan = {damage}")
        kept.sql(f"UPDATE comparison SET baseline = 77, created_ms = 'x', parent = 'x', prefill = {damage}")
        assert kept.read() == replace(before, comparisons=(replace(bare, created_ms=0, parent=None, baseline=0),))


def test_what_is_put_together_of_lanes_leaves_the_place_of_one_that_was_deleted(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        kept.send(BEGUN, KeepComparison(WHOLE), RemoveMessages((3,), 50))
        kept.sql("UPDATE comparison SET lanes = NULL")
        assert kept.read().comparisons == (replace(WHOLE, lanes=(2, 0, 4)),)


def test_an_answer_that_its_comparison_does_not_name_is_a_version_like_others(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        kept.send(BEGUN, *lane_chunks(BEGUN))
        kept.sql(
            "UPDATE comparison SET lanes = '[2,777,4]', kept = '[0,9]', plan = '{\"waves\":[[5]],\"limits\":[1]}'"
        )
        kept.sql("UPDATE answer SET lane = 10000000000 WHERE message = 4")
        (read,) = kept.read().comparisons
        assert (read.lanes, read.kept, read.plan) == ((2, 777, 4), (0,), None)
        assert [(a.message, a.comparison, a.lane) for a in kept.read().answers] == [
            (2, 5, 0),
            (3, None, None),
            (4, None, None),
        ]
        assert texts_of(kept.read()) == ["Question 1", "lane 2", "lane 3", "lane 4"]


@pytest.mark.parametrize(
    ("column", "stored"),
    [
        ("layout", '{"columns":2,"column_setting":"top_k","row_setting":"top_p"}'),
        ("layout", '{"columns":-1,"column_setting":"top_k","row_setting":"top_p"}'),
        ("layout", '{"columns":1000000000000,"column_setting":"top_k","row_setting":"top_p"}'),
        ("layout", '{"columns":3,"column_setting":"top_j","row_setting":"top_p"}'),
        ("layout", '{"columns":3,"column_setting":"top_k","row_setting":""}'),
        ("layout", '{"columns":0,"column_setting":"top_k","row_setting":"top_p"}'),
        ("plan", '{"waves":[[0,1]],"limits":[9,9,9]}'),
        ("plan", '{"waves":[[0,1],[1,2]],"limits":[9,9,9]}'),
        ("plan", '{"waves":[[0,1,2],[]],"limits":[9,9,9]}'),
        ("plan", '{"waves":[[0,1,2]],"limits":[9,0,9]}'),
        ("plan", '{"waves":[[0,1,2]],"limits":[9,9]}'),
        ("plan", '{"waves":[[0,1,2]],"limits":[9,9,99999999999999999999]}'),
        ("prefill", '{"prompt_tokens":-1,"from_cache":0,"evaluated":1,"prefill_ms":1.0}'),
        ("prefill", '{"prompt_tokens":1,"from_cache":0,"evaluated":99999999999999999999,"prefill_ms":1.0}'),
        ("prefill", '{"prompt_tokens":1,"from_cache":0,"evaluated":1,"prefill_ms":1e300}'),
        ("prefill", '{"prompt_tokens":1,"from_cache":0,"evaluated":1,"prefill_ms":1.0,"ttft_ms":-1.0}'),
    ],
)
def test_a_value_that_can_be_read_and_cannot_be_is_none(tmp_path: Path, column: str, stored: str) -> None:
    nothing = {"layout": MADE.layout, "plan": None, "prefill": None}
    with shelf(tmp_path) as kept:
        kept.send(BEGUN, KeepComparison(WHOLE))
        kept.sql(f"UPDATE comparison SET {column} = ?", stored)
        assert kept.read().comparisons == (replace(WHOLE, **{column: nothing[column]}),)


@pytest.mark.parametrize("stored", ["[2,2,4]", "[]", str([*range(2, 30)])])
def test_lanes_that_can_be_read_and_cannot_be_are_put_together_of_the_answers(tmp_path: Path, stored: str) -> None:
    with shelf(tmp_path) as kept:
        kept.send(BEGUN, *lane_chunks(BEGUN), KeepComparison(WHOLE))
        kept.sql(f"UPDATE comparison SET lanes = '{stored}'")
        assert kept.read().comparisons == (WHOLE,)


@pytest.mark.parametrize("moment", [-1, 2**62])
def test_a_moment_that_is_no_date_is_none(tmp_path: Path, moment: int) -> None:
    with shelf(tmp_path) as kept:
        kept.send(BEGUN, KeepComparison(WHOLE))
        kept.sql(f"UPDATE comparison SET created_ms = {moment}")
        assert kept.read().comparisons == (replace(WHOLE, created_ms=0),)


def test_a_text_that_is_no_text_costs_only_what_it_says(tmp_path: Path) -> None:
    odd = replace(WHOLE, layout=replace(GRID, row_setting="top\udcffp"))
    with shelf(tmp_path) as kept:
        kept.send(BEGUN, KeepComparison(odd))
        assert kept.read().comparisons == (replace(WHOLE, layout=MADE.layout),)

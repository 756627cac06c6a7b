"""A comparison whose row in the database was changed or damaged: its lanes are there, and nothing breaks on the way."""

from __future__ import annotations

import pytest

from tests.examples import part_of
from tests.gui.compare.conftest import CompareStage
from tests.gui.compare.test_deleted_lanes import grid, places

__all__ = ["grid"]

pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")
COLUMNS = ("parent", "created_ms", "lanes", "baseline", "layout", "kept", "plan", "prefill")
VALUES = (
    "NULL",
    "-7",
    "3",
    str(2**62),
    "1e300",
    "x'00ff'",
    "'no JSON'",
    "'[]'",
    "'[0,0]'",
    "'[-1]'",
    "'[1,99999999999999999999]'",
    "'{}'",
    '\'{"columns":4,"column_setting":"temperature","row_setting":"top_p"}\'',
    '\'{"columns":-3,"column_setting":"temperature","row_setting":"top_p"}\'',
    '\'{"columns":3,"column_setting":"nothing","row_setting":"top_p"}\'',
    '\'{"columns":1000000000,"column_setting":"temperature","row_setting":"top_p"}\'',
    '\'{"waves":[],"limits":[]}\'',
    '\'{"waves":[[0,0,5]],"limits":[-1,0,1,2,3,4]}\'',
    '\'{"prompt_tokens":-4,"from_cache":9e9,"evaluated":0,"prefill_ms":1e300}\'',
)


@pytest.fixture
def stored(comparer: CompareStage, request: pytest.FixtureRequest) -> CompareStage:
    """A grid of two columns and three rows that is on disk."""
    comparer.desk.program.conversations.start()
    request.getfixturevalue("grid")
    return comparer


def read_again(comparer: CompareStage, changes: str, comparison: int) -> None:
    """Change the row of a comparison, and let its chat be read anew."""
    desk = comparer.desk
    database = desk.store.work.database.connection
    assert database is not None
    database.execute(f"UPDATE OR IGNORE comparison SET {changes} WHERE id = ?", (comparison,))
    chat = desk.program.chat.conversation_id
    desk.program.conversations.new()
    desk.program.conversations.open(chat)
    comparer.stage.settle()


def comparison_of(comparer: CompareStage) -> int:
    shown = comparer.comparing.shown
    assert shown is not None
    return shown.comparison.id


@pytest.mark.parametrize("columns", [4, -3, 10**9])
def test_a_grid_that_its_lanes_do_not_fill_is_lanes_side_by_side(stored: CompareStage, columns: int) -> None:
    layout = f'{{"columns":{columns},"column_setting":"temperature","row_setting":"top_p"}}'
    comparison = comparison_of(stored)
    read_again(stored, f"layout = '{layout}'", comparison)
    stored.stage.clicks("compared_link")
    assert {row for _column, row in places(stored).values()} == {0} and len(places(stored)) == 6
    assert stored.says(5) == "lane 5" and comparison_of(stored) == comparison


@pytest.mark.parametrize("column", COLUMNS)
def test_whatever_a_column_says_all_lanes_are_there(stored: CompareStage, column: str) -> None:
    comparison = comparison_of(stored)
    for value in part_of(VALUES, COLUMNS.index(column)):
        read_again(stored, f"{column} = {value}", comparison)
        shown = stored.desk.program.chat.shown
        turns = [*shown.known.values(), *shown.lanes.hidden.values()]
        assert {f"lane {lane}" for lane in range(6)} <= {turn.text for turn in turns}
        is_named = {turn.comparison for turn in turns} & {comparison}
        assert stored.comparing.open(comparison) == bool(is_named)
        stored.stage.settle()
        assert not is_named or len(places(stored)) == 6
        stored.comparing.close()


def test_a_message_that_does_not_say_itself_that_it_is_a_lane_is_none(stored: CompareStage) -> None:
    shown = stored.comparing.shown
    assert shown is not None
    lanes = [shown.question.message, *shown.comparison.lanes[1:]]
    read_again(stored, f"lanes = '{lanes}'", shown.comparison.id)
    stored.stage.clicks("compared_link")
    assert "deleted_lane_a" in places(stored) and stored.says(1) == "lane 1"

from __future__ import annotations

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDoubleSpinBox, QProgressBar

from app.core.commands import Cancel, Compare, StopLane
from app.gui.chat import footer
from app.gui.compare import lane_feed
from app.gui.compare.lane_mark import LaneLine, LaneMark
from app.gui.compare.prompt_band import saved_words
from app.gui.widgets.fixed_text import FixedText
from tests.gui.compare.conftest import CompareStage

pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")


def test_every_lane_streams_into_a_column_of_its_own(comparer: CompareStage) -> None:
    comparer.asked().begun("a", "b").planned()
    comparer.writes(0, "The **sky** ")
    comparer.writes(1, "A cow")
    comparer.writes(0, "is blue")
    assert (comparer.says(0), comparer.says(1)) == ("The sky is blue", "A cow")
    assert comparer.stage.sees("compare_lanes")
    assert (comparer.reads("lane_name_a"), comparer.reads("lane_name_b")) == ("Temperature 0", "Temperature 0.4")
    assert comparer.reads("lane_state_a") == "Writes"


def test_how_the_prompt_is_read_and_what_that_saves_is_said(comparer: CompareStage) -> None:
    comparer.asked().begun("a", "b", "c")
    comparer.lanes.prompt(1482, 0, done=500, ms=4000)
    comparer.stage.settle()
    bar = comparer.stage.find_as(QProgressBar, "compare_prefill_progress")
    assert comparer.is_there("compare_prefill_progress") and (bar.value(), bar.maximum()) == (500, 1482)
    assert comparer.reads("compare_prefill_text") == "Reading the prompt once, for all lanes: 500 of 1,482 tokens"
    comparer.lanes.reads(1482, ms=11_300)
    comparer.lanes.plan()
    comparer.stage.settle()
    saved = "Prompt read once for all 3 lanes: 1,482 tokens in 11.3 s. That saved about 23 s"
    assert comparer.reads("compare_prefill_text") == saved
    assert not comparer.is_there("compare_prefill_progress")
    comparer.writes(0, "one two", count=2)
    comparer.page.run_view._show_figures()
    assert comparer.reads("compare_cells_text") == "Cells: prompt 1,482 + lanes 1", "the token drawn last is in none"
    comparer.writes(1, "one")
    comparer.lanes.end(9_000.0)
    comparer.stage.settle()
    saved = "Prompt read once for both lanes: 1,482 tokens in 9.0 s. That saved about 9.0 s"
    assert comparer.reads("compare_prefill_text") == saved


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ((), "2 lanes that differ in Temperature: 0.4 · 0.8"),
        (("lane_top_p_box",), "2 lanes that differ in Temperature · Top-p"),
    ],
)
def test_what_was_compared_is_said_in_plain_words(
    comparer: CompareStage, changed: tuple[str, ...], said: str
) -> None:
    comparer.asked().opened()
    for letter in "eda":
        comparer.stage.clicks(f"set_up_remove_{letter}")
    for box in changed:
        comparer.stage.clicks("set_up_edit_b")
        comparer.stage.find_as(QDoubleSpinBox, box).setValue(0.75)
        comparer.stage.clicks("use_lane_settings_button")
    comparer.stage.clicks("compare_start_button")
    comparer.stage.settle()
    assert comparer.reads("compare_compared_text") == said


def test_what_the_plan_and_the_seed_mean_is_said_in_words(comparer: CompareStage) -> None:
    comparer.asked().begun().planned(most=2)
    said = comparer.reads("compare_plan_text")
    assert said.startswith("The lanes run in 3 waves, at most 2 at once: A, B, then C, D, then E. Same seed (")
    assert said.endswith("): what differs is the setting, up to rounding.")
    hint = comparer.stage.find("compare_plan_text").toolTip()
    assert "): all lanes draw the same numbers, so what differs is the setting, up to rounding" in hint
    assert comparer.reads("lane_state_a") == "Begins"
    assert comparer.reads("lane_state_c") == "Waits for its turn"


def test_lanes_that_run_one_after_another_and_get_fewer_tokens_are_told_so(comparer: CompareStage) -> None:
    comparer.asked().begun("a", "b")
    comparer.lanes.prompt()
    comparer.lanes.plan(limit=1213, how="one_by_one", lowered=True, most=1)
    comparer.stage.settle()
    said = comparer.reads("compare_plan_text")
    assert said.startswith("The lanes run one after another, each from the saved prompt.")
    assert "So that all of them fit, a lane gets at most 1,213 tokens." in said


def test_one_lane_is_stopped_and_the_others_go_on(comparer: CompareStage) -> None:
    comparer.asked().begun("a", "b").planned()
    comparer.writes(0, "One")
    comparer.stage.clicks("stop_lane_b")
    request = comparer.engine.all(Compare)[-1].request
    assert comparer.engine.all(StopLane) == [StopLane(request, 1)]
    comparer.lanes.finish(1, "cancelled")
    comparer.stage.settle()
    assert comparer.reads("lane_state_b") == "Stopped by you"
    assert not comparer.is_there("stop_lane_b") and comparer.is_there("stop_lane_a")


def test_all_lanes_are_stopped_by_button_and_by_escape(comparer: CompareStage) -> None:
    comparer.asked().begun("a", "b").planned()
    request = comparer.engine.all(Compare)[-1].request
    comparer.stage.clicks("compare_stop_button")
    assert comparer.engine.all(Cancel) == [Cancel(request)]
    comparer.stage.triggers("stop_action")
    assert comparer.engine.all(Cancel) == [Cancel(request), Cancel(request)]


def test_another_lane_is_made_the_baseline(comparer: CompareStage) -> None:
    comparer.asked().begun("a", "b").planned()
    assert comparer.comparing.shown is not None and comparer.comparing.shown.comparison.baseline == 1
    comparer.stage.clicks("pin_lane_a")
    assert comparer.comparing.shown.comparison.baseline == 0
    assert "baseline" in comparer.text(0).accessibleName() and "baseline" not in comparer.text(1).accessibleName()


def test_a_lane_that_is_kept_is_the_answer_in_the_chat(comparer: CompareStage) -> None:
    comparer.asked(answer="The old one").begun("a", "b").planned()
    comparer.writes(0, "The **new** one")
    comparer.ends()
    comparer.stage.clicks("keep_lane_a")
    assert comparer.stage.sees("transcript") and not comparer.is_there("compare_page")
    turns = comparer.desk.program.chat.turns
    assert [turn.text for turn in turns] == ["Why is the sky blue?", "The **new** one"]
    assert "The **new** one" in comparer.stage.transcript_text()


def test_the_text_of_a_lane_is_copied(comparer: CompareStage) -> None:
    comparer.asked().begun("a", "b").planned()
    comparer.writes(1, "Some **bold** words")
    comparer.lanes.finish(1)
    comparer.stage.settle()
    comparer.stage.clicks("copy_lane_b")
    assert QGuiApplication.clipboard().text() == "Some **bold** words"


def test_a_comparison_is_run_again_beside_what_is_there(comparer: CompareStage) -> None:
    comparer.asked().begun("a", "b").planned()
    comparer.writes(0, "first")
    comparer.ends()
    assert not comparer.is_there("compare_stop_button")
    assert comparer.stage.find("compare_again_button").isEnabled()
    comparer.stage.clicks("compare_again_button")
    comparer.stage.settle()
    first, second = comparer.engine.all(Compare)
    assert first.lanes == second.lanes and first.request != second.request
    comparer.planned().writes(0, "second")
    assert comparer.says(0) == "second"


def test_the_figures_of_a_lane_are_live_and_then_those_of_all_of_it(comparer: CompareStage) -> None:
    comparer.asked().begun("a", "b").planned()
    comparer.lanes.write(0, "some words", 30, step_ms=10)
    comparer.stage.settle()
    comparer.page.run_view._show_figures()
    assert comparer.reads("lane_rate_a") == "100 tok/s"
    assert (comparer.reads("lane_gap_a"), comparer.reads("lane_tokens_a")) == ("p50 10 ms", "30 tokens")
    comparer.lanes.finish(0, "length")
    comparer.stage.settle()
    assert (comparer.reads("lane_rate_a"), comparer.reads("lane_state_a")) == ("77.6 tok/s", "Length limit")
    hint = comparer.stage.find("lane_rate_a").property("hint")
    assert "Time to the first token: 112 ms (shared: the prompt was read once for all lanes)" in hint


def test_lanes_out_of_view_grow_once_somebody_scrolls_there(comparer: CompareStage) -> None:
    comparer.asked().begun().planned()
    area = comparer.page.run_view.area
    last = comparer.page.run_view.columns[-1]
    assert not area.is_seen(last)
    comparer.writes(4, "far")
    comparer.writes(4, " away")
    assert last.text.turns.blocks[0].text == ""
    area.horizontalScrollBar().setValue(area.horizontalScrollBar().maximum())
    comparer.quiet()
    assert last.text.turns.blocks[0].text == "far away"


def test_what_is_written_while_people_are_in_the_chat_is_there_when_they_come_back(comparer: CompareStage) -> None:
    comparer.asked().begun("a", "b").planned()
    comparer.writes(0, "before")
    comparer.stage.clicks("chat_button")
    comparer.writes(0, " after")
    comparer.writes(1, "new")
    comparer.ends()
    comparer.stage.clicks("compare_button")
    comparer.quiet()
    assert (comparer.says(0), comparer.says(1)) == ("before after", "new")


def test_from_five_lanes_on_scrolling_ends_where_a_lane_begins(comparer: CompareStage) -> None:
    comparer.asked().begun().planned()
    area = comparer.page.run_view.area
    bar = area.horizontalScrollBar()
    assert bar.maximum() > 0
    bar.setValue(bar.maximum() // 5)
    comparer.stage.bot.waitUntil(lambda: not area._snapping.isActive(), timeout=60_000)
    edges = [column.x() for column in comparer.page.run_view.columns]
    assert bar.value() in (*edges, bar.maximum())


def test_stop_that_comes_too_late_runs_nothing_again(comparer: CompareStage) -> None:
    comparer.asked().begun("a", "b").planned()
    stop = comparer.stage.find("compare_stop_button")
    place, again = stop.geometry(), comparer.stage.find("compare_again_button")
    assert not again.isEnabled()
    stop.setFocus()
    comparer.writes(0, "x")
    comparer.ends()
    assert not again.geometry().intersects(place)
    assert comparer.stage.window.focusWidget() is comparer.text(0)


def test_lanes_take_turns_where_all_of_them_would_hold_the_window_up(
    comparer: CompareStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    comparer.asked().begun("a", "b", "c").planned()
    for lane in range(3):
        comparer.writes(lane, "one")
    monkeypatch.setattr(lane_feed, "BUDGET_NS", 0)
    for lane in range(3):
        comparer.lanes.write(lane, " two")
    comparer.stage.settle()
    comparer.page.run_view._feed.flush()
    assert [comparer.says(lane) for lane in range(3)] == ["one two", "one", "one"]
    comparer.quiet()
    assert [comparer.says(lane) for lane in range(3)] == ["one two"] * 3


def test_a_lane_that_is_written_shows_its_end_and_one_that_is_opened_its_beginning(comparer: CompareStage) -> None:
    comparer.asked().begun("a", "b").planned()
    comparer.writes(0, "A line.\n\n" * 60)
    assert comparer.text(0).is_at_end
    comparer.ends()
    comparer.stage.clicks("compare_close_button")
    comparer.stage.clicks("compared_link")
    assert comparer.text(0).verticalScrollBar().value() == 0
    assert comparer.text(0).verticalScrollBar().maximum() > 0


def test_up_to_four_lanes_share_the_width(comparer: CompareStage) -> None:
    comparer.asked().begun("a", "b", "c", "d").planned()
    area = comparer.page.run_view.area
    assert area.horizontalScrollBar().maximum() == 0
    assert len({column.width() for column in comparer.page.run_view.columns}) == 1
    assert all(area.is_seen(column) for column in comparer.page.run_view.columns)


def test_of_a_prompt_with_a_cached_beginning_words_and_bar_say_the_same(comparer: CompareStage) -> None:
    comparer.asked().begun("a", "b")
    comparer.lanes.prompt(1482, 400, done=500)
    comparer.stage.settle()
    bar = comparer.stage.find_as(QProgressBar, "compare_prefill_progress")
    assert (bar.value(), bar.maximum()) == (100, 1082)
    said = "Reading the prompt once, for all lanes: 100 of 1,082 tokens (and 400 from the cache)"
    assert comparer.reads("compare_prefill_text") == said


def test_what_one_prefill_saves_is_told_as_roughly_as_it_is_known() -> None:
    said = [saved_words(10, 0, ms, 2).rpartition("about ")[2] for ms in (300, 9_940, 31_540, 119_000, 315_000)]
    assert said == ["300 ms", "9.9 s", "32 s", "119 s", "5 min"]


def test_a_lane_s_settings_stay_whole_where_its_column_is_narrow(comparer: CompareStage) -> None:
    comparer.asked().opened()
    comparer.stage.clicks("set_up_edit_b")
    comparer.stage.find_as(QDoubleSpinBox, "lane_top_p_box").setValue(0.75)
    comparer.stage.clicks("use_lane_settings_button")
    comparer.stage.clicks("compare_start_button")
    comparer.stage.settle()
    column = comparer.page.run_view.columns[1]
    name = comparer.stage.find_as(FixedText, "lane_name_b")
    assert comparer.reads("lane_name_b") == "Temperature 0.4 · Top-p 0.75"
    seen: set[str] = set()
    for width in range(420, 100, -10):
        column.setFixedWidth(width)
        comparer.stage.settle()
        seen.add(name.shown)
        assert "0.75" in name.shown or comparer.reads("lane_shared_b").startswith("top-p 0.75")
    assert {"Temperature 0.4 · Top-p 0.75", "T 0.4 · top-p 0.75"} <= seen


def test_the_cells_of_a_grid_have_their_letters(comparer: CompareStage) -> None:
    comparer.asked().opened()
    comparer.stage.clicks("start_grid")
    comparer.stage.clicks("compare_start_button")
    comparer.stage.settle()
    for column in comparer.page.run_view.columns:
        shown = [*column.findChildren(LaneMark), *column.findChildren(LaneLine)]
        assert len(shown) == 2 and all(each.isVisibleTo(column) for each in shown)


def test_a_lane_s_tokens_are_told_in_fewer_letters_where_there_is_less_room(comparer: CompareStage) -> None:
    comparer.asked().begun("a", "b").planned()
    comparer.writes(0, "words", 251)
    comparer.page.run_view._show_figures()
    tokens = comparer.stage.find_as(FixedText, "lane_tokens_a")
    assert tokens.shown == "251 tokens"
    for width in range(400, 150, -10):
        comparer.page.run_view.columns[0].setFixedWidth(width)
        comparer.stage.bot.waitUntil(lambda: tokens.shown in ("251 tokens", "251 tok"), timeout=60_000)
    assert tokens.accessibleName() == "251 tokens"


def test_a_lane_is_used_and_not_gone_on_with(comparer: CompareStage) -> None:
    comparer.asked().begun("a", "b").planned()
    comparer.writes(0, "x")
    comparer.ends()
    assert comparer.stage.find("keep_lane_a").accessibleName() == "Use this answer"
    comparer.stage.clicks("keep_lane_a")
    kept = comparer.desk.program.chat.turns[-1]
    assert "TTFT 112 ms (shared with the other lanes)" in footer.line(kept)


def test_a_prompt_from_right_to_left_stands_at_the_right(comparer: CompareStage) -> None:
    comparer.desk.program.chat.send("שלום עולם")
    comparer.desk.answer("x")
    comparer.begun("a", "b")
    words = comparer.stage.find("compare_prompt_text")
    picture = words.grab().toImage()
    ground = picture.pixelColor(0, 0)
    inked = [x for x in range(picture.width()) for y in range(picture.height()) if picture.pixelColor(x, y) != ground]
    assert min(inked) > picture.width() // 2

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QDoubleSpinBox, QLineEdit, QPlainTextEdit, QPushButton, QSlider

from app.core.chat import ChatPrompt
from app.core.commands import Compare
from app.core.comparison import LETTERS, Layout
from app.core.sampling import SamplingSettings
from app.gui.chat.composer import Written
from app.gui.chat.pasted import Pasted
from tests.gui.compare.conftest import CompareStage

pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")


def asked_lanes(comparer: CompareStage) -> tuple[SamplingSettings, ...]:
    """Press Start, and return what the engine is asked for."""
    comparer.stage.clicks("compare_start_button")
    comparer.stage.settle()
    return comparer.engine.all(Compare)[-1].lanes


def asked_text(comparer: CompareStage) -> str:
    prompt = comparer.engine.all(Compare)[-1].prompt
    assert isinstance(prompt, ChatPrompt)
    return prompt.messages[-1].text


def test_one_click_compares_the_last_question_at_five_temperatures(comparer: CompareStage) -> None:
    comparer.asked("Why is the sky blue?").opened()
    assert comparer.reads("compare_question_text") == "Why is the sky blue?"
    lanes = asked_lanes(comparer)
    assert [each.temperature for each in lanes] == [0.0, 0.4, 0.8, 1.2, 1.6]
    assert len({each.seed for each in lanes}) == 1 and lanes[0].seed is not None
    assert {each.max_tokens for each in lanes} == {256}
    assert asked_text(comparer) == "Why is the sky blue?"
    assert comparer.is_there("compare_lanes")


@pytest.mark.parametrize(
    ("card", "name", "values"),
    [
        ("start_top_p", "top_p", [0.5, 0.8, 0.9, 0.95, 1.0]),
        ("start_top_k", "top_k", [1, 5, 20, 40, 100, 0]),
        ("start_min_p", "min_p", [0.0, 0.02, 0.05, 0.1, 0.3]),
        ("start_greedy", "temperature", [0.0, 0.8]),
    ],
)
def test_a_quick_start_fills_the_list(comparer: CompareStage, card: str, name: str, values: list[float]) -> None:
    comparer.asked().opened()
    comparer.stage.clicks(card)
    assert comparer.stage.find_as(QPushButton, card).isChecked()
    assert [getattr(each, name) for each in asked_lanes(comparer)] == values


def test_a_lane_that_was_removed_comes_back_where_it_was(comparer: CompareStage) -> None:
    comparer.asked().opened()
    assert not comparer.is_there("restore_lane_button")
    comparer.stage.clicks("set_up_remove_c")
    assert comparer.reads("removed_lane_text") == "Removed: Temperature 0.8"
    comparer.stage.clicks("set_up_remove_a")
    assert comparer.reads("removed_lane_text") == "Removed: Temperature 0"
    comparer.stage.find_as(QDoubleSpinBox, "compare_max_tokens_box").setValue(64)
    comparer.stage.clicks("restore_lane_button")
    comparer.stage.clicks("restore_lane_button")
    assert not comparer.is_there("restore_lane_button") and comparer.reads("removed_lane_text") == ""
    assert comparer.stage.find_as(QPushButton, "start_temperature").isChecked()
    assert comparer.page.setup_view.draft.baseline == 2
    lanes = asked_lanes(comparer)
    assert [each.temperature for each in lanes] == [0.0, 0.4, 0.8, 1.2, 1.6]
    assert {each.max_tokens for each in lanes} == {64}


def test_the_cells_of_a_grid_have_the_limit_that_was_chosen_before_and_are_there_at_once(
    comparer: CompareStage,
) -> None:
    comparer.asked().opened()
    comparer.stage.find_as(QDoubleSpinBox, "compare_max_tokens_box").setValue(64)
    comparer.stage.clicks("start_grid")
    assert comparer.page.setup_view.draft.lanes.is_grid, "what Start would run is what is marked"
    comparer.stage.find_as(QLineEdit, "grid_columns_values").setText("0.2 0.9")
    assert {each.max_tokens for each in comparer.page.setup_view.draft.settings} == {64}
    assert [each.temperature for each in asked_lanes(comparer)[:2]] == [0.2, 0.9]


def test_a_baseline_that_comes_back_leaves_the_one_that_was_pinned_since(comparer: CompareStage) -> None:
    comparer.asked().opened()
    draft = comparer.page.setup_view.draft
    gone = draft.baseline
    comparer.stage.clicks(f"set_up_remove_{LETTERS[gone].lower()}")
    comparer.stage.clicks("set_up_pin_a")
    comparer.stage.clicks("restore_lane_button")
    assert draft.baseline == 0 != gone


def test_a_cell_that_was_removed_makes_the_grid_whole_again(comparer: CompareStage) -> None:
    comparer.asked().opened()
    comparer.stage.clicks("start_grid")
    draft = comparer.page.setup_view.draft
    before = draft.lanes
    comparer.stage.clicks("set_up_remove_b")
    assert not draft.lanes.is_grid
    comparer.stage.clicks("restore_lane_button")
    assert draft.lanes == before


def test_no_lane_comes_back_where_other_lanes_took_its_place(comparer: CompareStage) -> None:
    comparer.asked().opened()
    comparer.stage.clicks("set_up_remove_c")
    for _ in range(4):
        comparer.stage.clicks("add_lane_button")
    assert len(comparer.page.setup_view.draft.settings) == 8
    assert not comparer.is_there("restore_lane_button")


def test_how_many_seeds_is_chosen_in_the_card_of_the_seeds(comparer: CompareStage) -> None:
    comparer.asked().opened()
    card, box = comparer.stage.find("start_seeds"), comparer.stage.find("compare_seeds_box")
    assert card.isAncestorOf(box)
    assert comparer.place("start_seeds").contains(comparer.place("compare_seeds_box"))
    QTest.mouseClick(box, Qt.MouseButton.LeftButton)
    assert not comparer.stage.find_as(QPushButton, "start_seeds").isChecked(), "the box is not the button"


def test_the_same_settings_with_as_many_seeds_as_are_wanted(comparer: CompareStage) -> None:
    comparer.asked().opened()
    comparer.stage.clicks("start_seeds")
    comparer.stage.find_as(QDoubleSpinBox, "compare_seeds_box").setValue(6)
    assert comparer.reads("compare_reason") == "The seeds differ, so other numbers are drawn in each lane."
    lanes = asked_lanes(comparer)
    assert (len(lanes), len({each.seed for each in lanes})) == (6, 6)
    assert len({each.temperature for each in lanes}) == 1


def test_a_grid_of_two_settings_becomes_small_multiples(comparer: CompareStage) -> None:
    comparer.asked().opened()
    comparer.stage.clicks("start_grid")
    columns = comparer.stage.find_as(QLineEdit, "grid_columns_values")
    columns.setFocus()
    columns.selectAll()
    QTest.keyClicks(columns, "0, 0.7 1,5")
    rows = comparer.stage.find_as(QComboBox, "grid_rows_box")
    rows.setCurrentIndex(rows.findData("min_p"))
    rows.activated.emit(rows.currentIndex())
    lanes = asked_lanes(comparer)
    assert [(each.temperature, each.min_p) for each in lanes[:4]] == [(0.0, 0.0), (0.7, 0.0), (1.5, 0.0), (0.0, 0.05)]
    assert len(lanes) == 12
    assert comparer.comparing.shown is not None
    assert comparer.comparing.shown.comparison.layout == Layout(3, "temperature", "min_p")
    assert comparer.reads("lane_name_b") == "T 0.7 · min-p off"
    shown = comparer.page.run_view.columns
    assert shown[0].y() == shown[2].y() < shown[3].y() and shown[0].x() == shown[3].x()


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ("", "Temperature: write one to four different numbers from 0 to 5."),
        ("0 1 2 3 4", "Temperature: write one to four different numbers from 0 to 5."),
        ("0 zero", "Temperature: write one to four different numbers from 0 to 5."),
        ("1 1", "Temperature: write one to four different numbers from 0 to 5."),
        ("6", "Temperature: write one to four different numbers from 0 to 5."),
    ],
)
def test_a_grid_that_is_none_says_why(comparer: CompareStage, values: str, words: str) -> None:
    comparer.asked().opened()
    comparer.stage.clicks("start_grid")
    line = comparer.stage.find_as(QLineEdit, "grid_columns_values")
    line.setText("0.3 0.6")
    before = comparer.page.setup_view.draft.lanes
    assert [each.temperature for each in before.settings[:2]] == [0.3, 0.6]
    line.setText(values)
    assert comparer.reads("grid_problem") == words
    assert comparer.page.setup_view.draft.lanes == before, "what Start would run is what stands in the list"


def test_the_two_settings_of_a_grid_must_differ(comparer: CompareStage) -> None:
    comparer.asked().opened()
    comparer.stage.clicks("start_grid")
    box = comparer.stage.find_as(QComboBox, "grid_rows_box")
    box.setCurrentIndex(box.findData("temperature"))
    box.activated.emit(box.currentIndex())
    assert comparer.reads("grid_problem") == "Choose two different settings."


def test_lanes_are_added_duplicated_and_removed_within_two_to_eight(comparer: CompareStage) -> None:
    comparer.asked().opened()
    comparer.stage.clicks("set_up_duplicate_b")
    assert comparer.reads("set_up_name_c") == "Temperature 0.4"
    assert comparer.reads("set_up_shared_c").startswith("Will write the same as lane B")
    assert not comparer.reads("set_up_shared_b").startswith("Will write")
    comparer.stage.clicks("add_lane_button")
    comparer.stage.clicks("add_lane_button")
    assert comparer.is_there("set_up_lane_h")
    seeds = [each.seed for each in comparer.page.setup_view.draft.settings[-3:]]
    assert len(set(seeds)) == 3 and not comparer.reads("set_up_shared_h").startswith("Will write")
    assert not comparer.stage.find("add_lane_button").isEnabled()
    assert not comparer.stage.find("set_up_duplicate_a").isEnabled()
    for letter in "hgfedc":
        comparer.stage.clicks(f"set_up_remove_{letter}")
    assert not comparer.stage.find("set_up_remove_a").isEnabled()
    assert [each.temperature for each in asked_lanes(comparer)] == [0.0, 0.4]


def test_the_baseline_stays_with_its_lane(comparer: CompareStage) -> None:
    comparer.asked().opened()
    comparer.stage.clicks("set_up_pin_d")
    comparer.stage.clicks("set_up_remove_a")
    assert comparer.page.setup_view.draft.lanes.baseline == 2
    comparer.stage.clicks("set_up_duplicate_a")
    assert comparer.page.setup_view.draft.lanes.baseline == 3
    asked_lanes(comparer)
    assert comparer.comparing.shown is not None and comparer.comparing.shown.comparison.baseline == 3


def test_a_lane_gets_settings_of_its_own(comparer: CompareStage) -> None:
    comparer.asked().opened()
    comparer.stage.clicks("set_up_edit_b")
    comparer.stage.find_as(QSlider, "lane_repeat_penalty_slider").setValue(70)
    comparer.stage.find_as(QDoubleSpinBox, "lane_top_k_box").setValue(7)
    comparer.stage.clicks("use_lane_settings_button")
    lanes = asked_lanes(comparer)
    assert (lanes[1].repeat_penalty, lanes[1].top_k) == (1.2, 7)
    assert (lanes[0].repeat_penalty, lanes[0].top_k) == (1.0, 40)
    assert comparer.reads("lane_name_b") == "Temperature 0.4 · Top-k 7 · Repeat penalty 1.2"


def test_a_lane_takes_a_preset_and_keeps_seed_and_limit(comparer: CompareStage) -> None:
    comparer.asked().opened()
    comparer.stage.clicks("set_up_edit_a")
    box = comparer.stage.find_as(QComboBox, "lane_preset_box")
    box.setCurrentIndex(box.findData("Wild"))
    box.activated.emit(box.currentIndex())
    comparer.stage.clicks("use_lane_settings_button")
    lanes = asked_lanes(comparer)
    assert (lanes[0].temperature, lanes[0].top_k, lanes[0].max_tokens) == (1.6, 0, 256)
    assert lanes[0].seed == lanes[1].seed


def test_settings_that_are_cancelled_change_nothing(comparer: CompareStage) -> None:
    comparer.asked().opened()
    before = comparer.page.setup_view.draft.settings
    comparer.stage.clicks("set_up_edit_a")
    comparer.stage.find_as(QDoubleSpinBox, "lane_top_k_box").setValue(7)
    comparer.stage.clicks("cancel_lane_settings_button")
    assert comparer.page.setup_view.draft.settings == before


def test_all_lanes_get_the_same_longest_answer(comparer: CompareStage) -> None:
    comparer.asked().opened()
    comparer.stage.find_as(QDoubleSpinBox, "compare_max_tokens_box").setValue(64)
    assert {each.max_tokens for each in asked_lanes(comparer)} == {64}


def test_what_is_written_in_the_chat_is_the_new_question(comparer: CompareStage) -> None:
    comparer.asked("Old?")
    comparer.stage.types("And the sea?")
    comparer.opened()
    editor = comparer.stage.find_as(QPlainTextEdit, "compare_question_editor")
    assert editor.isVisible() and editor.toPlainText() == "And the sea?"
    QTest.keyClicks(editor, " ")
    editor.setPlainText("And the green sea?")
    assert comparer.stage.composer.toPlainText() == "And the green sea?"
    asked_lanes(comparer)
    assert asked_text(comparer) == "And the green sea?"
    assert comparer.stage.composer.toPlainText() == ""
    assert [turn.text for turn in comparer.desk.program.chat.turns] == ["Old?", "It scatters.", "And the green sea?"]


def test_the_question_of_the_chat_can_be_compared_although_something_is_written(comparer: CompareStage) -> None:
    comparer.asked("Old?")
    comparer.stage.types("And the sea?")
    comparer.opened()
    comparer.stage.clicks("compare_this_question")
    asked_lanes(comparer)
    assert asked_text(comparer) == "Old?"
    assert comparer.stage.composer.toPlainText() == "And the sea?"


def test_without_a_prompt_start_says_what_is_missing(comparer: CompareStage) -> None:
    comparer.opened()
    assert not comparer.start.isEnabled()
    assert comparer.reads("compare_reason") == "Write a prompt first: all lanes answer it."
    assert comparer.stage.window.focusWidget() is comparer.stage.find("compare_question_editor")
    QTest.keyClicks(comparer.stage.window.focusWidget(), "Why?")
    assert comparer.start.isEnabled()
    asked_lanes(comparer)
    assert asked_text(comparer) == "Why?"


def test_while_an_answer_is_written_start_says_so(comparer: CompareStage) -> None:
    comparer.stage.sends("Why?")
    comparer.engine.prompt()
    comparer.engine.write("Because")
    comparer.stage.settle()
    comparer.opened()
    comparer.stage.clicks("compare_new_question")
    QTest.keyClicks(comparer.stage.find("compare_question_editor"), "And the sea?")
    assert comparer.reads("compare_reason").startswith("An answer is being written in this chat")
    comparer.engine.finish()
    comparer.stage.settle()
    assert comparer.start.isEnabled()


def test_another_comparison_is_shown_where_one_runs(comparer: CompareStage) -> None:
    comparer.asked().begun("a", "b").planned()
    comparer.stage.clicks("compare_new_button")
    assert comparer.reads("compare_reason").startswith("Another comparison is running")
    assert not comparer.start.isEnabled()
    comparer.stage.clicks("show_running_button")
    assert comparer.is_there("compare_lanes")


def test_a_new_comparison_begins_with_the_lanes_of_the_last_one(comparer: CompareStage) -> None:
    comparer.asked().begun("a", "b").planned()
    comparer.writes(0, "x")
    comparer.ends()
    comparer.page.setup_view.draft.use_start("top_k")  # as if it had been opened from the chat, long after
    comparer.stage.clicks("compare_new_button")
    assert [each.temperature for each in comparer.page.setup_view.draft.settings] == [0.0, 0.4]
    assert comparer.start.isEnabled()


def test_the_list_follows_the_settings_of_the_chat_until_it_is_changed(comparer: CompareStage) -> None:
    comparer.asked().opened()
    comparer.desk.program.sampling.change(top_k=11)
    assert {each.top_k for each in comparer.page.setup_view.draft.settings} == {11}
    comparer.stage.clicks("set_up_remove_a")
    comparer.desk.program.sampling.change(top_k=12)
    assert {each.top_k for each in comparer.page.setup_view.draft.settings} == {11}


def test_pasted_texts_are_part_of_the_question_and_are_changed_in_the_chat(comparer: CompareStage) -> None:
    comparer.asked("Old?")
    pasted = "A long text. " * 400
    comparer.stage.window.parts.chat_page.composer.write(Written("Sum it up.", (Pasted(pasted),)))
    comparer.opened()
    editor = comparer.stage.find_as(QPlainTextEdit, "compare_question_editor")
    assert editor.isReadOnly()
    asked_lanes(comparer)
    assert asked_text(comparer) == f"{pasted}\n\nSum it up."
    assert comparer.stage.composer.toPlainText() == ""

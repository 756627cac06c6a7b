"""What people know of a comparison before it begins, and what their keyboard does there."""

from __future__ import annotations

from array import array

import msgspec
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDoubleSpinBox, QLineEdit, QPushButton

from app.core.commands import Compare, Render
from app.core.devices import MAIN_MEMORY, MainMemory
from app.core.events import Rendered
from app.core.metrics import DeviceMemory
from app.core.model import CacheSizes
from app.gui.widgets.fixed_text import FixedText
from app.services.machine import Machine
from tests.gui.compare.conftest import CompareStage
from tests.gui.compare.test_setting_up import asked_text

pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")


def test_control_and_enter_in_the_prompt_begins(comparer: CompareStage) -> None:
    comparer.opened()
    editor = comparer.stage.find("compare_question_editor")
    QTest.keyClick(editor, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert comparer.engine.all(Compare) == []
    QTest.keyClicks(editor, "Why?")
    QTest.keyClick(editor, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    comparer.stage.settle()
    assert asked_text(comparer) == "Why?"


def test_arrows_move_the_keyboard_and_leave_the_chosen_card_marked(comparer: CompareStage) -> None:
    comparer.asked().opened()
    chosen, beside = (comparer.stage.find_as(QPushButton, f"start_{name}") for name in ("temperature", "top_p"))
    chosen.setFocus()
    comparer.presses(Qt.Key.Key_Right)
    assert comparer.stage.window.focusWidget() is beside
    assert chosen.isChecked() and not beside.isChecked()
    with_keyboard, alone = chosen.grab().toImage(), beside.grab().toImage()
    comparer.presses(Qt.Key.Key_Left)
    assert chosen.grab().toImage() != with_keyboard, "where the keyboard is looks otherwise, on a chosen card, too"
    assert beside.grab().toImage() != alone
    corner = chosen.grab().toImage().copy(chosen.width() - 26, 10, 16, 12)
    inks = {corner.pixelColor(x, y).rgb() for x in range(corner.width()) for y in range(corner.height())}
    assert len(inks) > 1, "its tick stays where the keyboard is"


def test_a_lane_with_room_is_named_whole(comparer: CompareStage) -> None:
    comparer.asked().opened()
    comparer.stage.clicks("set_up_edit_b")
    for setting, value in (("top_k", 41), ("top_p", 0.75), ("min_p", 0.03)):
        comparer.stage.find_as(QDoubleSpinBox, f"lane_{setting}_box").setValue(value)
    comparer.stage.clicks("use_lane_settings_button")
    comparer.stage.settle()
    name = comparer.stage.find_as(FixedText, "set_up_name_b")
    comparer.stage.window.resize(1280, 800)
    comparer.stage.bot.waitUntil(lambda: name.shown == comparer.reads("set_up_name_b"), timeout=60_000)
    assert comparer.reads("set_up_name_b") == "Temperature 0.4 · Top-k 41 · Top-p 0.75 · Min-p 0.03"


def test_the_cells_of_a_grid_are_named_by_both_values_and_told_where_they_are_the_same(
    comparer: CompareStage,
) -> None:
    comparer.asked().opened()
    comparer.stage.clicks("start_grid")
    line = comparer.stage.find_as(QLineEdit, "grid_columns_values")
    assert "0" not in line.text().split() and comparer.reads("grid_problem") == ""
    cards = [comparer.stage.find_as(QPushButton, f"start_{name}") for name in ("temperature", "grid")]
    assert [card.isChecked() for card in cards] == [False, True], "what Start would run is what is marked"
    assert comparer.reads("set_up_name_a") == "T 0.4 · top-p 0.5"
    line.setFocus()
    line.selectAll()
    QTest.keyClicks(line, "0 1")
    said = "At temperature 0 Top-p changes nothing, so the cells with it will be the same."
    assert comparer.reads("grid_problem") == said
    assert [card.isChecked() for card in cards] == [False, True]
    assert comparer.reads("set_up_name_a") == "T 0 · top-p 0.5"
    assert comparer.reads("set_up_name_c") == "T 0 · top-p 0.8"
    assert comparer.reads("set_up_shared_c").startswith("Will write the same as lane A")


def test_what_the_lanes_will_take_is_said_before_they_begin(comparer: CompareStage) -> None:
    comparer.asked("Why?").opened()
    asked = comparer.engine.all(Render)[-1]
    assert [each.text for each in asked.prompt.messages] == ["Why?"]
    assert comparer.reads("compare_outlook") == ""
    cells = comparer.desk.program.session.model
    assert cells is not None
    comparer.engine.say(Rendered(asked.request, "", array("i", range(40)).tobytes(), ()))
    comparer.stage.settle()
    begins = f"Prompt: 40 of {cells.context:,} cells; 5 lanes × 256 tokens."
    assert comparer.reads("compare_outlook") == f"{begins} All 5 lanes run at once."
    comparer.stage.find_as(QDoubleSpinBox, "compare_max_tokens_box").setValue(cells.context // 2 - 40)
    assert "The lanes run in 3 waves, at most 2 at once: A, B, then C, D, then E." in comparer.reads(
        "compare_outlook"
    )
    comparer.stage.find_as(QDoubleSpinBox, "compare_max_tokens_box").setValue(0)
    most = f"{(cells.context - 40) // 5:,}"
    assert comparer.reads("compare_outlook").endswith(f"So that all of them fit, a lane gets at most {most} tokens.")


@pytest.mark.parametrize(("free", "said"), [(64, "All 5 lanes run at once."), (2, None)])
def test_where_memory_does_not_suffice_for_all_lanes_that_is_said_before_they_begin(
    comparer: CompareStage, free: int, said: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = comparer.desk.program.session
    assert session.model is not None
    gib = 1 << 30
    info = msgspec.structs.replace(
        session.model,
        memory_kind="recurrent",
        cache=CacheSizes(state=gib),
        memory=(DeviceMemory(MAIN_MEMORY, gib, None, 7, state=gib),),
    )
    monkeypatch.setattr(type(session), "model", info)
    monkeypatch.setattr(Machine, "memory", MainMemory(64 * gib, free * gib, 64 * gib))
    comparer.asked("Why?").opened()
    asked = comparer.engine.all(Render)[-1]
    comparer.engine.say(Rendered(asked.request, "", array("i", range(40)).tobytes(), ()))
    comparer.stage.settle()
    why = "There is not enough memory to keep the state of all lanes at once."
    after = "The lanes run one after another, each from the saved prompt."
    assert comparer.reads("compare_outlook").endswith(said or f"{why} {after}")


def test_the_machine_is_looked_at_while_lanes_are_set_up_and_no_longer(comparer: CompareStage) -> None:
    machine = comparer.desk.program.machine
    comparer.asked("Why?").opened()
    assert "compare" in machine._watchers
    comparer.stage.window.page_wanted.emit("chat")
    assert "compare" not in machine._watchers


def test_what_somebody_set_up_stays_when_a_slider_of_the_chat_moves(comparer: CompareStage) -> None:
    """Only lanes that nobody touched follow the chat."""
    comparer.asked().opened()
    draft, sampling = comparer.page.setup_view.draft, comparer.desk.program.sampling
    sampling.change(top_p=0.5)
    assert {each.top_p for each in draft.settings} == {0.5}
    comparer.stage.find_as(QDoubleSpinBox, "compare_max_tokens_box").setValue(64)
    comparer.stage.clicks("set_up_pin_d")
    sampling.change(top_p=0.7)
    assert draft.baseline == 3 and {(each.top_p, each.max_tokens) for each in draft.settings} == {(0.5, 64)}

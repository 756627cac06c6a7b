from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QComboBox,
    QDoubleSpinBox,
    QLineEdit,
)

from app.core.sampling import PRESETS
from tests.gui.sampling.stand import Stand, chooses, menu_entries, opens_more, saves, types, writes


def test_a_preset_moves_every_slider_and_a_moved_slider_leaves_the_preset(stand: Stand) -> None:
    preset = stand.find_as(QComboBox, "preset_box")
    QTest.keyClick(preset, Qt.Key.Key_Down)
    name = list(PRESETS)[list(PRESETS).index("Balanced") + 1]
    assert preset.currentText() == name
    assert stand.find_as(QDoubleSpinBox, "temperature_box").value() == PRESETS[name].temperature
    assert not stand.find("reset_button").isEnabled()
    QTest.keyClick(stand.find("top_p_slider"), Qt.Key.Key_Left)
    assert preset.currentText() == "Own settings"
    assert not stand.sees("preset_remark")
    assert preset.toolTip() == f"Own settings\nDiffers from “{name}”."
    assert preset.accessibleDescription() == f"Differs from “{name}”."
    assert stand.find("reset_button").toolTip() == f"Back to the values of “{name}”"
    stand.clicks("reset_button")
    assert preset.currentText() == name
    assert stand.values.top_p == PRESETS[name].top_p
    stand.sampling.use_preset("Greedy")
    assert preset.currentText() == "Greedy"
    assert preset.count() == len(PRESETS)


def test_an_own_preset_is_saved_by_name_used_updated_and_renamed(stand: Stand) -> None:
    preset = stand.find_as(QComboBox, "preset_box")
    types(stand, "temperature_box", "0.33")
    saves(stand, "Mine & <b>yours</b>")
    assert preset.currentText() == "Mine & <b>yours</b>"
    preset.setFocus()
    QTest.keyClick(preset, Qt.Key.Key_Up)
    assert preset.currentText() == "Wild"
    QTest.keyClick(preset, Qt.Key.Key_Down)
    assert stand.values.temperature == 0.33
    assert not menu_entries(stand)["update_preset_action"].isEnabled()
    types(stand, "temperature_box", "0.44")
    assert menu_entries(stand)["update_preset_action"].text() == "Update “Mine && <b>yours</b>”"
    chooses(stand, "update_preset_action")
    assert stand.sampling.presets["Mine & <b>yours</b>"].temperature == 0.44
    chooses(stand, "rename_preset_action")
    assert stand.find_as(QLineEdit, "preset_name").text() == "Mine & <b>yours</b>"
    writes(stand, "preset_name", "Ours")
    assert preset.currentText() == "Ours"
    assert list(stand.desk.program.settings.values.presets) == ["Ours"]


@pytest.mark.parametrize("way", ["button", "menu"])
def test_a_deleted_preset_comes_back(stand: Stand, way: str) -> None:
    types(stand, "temperature_box", "0.33")
    saves(stand, "Mine")
    chooses(stand, "delete_preset_action")
    assert stand.reads("preset_remark") == "“Mine” is deleted." and stand.sees("preset_remark")
    assert stand.find_as(QComboBox, "preset_box").currentText() == "Own settings"
    if way == "button":
        assert stand.reads("reset_button") == "Undo"
        stand.clicks("reset_button")
    else:
        types(stand, "top_k_box", "3")
        assert stand.reads("reset_button") == "Reset"
        chooses(stand, "restore_preset_action")
    assert stand.sampling.presets["Mine"].temperature == 0.33
    assert "restore_preset_action" not in menu_entries(stand)


def test_naming_a_preset_takes_the_place_of_the_row_and_pushes_nothing_down(stand: Stand) -> None:
    box, temperature = stand.find("preset_box"), stand.find("temperature_slider")

    def lies_at() -> tuple[int, int]:
        QApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest)
        return temperature.mapTo(stand.panel, QPoint()).y(), stand.panel.sizeHint().height()

    before = lies_at()
    chooses(stand, "save_preset_action")
    assert stand.sees("preset_name") and not box.isVisible()
    assert lies_at() == before
    writes(stand, "preset_name", "Wild")
    assert stand.sees("preset_remark") and lies_at() > before
    QTest.keyClicks(stand.find("preset_name"), "er")
    assert not stand.sees("preset_remark") and lies_at() == before
    QTest.keyClick(stand.find("preset_name"), Qt.Key.Key_Return)
    assert list(stand.sampling.presets) == ["Wilder"] and lies_at() == before


def test_a_name_that_is_refused_can_be_mended_or_given_up(stand: Stand) -> None:
    saves(stand, "WILD")
    assert stand.reads("preset_remark") == "“Wild” exists already: use another name."
    assert stand.sees("preset_remark")
    assert stand.sampling.presets == {}
    assert stand.find_as(QLineEdit, "preset_name").text() == "WILD"
    stops = QShortcut(QKeySequence(Qt.Key.Key_Escape), stand.window)
    stopped: list[bool] = []
    stops.activated.connect(lambda: stopped.append(True))
    QTest.keyClick(stand.find("preset_name"), Qt.Key.Key_Escape)
    assert stopped == []
    assert not stand.sees("preset_name") and stand.sees("preset_box")
    assert not stand.sees("preset_remark")
    assert "\nVaried" in stand.find("preset_box").property("hint")
    saves(stand, "x" * 70)
    assert list(stand.sampling.presets) == ["x" * 60]


def test_an_own_preset_brings_back_stop_strings_longest_answer_and_a_fixed_seed_and_says_so(stand: Stand) -> None:
    preset = stand.find_as(QComboBox, "preset_box")
    opens_more(stand)
    chooses(stand, "save_preset_action")
    assert stand.find("preset_name").property("hint").endswith("with the longest answer and the stop strings.")
    QTest.keyClick(stand.find("preset_name"), Qt.Key.Key_Escape)
    types(stand, "seed_box", "7")
    types(stand, "max_tokens_box", "99")
    writes(stand, "stop_strings_new", "END")
    chooses(stand, "save_preset_action")
    assert stand.find("preset_name").property("hint").endswith("the stop strings and the seed 7.")
    writes(stand, "preset_name", "Mine")
    assert preset.currentText() == "Mine"
    stand.clicks("stop_strings_0_remove")
    assert preset.currentText() == "Own settings"
    types(stand, "seed_box", "-1")
    types(stand, "max_tokens_box", "0")
    stand.clicks("reset_button")
    assert (stand.values.seed, stand.values.max_tokens, stand.values.stop) == (7, 99, ("END",))
    assert (preset.currentText(), stand.reads("stop_strings_0")) == ("Mine", "END")


def test_another_chat_and_back_leaves_the_way_back_to_the_preset(stand: Stand) -> None:
    preset, reset = stand.find_as(QComboBox, "preset_box"), stand.find("reset_button")
    stand.sampling.use_preset("Precise")
    QTest.keyClick(stand.find("temperature_slider"), Qt.Key.Key_Right)
    changed = stand.values
    stand.sampling.show(PRESETS["Wild"])
    assert (preset.currentText(), reset.isEnabled()) == ("Wild", False)
    stand.sampling.show(changed)
    assert (preset.currentText(), reset.isEnabled()) == ("Own settings", True)
    stand.clicks("reset_button")
    assert preset.currentText() == "Precise"

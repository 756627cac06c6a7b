"""The order of the stages in the settings of one lane."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QToolButton

from app.core.sampling import STAGES
from tests.gui.compare.conftest import CompareStage
from tests.gui.compare.test_setting_up import asked_lanes

pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")


def test_a_lane_shows_the_order_of_the_chat_and_gets_the_usual_one(comparer: CompareStage) -> None:
    comparer.stage.desk.program.sampling.change(order=("temperature", *STAGES[:-1]), off=("xtc",))
    comparer.asked().opened()
    comparer.stage.clicks("set_up_edit_b")
    dialog = comparer.stage.find("lane_settings")
    words, button = dialog.findChild(QLabel, "chain_words"), dialog.findChild(QToolButton, "reset_chain_button")
    assert words is not None and button is not None
    assert words.text().startswith("Order: temperature → penalties") and words.text().endswith("; off: XTC.")
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    assert not words.isVisibleTo(dialog)
    comparer.stage.clicks("use_lane_settings_button")
    lanes = asked_lanes(comparer)
    assert (lanes[1].order, lanes[1].off) == (STAGES, ())
    assert (lanes[0].order[0], lanes[0].off) == ("temperature", ("xtc",))
    assert comparer.reads("lane_name_b") == "Temperature 0.4 · usual order · with all stages"

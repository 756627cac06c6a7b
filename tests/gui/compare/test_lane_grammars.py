"""Each lane can have a grammar of its own: none, that of the chat, or a ready one."""

from __future__ import annotations

import msgspec
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QPushButton

from app.core.grammar import Grammar
from app.core.sampling import SamplingSettings
from app.gui.compare.lane_settings import LaneSettingsDialog
from app.gui.sampling.grammar_examples import examples
from tests.gui.conftest import Stage

# The offscreen platform says this of every dialog and menu.
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")
OWN = Grammar("gbnf", "# One letter\nroot ::= [a-z]")
OF_CHAT = Grammar("gbnf", "# A digit\nroot ::= [0-9]")


def test_a_lane_takes_one_of_the_grammars_that_there_are(stage: Stage) -> None:
    sampling = stage.desk.program.sampling
    sampling.change(grammar=OF_CHAT)
    used: list[SamplingSettings] = []
    before = SamplingSettings(seed=3, grammar=OWN)
    dialog = LaneSettingsDialog(1, before, sampling, stage.window)
    dialog.used.connect(lambda _lane, settings: used.append(settings))
    dialog.open()
    QTest.mouseClick(stage.find("lane_more_button"), Qt.MouseButton.LeftButton)
    box = stage.find_as(QComboBox, "lane_grammar_box")
    offered = [box.itemText(row) for row in range(box.count())]
    names = ["Yes or no", "A numbered list of three to nine", "A person", "A digit", "One letter"]
    assert offered == ["none", *names]
    assert box.currentText() == "One letter"
    QTest.keyClick(box, Qt.Key.Key_Up)
    assert box.currentText() == "A digit"
    QTest.mouseClick(stage.find_as(QPushButton, "use_lane_settings_button"), Qt.MouseButton.LeftButton)
    assert used == [msgspec.structs.replace(before, grammar=OF_CHAT).validated()]
    assert sampling.values.grammar == OF_CHAT
    assert len(examples()) == 3

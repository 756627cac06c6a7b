"""A slow answer has ended, and somebody looks at what its diagnosis rests on: how that comes about."""

from __future__ import annotations

from typing import Any

import msgspec
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from app.core.bandwidth import MemorySpeed
from app.core.commands import MeasureBandwidth, SettingsChange
from app.core.events import Finished
from app.core.operations import BandwidthMeasured
from app.gui.live.diagnosis_card import DiagnosisCard
from tests.e2e.scene import Scene
from tests.e2e.what_if_state import ANSWER, QUESTION
from tests.planner.made_answers import around
from tests.planner.slow_writing import WRITING

EXPECTED = (21.4, 18.6, 24.2)


def diagnosis(scene: Scene) -> None:
    """The card is open beside the figures; the machine's memory was measured."""
    program, engine = scene.program, scene.desk.engine
    program.conversations.start()
    scene.desk.settle()
    scene.load(ANSWER)
    assert program.views.bandwidth.begin()
    speed = MemorySpeed("CPU", "A processor", "read", 20.1, 4)
    engine.say(BandwidthMeasured(engine.all(MeasureBandwidth)[-1].request, (speed,)))
    scene.ask(QUESTION)
    question = engine.question
    figures = msgspec.structs.replace(WRITING["a cache that grew"].metrics, traffic_gb_per_s=12.3)
    settings = (SettingsChange(0, question.settings),)
    witness = program.live.witness
    known = around(kv_is_f16=True, memory_gb_per_s=20.1, expected=EXPECTED)
    told: Any = witness
    told._at_end = lambda _event: known
    engine.write(ANSWER)
    engine.say(Finished(question.request, ANSWER, bytes(4), "end", figures, 7, settings))
    scene.desk.settle()
    program.chat.note_ttft(program.chat.turns[-1], 118.0)
    panel = scene.window.parts.live
    scene.window.sections.show()
    panel.show_details(True)
    panel._show()
    QTest.mouseClick(scene.find(QWidget, "diagnosis_text"), Qt.MouseButton.LeftButton)
    assert scene.find(DiagnosisCard, "diagnosis_card").isVisible()

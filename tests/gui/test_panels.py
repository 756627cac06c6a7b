from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QDoubleSpinBox, QLabel, QSlider

from app.core.sampling import PRESETS
from app.gui.chat.turn_block import TurnBlock
from app.gui.widgets.gauge import Gauge
from tests.gui.conftest import Stage


def reads_soon(stage: Stage, name: str, text: str) -> None:
    stage.bot.waitUntil(lambda: stage.reads(name) == text, timeout=60_000)


def test_the_figures_of_an_answer_are_shown_when_it_has_ended(ready: Stage) -> None:
    ready.sends("Hi")
    ready.desk.answer("Hello", " there")
    reads_soon(ready, "decode_rate_value", "77.6 tok/s")
    assert ready.reads("prefill_rate_value") == "131 tok/s"
    assert ready.reads("kv_value") == "42 / 4,096"
    assert ready.reads("stop_reason_value") == "end of answer"
    assert ready.find_as(Gauge, "kv_gauge").share == pytest.approx(42 / 4096)


def test_what_is_unknown_is_a_dash_with_a_reason(ready: Stage) -> None:
    ready.sends("Hi")
    ready.engine.prompt(20, 12)
    ready.settle()
    reads_soon(ready, "kv_value", "20 / 4,096")
    for name in ("ttft_value", "prefill_rate_value", "decode_rate_value", "stop_reason_value"):
        assert ready.reads(name) == "–"
        row = ready.find(name).parentWidget()
        assert row is not None
        assert row.toolTip()


def test_the_first_token_is_timed_to_its_painting(ready: Stage) -> None:
    ready.sends("Hi")
    ready.engine.write("Hello")
    ready.settle()
    ready.bot.waitUntil(lambda: ready.reads("ttft_value") != "–", timeout=60_000)
    ready.engine.finish()
    ready.settle()
    assert ready.desk.program.chat.turns[1].ttft_ms == ready.desk.program.live.figures.ttft_ms
    assert ready.desk.program.live.figures.ttft_ms != 112.4


def test_a_slider_moves_its_box_and_the_setting(ready: Stage) -> None:
    slider = ready.find_as(QSlider, "temperature_slider")
    before = ready.desk.program.sampling.values.temperature
    QTest.keyClick(slider, Qt.Key.Key_Right)
    after = ready.desk.program.sampling.values.temperature
    assert after == pytest.approx(before + 0.05)
    assert ready.find_as(QDoubleSpinBox, "temperature_box").value() == pytest.approx(after)


def test_a_box_takes_what_the_slider_cannot_reach(ready: Stage) -> None:
    box = ready.find_as(QDoubleSpinBox, "top_k_box")
    box.selectAll()
    QTest.keyClicks(box, "50000")
    QTest.keyClick(box, Qt.Key.Key_Return)
    assert ready.desk.program.sampling.values.top_k == 50_000
    slider = ready.find_as(QSlider, "top_k_slider")
    assert slider.value() == slider.maximum()


def test_a_preset_moves_every_slider_and_a_moved_slider_leaves_the_preset(ready: Stage) -> None:
    preset = ready.find_as(QComboBox, "preset_box")
    QTest.keyClick(preset, Qt.Key.Key_Down)
    name = list(PRESETS)[list(PRESETS).index("Balanced") + 1]
    assert preset.currentText() == name
    assert ready.find_as(QDoubleSpinBox, "temperature_box").value() == PRESETS[name].temperature
    QTest.keyClick(ready.find("top_p_slider"), Qt.Key.Key_Left)
    assert preset.currentText() == "Own settings"
    ready.desk.program.sampling.use_preset("Greedy")
    assert preset.currentText() == "Greedy"
    assert preset.count() == len(PRESETS)


def test_a_seed_as_large_as_seeds_get_can_be_fixed_and_given_up_again(ready: Stage) -> None:
    box = ready.find_as(QDoubleSpinBox, "seed_box")
    assert box.text() == "random"
    box.selectAll()
    QTest.keyClicks(box, "4294967295")
    QTest.keyClick(box, Qt.Key.Key_Return)
    assert ready.desk.program.sampling.values.seed == 4_294_967_295
    box.setValue(-1)
    assert ready.desk.program.sampling.values.seed is None


def test_a_slider_moved_during_an_answer_reaches_the_engine(ready: Stage) -> None:
    ready.sends("Hi")
    QTest.keyClick(ready.find("min_p_slider"), Qt.Key.Key_Right)
    assert [change.settings.min_p for change in ready.engine.moved_settings] == [pytest.approx(0.06)]


def test_the_panel_and_the_line_under_an_answer_name_things_alike(ready: Stage) -> None:
    ready.sends("Hi")
    ready.engine.write("Half")
    ready.engine.finish("cancelled")
    ready.settle()
    reads_soon(ready, "stop_reason_value", "stopped by you")
    footer = TurnBlock(ready.desk.program.chat.turns[1]).footer()
    assert footer.endswith("stopped by you")
    assert "TTFT " in footer
    row = ready.find("ttft_value").parentWidget()
    assert row is not None
    assert "TTFT" in [each.text() for each in row.findChildren(QLabel)]
    assert row.toolTip().startswith("Time to first token")

from __future__ import annotations

from typing import Literal

import pytest
from PySide6.QtCore import QLocale, QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QDoubleSpinBox,
    QSlider,
    QWidget,
)
from pytestqt.qtbot import QtBot

from app.gui.widgets.boxes import NumberBox, WheelSlider, read_number
from tests.gui.sampling.stand import Stand, types


def test_a_slider_moves_its_box_and_the_setting(stand: Stand) -> None:
    slider = stand.find_as(QSlider, "temperature_slider")
    QTest.keyClick(slider, Qt.Key.Key_Right)
    assert stand.values.temperature == 0.85
    assert stand.find_as(QDoubleSpinBox, "temperature_box").text() == "0.85"
    QTest.keyClick(slider, Qt.Key.Key_PageUp)
    assert stand.values.temperature == 1.05
    assert slider.accessibleName() == "Temperature, 1.05"


def test_a_box_takes_what_the_slider_cannot_reach(stand: Stand) -> None:
    types(stand, "top_k_box", "50000")
    assert stand.values.top_k == 50_000
    slider = stand.find_as(QSlider, "top_k_slider")
    assert slider.value() == slider.maximum()


@pytest.mark.parametrize("locale", ["de_DE", "en_US", "fr_FR"], indirect=True)
@pytest.mark.parametrize(
    ("typed", "meant"), [("0,7", 0.7), ("0.7", 0.7), (",7", 0.7), (" 1. ", 1.0), ("1,234", 1.234)]
)
def test_a_comma_and_a_point_both_begin_the_decimals(locale: QLocale, stand: Stand, typed: str, meant: float) -> None:
    box = types(stand, "temperature_box", typed)
    assert stand.values.temperature == pytest.approx(meant)
    assert box.text().replace(locale.decimalPoint(), ".") in (f"{meant:.2f}", f"{meant:.3f}")


@pytest.mark.parametrize("locale", ["de_DE", "en_US", "fr_FR"], indirect=True)
@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("4096", 4096),
        ("4,096", 4096),
        ("4.096", 4096),
        ("4 096", 4096),
        ("100,000", 100_000),
        ("4,09", 40),
        ("4.5", 40),
        ("1,000.000", 40),
        ("", 40),
    ],
)
def test_thousands_are_read_in_a_whole_number_and_nothing_else_is_guessed(
    locale: QLocale, stand: Stand, typed: str, meant: int
) -> None:
    box = types(stand, "top_k_box", typed)
    assert stand.values.top_k == meant
    assert box.text() == str(meant)


def test_only_well_formed_numbers_are_numbers() -> None:
    assert read_number("1’000", whole=True) == 1000
    assert read_number("-1", whole=True) == -1
    assert {read_number(text, whole=True) for text in ("1,00", "12,3456", "x", "", "1,000.5")} == {None}
    assert {read_number(text, whole=False) for text in ("1,0,0", ".", "-", "nan", "1e3", "")} == {None}


@pytest.mark.parametrize(
    ("typed", "shown", "kept"), [("99", "5.00", 5.0), ("0.123", "0.123", 0.123), ("x", "0.80", 0.8)]
)
def test_a_number_beyond_the_range_becomes_its_end_and_says_so(
    stand: Stand, typed: str, shown: str, kept: float
) -> None:
    assert types(stand, "temperature_box", typed).text() == shown
    assert stand.values.temperature == kept
    for name in ("temperature_box", "temperature_slider"):
        assert stand.find(name).property("hint").endswith("The slider ends at 2.00; up to 5.00 can be typed.")
    assert "can be typed" not in stand.find("top_p_box").property("hint")


def test_the_knob_says_that_the_value_lies_beyond_the_slider(stand: Stand) -> None:
    slider = stand.find_as(WheelSlider, "temperature_slider")
    types(stand, "temperature_box", "2")
    within = slider.grab().toImage()
    types(stand, "temperature_box", "3")
    assert slider.beyond == 1 and slider.value() == slider.maximum()
    assert slider.grab().toImage() != within
    types(stand, "temperature_box", "2")
    assert slider.beyond == 0 and slider.grab().toImage() == within


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_slider_with_the_focus_has_a_ring(stand: Stand, theme: Literal["light", "dark"]) -> None:
    stand.themes.choose(theme)
    slider = stand.find("temperature_slider")
    accent = QColor(stand.themes.current.colours["accent"]).name()

    def top_edge() -> list[str]:
        picture = slider.grab().toImage()
        return [picture.pixelColor(picture.width() // 3, y).name() for y in range(3)]

    stand.find("seed_box").setFocus()
    assert accent not in top_edge()
    slider.setFocus(Qt.FocusReason.TabFocusReason)
    assert top_edge().count(accent) == 2


def test_every_decimal_that_matters_is_shown(stand: Stand) -> None:
    stand.sampling.change(min_p=0.005, top_p=0.9, temperature=1.0, xtc_threshold=0.0125)
    for name, text in {"min_p": "0.005", "top_p": "0.90", "temperature": "1.00", "xtc_threshold": "0.0125"}.items():
        assert stand.find_as(QDoubleSpinBox, f"{name}_box").text() == text


@pytest.mark.parametrize(
    ("name", "off", "word"),
    [
        ("top_k", "0", "off"),
        ("top_p", "1.0", "off"),
        ("min_p", "0.0", "off"),
        ("repeat_penalty", "1.0", "off"),
        ("typical_p", "1.0", "off"),
        ("frequency_penalty", "0.0", "off"),
        ("presence_penalty", "0.0", "off"),
        ("penalty_last_n", "0", "none"),
        ("penalty_last_n", "-1", "whole chat"),
        ("dry_multiplier", "0.0", "off"),
        ("dry_penalty_last_n", "-1", "whole chat"),
        ("xtc_probability", "0.0", "off"),
        ("max_tokens", "0", "no limit"),
    ],
)
def test_a_value_that_means_off_is_a_word_that_can_be_typed(stand: Stand, name: str, off: str, word: str) -> None:
    moved = "0.5" if "." in off else "7"
    types(stand, f"{name}_box", moved)
    assert getattr(stand.values, name) != float(off)
    box = types(stand, f"{name}_box", off)
    assert box.text() == word
    types(stand, f"{name}_box", moved)
    assert types(stand, f"{name}_box", word).text() == word
    assert getattr(stand.values, name) == float(off)
    QTest.keyClick(box, Qt.Key.Key_End)
    QTest.keyClick(box, Qt.Key.Key_Backspace)
    assert box.lineEdit().text() == word[:-1]


def test_the_wheel_moves_only_what_has_the_focus(stand: Stand) -> None:
    for name in ("top_k_slider", "top_k_box"):
        widget = stand.find(name)
        stand.find("seed_box").setFocus()
        before = stand.values.top_k
        _turns_wheel(widget)
        assert stand.values.top_k == before
        widget.setFocus()
        _turns_wheel(widget)
        assert stand.values.top_k > before


def _turns_wheel(widget: QWidget) -> None:
    middle = QPointF(widget.rect().center())
    buttons, keys = Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier
    phase = Qt.ScrollPhase.NoScrollPhase
    event = QWheelEvent(middle, widget.mapToGlobal(middle), QPoint(), QPoint(0, 120), buttons, keys, phase, False)
    QApplication.sendEvent(widget, event)


@pytest.mark.parametrize(("name", "typed", "counts"), [("top_k", "64", 64), ("temperature", "1", 1.0)])
def test_what_is_being_typed_counts_after_a_pause_and_stays_as_it_is_typed(
    stand: Stand, qtbot: QtBot, name: str, typed: str, counts: float
) -> None:
    box = stand.find_as(QDoubleSpinBox, f"{name}_box")
    slider = stand.find_as(QSlider, f"{name}_slider")
    before = slider.value()
    box.setFocus()
    box.selectAll()
    QTest.keyClicks(box, typed)
    qtbot.waitUntil(lambda: getattr(stand.values, name) == counts, timeout=60_000)
    assert slider.value() != before
    assert box.lineEdit().text() == typed, "the next digit still belongs to it"
    QTest.keyClick(box, Qt.Key.Key_Tab)
    assert box.value() == counts


def test_a_number_that_lacks_digits_or_is_none_waits_and_a_word_is_not_written_over_it(stand: Stand) -> None:
    box = stand.find_as(NumberBox, "penalty_last_n_box")
    for typed, said in (("-", []), ("", []), ("0", [0.0])):
        told: list[float] = []
        box.valueChanged.connect(told.append)
        box.setFocus()
        box.selectAll()
        QTest.keyClick(box, Qt.Key.Key_Delete)
        QTest.keyClicks(box, typed)
        box.take_typed()
        assert (told, box.lineEdit().text()) == (said, typed)
        box.valueChanged.disconnect(told.append)
    stand.sampling.change(penalty_last_n=7)
    assert box.text() == "7", "another number from elsewhere is shown"

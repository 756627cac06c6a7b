from __future__ import annotations

from itertools import pairwise

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QComboBox,
    QDoubleSpinBox,
    QLabel,
    QLineEdit,
    QPushButton,
    QSlider,
    QToolButton,
    QWidget,
)

from app.core.sampling import SamplingSettings
from app.gui.sampling.fold_button import FoldButton
from app.gui.widgets.boxes import NumberBox
from app.system.settings_file import Theme
from tests.gui.conftest import Stage
from tests.gui.sampling.stand import COLUMN, NARROW_PX, Stand, opens_more, types


def test_another_chats_settings_are_shown_in_every_box(stand: Stand) -> None:
    shown = SamplingSettings(
        temperature=1.25, top_k=7, typical_p=0.5, dry_multiplier=0.8, xtc_probability=0.25, seed=3, stop=("a\nb",)
    )
    stand.sampling.show(shown)
    for name in ("temperature", "top_k", "typical_p", "dry_multiplier", "xtc_probability", "seed"):
        assert stand.find_as(QDoubleSpinBox, f"{name}_box").value() == getattr(shown, name)
    assert stand.find_as(QLineEdit, "stop_strings_0").text() == "a\\nb"
    assert stand.find("preset_box").toolTip().endswith("These values belong to no preset.")
    assert stand.reads("sampling_more_button") == "More · 5 changed"


def test_at_temperature_0_what_has_no_effect_is_muted_and_still_moves(stand: Stand) -> None:
    top_k = stand.find_as(QSlider, "top_k_slider")
    stand.sampling.use_preset("Greedy")
    assert "no effect" in stand.find("preset_box").toolTip()
    assert top_k.property("idle") is True and "no effect at temperature 0" in top_k.toolTip()
    QTest.keyClick(top_k, Qt.Key.Key_Right)
    assert stand.values.top_k == 1
    QTest.keyClick(stand.find("temperature_slider"), Qt.Key.Key_Right)
    assert top_k.property("idle") is False and "no effect" not in top_k.toolTip()
    assert not stand.find("repeat_penalty_slider").property("idle")


def test_a_seed_as_large_as_seeds_get_can_be_fixed_and_given_up_again(stand: Stand) -> None:
    opens_more(stand)
    box = stand.find_as(QDoubleSpinBox, "seed_box")
    assert box.text() == "random"
    types(stand, "seed_box", "4294967295")
    assert stand.values.seed == 4_294_967_295
    assert box.text() == "4294967295"
    types(stand, "seed_box", "-1")
    assert stand.values.seed is None


def test_the_seed_of_the_last_answer_can_be_kept(stand: Stand) -> None:
    opens_more(stand)
    assert not stand.find("seed_button").isEnabled()
    stand.sampling.note_seed(7)
    stand.clicks("seed_button")
    assert stand.values.seed == 7
    assert stand.reads("seed_button") == "Random"
    stand.clicks("seed_button")
    assert stand.values.seed is None


def test_more_is_folded_and_unfolded_for_good(stand: Stand) -> None:
    shown = stand.sees("sampling_more")
    button = stand.find("sampling_more_button")
    button.setFocus()
    QTest.keyClick(button, Qt.Key.Key_Space)
    assert stand.sees("sampling_more") is not shown
    assert ("sampling_more" in stand.desk.program.settings.values.folded) is shown
    QTest.keyClick(button, Qt.Key.Key_Space)
    assert stand.sees("sampling_more") is shown


def test_the_first_screen_is_the_preset_and_five_sliders_of_one_line_each(stand: Stand) -> None:
    assert not stand.sees("sampling_more")
    for name in ("seed_box", "max_tokens_box", "stop_strings_box", "when_full_box", "typical_p_slider"):
        assert not stand.sees(name), name
    assert not stand.sees("preset_remark")
    names = ("temperature", "top_k", "top_p", "min_p", "repeat_penalty")
    middles = [centre(stand, f"{name}_slider") for name in names]
    assert middles == [centre(stand, f"{name}_box") for name in names]
    assert {later - earlier for earlier, later in pairwise(middles)} == {32}
    assert stand.panel.sizeHint().height() <= 260
    opens_more(stand)
    tops = [centre(stand, name) for name in ("seed_box", "max_tokens_box", "stop_strings_box", "when_full_box")]
    assert tops == sorted(tops) and tops[-1] < centre(stand, "typical_p_slider")


def test_more_says_when_a_seed_is_fixed_that_is_folded_away(stand: Stand) -> None:
    assert stand.reads("sampling_more_button") == "More"
    stand.sampling.change(seed=3)
    assert stand.reads("sampling_more_button") == "More · 1 changed"


def centre(stand: Stand, name: str) -> int:
    widget = stand.find(name)
    return widget.mapTo(stand.panel, widget.rect().center()).y()


def test_a_slider_moved_during_an_answer_reaches_the_engine(ready: Stage) -> None:
    ready.sends("Hi")
    QTest.keyClick(ready.find("min_p_slider"), Qt.Key.Key_Right)
    assert [change.settings.min_p for change in ready.engine.moved_settings] == [pytest.approx(0.06)]


def test_the_keyboard_reaches_everything_from_top_to_bottom(stand: Stand) -> None:
    stand.sampling.change(temperature=0.7, stop=("a", "b"), seed=3)
    stand.find_as(FoldButton, "sampling_more_button").setChecked(True)
    focused: QWidget | None = stand.find("preset_box")
    reached: list[QWidget] = []
    while focused is not None and focused not in reached:
        focused.setFocus()
        reached.append(focused)
        QTest.keyClick(focused, Qt.Key.Key_Tab)
        focused = stand.window.focusWidget()
    inside = [each for each in reached if stand.panel.isAncestorOf(each)]
    tops = [each.mapTo(stand.panel, each.rect().center()).y() for each in inside]
    assert all(later >= earlier - 4 for earlier, later in pairwise(tops))
    kinds = (QSlider, QComboBox, NumberBox, QToolButton, QPushButton, QLineEdit)
    usable = [each for kind in kinds for each in stand.panel.findChildren(kind) if each.isVisibleTo(stand.panel)]
    assert {each.objectName() for each in usable} - {"qt_spinbox_lineedit"} == {each.objectName() for each in inside}
    assert all(each.accessibleName() for each in inside)


@pytest.mark.parametrize("theme", ["light", "dark", "contrast"])
def test_nothing_is_clipped_in_a_narrow_column(stand: Stand, theme: Theme) -> None:
    stand.themes.choose(theme)
    stand.find_as(FoldButton, "sampling_more_button").setChecked(True)
    stand.sampling.change(seed=4_294_967_295, max_tokens=1_000_000, top_k=1_000_000)
    assert stand.panel.minimumSizeHint().width() <= NARROW_PX
    stand.window.resize(NARROW_PX, COLUMN.height())
    stand.window.grab()
    for box in stand.panel.findChildren(NumberBox):
        line = box.lineEdit()
        assert line.fontMetrics().horizontalAdvance(box.text()) <= line.contentsRect().width()
    for each in stand.panel.findChildren(QLabel):
        assert each.isHidden() or each.height() >= each.heightForWidth(each.width())

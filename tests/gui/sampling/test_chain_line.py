"""The line under the sliders that says another order of the stages, and the button that sets it back."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QSlider

from app.core.sampling import STAGES, SamplingSettings
from tests.gui.sampling.stand import Stand


def test_the_usual_chain_needs_no_line(stand: Stand) -> None:
    assert not stand.sees("chain_line")
    stand.sampling.change(temperature=0.3)
    assert not stand.sees("chain_line")


def test_another_order_is_said_and_set_back_with_the_values_as_they_are(stand: Stand) -> None:
    stand.sampling.change(top_p=0.6)
    stand.sampling.move_stage("temperature", 0)
    assert stand.sees("chain_line")
    chain = "temperature → penalties → DRY → top-k → typical-p → top-p → min-p → XTC"
    assert stand.reads("chain_words") == f"Order: {chain}."
    stand.sampling.switch_stage("min_p", False)
    assert stand.reads("chain_words") == f"Order: {chain.replace(' → min-p', '')}; off: min-p."
    assert stand.find("chain_words").accessibleName() == stand.reads("chain_words")
    stand.clicks("reset_chain_button")
    assert stand.values == SamplingSettings(top_p=0.6)
    assert not stand.sees("chain_line")


def test_the_keyboard_sets_the_order_back_and_stays_in_the_section(stand: Stand) -> None:
    stand.sampling.switch_stage("top_k", False)
    button = stand.find("reset_chain_button")
    button.setFocus()
    QTest.keyClick(button, Qt.Key.Key_Space)
    assert stand.values.off == ()
    assert stand.find("sampling_more_button").hasFocus()


def test_a_chain_without_stages_is_said(stand: Stand) -> None:
    stand.sampling.change(off=STAGES)
    assert stand.reads("chain_words") == "All stages are switched off."


def test_the_slider_of_a_stage_that_is_off_is_muted_and_says_why(stand: Stand) -> None:
    stand.sampling.switch_stage("top_p", False)
    slider = stand.find_as(QSlider, "top_p_slider")
    assert slider.property("idle") is True
    assert "the stage “top-p” is switched off" in slider.toolTip()
    stand.sampling.switch_stage("temperature", False)
    stand.sampling.change(temperature=0.0)
    assert not stand.find("top_k_slider").property("idle"), "without temperature nothing is greedy"
    stand.sampling.reset_stages()
    assert slider.property("idle") is True and "no effect at temperature 0" in slider.toolTip()
    stand.sampling.change(temperature=0.5)
    assert slider.property("idle") is False and "no effect" not in slider.toolTip()


def test_another_chats_order_is_shown_with_its_settings(stand: Stand) -> None:
    stand.sampling.show(SamplingSettings(order=STAGES[::-1]))
    assert stand.reads("chain_words").startswith("Order: temperature → XTC → min-p")
    stand.sampling.show(SamplingSettings())
    assert not stand.sees("chain_line")

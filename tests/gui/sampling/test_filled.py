"""What a slider's track says: filled from where the value has no effect up to the knob, and nothing where it is off."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QSlider

from app.gui.sampling.controls import dry, main_controls, penalties, typical_control, xtc
from app.system.settings_file import Theme
from tests.gui.sampling.stand import Stand, opens_more

CONTROLS = [*main_controls(), typical_control(), *penalties().controls, *dry().controls, *xtc().controls]
OFF = {each.name: each.scale.neutral for each in CONTROLS if "look" not in each.title and each.scale.words}


def filled(stand: Stand, name: str, token: str = "stage_sampling") -> tuple[int, int] | None:
    """Return from where to where, in pixels, a track has a colour; the knob is not of the track."""
    slider = stand.find_as(QSlider, f"{name}_slider")
    picture = slider.grab().toImage()
    colour, knob = stand.themes.current.colour(token), slider.height() // 2
    pixels = [x for x in range(picture.width()) if picture.pixelColor(x, knob + 1) == colour]
    handle = slider.property("fills") and slider._knob(slider.value())  # type: ignore[attr-defined]  # WheelSlider's
    outside = [x for x in pixels if not handle or not handle.left() - 1 <= x <= handle.right() + 1]
    return (outside[0], outside[-1]) if outside else None


@pytest.mark.parametrize("theme", ["light", "dark", "contrast"])
def test_what_is_off_has_no_filled_track(stand: Stand, theme: Theme) -> None:
    stand.themes.choose(theme)
    opens_more(stand)
    assert {"repeat_penalty", "frequency_penalty", "presence_penalty", "typical_p", "top_k", "top_p"} <= OFF.keys()
    stand.sampling.change(**{name: type(getattr(stand.values, name))(value) for name, value in OFF.items()})
    assert {name: filled(stand, name) for name in OFF} == dict.fromkeys(OFF)


@pytest.mark.parametrize(("name", "less", "more"), [("repeat_penalty", 0.7, 1.3), ("frequency_penalty", -1.0, 1.0)])
def test_a_track_is_filled_from_the_middle_to_either_side(stand: Stand, name: str, less: float, more: float) -> None:
    opens_more(stand)
    stand.sampling.change(**{name: less})
    below = filled(stand, name)
    stand.sampling.change(**{name: more})
    above = filled(stand, name)
    assert below is not None and above is not None
    assert abs(below[1] - above[0]) <= 2 and below[0] < below[1] < above[1]


def test_a_track_is_filled_from_the_end_where_it_is_off(stand: Stand) -> None:
    slider = stand.find_as(QSlider, "top_p_slider")
    stand.sampling.change(top_p=0.5, top_k=100)
    from_right, from_left = filled(stand, "top_p"), filled(stand, "top_k")
    assert from_right is not None and from_left is not None
    assert from_right[1] > slider.width() - 12 and from_right[0] > slider.width() / 2
    assert from_left[0] < 12 and from_left[1] < slider.width() / 2


def test_a_filled_track_begins_where_the_track_itself_does(stand: Stand) -> None:
    slider = stand.find_as(QSlider, "top_k_slider")
    stand.sampling.change(temperature=1.0, top_p=0.5, top_k=100)
    styled, from_left, from_right = (filled(stand, name) for name in ("temperature", "top_k", "top_p"))
    assert styled is not None and from_left is not None and from_right is not None
    assert abs(from_left[0] - styled[0]) <= 1
    assert abs(from_right[1] - (slider.width() - 1 - styled[0])) <= 1
    stand.sampling.change(top_k=200)
    full = filled(stand, "top_k")
    assert full is not None and full[0] == from_left[0]


def test_what_has_no_effect_now_is_muted_on_its_track_too(stand: Stand) -> None:
    stand.sampling.change(temperature=0.0, top_p=0.5)
    assert filled(stand, "top_p") is None and filled(stand, "top_p", "border_strong") is not None
    stand.sampling.change(temperature=1.0)
    assert filled(stand, "top_p") is not None

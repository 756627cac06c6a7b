"""Sentences, signals, texts and settings: the values that everything else stands on."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.chat import clean_text
from app.core.errors import ExitCode, UserError
from app.core.sampling import BOUNDS, PRESETS, SamplingSettings
from app.core.signal import Signal
from app.core.words import translate


def test_a_sentence_keeps_its_template_for_the_translator() -> None:
    sentence = translate("Engine", "{tokens} of {cells}", tokens=3031, cells=1024)
    assert (sentence.context, sentence.template) == ("Engine", "{tokens} of {cells}")
    assert sentence.english() == "3,031 of 1,024"


def test_a_known_error_says_its_sentence_and_its_exit_code() -> None:
    error = UserError(translate("Engine", "No model. Open one."))
    assert str(error) == "No model. Open one."
    assert error.exit_code is ExitCode.MODEL_UNUSABLE


def test_slots_are_called_in_order_until_they_are_disconnected() -> None:
    signal: Signal[int, str] = Signal()
    heard: list[tuple[str, int, str]] = []
    stop = signal.connect(lambda number, word: heard.append(("first", number, word)))
    signal.connect(lambda number, word: heard.append(("second", number, word)))
    signal.emit(1, "a")
    stop()
    stop()
    signal.emit(2, "b")
    assert heard == [("first", 1, "a"), ("second", 1, "a"), ("second", 2, "b")]


def test_a_slot_that_leaves_during_the_emission_does_not_disturb_it() -> None:
    signal: Signal[()] = Signal()
    heard: list[int] = []

    def leave() -> None:
        heard.append(1)
        stop()

    stop = signal.connect(leave)
    signal.connect(lambda: heard.append(2))
    signal.emit()
    signal.emit()
    assert heard == [1, 2, 2]


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("a\ud83db", "a\ufffdb"),
        ("\udc00", "\ufffd"),
        ("a\x00b", "ab"),
        ("\ud83d\ude00", "😀"),
        ("日本 😀", "日本 😀"),
    ],
)
def test_text_becomes_what_can_be_stored(text: str, clean: str) -> None:
    assert clean_text(text) == clean


@given(st.text(alphabet=st.characters(exclude_categories=())))
def test_clean_text_is_always_utf8_and_stays_as_it_is(text: str) -> None:
    clean = clean_text(text)
    assert clean.encode("utf-8").decode("utf-8") == clean
    assert clean_text(clean) == clean


def test_every_bound_is_of_a_setting_and_every_preset_lies_inside() -> None:
    assert BOUNDS.keys() <= set(SamplingSettings.__struct_fields__)
    for settings in PRESETS.values():
        assert settings.validated() == settings


@pytest.mark.parametrize(("asked", "used"), [(1e-45, 0.0), (1e-7, 0.0), (1e-5, 1e-5), (0.0, 0.0), (10**400, 5.0)])
def test_a_temperature_that_float32_cannot_divide_by_is_zero(asked: float, used: float) -> None:
    assert SamplingSettings(temperature=asked).validated().temperature == used


def test_a_look_back_of_minus_one_is_the_whole_context_and_what_is_off_looks_at_nothing() -> None:
    assert SamplingSettings(dry_multiplier=1).dry_reach(4096) == 4096
    assert SamplingSettings(dry_multiplier=1, dry_penalty_last_n=9).dry_reach(4096) == 9
    assert SamplingSettings(repeat_penalty=1.1).penalty_reach(4096) == 64
    assert SamplingSettings(presence_penalty=1, penalty_last_n=-1).penalty_reach(4096) == 4096
    assert (SamplingSettings().penalty_reach(4096), SamplingSettings().dry_reach(4096)) == (0, 0)

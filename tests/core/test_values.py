"""Sentences, signals, texts and settings: the values that everything else stands on."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.chat import clean_text
from app.core.errors import ExitCode, UserError
from app.core.sampling import BOUNDS, PRESETS, STAGES, SamplingSettings
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


def test_settings_without_an_order_have_the_default_one() -> None:
    old = msgspec.json.decode(b'{"temperature": 0.5}', type=SamplingSettings)
    assert (old.order, old.off, old.stages) == (STAGES, (), STAGES)
    assert old == SamplingSettings(temperature=0.5).validated()


def test_the_default_order_is_that_of_the_engine() -> None:
    assert STAGES == ("penalties", "dry", "top_k", "typical", "top_p", "min_p", "xtc", "temperature")


@pytest.mark.parametrize(
    ("asked", "order"),
    [
        ((), STAGES),
        (("temperature",), ("penalties", "dry", "top_k", "typical", "top_p", "min_p", "xtc", "temperature")),
        (
            ("temperature", "top_k"),
            ("penalties", "dry", "temperature", "top_k", "typical", "top_p", "min_p", "xtc"),
        ),
        (("xtc", "dry"), ("xtc", "temperature", "penalties", "dry", "top_k", "typical", "top_p", "min_p")),
        (STAGES[::-1], STAGES[::-1]),
        (STAGES[::-1][:-1], ("temperature", "xtc", "min_p", "top_p", "typical", "top_k", "penalties", "dry")),
        (
            ("mirostat", "xtc", "xtc", "min_p"),
            ("penalties", "dry", "top_k", "typical", "top_p", "xtc", "temperature", "min_p"),
        ),
    ],
)
def test_an_order_becomes_a_whole_one(asked: tuple[str, ...], order: tuple[str, ...]) -> None:
    assert SamplingSettings(order=asked).validated().order == order
    assert SamplingSettings(order=asked).stages == order


@given(st.lists(st.sampled_from([*STAGES, "mirostat", ""])), st.lists(st.sampled_from([*STAGES, "draw"])))
def test_every_order_has_each_stage_once_and_keeps_what_was_asked(asked: list[str], off: list[str]) -> None:
    wanted = SamplingSettings(order=tuple(asked), off=tuple(off))
    whole = wanted.validated()
    assert sorted(whole.order) == sorted(STAGES)
    named = [name for name in dict.fromkeys(asked) if name in STAGES]
    assert [name for name in whole.order if name in named] == named
    assert whole.off == tuple(name for name in STAGES if name in off)
    assert whole.stages == wanted.stages == tuple(name for name in whole.order if name not in off)
    assert whole.validated() == whole
    assert msgspec.json.decode(msgspec.json.encode(whole), type=SamplingSettings) == whole


def test_settings_are_greedy_at_0_unless_temperature_is_switched_off() -> None:
    assert SamplingSettings(temperature=0.0).is_greedy
    assert SamplingSettings(temperature=1e-46).is_greedy
    assert not SamplingSettings(temperature=1e-6).is_greedy
    assert not SamplingSettings(temperature=0.0, off=("temperature",)).is_greedy
    assert SamplingSettings(temperature=0.0, order=STAGES[::-1], off=("top_k",)).is_greedy


def test_a_stage_that_is_switched_off_looks_at_nothing() -> None:
    wanted = SamplingSettings(dry_multiplier=1, repeat_penalty=1.1)
    assert msgspec.structs.replace(wanted, off=("dry",)).dry_reach(4096) == 0
    assert msgspec.structs.replace(wanted, off=("dry",)).penalty_reach(4096) == 64
    assert msgspec.structs.replace(wanted, off=("penalties",)).penalty_reach(4096) == 0
    assert msgspec.structs.replace(wanted, off=("penalties",)).dry_reach(4096) == 4096

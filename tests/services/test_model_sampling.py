"""Sampling settings of single models: new chats begin with them, others and people's own choices stay."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from app.services.model_check import check_model
from app.services.model_sampling import ModelSampling
from tests.desk import Desk
from tests.services.asking import say

COLD = 0.25


def identity(path: Path) -> str:
    ref = check_model(path)[1]
    assert ref is not None
    return ref.identity


@pytest.fixture
def own(desk: Desk, model: Path, other_model: Path) -> ModelSampling:
    """A model with a temperature of its own, which no other chat has, and a new chat with another model."""
    desk.program.conversations.start()
    desk.load(other_model)
    sampling, made = desk.program.sampling, desk.program.model_sampling
    usual = sampling.values.temperature
    sampling.change(temperature=COLD)
    made.use_current(identity(model))
    sampling.change(temperature=usual)
    say(desk, "Before", "0")
    desk.program.conversations.new()
    return made


def temperature(desk: Desk) -> float:
    return desk.program.sampling.values.temperature


def test_a_new_chat_begins_with_those_of_its_model_and_no_longer_with_another(
    desk: Desk, own: ModelSampling, model: Path, other_model: Path
) -> None:
    usual = temperature(desk)
    assert usual != COLD
    desk.load(model)
    assert temperature(desk) == COLD
    desk.program.sampling.change(top_k=7)
    assert desk.program.settings.values.sampling.top_k != 7, "of this model alone"
    say(desk, "Zero", "0")
    desk.program.conversations.new()
    assert temperature(desk) == COLD and desk.program.sampling.values.top_k != 7
    desk.load(other_model)
    assert temperature(desk) == usual and desk.program.sampling.is_new_chat
    desk.load(model)
    assert temperature(desk) == COLD
    say(desk, "One", "1")
    desk.load(other_model)
    assert temperature(desk) == COLD, "a chat with messages keeps its own"


def test_what_somebody_set_by_hand_stays(desk: Desk, own: ModelSampling, model: Path) -> None:
    desk.program.sampling.change(temperature=1.5)
    desk.load(model)
    assert temperature(desk) == 1.5
    desk.program.conversations.new()
    say(desk, "One", "1")
    desk.program.conversations.new()
    assert temperature(desk) == COLD, "the next new chat is the model's again"


def test_what_a_preset_of_whole_chats_set_stays(desk: Desk, own: ModelSampling, model: Path) -> None:
    program, usual = desk.program, temperature(desk)
    program.sampling.change(temperature=1.25)
    program.chat_presets.save("warm", program.preset_use.current(""))
    program.sampling.change(temperature=usual)
    say(desk, "One", "1")
    program.conversations.new()
    program.preset_use.use("warm")
    desk.load(model)
    assert temperature(desk) == 1.25


def test_forgotten_and_kept_over_a_restart(
    desk: Desk, own: ModelSampling, model: Path, again: Callable[[], Desk]
) -> None:
    told: list[int] = []
    own.changed.connect(lambda: told.append(1))
    later = again()
    kept = later.program.model_sampling.of(identity(model))
    assert kept is not None and kept.temperature == COLD
    assert temperature(later) == COLD
    later.program.model_sampling.forget(identity(model))
    assert later.program.model_sampling.of(identity(model)) is None
    assert temperature(later) == COLD, "the chat that is shown stays as it is"
    say(later, "One", "1")
    later.program.conversations.new()
    assert temperature(later) != COLD
    assert own.of("") is None and told == []

"""Damage inside the settings file costs what is damaged: everything around it is in force, and people hear what is not."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from app.core.chat_preset import ChatPreset
from app.core.events import Event
from app.core.own_gpu import OwnGpu
from app.core.sampling import SamplingSettings
from app.system.settings_file import SettingsFile
from tests.system.test_lenient_json import BAD_VALUES, NESTS


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "settings.json"


def opened(path: Path, content: bytes | str) -> SettingsFile:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return SettingsFile(path, run_now)


def run_now(_name: str, work: Callable[[], Event | None]) -> None:
    assert work() is None


def told(settings: SettingsFile) -> str:
    return "\n".join(problem.english() for problem in settings.problems)


@pytest.mark.parametrize("bad", [*BAD_VALUES, *NESTS], ids=lambda bad: bad[:12])
def test_a_value_that_json_does_not_know_costs_itself(path: Path, bad: str) -> None:
    content = (
        f'{{"presets": {{"Mine": {{"temperature": {bad}, "top_k": 7}}, "Other": {{"top_k": 8, "stop": ["a", {bad}]}},'
        f' "Bad": {bad}}}, "system_prompt": "kept", "model_folders": ["/a", {bad}, "/b"], "when_full": {bad},'
        f' "chats": {{"presets": {{"Kind": {{"system_prompt": "Be kind.", "sampling": {bad}}}}},'
        f' "prompt_drafts": {{"1": "draft", "2": {bad}}}}}}}'
    )
    settings = opened(path, content)
    values = settings.values
    assert values.presets == {"Mine": SamplingSettings(top_k=7), "Other": SamplingSettings(top_k=8, stop=("a",))}
    assert (values.system_prompt, values.model_folders, values.when_full) == ("kept", ("/a", "/b"), "stop")
    assert values.chats.presets == {"Kind": ChatPreset("Be kind.")}
    assert values.chats.prompt_drafts == {"1": "draft"}
    sentence, kept = settings.problems
    assert "presets.Mine.temperature" in sentence.english() and "1 more" in sentence.english()
    assert kept.english().endswith("settings.json.unreadable.")
    assert path.with_name("settings.json.unreadable").read_text() == content
    settings.change(theme="dark")
    assert SettingsFile(path, run_now).values == settings.values


def test_a_byte_order_mark_costs_nothing(path: Path) -> None:
    settings = opened(path, b"\xef\xbb\xbf" + b'{"theme": "dark"}')
    assert (settings.values.theme, settings.problems) == ("dark", ())


def test_bytes_that_are_no_text_cost_their_characters_and_are_told(path: Path) -> None:
    settings = opened(
        path, b'{"theme": "dark", "system_prompt": "Be \xff kind.", "presets": {"A\xff": {"top_k": 3}}}'
    )
    assert settings.values.theme == "dark"
    assert settings.values.system_prompt == "Be \ufffd kind."
    assert settings.values.presets == {"A\ufffd": SamplingSettings(top_k=3)}
    assert "“system_prompt”, “presets.A\ufffd”" in told(settings)
    assert len(settings.problems) == 2


def test_what_stands_there_twice_is_told(path: Path) -> None:
    settings = opened(path, '{"presets": {"A": {"top_k": 1}, "A": {"top_k": 2}}, "theme": "dark", "theme": 1e999}')
    assert settings.values.presets == {"A": SamplingSettings(top_k=2)}
    assert settings.values.theme == "dark"
    assert "“presets.A”, “theme”" in told(settings)


def test_text_that_no_file_can_hold_is_written_as_far_as_it_can(path: Path) -> None:
    settings = opened(path, "{}")
    settings.change(
        system_prompt="a\ud800b", thinking_tags=("<\udcff>",), presets={"\ud800": SamplingSettings(top_k=1)}
    )
    assert json.loads(path.read_text(encoding="utf-8")) == {
        "system_prompt": "a\ufffdb",
        "thinking_tags": ["<\ufffd>"],
        "presets": {"\ufffd": {"top_k": 1}},
    }


def test_a_name_in_a_sentence_turns_nothing_around_and_is_not_endless(path: Path) -> None:
    sentence = told(opened(path, json.dumps({"models": {"\u202e" + "x" * 5000: 1}})))
    assert "\u202e" not in sentence and len(sentence) < 400


def test_names_of_presets_are_made_to_fit_and_to_differ(path: Path) -> None:
    presets = {
        "A": {"top_k": 1},
        "a": {"top_k": 2},
        "": {"top_k": 3},
        "\u202eRTL": {"top_k": 4},
        "wild": {"top_k": 5},
    }
    chats = {name: {"system_prompt": name + "!"} for name in ("Kind", "KIND", "\u202e", "x" * 99)}
    content = {
        "presets": presets,
        "last_preset": "a",
        "chats": {"presets": chats, "start_with": "KIND"},
    }
    settings = opened(path, json.dumps(content))
    values = settings.values
    assert [(name, each.top_k) for name, each in values.presets.items()] == [
        ("A", 1),
        ("a 2", 2),
        ("?", 3),
        ("RTL", 4),
        ("wild 2", 5),
    ]
    assert values.last_preset == "a 2"
    assert list(values.chats.presets) == ["Kind", "KIND 2", "?", "x" * 60]
    assert values.chats.presets["KIND 2"].system_prompt == "KIND!"
    assert values.chats.start_with == "KIND 2"
    assert "“a 2”" in told(settings) and "“KIND 2”" in told(settings) and "“A”" not in told(settings)
    settings.change(theme="dark")
    again = SettingsFile(path, run_now)
    assert (again.values, again.problems) == (settings.values, ())


def test_the_preset_that_ships_stays_the_one_that_was_taken_last(path: Path) -> None:
    settings = opened(path, json.dumps({"presets": {"Wild": {"top_k": 1}}, "last_preset": "Wild"}))
    assert (list(settings.values.presets), settings.values.last_preset) == (["Wild 2"], "Wild")


@pytest.mark.parametrize("bad", ['{"kind": "regex", "text": "x"}', '{"kind": "gbnf"}', '{"text": "x"}', "[1]", "{}"])
def test_a_grammar_that_is_none_costs_itself(path: Path, bad: str) -> None:
    """It has fields without a default: such a value cannot be made of what fits."""
    content = (
        f'{{"sampling": {{"top_k": 7, "grammar": {bad}}}, "presets": {{"Mine": {{"min_p": 0.2, "grammar": {bad}}}}}}}'
    )
    settings = opened(path, content)
    assert settings.values.sampling == SamplingSettings(top_k=7)
    assert settings.values.presets["Mine"] == SamplingSettings(min_p=0.2)
    assert "grammar" in told(settings)


def test_a_gpu_that_makes_no_sense_costs_itself(path: Path) -> None:
    gpus = {
        "Mine": {"memory_gib": 24, "bandwidth": 1000.5, "like": "rtx-4090"},
        "Strange": {"memory_gib": 24, "bandwidth": 500, "tflops": -3},
        "No memory": {"bandwidth": 500},
        "Negative": {"memory_gib": -1, "bandwidth": 500},
        "Endless": {"memory_gib": 24, "bandwidth": 1e300},
        "Text": "fast",
    }
    settings = opened(path, json.dumps({"gpus": gpus, "theme": "dark"}))
    assert settings.values.theme == "dark"
    assert settings.values.gpus == {
        "Mine": OwnGpu(24, 1000.5, like="rtx-4090"),
        "Strange": OwnGpu(24, 500),
    }
    sentence = told(settings)
    assert all(f"gpus.{name}" in sentence for name in ("Strange.tflops", "No memory", "Negative", "Endless"))
    assert "1 more" in sentence
    settings.change(theme="light")
    assert SettingsFile(path, run_now).values == settings.values

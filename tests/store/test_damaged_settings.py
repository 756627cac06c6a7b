"""Sampling settings in the database that no program wrote: they cost what is wrong with them, and no chat."""

from __future__ import annotations

import json

import pytest

from app.core.commands import SettingsChange
from app.core.sampling import SamplingSettings
from app.store import columns

DAMAGED: list[tuple[dict[str, object], SamplingSettings]] = [
    ({"grammar": {"kind": "regex", "text": "x"}}, SamplingSettings(top_k=7)),
    ({"grammar": {"kind": "gbnf"}}, SamplingSettings(top_k=7)),
    ({"top_p": -1, "min_p": 7, "typical_p": -3}, SamplingSettings(top_k=7, top_p=0.0, min_p=1.0, typical_p=0.0)),
    ({"temperature": 1e300, "repeat_penalty": 0}, SamplingSettings(top_k=7, temperature=5.0, repeat_penalty=0.1)),
    ({"off": ["foo", "temperature", "temperature"]}, SamplingSettings(top_k=7, off=("temperature",))),
    ({"order": ["nonsense", 4], "off": 3}, SamplingSettings(top_k=7)),
]


@pytest.mark.parametrize(("damage", "expected"), DAMAGED)
def test_a_chat_has_what_can_be_used_of_its_settings(damage: dict[str, object], expected: SamplingSettings) -> None:
    found = columns.settings(json.dumps({"top_k": 7, **damage}))
    assert found == expected


def test_an_answer_was_written_with_settings_in_their_ranges() -> None:
    stored = json.dumps([{"token": 3, "settings": {"top_p": -1, "temperature": -5}}])
    assert columns.changes(stored) == (SettingsChange(3, SamplingSettings(top_p=0.0, temperature=0.0)),)
    assert columns.changes("[{") == columns.changes(None) == ()
    assert columns.settings(None) == columns.settings("[1]") == SamplingSettings()

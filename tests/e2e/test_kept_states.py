"""A chat goes on after a restart without its history being read again, if people turned that on, and only then."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.core.metrics import Metrics
from tests.e2e.inside import Inside

LONG = "Read this: " + " ".join(f"line {number} says {number * 7}." for number in range(30))


def told(inside: Inside) -> Metrics:
    """The figures of the last answer."""
    assert inside.answer.finished is not None
    return inside.answer.finished.metrics


def first_part(home: Path, monkeypatch: pytest.MonkeyPatch, model: Path, gigabytes: int) -> tuple[int, int]:
    """Have a long question answered, and quit; returns the chat and how many tokens it has."""
    with Inside(home, monkeypatch, scripted=False) as inside:
        inside.program.settings.change(kept_states_gb=gigabytes)
        inside.program.conversations.start()
        inside.load(model)
        inside.program.sampling.change(max_tokens=6, temperature=0.0)
        inside.ask(LONG)
        figures = told(inside)
        return inside.program.chat.conversation_id, figures.prompt_tokens + figures.sampled_tokens


def goes_on(home: Path, monkeypatch: pytest.MonkeyPatch, model: Path, chat: int) -> tuple[Metrics, str]:
    """Start again and ask more in the same chat; returns the figures and the answer."""
    with Inside(home, monkeypatch, scripted=False) as inside:
        inside.program.conversations.start()
        inside.load(model)
        inside.until(lambda: inside.program.chat.conversation_id == chat and inside.program.chat.turns)
        inside.ask("And now?")
        return told(inside), inside.answer.text


def test_a_chat_goes_on_from_disk_after_a_restart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, starter_model: Path
) -> None:
    home = tmp_path / "home"
    chat, tokens = first_part(home, monkeypatch, starter_model, 1)
    (state,) = (home / "cache" / "states").iterdir()
    assert state.name.startswith(f"{chat}-")
    figures, text = goes_on(home, monkeypatch, starter_model, chat)
    assert figures.reuse is not None
    assert tokens - 2 <= figures.reuse.from_disk <= tokens
    assert figures.prompt_tokens_from_cache == figures.reuse.from_disk
    # the last answer is part of the chat by now, so that the same is asked once more in a chat of its own
    cold_home = tmp_path / "cold"
    chat, _ = first_part(cold_home, monkeypatch, starter_model, 0)
    assert not (cold_home / "cache" / "states").exists()
    cold, cold_text = goes_on(cold_home, monkeypatch, starter_model, chat)
    assert cold.reuse is not None
    assert cold.reuse.from_disk == 0 and cold.prompt_tokens_from_cache == 0
    assert text == cold_text

"""A question of which something cannot be sent as it is: it goes as far as it can, or it ends; nothing stays busy."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from app.core.chat import ChatPrompt, Prompt, PromptMessage, TextPrompt
from app.core.events import Failed, Finished
from app.core.sampling import SamplingSettings
from app.services.questions import AnswerEvent, Questions
from app.services.templates import Templates
from app.services.wishes import Question
from app.system.memory import main_memory
from app.system.resources import Resources
from app.system.settings_file import SettingsFile
from tests.engine.harness import GREEDY, Engine

SHORT = msgspec.structs.replace(GREEDY, max_tokens=3)
HALF = "a\ud800b"


def end_of(folder: Path, prompt: Prompt, settings: SamplingSettings) -> Finished | Failed:
    """Send a question to an engine process, and return how it ended."""
    settings_file = SettingsFile(folder / "settings.json", lambda _name, _work: None)
    ends: list[Finished | Failed] = []

    def note(event: AnswerEvent) -> None:
        if isinstance(event, Finished | Failed):
            ends.append(event)

    with Engine("scripted") as engine:
        engine.load("any")
        questions = Questions(engine.client, Templates(Resources(folder), settings_file), main_memory)
        questions.told.connect(note)
        for each in (Question(engine.client.new_request(), prompt, settings), Question(99, TextPrompt("x"), SHORT)):
            questions.wait(each)
            assert questions.send_next(None)
            while questions.opened() is not None:
                event = engine.wait(Finished, Failed)
                assert isinstance(event, Finished | Failed)
                questions.take(event)
    assert [type(event).__name__ for event in ends[1:]] == ["Finished"]
    return ends[0]


@pytest.mark.parametrize(
    ("prompt", "settings"),
    [
        (ChatPrompt((PromptMessage("system", HALF), PromptMessage("user", "x"))), SHORT),
        (ChatPrompt((PromptMessage("user", "x"), PromptMessage("assistant", HALF)), continue_last=True), SHORT),
        (ChatPrompt((PromptMessage("user", "x"),), template=HALF), SHORT),
        (TextPrompt(HALF), SHORT),
        (TextPrompt("x"), msgspec.structs.replace(SHORT, stop=(HALF,))),
        (TextPrompt("x"), msgspec.structs.replace(SHORT, dry_sequence_breakers=(HALF,), dry_multiplier=1.0)),
    ],
)
def test_half_a_character_in_any_text_leaves_the_engine_working(
    tmp_path: Path, prompt: Prompt, settings: SamplingSettings
) -> None:
    (tmp_path / "templates").mkdir()
    assert isinstance(end_of(tmp_path, prompt, settings), Finished)


def test_a_number_that_no_message_holds_ends_its_question_in_words(tmp_path: Path) -> None:
    (tmp_path / "templates").mkdir()
    end = end_of(tmp_path, TextPrompt("x"), msgspec.structs.replace(SHORT, seed=2**70))
    assert isinstance(end, Failed)
    assert "cannot be sent to the engine" in end.sentence.english()


def test_settings_that_were_looked_at_hold_only_text_that_can_be_sent() -> None:
    settings = SamplingSettings(stop=(HALF, "b"), dry_sequence_breakers=("\0:",)).validated()
    assert (settings.stop, settings.dry_sequence_breakers) == (("a\ufffdb", "b"), (":",))

"""How surprising a prompt was, through every part of the program and with the starter model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.services.scored_prompt import ScoredPrompt
from tests.e2e.inside import Inside

QUESTION = "What colour is the sky at noon, and why is a xylophone made of marmalade? Name two colours, please."


@pytest.fixture
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, starter_model: Path) -> Iterator[Inside]:
    with Inside(tmp_path / "home", monkeypatch, scripted=False) as made:
        made.program.conversations.start()
        made.load(starter_model)
        made.program.sampling.change(temperature=0.0, max_tokens=6)
        made.program.inspecting.watch(True)
        yield made


def answered(inside: Inside, question: str) -> int:
    """Have a question answered and return how much of its prompt was in the cache."""
    inside.send(question)
    inside.until(lambda: not inside.program.chat.busy)
    looks = inside.program.inspecting
    inside.until(lambda: not looks.is_busy and looks.prompt is not None and looks.turn is inside.answer)
    assert inside.answer.finished is not None
    return inside.answer.finished.metrics.prompt_tokens_from_cache


def scored(inside: Inside) -> ScoredPrompt:
    scores = inside.program.prompt_scores
    assert scores.hindrance is None and scores.begin()
    inside.until(lambda: scores.progress is None)
    assert scores.problem is None and scores.scores is not None
    return scores.scores


def test_an_odd_word_is_surprising_and_the_chat_goes_on_from_its_cache(inside: Inside) -> None:
    answered(inside, QUESTION)
    prompt = inside.program.inspecting.prompt
    assert prompt is not None
    found = scored(inside)
    assert len(found) == len(prompt.ids)
    texts = [text or "" for text in prompt.texts]
    odd = texts.index(" xyl")
    score = found.of(odd)
    assert score is not None and score.log_probability < -5 and score.rank > 20
    assert found.mean_surprise is not None and 1 < found.mean_surprise < 8
    # The template's own end of a message is what the model has seen most often.
    last = found.of(len(prompt.ids) - 1)
    assert last is not None and last.rank == 1 and last.log_probability > -0.1
    before = len(prompt.ids)
    assert answered(inside, "And at night?") >= before, "the cache held the prompt as before"
    assert inside.program.prompt_scores.scores is None


def test_a_pass_is_cancelled_and_the_model_answers_afterwards(inside: Inside) -> None:
    answered(inside, QUESTION * 12)
    scores = inside.program.prompt_scores
    assert scores.begin()
    inside.until(lambda: scores.progress is not None and scores.progress[0])
    scores.cancel()
    inside.until(lambda: scores.progress is None)
    assert scores.scores is None and scores.problem is None
    answered(inside, "And at night?")
    assert inside.answer.text

"""Attention, through every part of the program and with the starter model."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.services.attention import Attention
from app.services.attention_rows import AttentionRows
from tests.e2e.inside import Inside

LAYERS, HEADS, WIDTH = 30, 9, 576


@pytest.fixture
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, starter_model: Path) -> Iterator[Inside]:
    with Inside(tmp_path / "home", monkeypatch, scripted=False) as made:
        made.program.conversations.start()
        made.load(starter_model)
        made.program.sampling.change(temperature=0.0, max_tokens=6)
        made.program.inspecting.watch(True)
        yield made


def service(inside: Inside) -> Attention:
    return inside.program.views.attention


def found(inside: Inside) -> AttentionRows:
    inside.until(lambda: service(inside).progress is None)
    rows = service(inside).rows
    assert service(inside).problem is None and rows is not None
    return rows


def test_the_example_opens_with_its_word_and_what_that_looked_at(inside: Inside) -> None:
    vocabulary = inside.program.vocabulary
    inside.until(lambda: vocabulary.known == vocabulary.size)
    assert service(inside).show_example()
    inside.until(lambda: service(inside).text is not None)
    rows = found(inside)
    text, token = service(inside).text, service(inside).token
    assert text is not None and token is not None
    assert text.texts[token] == " it" and "".join(filter(None, text.texts)).endswith("because it had crashed.")
    assert rows.tokens == token + 1 and len(rows.embedding) == WIDTH
    assert (len(rows.layers), rows.most_heads) == (LAYERS, HEADS)
    for layer in range(LAYERS):
        for head in (None, *range(HEADS)):
            assert math.fsum(rows.row(layer, head) or ()) == pytest.approx(1.0, abs=1e-4)
    before = [rows.strongest(layer, head) for layer in range(LAYERS) for head in range(HEADS)]
    assert {each.goal for each in before if each is not None} >= {"first", "before", "other"}


def test_a_token_of_an_answer_is_read_and_the_chat_goes_on_from_its_cache(inside: Inside) -> None:
    inside.ask("Why is the sky blue?")
    looks = inside.program.inspecting
    inside.until(lambda: not looks.is_busy and looks.prompt is not None and looks.answer is not None)
    looks.look_at(2)
    cost = service(inside).cost
    assert cost is not None and cost.seconds is not None and cost.memory_bytes is not None
    assert service(inside).begin()
    rows = found(inside)
    prompt = looks.prompt
    assert prompt is not None and rows.tokens == len(prompt.ids) + 3
    again = inside.ask("And at night?")
    assert again.finished is not None
    assert again.finished.metrics.prompt_tokens_from_cache >= len(prompt.ids), "the cache held the prompt as before"


def test_a_pass_is_stopped_and_another_one_begins(inside: Inside) -> None:
    inside.ask("Why is the sky blue? " * 30)
    looks = inside.program.inspecting
    inside.until(lambda: not looks.is_busy and looks.prompt is not None and looks.answer is not None)
    looks.look_at(1)
    assert service(inside).begin()
    inside.until(lambda: service(inside).progress is not None and (service(inside).progress or (0,))[0])
    service(inside).cancel()
    inside.until(lambda: service(inside).progress is None)
    assert service(inside).rows is None and service(inside).problem is None
    service(inside).select(5)
    assert service(inside).begin()
    assert found(inside).tokens == 6


def test_a_model_that_is_unloaded_meanwhile_leaves_nothing_behind(inside: Inside, starter_model: Path) -> None:
    inside.ask("Why is the sky blue? " * 30)
    looks = inside.program.inspecting
    inside.until(lambda: not looks.is_busy and looks.prompt is not None and looks.answer is not None)
    looks.look_at(1)
    assert service(inside).begin()
    inside.until(lambda: service(inside).progress is not None and (service(inside).progress or (0,))[0])
    inside.program.session.unload()
    inside.until(lambda: service(inside).progress is None)
    assert service(inside).rows is None
    inside.load(starter_model)
    service(inside).select(5)
    assert service(inside).begin()
    assert found(inside).tokens == 6

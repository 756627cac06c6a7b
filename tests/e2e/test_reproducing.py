"""The starter model writes its answers once more, through every part of the program, and the chat goes on after it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.core.events import Tokens
from app.services.reproduction import Reproduction
from app.services.turns import Turn
from tests.e2e.inside import Inside

SEED = 11
"""With some seeds the model ends its story within a few words."""
LONG = " ".join(["A quick brown fox jumps over a lazy dog in a garden."] * 6)


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, starter_model: Path) -> Iterator[Inside]:
    with Inside(tmp_path / "home", monkeypatch, scripted=False) as made:
        made.program.conversations.start()
        made.load(starter_model)
        made.program.sampling.change(temperature=0.8, max_tokens=12, seed=SEED)
        yield made


def reproduced(inside: Inside, turn: Turn) -> Reproduction:
    """Write an answer once more and return what came of it: the same, or another token drawn as close to the border as a tie is."""
    reproducing = inside.program.reproducing
    assert reproducing.begin(turn)

    def ended() -> bool:
        known = reproducing.of(turn)
        return known is not None and not known.is_open

    inside.until(ended)
    found = reproducing.of(turn)
    assert found is not None
    print(*(sentence.english() for sentence in found.sentences))
    assert found.phase in ("same", "tie", "near")
    if found.phase == "near":
        assert "the draw fell within" in found.sentences[-1].english()
    return found


def identical(turn: Turn) -> str:
    """Return what is said of an answer that came out the same; the model may end it before its limit."""
    return f"Identical: all {len(turn.ids) // 4} tokens."


def test_every_answer_of_a_chat_is_the_same_and_the_next_question_reuses_what_is_there(program: Inside) -> None:
    first = program.ask(f"{LONG} What does the fox do?")
    found = reproduced(program, first)
    assert [sentence.english() for sentence in found.sentences] == [identical(first)]
    following = program.ask(f"{LONG} What does the dog do?")
    assert following.finished is not None and first.finished is not None
    before = first.finished.metrics
    # All but the last token, which is sampled and not decoded, is there.
    assert following.finished.metrics.prompt_tokens_from_cache == before.prompt_tokens + before.sampled_tokens - 1
    assert program.program.live.figures.kv_cells_used == following.finished.metrics.kv.cells_used
    # It is read again as it had come into the cache: in one batch it would round otherwise, by far more than a tie.
    again = reproduced(program, following)
    assert [sentence.english() for sentence in again.sentences] == [identical(following)]
    reproduced(program, first)
    assert program.program.chat.turns[-1] is following
    cells = program.program.live.figures.kv_cells_used
    assert program.program.prompt_count.count.in_cache == cells == before.prompt_tokens + before.sampled_tokens - 1


def test_an_answer_that_went_on_under_moved_sliders_is_the_same(program: Inside) -> None:
    chat = program.program.chat
    program.program.sampling.change(max_tokens=16)
    chat.send("Tell me a story of a fox.")
    moved: list[int] = []

    def move(event: object) -> None:
        if isinstance(event, Tokens) and not moved:
            moved.append(event.first)
            program.program.sampling.change(temperature=1.5)
            program.program.answers.use_settings(chat.shown)

    disconnect = program.program.session.answer_told.connect(move)
    program.until(lambda: not chat.busy)
    disconnect()
    begun = len(program.answer.ids)
    assert chat.can_go_on
    chat.go_on()
    program.until(lambda: not chat.busy)
    turn = program.answer
    assert turn.finished is not None
    assert len(turn.ids) > begun and len(turn.finished.settings) > 1
    reproduced(program, turn)

"""Settings that are moved while an answer is written: whoever looks at its tokens knows from which one on they hold."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np
import pytest

from app.core.commands import SettingsChange
from app.core.events import Event, Tokens
from app.core.sampling import SamplingSettings
from app.core.store_commands import ReadConversation
from app.core.store_events import ConversationRead
from tests.desk import Desk
from tests.probability.recorded import drawn
from tests.services.lanes import PROMPT
from tests.services.recorded_answers import SEED
from tests.services.recorded_lanes import BLOCK, OPEN, blocks_of, load, some_rows, text_of

ROWS = some_rows(3 * BLOCK)
NARROW = msgspec.structs.replace(OPEN, seed=None, top_k=9, temperature=0.7)
WIDE = msgspec.structs.replace(NARROW, top_k=0, temperature=4.0)


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: Path) -> Iterator[Desk]:
    made = Desk(tmp_path / "home", monkeypatch)
    made.program.conversations.start()
    load(made, model)
    made.program.sampling.change(**msgspec.structs.asdict(NARROW))
    made.program.inspecting.watch(True)
    made.program.laboratory.watch(True)
    assert made.program.chat.send("Why?")
    made.settle()
    made.engine.prompt(PROMPT, seed=SEED)
    made.settle()
    yield made
    made.program.stop()


def write(desk: Desk, moved: dict[int, SamplingSettings]) -> None:
    """Let all blocks of an answer follow, drawn wide; `moved` is what was set from a token on."""
    lane = drawn(ROWS, WIDE, SEED, np.arange(PROMPT, dtype=np.int32))
    ids = lane.tokens.tolist()
    for number, block in enumerate(blocks_of(ROWS, lane)):
        first = number * BLOCK
        part = ids[first : first + BLOCK]
        told = tuple(SettingsChange(at, each) for at, each in moved.items() if first <= at < first + BLOCK)
        data, request = array("i", part).tobytes(), desk.engine.question.request
        desk.engine.say(Tokens(request, first, len(part), data, text_of(part), block, 50, 0, 0, settings=told))
        desk.settle()
    inspecting = desk.program.inspecting
    desk.until(
        lambda: inspecting.answer is not None and not inspecting.is_busy and len(inspecting.answer) == len(ids)
    )


def cut_by(desk: Desk, token: int) -> set[str]:
    """Return what cut other tokens that could have come at a place of the answer."""
    inspecting = desk.program.inspecting
    inspecting.look_at(token)
    desk.until(
        lambda: not inspecting.is_busy and inspecting.insight is not None and inspecting.insight.index == token
    )
    assert inspecting.insight is not None
    return {each.cut_by for each in inspecting.insight.alternatives if each.cut_by is not None}


def test_moved_before_the_first_token(desk: Desk) -> None:
    desk.program.sampling.change(top_k=0, temperature=4.0)
    write(desk, {0: WIDE})
    assert [cut_by(desk, token) for token in (0, 5, BLOCK, 2 * BLOCK)] == [set()] * 4
    lab = desk.program.laboratory
    lab.focus.pin(True)
    desk.until(lambda: lab.result is not None and not lab.is_busy)
    assert (lab.values.top_k, lab.values.temperature, lab.is_trying) == (0, 4.0, False)


def test_moved_in_the_middle(desk: Desk) -> None:
    desk.program.sampling.change(top_k=0, temperature=4.0)
    write(desk, {0: NARROW, BLOCK + 2: WIDE})
    assert [cut_by(desk, token) for token in (BLOCK + 1, BLOCK + 2)] == [{"top_k"}, set()]
    lab = desk.program.laboratory
    assert lab.values.top_k == 0
    desk.program.laboratory.focus.pin(True)
    desk.program.inspecting.look_at(1)
    assert lab.values.top_k == NARROW.top_k


def test_what_was_moved_is_kept_of_an_answer_whose_engine_died(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    write(desk, {0: NARROW, BLOCK + 2: WIDE})
    desk.engine.die(desk.engine.question.request)
    desk.settle()
    turn = desk.program.chat.turns[-1]
    moved = (SettingsChange(0, NARROW), SettingsChange(BLOCK + 2, WIDE))
    assert turn.state == "interrupted" and turn.settings == moved
    told: list[Event] = []
    monkeypatch.setattr(desk, "take_from_store", told.append)
    desk.store.send(ReadConversation(1, desk.program.chat.conversation_id))
    (read,) = told
    assert isinstance(read, ConversationRead) and read.answers[-1].settings == moved

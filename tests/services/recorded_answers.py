"""Leads the fake engine through an answer of a chat whose tokens are really drawn and recorded."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

import msgspec
import numpy as np

from app.core.commands import RecordKind, SettingsChange
from app.core.events import Finished, Tokens
from app.core.sampling import SamplingSettings
from app.probability.lane import Lane
from app.services.turns import Turn
from tests.desk import Desk
from tests.fake_engine import MILLISECOND_NS, metrics
from tests.made_up_steps import Row
from tests.probability.recorded import drawn
from tests.services.lanes import PROMPT
from tests.services.recorded_lanes import BLOCK, blocks_of, text_of

SEED = 7


def write(desk: Desk, lane: Lane, blocks: Sequence[bytes]) -> None:
    """Let the tokens of an answer follow, each block with its record."""
    ids, request = lane.tokens.tolist(), desk.engine.question.request
    for start in range(0, len(ids), BLOCK):
        part = ids[start : start + BLOCK]
        at_ns = (200 + 13 * (start + len(part))) * MILLISECOND_NS
        block = blocks[start // BLOCK] if blocks else b""
        data = array("i", part).tobytes()
        desk.engine.say(Tokens(request, start, len(part), data, text_of(part), block, 50, at_ns, at_ns))
    desk.settle()


def answered(
    desk: Desk,
    rows: Sequence[Row],
    settings: SamplingSettings,
    record: RecordKind = "all",
    *,
    question: str = "Why is the sky blue?",
    changes: Sequence[SettingsChange] = (),
    forced: int | None = None,
) -> tuple[Turn, Lane]:
    """Have a question answered with tokens that are drawn from rows; returns its turn and what was drawn.

    The record says of the token `forced` that somebody chose it.
    """
    desk.program.sampling.change(**msgspec.structs.asdict(settings))
    assert desk.program.chat.send(question)
    desk.settle()
    desk.engine.prompt(PROMPT, seed=SEED)
    lane = drawn(rows, settings, SEED, np.arange(PROMPT, dtype=np.int32))
    write(desk, lane, [] if record == "off" else blocks_of(rows, lane, alternatives=record == "all", forced=forced))
    finish(desk, lane, tuple(changes) or (SettingsChange(0, settings),))
    return desk.program.chat.turns[-1], lane


def finish(desk: Desk, lane: Lane, changes: tuple[SettingsChange, ...]) -> None:
    """Let the answer end."""
    ids = lane.tokens.tolist()
    whole = Finished(
        request=desk.engine.question.request,
        text=text_of(ids),
        ids=array("i", ids).tobytes(),
        stop_reason="length",
        metrics=metrics(len(ids)),
        seed=SEED,
        settings=changes,
    )
    desk.engine.say(whole)
    desk.settle()

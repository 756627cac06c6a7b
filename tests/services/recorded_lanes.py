"""Leads the fake engine through a comparison whose tokens are really drawn and recorded, from rows that no model made."""

from __future__ import annotations

import codecs
from array import array
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from app.core.commands import ListPieces, SettingsChange
from app.core.events import Finished, LaneFinished, LaneTokens, Tokens
from app.core.metrics import StopReason
from app.core.sampling import SamplingSettings
from app.probability.lane import Lane
from app.probability.record import FORCED, RecordWriter
from app.probability.row import RowReader
from tests.desk import Desk
from tests.fake_engine import MILLISECOND_NS, metrics
from tests.made_up_steps import Row, listed, loaded
from tests.probability.recorded import drawn
from tests.services.lanes import PROMPT, LanesLead

SIZE = 400
HALVES = {30: b"\xc3", 31: b"\xa9", 32: b"\xa8", 33: b"\xc3\xa9", 34: b"\n", 35: b":"}
"""Some tokens are halves of characters."""
BLOCK = 8
OPEN = SamplingSettings(temperature=1.0, top_k=0, top_p=1.0, min_p=0.0, seed=7)


def pieces() -> list[bytes]:
    """Return what the tokens say."""
    return [HALVES.get(token, f" w{token}".encode()) for token in range(SIZE)]


def some_rows(count: int, seed: int = 1) -> list[Row]:
    """Return rows of which a few tokens hold nearly all of the mass, as those of a model."""
    chance = np.random.default_rng(seed)
    falling = -2.0 * np.log(np.arange(SIZE) + chance.uniform(1.0, 2.5)) + 0.2 * chance.standard_normal(SIZE)
    return [chance.permutation(falling * chance.uniform(0.8, 1.2)).astype(np.float32) for _ in range(count)]


def lane_of(rows: Sequence[Row], settings: SamplingSettings) -> Lane:
    """Return what the engine would draw from the rows, behind the prompt of the lead."""
    prompt = np.arange(PROMPT, dtype=np.int32)
    return drawn(rows, settings, settings.seed or 0, prompt)


def blocks_of(
    rows: Sequence[Row], lane: Lane, *, alternatives: bool = True, forced: int | None = None
) -> list[bytes]:
    """Return the record of a lane, in blocks of a few tokens; one of them may be forced."""
    assert lane.records is not None
    writer = RecordWriter(SIZE, alternatives=alternatives)
    blocks = []
    for number, (row, token) in enumerate(zip(rows, lane.tokens.tolist(), strict=False)):
        facts = RowReader(SIZE).read(row)
        after = float(lane.records.probability_after[number])
        at_ns = (200 + 13 * number) * MILLISECOND_NS
        writer.add(
            token, float(row[token]), facts, facts.rank(token), after, at_ns, FORCED if number == forced else 0
        )
        if len(writer) == BLOCK:
            blocks.append(writer.take())
    return [*blocks, writer.take()]


def text_of(ids: Sequence[int]) -> str:
    """Return what tokens say together."""
    said = pieces()
    return b"".join(said[token] for token in ids).decode("utf-8", "replace")


def load(desk: Desk, path: Path) -> None:
    """Have a model loaded whose tokens are those of `pieces`."""
    desk.begin_load(path)
    desk.engine.say(loaded(desk.engine.load.request, str(path), SIZE))
    desk.settle()
    asked = desk.engine.all(ListPieces)[-1]
    desk.engine.say(listed(asked.request, pieces()))
    desk.settle()


class RecordedLead(LanesLead):
    """Draws every lane from the same rows; how much is recorded is said once."""

    def __init__(self, desk: Desk, rows: Sequence[Row], record: str = "all") -> None:
        super().__init__(desk)
        self.rows = rows
        self._record = record
        self._desk_of_lead = desk
        self.drawn: dict[int, Lane] = {}
        """What each lane has drawn last."""

    def draw(self, number: int, count: int | None = None) -> Lane:
        """Let a lane write so many tokens, or one from each row."""
        rows = self.rows[:count]
        lane = lane_of(rows, self.asked.lanes[number]) if rows else None
        ids = lane.tokens.tolist() if lane is not None else []
        blocks = blocks_of(rows, lane, alternatives=self._record == "all") if lane is not None else []
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        said = pieces()
        for first in range(0, len(ids), BLOCK):
            part = ids[first : first + BLOCK]
            text = decoder.decode(b"".join(said[token] for token in part), first + BLOCK >= len(ids))
            at_ns = (200 + 13 * (first + len(part))) * MILLISECOND_NS
            block = b"" if self._record == "off" else blocks[first // BLOCK]
            tokens = Tokens(
                self.asked.request, first, len(part), array("i", part).tobytes(), text, block, 50, at_ns, at_ns
            )
            self._desk_of_lead.engine.say(LaneTokens(self.asked.request, number, tokens))
        self._desk_of_lead.settle()
        self.drawn[number] = lane or Lane(np.empty(0, np.int32), None, self.asked.lanes[number])
        return self.drawn[number]

    def finish_drawn(self, number: int, count: int | None = None, reason: StopReason = "length") -> Lane:
        """Let a lane write tokens and end."""
        lane = self.draw(number, count)
        ids, settings = lane.tokens.tolist(), self.asked.lanes[number]
        whole = Finished(
            request=self.asked.request,
            text=text_of(ids),
            ids=array("i", ids).tobytes(),
            stop_reason=reason,
            metrics=metrics(len(ids)),
            seed=settings.seed,
            settings=(SettingsChange(0, settings),),
        )
        self._desk_of_lead.engine.say(LaneFinished(self.asked.request, number, whole))
        self._desk_of_lead.settle()
        return lane

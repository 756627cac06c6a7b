"""What an analysis of lanes is made from, taken down at one moment so that a job can work on it.

Plain values; knows no numbers library and no store.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec

from app.core.commands import SettingsChange
from app.core.metrics import Metrics, StopReason
from app.core.sampling import SamplingSettings
from app.services.lanes_run import Lane, LanesRun
from app.services.piece_table import PieceTable

if TYPE_CHECKING:
    from app.services.known_lanes import Known


@dataclass(frozen=True, slots=True)
class LaneInput:
    """One lane as it is now."""

    index: int
    message: int
    text: str
    ids: bytes
    """Its tokens, int32, little endian."""
    blocks: tuple[bytes, ...]
    """Of its per-token record, as many as are known."""
    settings: SamplingSettings
    changes: tuple[SettingsChange, ...]
    """What it was written with; more than one where it was kept and went on with others."""
    seed: int | None
    metrics: Metrics | None
    """None while it is written and where it was interrupted."""
    stop_reason: StopReason | None
    is_open: bool = False
    """Whether more of it may come: it is written, or waits for its wave."""

    @property
    def has_ended(self) -> bool:
        """Whether it came to an end of its own or to a limit: nobody stopped it, and nothing cut it short."""
        return not self.is_open and self.stop_reason not in (None, "cancelled")

    @property
    def begins(self) -> int:
        """The first token that was drawn: those before it are words that were given."""
        return self.changes[0].token if self.changes else 0

    def goes_on(self, earlier: LaneInput) -> bool:
        """Return whether this is a later state of the same lane: its tokens and blocks begin with those of the earlier one."""
        is_same = (self.message, self.begins) == (earlier.message, earlier.begins)
        return is_same and self.ids.startswith(earlier.ids) and self.blocks[: len(earlier.blocks)] == earlier.blocks

    def settings_at(self, token: int) -> SamplingSettings:
        """Return the settings with which a token was drawn."""
        if len(self.changes) == 1:  # those of an answer that is written can be others than the ones it was asked with
            return msgspec.structs.replace(self.changes[0].settings, seed=self.settings.seed)
        return next((each.settings for each in reversed(self.changes) if each.token <= token), self.settings)


@dataclass(frozen=True, slots=True)
class LaneInputs:
    """The lanes of one comparison, and what they share."""

    comparison: int
    baseline: int
    lanes: tuple[LaneInput, ...]
    prompt: bytes | None
    """Tokens before the answers, int32; None where that is not kept."""
    pieces: PieceTable | None
    """What the tokens say, as far as anybody knows."""
    is_whole: bool
    known: dict[int, Known] = field(default_factory=dict, init=False, compare=False, repr=False)
    """What was worked out of each lane by its index, for the next question about it."""
    begun: dict[int, Known] = field(default_factory=dict, init=False, compare=False, repr=False)
    """What was worked out of each lane when it was shorter and else the same: only what came since is to be read."""

    def lane(self, index: int) -> LaneInput | None:
        """Return a lane by its index."""
        return next((each for each in self.lanes if each.index == index), None)

    def take_over(self, earlier: LaneInputs) -> None:
        """Know what was worked out earlier of lanes that are the same now, or have grown."""
        found = dict(earlier.known)  # a job may add to it meanwhile
        if self.prompt == earlier.prompt and self.pieces is earlier.pieces:
            self.known.update({lane: known for lane, known in found.items() if known.given == self.lane(lane)})
        for index, known in (earlier.begun | found).items():
            lane = self.lane(index)
            if lane is not None and lane.goes_on(known.given):
                self.begun[index] = known


def inputs_of(run: LanesRun, prompt: bytes | None, pieces: PieceTable | None) -> LaneInputs:
    """Take down what is known of a comparison now."""
    lanes = tuple(_input_of(lane) for lane in run.lanes)
    indices = [lane.index for lane in lanes]
    baseline = run.comparison.baseline if run.comparison.baseline in indices else min(indices, default=0)
    return LaneInputs(run.comparison.id, baseline, lanes, prompt, pieces, not run.is_running)


def _input_of(lane: Lane) -> LaneInput:
    turn = lane.turn
    finished = turn.finished
    return LaneInput(
        index=lane.index,
        message=turn.message,
        text=turn.text,
        ids=turn.ids,
        blocks=tuple(lane.record),
        settings=lane.settings,
        changes=finished.settings if finished is not None else turn.settings,
        seed=turn.seed,
        metrics=finished.metrics if finished is not None else None,
        stop_reason=finished.stop_reason if finished is not None else None,
        is_open=lane.is_open,
    )

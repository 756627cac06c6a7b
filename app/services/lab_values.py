"""What the sampler laboratory looks at, and what came of it, as plain values for whoever shows them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from app.core.events import GrammarMask
from app.core.sampler_cards import GrammarCard, SamplerCards
from app.core.words import Sentence
from app.services.lane_inputs import LaneInputs
from app.services.piece_table import PieceTable

LabSource = Literal["live", "ended", "frozen", "past", "held", "kept"]
"""Where a step comes from: the newest one, the last one of an answer that has ended, one that stays, one that stays of
an earlier answer than the newest, the next token of an answer that waits, or a record."""


class LabPlace(NamedTuple):
    """Which step is looked at."""

    source: LabSource
    position: int
    """The place in its answer of the token, from 0."""


@dataclass(frozen=True)
class LabStep:
    """A step whose whole row the engine told."""

    request: int
    token: int
    """Its place among the tokens of the request, from 0."""
    row: bytes
    """Logits, float32, in the order of ids, before any stage."""
    before: bytes
    """All tokens before it, int32."""
    seed: int | None
    position: int
    """The token's place in its answer: its draw is keyed by it."""
    taken: int | None
    """The token that is in the answer; None where none is yet."""
    is_held: bool = False
    grammar: GrammarMask | None = None
    """What the answer's grammar lets through, perhaps not counted; None without one."""
    chosen: int | None = None
    """The token that somebody chose for this place; it may still be waited for."""


@dataclass(frozen=True)
class KeptStep:
    """A token of an answer as its record has it."""

    inputs: LaneInputs
    """The answer as the one lane of a comparison."""
    position: int
    """The token's place in the answer."""


@dataclass(eq=False)
class LabBench:
    """A step with what a job worked out of it: it stays as long as the step is looked at."""

    step: LabStep | KeptStep
    pieces: PieceTable | None
    worked_out: list[object] = field(default_factory=list)
    """For the jobs alone."""


class LabResult(NamedTuple):
    """What came of the newest settings."""

    cards: SamplerCards | None
    """None where nothing can be said, for the reason of `problem`."""
    texts: dict[int, str]
    """What the tokens of the cards say, where somebody knows."""
    problem: Sentence | None = None
    doubt: Sentence | None = None
    """Why the cards may not be exact."""
    taken: int | None = None
    """The token that is in the answer; None where none is yet."""
    chosen: int | None = None
    """The token that somebody chose for this place; no draw decides there."""
    grammar: GrammarCard | None = None
    """What the grammar cut that was in force, as far as anybody knows; None without one."""

"""An answer that is looked at token by token, as the one lane of a comparison that nobody keeps, and the work on it.

The work is for the background jobs: what it needs of numpy is loaded by the first of them. Knows no session and no store.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from app.core.comparison import Comparison
from app.core.sampling import SamplingSettings
from app.services.answer_what_if import changes_of
from app.services.inspection import InspectedAnswer, InspectedPrompt, TokenInsight
from app.services.lane_inputs import LaneInputs
from app.services.lanes_run import Lane, LanesRun
from app.services.open_conversation import OpenConversation, Run
from app.services.piece_table import PieceTable
from app.services.turns import Turn


@dataclass(frozen=True)
class Grounds:
    """What it is known from what could have come at a token: where it is another, that is worked out anew."""

    token: int
    first: int
    """The first token that was drawn."""
    log_probability: float | None
    """The token's own, None while nothing is recorded of it."""
    settings: SamplingSettings
    """Those with which it was drawn."""
    prompt: bytes | None
    pieces: PieceTable | None = dataclasses.field(repr=False)

    @classmethod
    def of(cls, inputs: LaneInputs, answer: InspectedAnswer, token: int) -> Grounds:
        """Return what is known now of a token of an answer."""
        given = inputs.lanes[0]
        return cls(
            token,
            given.begins,
            answer.log_probabilities[token] if token < len(answer) else None,
            given.settings_at(token),
            inputs.prompt,
            inputs.pieces,
        )


def is_open(turn: Turn) -> bool:
    """Return whether an answer is being written, or will be."""
    return turn.state in ("waiting", "writing")


def can_be_looked_at(turn: Turn) -> bool:
    """Return whether a turn is an answer that has tokens, or will have."""
    return turn.role == "assistant" and (bool(turn.ids) or is_open(turn))


def whole(run: Run) -> Turn:
    """Return an answer that is written, with the settings of its beginning where it is one with that."""
    earlier, turn = run.earlier, run.turn
    if earlier is None or not run.goes_on or run.parts_ways or not run.beginning.continues:
        return turn
    return dataclasses.replace(turn, finished=None, settings=(*changes_of(earlier), *turn.settings))


def run_of(turn: Turn, conversation: OpenConversation) -> LanesRun:
    """Return an answer as the one lane of a comparison; its turn is the one that may still grow."""
    changes = changes_of(turn)
    settings = changes[-1].settings if changes else conversation.head.settings
    comparison = Comparison(turn.message, conversation.head.id, turn.parent, turn.created_ms, (turn.message,))
    question = conversation.known.get(turn.parent) if turn.parent is not None else None
    lane = Lane(0, turn, settings)
    return LanesRun(0, conversation, comparison, question or turn, [lane], is_running=False)


def found(inputs: LaneInputs, prompt: InspectedPrompt | None) -> tuple[InspectedAnswer, InspectedPrompt | None]:
    """Return what is known of an answer and of its prompt."""
    # Loads numpy, which costs 130 ms: the window's start need not wait for it.
    from app.services.token_insights import inspected, with_texts  # noqa: PLC0415  loaded by the first job that needs it

    return inspected(inputs), with_texts(prompt, inputs.pieces)


def insight(inputs: LaneInputs, token: int) -> TokenInsight:
    """Return what could have come at a token."""
    from app.services.token_insights import insight as worked_out  # noqa: PLC0415  loaded by the first job that needs it

    return worked_out(inputs, token)

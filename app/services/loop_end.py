"""How an answer ended, as the picture of the loop says it."""

from __future__ import annotations

from app.core.grammar import ENDED_BY, GRAMMAR_TOO_SLOW, NOTHING_FITTED
from app.core.words import Sentence, translate
from app.services.loop_values import LoopEnd
from app.services.turns import Turn


def end_of(turn: Turn | None) -> LoopEnd | None:
    """Return how an answer ended; None while it has not."""
    if turn is None or turn.state not in ("done", "interrupted"):
        return None
    finished = turn.finished
    if turn.state == "interrupted" or finished is None:
        return LoopEnd(None, turn.reason or _CUT_OFF)
    told = [note.values[ENDED_BY] for note in finished.notes if ENDED_BY in note.values]
    if finished.stop_reason == "end" and told and told[-1] in _OTHER_ENDS:
        return LoopEnd("end", *_OTHER_ENDS[told[-1]])
    return LoopEnd(finished.stop_reason, _ENDS[finished.stop_reason])


def ends_with_a_token(turn: Turn | None) -> bool:
    """Return whether the last token of an answer is the one that ended it, which says nothing."""
    end = end_of(turn)
    return end is not None and end.words == _ENDS["end"]


_CUT_OFF = translate("Loop", "It was cut off before its end.")
_ENDS = {
    "end": translate("Loop", "The model drew its end token: nothing more was to come."),
    "length": translate("Loop", "The limit on the length of an answer was reached."),
    "stop_string": translate("Loop", "A stop text came, which is not part of the answer."),
    "cancelled": translate("Loop", "You stopped it."),
    "context_full": translate("Loop", "The context is full: there is no cell for another token."),
}
"""By `StopReason`."""
_OTHER_ENDS: dict[str | int | float, tuple[Sentence, Sentence]] = {
    NOTHING_FITTED: (
        translate("Loop", "The grammar allowed no token of this model any more."),
        translate("Loop", "nothing fitted the grammar"),
    ),
    GRAMMAR_TOO_SLOW: (
        translate("Loop", "llama.cpp did not get through what the grammar allowed here."),
        translate("Loop", "the grammar took too long"),
    ),
}
"""Ends without an end token, by what a note of the answer tells: the sentence, and a few words."""

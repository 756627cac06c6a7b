"""What the engine is at, said to somebody who has to wait for it. Pure."""

from __future__ import annotations

from app.core.commands import MeasureBandwidth, ReadAttention, ScorePrompt, TimeOperations
from app.core.words import Sentence, translate
from app.services.questions import Asked, Replay, Scoring
from app.services.wishes import LanesQuestion


def wait_for(asked: Asked | None) -> Sentence:
    """Return what is to end before something else can begin; an answer, unless it is known to be something else."""
    match asked:
        case Replay():
            return _REPLAY
        case LanesQuestion():
            return _LANES
        case Scoring(command=ScorePrompt()):
            return _SCORES
        case Scoring(command=ReadAttention()):
            return _ATTENTION
        case Scoring(command=TimeOperations()):
            return _OPERATIONS
        case Scoring(command=MeasureBandwidth()):
            return _BANDWIDTH
        case _:
            return _ANSWER


def waits_until(asked: Asked | None) -> Sentence | None:
    """Return the pass over tokens that an answer waits for, said beside it; None where the engine is at none."""
    match asked:
        case Scoring(command=ScorePrompt()):
            return _UNTIL_SCORED
        case Scoring(command=ReadAttention(ids=ids)):
            return _UNTIL_ATTENTION if len(ids) > _ID_BYTES else _UNTIL_ROW
        case Scoring(command=TimeOperations()):
            return _UNTIL_TIMED
        case Scoring(command=MeasureBandwidth()):
            return _UNTIL_MEASURED
        case _:
            return None


_ID_BYTES = 4
_ANSWER = translate("EngineWork", "An answer is being written. Ask again when it has ended.")
_REPLAY = translate("EngineWork", "An answer is being reproduced. Ask again when that has ended.")
_LANES = translate("EngineWork", "A comparison is being written. Ask again when it has ended.")
_SCORES = translate("EngineWork", "A prompt is being scored. Ask again when that has ended.")
_ATTENTION = translate("EngineWork", "The attention of a token is being read. Ask again when that has ended.")
_OPERATIONS = translate("EngineWork", "A step is being taken apart. Ask again when that has ended.")
_UNTIL_SCORED = translate("EngineWork", "Waits until the prompt in Inside is read (cancel that there)")
_UNTIL_ATTENTION = translate("EngineWork", "Waits until the attention in Inside is read (cancel that there)")
_UNTIL_ROW = translate("EngineWork", "Waits until the numbers of one token in Inside are read")
_UNTIL_TIMED = translate("EngineWork", "Waits until the operations in Inside are timed (cancel that there)")
_BANDWIDTH = translate("EngineWork", "The memory's speed is being measured. Ask again when that has ended.")
_UNTIL_MEASURED = translate("EngineWork", "Waits until the memory's speed is measured")

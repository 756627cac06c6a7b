"""Why an answer that was asked for is not begun: what the engine does before it, in a sentence."""

from __future__ import annotations

from app.core.words import Sentence, translate
from app.services.answers import Answers
from app.services.engine_session import EngineSession
from app.services.engine_work import waits_until
from app.services.open_conversation import Run
from app.services.questions import Replay
from app.services.turns import Turn
from app.services.wishes import LanesQuestion, Question


def run_of(answers: Answers, turn: Turn | None) -> Run | None:
    """Return the run that an answer waits for or is written by; None for one that is over."""
    return next((run for run in answers.runs if run.turn is turn), None) if turn is not None else None


def waits_for(session: EngineSession, run: Run | None) -> Sentence | None:
    """Return what comes before an answer that is waited for; None once the engine has it, and where none is."""
    opened = session.opened()
    if run is None or (opened is not None and opened.request == run.request):
        return None
    if session.phase in ("starting", "loading"):
        percent, model = round(session.percent), session.name or ""
        if session.phase == "starting" or not percent:
            return translate("LoopWait", "It waits until {model} is loaded.", model=model)
        return translate("LoopWait", "It waits until {model} is loaded: {percent} %.", model=model, percent=percent)
    match opened:
        case Question():
            return _ANSWER
        case Replay():
            return _REPLAY
        case LanesQuestion():
            return _LANES
        case _:
            return waits_until(opened) or _SAVED


_ANSWER = translate("LoopWait", "It waits until the answer in another chat is written.")
_REPLAY = translate("LoopWait", "It waits until an answer is reproduced.")
_LANES = translate("LoopWait", "It waits until a comparison is written.")
_SAVED = translate("LoopWait", "It is saved first, before the model sees it.")

"""Which model's sizes the picture of the loop shows, or why it shows none."""

from __future__ import annotations

from app.core.model import ModelInfo
from app.core.words import Sentence, translate
from app.services.engine_session import EngineSession
from app.services.turns import Turn


def model_of(session: EngineSession, turn: Turn | None) -> tuple[ModelInfo | None, Sentence | None]:
    """Return the model whose sizes are shown beside an answer, or why there is none."""
    model, ref = session.model, session.ref
    is_open = turn is None or turn.state in ("waiting", "writing") or turn.model is None
    is_theirs = is_open or (turn is not None and ref is not None and turn.model == ref)
    if not is_theirs and turn is not None and turn.model is not None and ref is not None:
        is_theirs = turn.model.identity == ref.identity
    if model is not None and is_theirs:
        return model, None
    wish, of = session.wish, turn.model if turn is not None and not is_open else None
    if session.phase in ("starting", "loading") and (of is None or (wish is not None and str(wish.path) == of.path)):
        return None, translate("Loop", "{model} is being loaded: its sizes follow.", model=session.name or "?")
    if turn is None or is_open:
        return None, _NO_MODEL
    return None, translate(
        "Loop", "Load the model that wrote this answer, {model}, to see its sizes.", model=turn.author or "?"
    )


_NO_MODEL = translate("Loop", "Load a model to see its sizes.")

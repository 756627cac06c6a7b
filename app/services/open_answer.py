"""Why what is asked about an answer has to wait for its end, told alike wherever it can be asked for."""

from __future__ import annotations

from app.core.words import Sentence, translate
from app.services.turns import Turn


def why_open(turn: Turn | None) -> Sentence | None:
    """Return why an answer has to end first, and what to do; None where it has."""
    if turn is None or turn.state not in ("waiting", "writing"):
        return None
    return _HELD if turn.is_held else _OPEN


_OPEN = translate("OpenAnswer", "This answer is still being written. Ask again when it has ended.")
_HELD = translate("OpenAnswer", "This answer waits for you, and has to end first: let it run on, or stop it.")

"""When each model answered last, and how fast the newest of its answers were read and written."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from app.core.model_note import ModelUse
from app.store import columns

MOST_ANSWERS = 5000
"""So many of the newest are looked at; what answered only before has no speed of now."""
MOST_MEASURED = 10
"""So many of one model tell how fast it is."""
LEAST_TOKENS = 16
"""Of fewer a speed says nothing."""
LEAST_SPEED, MOST_SPEED = 1e-3, 1e7
"""Tokens a second; what is beyond was measured by nobody."""

_NEWEST = """
    SELECT answer.model, message.created_ms, json_extract(metrics, '$.decode_tokens_per_s'),
    json_extract(metrics, '$.sampled_tokens'), json_extract(metrics, '$.prefill_tokens_per_s'),
    json_extract(metrics, '$.prompt_tokens') - json_extract(metrics, '$.prompt_tokens_from_cache')
    FROM answer JOIN message ON message.id = answer.message
    WHERE answer.model IS NOT NULL AND (metrics IS NULL OR json_valid(metrics))
    ORDER BY answer.message DESC LIMIT ?"""
# A conversation knows its model for longer than those answers go back.
_EARLIER = "SELECT model, MAX(changed_ms) FROM conversation WHERE model IS NOT NULL GROUP BY model"


@dataclass
class _Speed:
    """Tokens over the time that they took."""

    answers: int = 0
    tokens: int = 0
    seconds: float = 0.0

    def add(self, tokens: object, speed: object) -> None:
        """Take one answer more, if it tells anything."""
        if self.answers == MOST_MEASURED or not isinstance(tokens, int) or tokens < LEAST_TOKENS:
            return
        if isinstance(speed, float | int) and LEAST_SPEED <= speed <= MOST_SPEED:
            self.answers += 1
            self.tokens += tokens
            self.seconds += tokens / speed

    @property
    def speed(self) -> float | None:
        """Tokens a second; None where no answer tells."""
        return self.tokens / self.seconds if self.seconds else None


class _Use:
    """What is gathered of one model."""

    def __init__(self, last_ms: int) -> None:
        self.last_ms = last_ms
        self.decode, self.prefill = _Speed(), _Speed()


def read_model_use(connection: sqlite3.Connection) -> tuple[ModelUse, ...]:
    """Return what is known of each model that has answered, in no order; figures that are none are left out."""
    uses: dict[str, _Use] = {}
    identities: dict[object, str | None] = {}

    def identity(stored: object) -> str | None:
        if stored not in identities:
            model = columns.maybe_json(stored, columns.MODEL)
            identities[stored] = model.identity if model is not None else None
        return identities[stored]

    for stored, at_ms, decode, sampled, prefill, evaluated in connection.execute(_NEWEST, (MOST_ANSWERS,)):
        if (model := identity(stored)) is None:
            continue
        use = uses.setdefault(model, _Use(columns.integer(at_ms) or 0))
        use.decode.add(sampled, decode)
        use.prefill.add(evaluated, prefill)
    for stored, at_ms in connection.execute(_EARLIER):
        if (model := identity(stored)) is not None and model not in uses:
            uses[model] = _Use(columns.integer(at_ms) or 0)
    return tuple(
        ModelUse(model, use.last_ms, use.decode.speed, use.prefill.speed, use.decode.answers, use.prefill.answers)
        for model, use in uses.items()
    )

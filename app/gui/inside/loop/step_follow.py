"""Which stage is explained while an answer is written step by step: the lit one, until somebody chooses another."""

from __future__ import annotations

from app.services.loop_values import LoopValues, StageName

_A_STEP = 1
"""So many tokens come between two waits; where more come the answer runs on."""


class StepFollow:
    """Follows the values that the picture shows. Knows no view."""

    def __init__(self) -> None:
        self._held_at: int | None = None
        """How many tokens the answer had when it waited last; None where it does not go step by step."""
        self._is_kept = False
        self._lit: StageName | None = None

    @property
    def is_kept(self) -> bool:
        """Whether a stage stays that somebody chose while the answer goes step by step."""
        return self._is_kept

    def take(self, values: LoopValues) -> StageName | None:
        """Return the stage that is to be explained now; None where that is left to people."""
        if values.phase == "held":
            self._held_at = values.written
        elif not self._steps(values):
            self._held_at, self._is_kept = None, False
        self._lit = values.running[0] if values.phase == "held" and values.running else None
        return None if self._is_kept else self._lit

    def choose(self, stage: StageName) -> None:
        """Keep the stage that somebody chose; whoever chooses the lit one follows again."""
        self._is_kept = self._held_at is not None and stage != self._lit

    def follow(self) -> None:
        """Keep no stage any more."""
        self._is_kept = False

    def _steps(self, values: LoopValues) -> bool:
        """Return whether the token is on its way that was let come after a wait."""
        return (
            values.phase == "writing"
            and self._held_at is not None
            and self._held_at <= values.written <= self._held_at + _A_STEP
        )

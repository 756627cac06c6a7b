"""The sampler chain of a script: the pure stages of `app.probability` in the place of the native ones.

Knows nothing of scripts or of llama.cpp.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from app.core.sampling import REMEMBERING, SamplingSettings
from app.engine.backend import Row
from app.probability import stages
from app.probability.candidates import candidates_of


class ScriptedCandidates:
    """The candidates of one step, for the pure stages of `app.probability`."""

    def __init__(self) -> None:
        self.value = candidates_of(np.empty(0, np.int32), np.empty(0, np.float32))

    def fill(self, ids: npt.NDArray[np.int32], logits: Row) -> None:
        """Start a step."""
        self.value = candidates_of(np.array(ids), np.array(logits))

    def survivors(self) -> tuple[npt.NDArray[np.int32], Row]:
        """Return the ids and logits that are left."""
        return self.value.ids, self.value.logits


class ScriptedStage:
    """One pure stage, fed with the tokens that it is told."""

    def __init__(self, stage: stages.Stage, history: list[int]) -> None:
        self.name = stage.name
        self.remembers = stage.name in REMEMBERING
        self._stage = stage
        self._history = history
        self.accept: Callable[[int], object] = history.append

    def apply(self, candidates: ScriptedCandidates) -> None:
        """Cut or reshape the candidates in place."""
        step = stages.Step(np.asarray(self._history, np.int32), xtc_decides=True)
        candidates.value = self._stage.apply(candidates.value, step)


class ScriptedChain:
    """The pure stages that a set of settings turns on."""

    def __init__(self, settings: SamplingSettings) -> None:
        self.stages: Sequence[ScriptedStage] = [ScriptedStage(stage, []) for stage in stages.chain(settings)]

    def close(self) -> None:
        """Forget the stages."""
        self.stages = []


class ScriptedGrammar:
    """Stands for any grammar: a script says what it says, and all of it fits."""

    def apply(self, candidates: ScriptedCandidates) -> None:
        """Leave all candidates as they are."""

    def allows(self, token: int) -> bool:
        """Return that a token fits."""
        return True

    def accept(self, token: int) -> None:
        """Take a token."""

    def close(self) -> None:
        """Nothing to free."""

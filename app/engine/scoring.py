"""How likely each token of a prompt was behind those before it: one pass in an inspection context.

Must not know who asks, and touches nothing of the chat's. The last token is not read: nothing comes behind it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import numpy as np

from app.core.commands import ScorePrompt
from app.core.events import Event, Failed
from app.core.prompt_scores import PromptScored, ScoreProgress
from app.engine.backend import Backend, Rows
from app.engine.control import Control
from app.engine.inspected_ids import STOPPED, Ids, refuse_unfit
from app.engine.logits import Logits


class _Scores:
    """The scores so far, shape (tokens - 1,) each."""

    def __init__(self, ids: Ids, backend: Backend) -> None:
        count = max(len(ids) - 1, 0)
        self._ids = ids
        self._reader = Logits(backend)
        self._log_probabilities = np.empty(count, "<f4")
        self._ranks = np.empty(count, "<u4")
        self._entropies = np.empty(count, "<f4")

    def take(self, rows: Rows, position: int) -> None:
        """Score the tokens that come behind those whose rows these are. Raises `BrokenLogits`."""
        for place, row in enumerate(rows, position):
            _, facts = self._reader.read(row)
            token = int(self._ids[place + 1])
            self._log_probabilities[place] = float(row[token]) - facts.log_sum_exp
            self._ranks[place] = facts.rank(token)
            self._entropies[place] = facts.entropy

    def told(self, request: int) -> PromptScored:
        """Return all of them as they are sent."""
        values = (self._log_probabilities, self._ranks, self._entropies)
        return PromptScored(request, *(column.tobytes() for column in values))


def score(backend: Backend, command: ScorePrompt, control: Control) -> Iterator[Event]:
    """Yield progress, and `PromptScored` or `Failed` once the memory is given back.

    Raises `PromptTooLong`, `NoInspection`, `BrokenLogits`, and `UserError` for ids that the vocabulary lacks.
    """
    ids: Ids = np.frombuffer(command.ids, "<i4")
    refuse_unfit(ids, backend)
    read, scores = len(ids) - 1, _Scores(ids, backend)
    if read > 0 and not control.is_cancelled():
        with closing(backend.inspect(len(ids), command.main_memory)) as inspection:
            inspection.set_abort(control.is_cancelled)
            for start in range(0, read, inspection.batch):
                chunk = ids[start : min(start + inspection.batch, read)]
                rows = None if control.is_cancelled() else inspection.rows(chunk, start)
                if rows is None:
                    break
                scores.take(rows, start)
                yield ScoreProgress(command.request, start + len(chunk) + 1, len(ids))
    yield Failed(command.request, "cancelled", STOPPED) if control.is_cancelled() else scores.told(command.request)

"""What the figures say of the cells: of the answer that is followed, and of what is written beside it.

The cells are the engine's, whichever conversation is shown; answers that are written once more and lanes fill them, too.
"""

from __future__ import annotations

from app.core.events import (
    Compared,
    Failed,
    Finished,
    Held,
    LaneFinished,
    LanesPlanned,
    LaneTokens,
    PrefillProgress,
    PromptReady,
    Tokens,
)
from app.core.metrics import KVUse
from app.core.model import ModelInfo
from app.core.replay_events import Reproduced
from app.services.cache_parts import CellsInUse, PartName, measured_cells
from app.services.questions import AnswerEvent, LanesEvent, ReplayEvent
from app.services.thinking import Thoughts

_LANES: PartName = "lanes"


class LiveCells:
    """Follows the cells; `figures` are theirs, by their names in `Figures`."""

    def __init__(self) -> None:
        self.figures: dict[str, object] = {}
        self.in_use = CellsInUse()
        self._model: ModelInfo | None = None
        self._beside: PromptReady | None = None
        """The prompt of an answer that is written once more: no figure of it is shown but what the cells hold."""
        self._used = 0
        self._first = 0
        """The first of the chat's tokens that layers with a sliding window have, as it was last told."""

    @property
    def bytes(self) -> int | None:
        """What the cells in use take; None where a part of it is unknown."""
        found = self.figures.get("kv_bytes")
        return found if isinstance(found, int) else None

    def load(self, model: ModelInfo | None) -> None:
        """A model is there, or none: its cells are empty."""
        self._model, self._beside, self.figures = model, None, {}
        self.in_use.load(model)
        if model is not None:
            saved = 0 if model.memory_kind != "plain" else None
            self.figures = {"memory_kind": model.memory_kind, "checkpoints": saved}
            self._use(0, 0, None)

    def follow(self, event: AnswerEvent, prompt: PromptReady | None, thoughts: Thoughts | None) -> bool:
        """Take in what is told of an answer; returns whether the cells are those of its prompt."""
        match event:
            case PromptReady():
                used, first = event.from_cache, event.window_from
            case PrefillProgress():
                used, first = event.done, event.window_from
            case Tokens():
                used, first = event.cells_used, event.window_from
            case Held() if prompt is not None:  # the row is there, so all tokens before it are in cells
                used, first = len(prompt.ids) // 4 + event.token, event.window_from
            case Finished():
                used, first = event.metrics.kv.cells_used, self._first
            case Failed() if prompt is not None:  # what is known to be there: the prompt, or as much as was read
                used, first = min(self._used, len(prompt.ids) // 4), self._first
            case _:
                return False
        self._use(used, first, prompt, thoughts=thoughts)
        if isinstance(event, Finished):
            self._measured(event.metrics.kv)
        return True

    def follow_beside(self, event: ReplayEvent | LanesEvent) -> bool:
        """Take in what is told of an answer that is written once more, or of lanes; returns whether cells changed."""
        if isinstance(event, PromptReady):
            self._beside = event
        if self._beside is None or self._beside.request != event.request or self._model is None:
            return False
        prompt, whole = self._beside, len(self._beside.ids) // 4
        match event:
            case PromptReady():
                self._use(event.from_cache, event.window_from, prompt)
            case PrefillProgress():
                self._use(event.done, event.window_from, prompt)
            case Tokens():
                self._use(event.cells_used, event.window_from, prompt)
            case LanesPlanned():
                self.in_use.resize(event.cache)
                self._use(whole, event.prompt_from, prompt)
            case LaneTokens():
                self._use_lanes(event.tokens.cells_used, event, prompt)
            case LaneFinished() if event.cells_used is not None:
                self._use_lanes(event.cells_used, event, prompt)
            case Reproduced() | Compared():
                self.in_use.resize(event.cache if isinstance(event, Compared) else None)
                self._use(event.kv.cells_used, self._first, prompt)
                self._measured(event.kv)
            case Failed():
                self.in_use.resize(None)
                self._use(min(self._used, whole), self._first, prompt)
            case _:
                return False
        return True

    def _use_lanes(self, used: int, event: LaneTokens | LaneFinished, prompt: PromptReady) -> None:
        self._first = event.prompt_from
        in_window = event.window_used
        if in_window is None:
            in_window = self.in_use.window_used(used, event.prompt_from)
        self._used = used
        self.figures |= self.in_use.of(prompt, used, in_window, _LANES)

    def _use(self, used: int, first: int, prompt: PromptReady | None, *, thoughts: Thoughts | None = None) -> None:
        """So many tokens of the chat are in cells; layers with a sliding window have those from `first` on."""
        self._used, self._first = used, first
        in_window = self.in_use.window_used(used, first)
        self.figures |= self.in_use.of(prompt, used, in_window, thoughts=thoughts)

    def _measured(self, kv: KVUse) -> None:
        if self._model is not None:
            self.figures |= measured_cells(kv, self._model)

"""The cells of the KV cache: which tokens are in them, what of a prompt can be reused, trimming and rewinding.

Sequence 0 is the chat; lanes of a comparison go on behind its cells (`lane_cells.py`). Knows token ids and positions; what they say is the tokenizer's business.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from app.core.metrics import CacheReuse, KVUse
from app.core.words import Sentence
from app.engine.backend import Backend, DecodeResult, TokenIds
from app.engine.checkpoints import Checkpoint, Checkpoints, State
from app.engine.window_cells import CellsTold, WindowCells

CHAT = 0


class Place(NamedTuple):
    """Where the cells can go back to: so many of them, as they were when the state was saved."""

    length: int
    state: State | None
    """None where a cut is enough."""


class Returned(NamedTuple):
    """What came back from disk."""

    shared: int
    """How many tokens of the prompt it holds."""
    ids: npt.NDArray[np.int32] | None
    """The tokens that are in the cells now, none where llama.cpp did not take them; None where they are as before."""
    problem: Sentence | None = None


class Kept(Protocol):
    """What was kept on disk of the conversation."""

    def take(self, prompt: TokenIds, more_than: int, cells: int) -> Returned | None:
        """Put it back where it holds clearly more of a prompt than `more_than` tokens; None where it does not."""


class Beside(Protocol):
    """Lanes whose cells go on behind those of the chat."""

    @property
    def used(self) -> int:
        """Their cells."""

    @property
    def window_used(self) -> int:
        """Those of the layers with a sliding window."""


def common_prefix(left: npt.NDArray[np.int32], right: npt.NDArray[np.int32]) -> int:
    """Return how many leading ids two sequences share."""
    shorter = min(len(left), len(right))
    differs = np.flatnonzero(left[:shorter] != right[:shorter])
    return int(differs[0]) if len(differs) else shorter


class KVCache:
    """Mirrors the tokens whose keys and values lie in the cells of the chat's sequence.

    A plain cache can be cut anywhere. A sliding window forgets what lies before it, and a recurrent state cannot go
    back at all: there the cache goes back to a checkpoint, and the tokens behind it are evaluated again.
    """

    def __init__(self, backend: Backend, checkpoints: int = 8) -> None:
        """`checkpoints` states are kept at most for a cache that cannot be cut anywhere."""
        self._backend = backend
        self._ids = np.zeros(backend.cells, np.int32)
        self._checkpoints = Checkpoints(backend, CHAT, 0 if backend.memory_kind == "plain" else checkpoints)
        self.used = 0
        self.window = WindowCells(backend)
        self.beside: Beside | None = None
        """Lanes that hold cells, too."""
        self.reuse: CacheReuse | None = None
        """What was found when the last prompt came; None before, and where nothing was looked for."""
        self.kept: Kept | None = None
        """What was kept on disk of the conversation whose prompt comes next."""
        self._problem: Sentence | None = None
        self.was_used = False
        """Whether a token was ever evaluated here."""

    @property
    def ids(self) -> npt.NDArray[np.int32]:
        """Ids in the cells, shape (used,); a view."""
        return self._ids[: self.used]

    @property
    def cells(self) -> int:
        """Cells of this context."""
        return self._backend.cells

    @property
    def saves(self) -> bool:
        """Whether this cache needs checkpoints and may take them."""
        return self._checkpoints.wanted

    @property
    def use(self) -> KVUse:
        """What is in use, in cells and bytes."""
        told, cache = self.told, self._backend.sequences.cache
        return KVUse(
            cells_used=told.used,
            cells=self.cells,
            bytes=cache.in_use(told.used, self.cells, told.window_used or 0),
            window_cells_used=told.window_used,
            window_cells=cache.window_cells,
            checkpoints=len(self._checkpoints),
            checkpoint_bytes=self._checkpoints.bytes,
        )

    @property
    def window_from(self) -> int:
        """The first token that layers with a sliding window still have; 0 where they have all, or there are none."""
        return self.window.chat_from(CHAT, self.used)

    @property
    def told(self) -> CellsTold:
        """What is told of the cells with tokens of the chat; lanes are counted."""
        first, used, window_used = self.window_from, self.used, None
        if self.window.cells is not None:
            window_used = used - first + (self.beside.window_used if self.beside is not None else 0)
        return CellsTold(used + (self.beside.used if self.beside is not None else 0), first, first, window_used)

    def rewind(self, prompt: npt.NDArray[np.int32]) -> int:
        """Keep what is a beginning of this prompt and free the rest; returns how many of its tokens are kept.

        Its last token is never kept: only a decode gives logits.
        """
        most = max(0, len(prompt) - 1)
        held, shared = self.used, min(common_prefix(self.ids, prompt), most)
        checkpoint = self._best(prompt, shared)
        here = shared if self._can_cut(shared) else 0
        from_disk = self._take_back(prompt[:most], max(here, 0 if checkpoint is None else checkpoint.position))
        if from_disk is not None:
            shared = from_disk
            checkpoint = self._best(prompt, shared)
        self.reuse = CacheReuse(held, shared, from_disk or 0)
        if self._can_cut(shared) and (checkpoint is None or checkpoint.position <= shared):
            return self._cut(shared)
        if checkpoint is None or not self._checkpoints.restore(checkpoint):
            return self._cut(0)
        self.window.came_back(checkpoint.position)
        self._ids[: checkpoint.position] = checkpoint.ids
        return self._cut(checkpoint.position)

    def _best(self, prompt: npt.NDArray[np.int32], shared: int) -> Checkpoint | None:
        """Return the saved state that a prompt can go back to; the cells hold `shared` tokens of it."""
        # A recurrent state stands for all tokens before it; the other caches need the cells of those tokens too.
        reach = max(0, len(prompt) - 1) if self._backend.memory_kind == "recurrent" else shared
        return self._checkpoints.best(prompt, reach)

    def _take_back(self, prompt: npt.NDArray[np.int32], more_than: int) -> int | None:
        """Fill the cells with what was kept on disk, where that is more of a prompt; None where they are as before."""
        returned = self.kept.take(prompt, more_than, self.cells) if self.kept is not None else None
        if returned is None:
            return None
        self._problem = returned.problem or self._problem
        if returned.ids is None:
            return None
        self.used = len(returned.ids)
        self._ids[: self.used] = returned.ids
        self.window.came_back(self.used)
        if self.used:
            self.checkpoint()
        return returned.shared

    def empty(self) -> int:
        """Free all cells; returns that none is kept.

        Checkpoints stay: `rewind` takes one only behind tokens whose cells are there again, or where it needs none.
        """
        self.reuse = None
        return self._cut(0)

    def append(self, ids: TokenIds, *, logits: bool, back: Place | None = None) -> DecodeResult:
        """Evaluate tokens behind those in the cells; after an abort the cells of this call are freed.

        `back` is where to go then if the cache cannot rewind; else it goes to a checkpoint.
        """
        count = len(ids)
        self.was_used = True
        try:
            result = self._backend.decode(ids, self.used, sequence=CHAT, logits=logits)
        except RuntimeError:
            self._undo(back)
            raise
        if result == "done":
            self._ids[self.used : self.used + count] = ids
            self.used += count
            self.window.grew(self.used)
        else:
            self._undo(back)
        return result

    def checkpoint(self) -> None:
        """Save the state as it is now, where this cache needs that to come back to it."""
        self._checkpoints.save(self.ids)

    def place(self) -> Place:
        """Return what `go_back` needs to come back to the cells as they are now."""
        state = None if self._backend.memory_kind == "plain" else self._backend.save_state(CHAT)
        return Place(self.used, state)

    def go_back(self, place: Place) -> None:
        """Keep the first cells, as they were then; nothing where llama.cpp does not take the state."""
        taken = place.state is None or self._backend.restore_state(CHAT, place.state)
        if place.state is not None:
            self.window.came_back(place.length)
        self._cut(place.length if taken else 0)

    def carried_over(self) -> None:
        """The context was made anew, with what the chat holds."""
        self.window.carried_over(self.used)

    def take_problem(self) -> Sentence | None:
        """Return what people should know of a state that could not be saved or read back, once."""
        problem, self._problem = self._problem, None
        return problem or self._checkpoints.take_problem()

    def _can_cut(self, length: int) -> bool:
        """Return whether the cache can go back to its first tokens as it is."""
        kind, oldest = self._backend.memory_kind, self._backend.min_position(CHAT)
        if oldest < 0:
            return False
        if length == self.used or kind == "plain":
            return True
        return kind == "window" and oldest <= max(0, length - self._backend.window - 1)

    def _undo(self, back: Place | None) -> None:
        """Free the cells of a decode that came to nothing; a recurrent state is spoilt by it."""
        if self._backend.memory_kind in ("plain", "window"):
            self._cut(self.used)
            return
        if back is not None:
            self.go_back(back)
            return
        checkpoint = self._checkpoints.best(self.ids, self.used)
        if checkpoint is None or not self._checkpoints.restore(checkpoint):
            self._cut(0)
            return
        self.window.came_back(checkpoint.position)
        self._cut(checkpoint.position)

    def _cut(self, length: int) -> int:
        """Keep the first cells and free the rest; returns how many were kept (0 where the cache cannot cut)."""
        if not self._backend.remove(CHAT, length):
            self._backend.remove(CHAT, 0)
            length = 0
        self.used = length
        self.window.cut(length)
        return length

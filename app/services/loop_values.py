"""What the picture of the loop shows: the stages in their order, and the numbers of a model, a prompt and a step.

Plain values for whoever shows them; None is what nobody knows.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from app.core.metrics import KVUse, StopReason
from app.core.model import MemoryKind, ModelInfo
from app.core.model_shape import ModelShape
from app.core.sampling import SamplingSettings
from app.core.words import Sentence
from app.services.cache_parts import CachePart
from app.services.kv_sum import class_sums, window_alone

StageName = Literal[
    "prompt",
    "tokens",
    "embedding",
    "prefill",
    "transformer",
    "kv",
    "logits",
    "probabilities",
    "sampling",
    "token",
    "stop",
    "answer",
]
STAGES: tuple[StageName, ...] = (
    "prompt",
    "tokens",
    "embedding",
    "prefill",
    "transformer",
    "kv",
    "logits",
    "probabilities",
    "sampling",
    "token",
    "stop",
    "answer",
)
"""In the order in which an answer comes about."""
BACK_FROM: StageName = "stop"
BACK_TO: StageName = "tokens"
"""Between these two the loop is closed: a token that does not end the answer is read like those of the prompt."""
EACH_TOKEN: tuple[StageName, ...] = (
    "embedding",
    "transformer",
    "kv",
    "logits",
    "probabilities",
    "sampling",
    "token",
    "stop",
)
"""What runs once for every token of the answer."""

Phase = Literal["empty", "queued", "waiting", "reading", "writing", "held", "done", "interrupted"]
"""`empty` is without an answer, `queued` before the engine has it, `waiting` before its prompt is ready, `held` before a
token that somebody has to let be drawn, `interrupted` the end of one that nothing is known of but what was written."""
RUNNING: dict[Phase, tuple[StageName, ...]] = {
    "waiting": ("tokens",),
    "reading": ("prefill",),
    "writing": EACH_TOKEN,
    "held": ("sampling",),
}
"""The stages at work in each phase; none in the others."""


class LoopToken(msgspec.Struct, frozen=True):
    """A token, and what it says where that is known."""

    token: int
    text: str | None


class LoopModel(msgspec.Struct, frozen=True):
    """The sizes of the model that is loaded."""

    name: str
    layers: int
    shape: ModelShape
    vocabulary: int
    cells: int
    bytes_per_token: int | None
    """What a token adds to the cache; None where that differs by layer, or is not known."""
    memory_kind: MemoryKind
    window: int
    most_at_once: int
    """So many tokens of a prompt go through the layers at once."""
    cache_bytes: int | None = None
    """What was set aside for all cells, as the live panel counts with it; None where a token takes differently much."""
    window_cells: int | None = None
    """Where every layer that keeps tokens has a sliding window, how many cells that is; None where some keep all."""

    def bytes_of(self, used: int | None) -> int | None:
        """Return what so many cells take; None where that is not their number times the same."""
        if used is None or self.bytes_per_token is None:
            return None
        if self.cache_bytes is None:
            return used * self.bytes_per_token
        return used * self.cache_bytes // max(1, self.cells)


class LoopPrompt(msgspec.Struct, frozen=True):
    """What the model was given."""

    question: str = ""
    """What was asked last, in one line."""
    characters: int = 0
    """So many it has as it was sent, line breaks and all."""
    tokens: int | None = None
    first: tuple[LoopToken, ...] = ()
    """The first tokens of the question, or of the prompt where nobody knows which those are."""
    is_of_question: bool = True
    """Whether `first` are those of the question."""
    parts: tuple[CachePart, ...] = ()
    """What the tokens belong to, as the KV cache counts them; nothing where nobody knows."""


class LoopPrefill(msgspec.Struct, frozen=True):
    """How the prompt was read."""

    done: int
    """Tokens of the prompt that are in the cache, those included that were there before."""
    total: int
    from_cache: int
    tokens_per_s: float | None
    begun: int = 0
    """So many of `total` are no prompt but the beginning of the answer, which was read with it."""


class LoopCandidate(msgspec.Struct, frozen=True):
    """A token that can come next, or could have."""

    token: int
    text: str | None
    raw: float | None
    """Probability as the model gave it, 0 to 1."""
    after: float | None
    """Probability that the draw saw: 0 for one that was cut."""
    cut_by: str | None = None
    is_taken: bool = False


class LoopStep(msgspec.Struct, frozen=True):
    """One token of the answer on its way through the loop."""

    place: int
    """Which one it is, counted from 0."""
    candidates: tuple[LoopCandidate, ...]
    """By falling raw probability."""
    survivors: int | None
    """How many tokens the chain left."""
    is_exact: bool
    """Whether no more than those are left."""
    is_drawn: bool
    """Whether the token is there; else it waits."""
    text: str | None = None
    """What the token says."""
    token: int | None = None
    """Its id; None while it waits, and where nobody knows it."""

    @property
    def taken(self) -> LoopCandidate | None:
        """The token that was drawn; None while it waits, and where nothing of it was recorded."""
        return next((each for each in self.candidates if each.is_taken), None) if self.is_drawn else None


class LoopEnd(msgspec.Struct, frozen=True):
    """How the answer ended."""

    reason: StopReason | None
    """None for one that was cut off."""
    words: Sentence
    short: Sentence | None = None
    """The same in a few words; None where `stop_words` of the reason are those."""


class LoopValues(msgspec.Struct, frozen=True):
    """All that the picture shows."""

    phase: Phase = "empty"
    model: LoopModel | None = None
    model_why: Sentence | None = None
    """Why nothing is known of the model; None where it is."""
    prompt: LoopPrompt = LoopPrompt()
    prefill: LoopPrefill | None = None
    embedding: tuple[float, ...] = ()
    """The row of numbers of the token that goes in for the one that is shown; empty where nobody read it."""
    embedding_of: LoopToken | None = None
    """That token: the one before, or the last of the prompt; None where nobody knows it."""
    embedding_why: Sentence | None = None
    """Why that cannot be read now, or could not be; None where nothing is against it."""
    can_read_embedding: bool = False
    reads_embedding: bool = False
    """Whether it is being read."""
    cells_used: int | None = None
    """As many as tokens were read: layers with a sliding window have fewer, see `held`."""
    cells: int | None = None
    window_used: int | None = None
    """What the layers with a sliding window held at the end of an answer; None before it, and without such layers."""
    is_last_read: bool | None = None
    """Whether the last token of an answer that is over is in a cell, too: it is where the draw after it was prepared."""
    cache_bytes: int | None = None
    step: LoopStep | None = None
    step_why: Sentence | None = None
    """Why no step is shown; None where one is."""
    written: int = 0
    """How many tokens the answer has."""
    last_words: str = ""
    """How the answer ends with the token that is shown; empty where nobody knows it."""
    before: LoopToken | None = None
    """The token that was drawn last, while the answer waits before the next one; None where none was, or nobody knows."""
    tokens_per_s: float | None = None
    """How fast the answer is, or was, written on average."""
    settings: SamplingSettings | None = None
    waits_for: Sentence | None = None
    """What the engine does before it, while it is queued."""
    end: LoopEnd | None = None
    """How the answer ended, whichever of its tokens is looked at."""
    is_reproduced: bool = False
    """Whether the answer, which is over, is written once more now: none of its figures are of that."""
    is_back: bool = False
    """Whether an earlier token is looked at, after which the answer went on."""
    had: int | None = None
    """How many tokens the answer had with the one that is looked back at; None where nobody looks back."""
    is_example: bool = False
    """Whether all of it is made up, to explain the loop before there is an answer."""

    @property
    def held(self) -> int | None:
        """The cells that hold a token: not one for each that was read where every layer has a sliding window."""
        window = self.model.window_cells if self.model is not None else None
        if self.cells_used is None or window is None:
            return self.cells_used
        measured = self.window_used if self.window_used is not None and not self.is_back else window
        return min(self.cells_used, measured)

    @property
    def room(self) -> int | None:
        """The cells there are in the layers that have most; None where nobody knows."""
        if self.model is not None and self.model.window_cells is not None:
            return self.model.window_cells
        return self.cells if self.cells is not None or self.model is None else self.model.cells

    @property
    def running(self) -> tuple[StageName, ...]:
        """The stages at work now; none of them is at work on a token that is looked back at."""
        return () if self.is_back else RUNNING.get(self.phase, ())

    @property
    def is_drawn_last(self) -> bool:
        """Whether the token that is looked back at is the newest that was drawn: the answer waits before the next."""
        return self.phase == "held" and self.had is not None and self.had == self.written

    @property
    def end_here(self) -> LoopEnd | None:
        """How the answer ended, where it ended with the token that is looked at."""
        return None if self.is_back else self.end


_ROUNDED = 0.02
"""So far apart the bytes of a token may be that were measured and worked out: the log rounds them."""


def loop_model(model: ModelInfo, kv: KVUse | None = None) -> LoopModel:
    """Return what the picture shows of a model; `kv` is what its cells held at the end of the answer that is looked at."""
    is_even = model.memory_kind == "plain" and model.cache.full is not None
    per_token, whole = (_bytes_per_token(model), model.cache.full) if is_even else (None, None)
    if per_token and kv is not None and kv.bytes is not None and kv.cells_used:
        then = kv.bytes / kv.cells_used
        if abs(then - per_token) > _ROUNDED * per_token:
            # loaded with another type of the cache since: what is said is of the answer
            per_token, whole = round(then), round(then * model.context)
    window_cells = window_alone(model)
    if window_cells is not None and kv is not None and kv.window_cells is not None:
        window_cells = kv.window_cells
    return LoopModel(
        name=model.name,
        layers=model.layers,
        shape=model.shape,
        vocabulary=model.vocabulary,
        cells=model.context,
        bytes_per_token=per_token,
        cache_bytes=whole,
        memory_kind=model.memory_kind,
        window=model.window,
        window_cells=window_cells,
        most_at_once=min(model.options.micro_batch, model.context),
    )


def _bytes_per_token(model: ModelInfo) -> int:
    """Return what a token adds by the formula; where the classes of cells are unknown, what was set aside for one."""
    return sum(each.bytes for each in class_sums(model)) or (model.cache.full or 0) // max(1, model.context)

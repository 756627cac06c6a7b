"""What the loop and every stage know of the machine that evaluates tokens: Protocols, no llama.cpp.

`llama.py` and `scripted.py` implement them; `worker.py` hands one in.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from app.core.devices import MainMemory
from app.core.errors import UserError
from app.core.metrics import DeviceMemory
from app.core.model import CacheSizes, MemoryKind, ModelInfo
from app.core.sampling import SamplingSettings
from app.core.words import translate
from app.engine.state_file import Maker

Row = npt.NDArray[np.float32]
"""One row of logits, shape (vocabulary,)."""

Rows = npt.NDArray[np.float32]
"""Rows of logits, shape (tokens, vocabulary)."""

TokenIds = Sequence[int] | npt.NDArray[np.int32]
"""Token ids, shape (n,)."""

DecodeResult = Literal["done", "aborted", "no_room"]


class Vocabulary(Protocol):
    """Token ids and what they say; safe to use from a second thread."""

    size: int
    bos: int | None
    eos: int | None
    add_bos: bool
    """Whether the model wants a beginning-of-sequence token before its text."""

    def tokenize(self, text: str, *, special: bool) -> list[int]:
        """Return the ids of a text, no BOS added; `special` lets control tokens' text become control tokens."""

    def piece(self, token: int) -> bytes:
        """Return the bytes that a token adds to a text; empty for control tokens but the tags around thinking."""

    def is_end(self, token: int) -> bool:
        """Return whether generation ends at this token."""

    def special_texts(self) -> list[tuple[int, str, bool]]:
        """Return (id, text, is_control) of the control and user-defined tokens."""

    def chat_template(self, name: str | None = None) -> str | None:
        """Return the Jinja source that came with the model, or None."""


class Candidates(Protocol):
    """The reusable array of candidates that the native stages work on."""

    def fill(self, ids: npt.NDArray[np.int32], logits: Row) -> None:
        """Start a step: n candidates with their raw logits, unsorted."""

    def survivors(self) -> tuple[npt.NDArray[np.int32], Row]:
        """Return copies of the ids and logits that are left, in the array's present order."""


class Stage(Protocol):
    """One native stage of the sampler chain."""

    name: str
    remembers: bool
    """Whether the stage looks at earlier tokens (penalties, DRY)."""

    def apply(self, candidates: Any) -> None:
        """Cut or reshape the candidates in place."""

    accept: Callable[[int], object]
    """Tell the stage that a token was appended; only penalties and DRY remember."""


class Chain(Protocol):
    """The native stages of one set of settings, in order; freed with `close`."""

    @property
    def stages(self) -> Sequence[Stage]:
        """The stages that the settings turn on, in order."""

    def close(self) -> None:
        """Free the native stages."""


class GrammarStage(Protocol):
    """A grammar as far as an answer has come in it."""

    def apply(self, candidates: Any) -> None:
        """Set the logit of each candidate that does not fit to -inf; the array keeps its size."""

    def allows(self, token: int) -> bool:
        """Return whether a token may come next."""

    def accept(self, token: int) -> None:
        """Append a token that `allows`; any other one would end the process."""

    def close(self) -> None:
        """Free what is native."""


class ContextLost(UserError):
    """The context was given up for another one, and neither could be made: the model has to be loaded again."""

    def __init__(self) -> None:
        super().__init__(
            translate(
                "Engine",
                "The memory of the context was given up to compare, and could not be had back. Load the model again.",
            )
        )


class NoInspection(UserError):
    """There is no memory for an inspection context."""


class Sequences(Protocol):
    """The sequences of the context: 0 is the chat, the others are lanes that go on behind the same cells."""

    @property
    def count(self) -> int:
        """How many the context has, the chat's included."""

    @property
    def cache(self) -> CacheSizes:
        """What the context keeps of the past with so many: they can need more cells of a window than the chat alone."""

    def fitting(self, count: int, main_memory: MainMemory | None) -> int:
        """Return how many of so many would fit into memory, by what is known of it; at least as many as there are."""

    def open(self, count: int) -> bool:
        """Have at least so many, with what the chat holds; False where the memory does not suffice.

        A context that has fewer is made anew. Raises `ContextLost` where even the one before cannot be made again.
        """

    def close(self) -> bool:
        """Have as many as were there at the load, and give the memory of the others back; False where that cannot be.

        Raises `ContextLost`.
        """

    def share(self, source: int, target: int, length: int) -> None:
        """Let one sequence hold the first cells of another, too; nothing is copied but a state that changes."""

    def decode(self, ids: TokenIds, positions: TokenIds, sequences: Sequence[int]) -> DecodeResult:
        """Evaluate a token in each of n sequences at once; `Backend.logits` has a row for each, in this order.

        Raises RuntimeError when llama.cpp refuses the batch.
        """


class WholeState(Protocol):
    """All that the chat's sequence holds, as it can be kept outside of the context and put back."""

    def state_bytes(self) -> int:
        """Return its size; 0 where it cannot be kept."""

    def save(self) -> npt.NDArray[np.uint8]:
        """Return it, shape (bytes,); raises RuntimeError when llama.cpp refuses."""

    def restore(self, state: npt.NDArray[np.uint8]) -> bool:
        """Put it back; False, and the sequence holds nothing, when llama.cpp does not take it."""

    def maker(self, model: str) -> Maker:
        """Return what its numbers depend on; `model` is the identity of the model's file."""


class Tensor(Protocol):
    """A tensor of the graph that is computed; valid during the call that hands it over."""

    @property
    def name(self) -> str:
        """What llama.cpp called it, “kq_soft_max-3” for layer 3; empty where it has no name."""

    @property
    def op(self) -> str:
        """The operation that makes it, “MUL_MAT” for instance."""

    @property
    def type(self) -> str:
        """How its values are kept, “f32” or “q4_K” for instance."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Its four dimensions as numpy counts them: the one that lies closest together is the last."""

    @property
    def strides(self) -> tuple[int, ...]:
        """Bytes from one value to the next, in the order of `shape`."""

    @property
    def nbytes(self) -> int:
        """The bytes that it spans."""

    @property
    def sources(self) -> Sequence[Tensor]:
        """What the operation reads, in its order."""

    def array(self) -> npt.NDArray[Any]:
        """Copy all of it, with its `shape`; raises ValueError for a type of blocks."""


class Watcher(Protocol):
    """Sees tensors while they are computed; what it raises ends the evaluation and is raised behind it."""

    def wants(self, tensor: Tensor) -> bool:
        """Return whether a node of the graph is wanted, before it is computed: values are not there yet."""

    def take(self, tensor: Tensor, asked_ns: int, computed_ns: int) -> None:
        """Take a node that was wanted: asked for at one time and computed at another, both of `perf_counter_ns`.

        What lies between is its own time where the node before it was wanted, too.
        """


class Inspection(Protocol):
    """A second, short-lived context of the model; what the chat's holds stays as it is."""

    batch: int
    """Most tokens at once."""

    def rows(self, ids: TokenIds, position: int) -> Rows | None:
        """Evaluate tokens behind those before and return the row behind each; a view, valid until the next call.

        None where `set_abort` had it stop. Raises `NoInspection` where memory runs out.
        """

    def read(self, ids: TokenIds, position: int, *, watched: bool = False, row: bool = False) -> bool:
        """Evaluate tokens behind those before and keep no row; False where `set_abort` had it stop.

        The watcher sees the tensors of this evaluation where it is `watched`, and what it raises is raised here. The row
        behind the last token is worked out where it is watched, or with `row`. Raises `NoInspection` where memory runs out.
        """

    def set_abort(self, stop: Callable[[], bool]) -> None:
        """Ask `stop` after every node of the graph (CPU only)."""

    def close(self) -> None:
        """Give the memory back; calling it twice is harmless."""


class Inspect(Protocol):
    """Makes inspection contexts."""

    def __call__(self, cells: int, main_memory: MainMemory | None, watcher: Watcher | None = None, /) -> Inspection:
        """Make one of so many cells; raises `NoInspection` where there is no memory for it, or no way to watch it."""


class Backend(Protocol):
    """A loaded model with its context."""

    info: ModelInfo
    cells: int
    """Cells of the context."""
    micro_batch: int
    memory_kind: MemoryKind
    window: int
    """Tokens of the sliding window, 0 for none."""
    memory: tuple[DeviceMemory, ...]
    """Its buffers as they are now: lanes can need larger ones."""
    inspect: Inspect
    whole: WholeState
    """All that the chat's sequence holds."""

    @property
    def vocabulary(self) -> Vocabulary:
        """The model's vocabulary."""

    def decode(self, ids: TokenIds, position: int, *, sequence: int, logits: bool) -> DecodeResult:
        """Evaluate tokens at positions from `position` on; `logits` asks for the last token's row."""

    @property
    def sequences(self) -> Sequences:
        """What evaluates several answers at once."""

    def logits(self, place: int = -1) -> Row:
        """Return a row of the last decode, waiting for the device; a view, valid until the next decode.

        `place` counts the tokens whose rows were asked for; -1 is the last one.
        """

    def remove(self, sequence: int, start: int) -> bool:
        """Remove the cells of a sequence from a position on; False when the cache cannot do that."""

    def min_position(self, sequence: int) -> int:
        """Return the smallest position of a sequence that is still in the cache, or -1."""

    def state_bytes(self, sequence: int) -> int:
        """Return the bytes of what a sequence cannot rewind: its sliding window, its recurrent state."""

    def save_state(self, sequence: int) -> npt.NDArray[np.uint8]:
        """Return what a sequence cannot rewind, shape (bytes,); raises RuntimeError when llama.cpp refuses."""

    def restore_state(self, sequence: int, state: npt.NDArray[np.uint8]) -> bool:
        """Put a saved state back; False when llama.cpp does not take it."""

    def synchronize(self) -> None:
        """Wait until the device has finished; clocks are read after it."""

    def set_abort(self, stop: Callable[[], bool] | None) -> None:
        """Ask `stop` after every node of the graph (CPU only); None turns it off."""

    def candidates(self) -> Candidates:
        """Return the array for the native stages; room for the whole vocabulary."""

    def chain(self, settings: SamplingSettings) -> Chain:
        """Build the native stages in the order penalties, DRY, top-k, typical, top-p, min-p, XTC, temperature."""

    def grammar(self, gbnf: str) -> GrammarStage:
        """Build the stage of a grammar. Raises ValueError where the text cannot be used for this vocabulary."""

    def close(self) -> None:
        """Free the context and the model."""

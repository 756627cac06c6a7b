"""What the engine (and its parent side) tells: one closed union of frozen values."""

from __future__ import annotations

from typing import Literal

import msgspec

from app.core.attention import AttentionEvent
from app.core.chat import PromptSpan
from app.core.commands import SettingsChange
from app.core.comparison import LanePlan, SharedPrefill
from app.core.conversation import Pieces
from app.core.devices import Device, LibraryFacts
from app.core.job_events import JobEvent
from app.core.kept_state import StateKept
from app.core.library_fault import LibraryFault
from app.core.metrics import DeviceMemory, KVUse, Metrics, StopReason
from app.core.model import CacheSizes, LoadOptions, ModelInfo
from app.core.operations import OperationsEvent
from app.core.prompt_scores import ScoreEvent
from app.core.replay_events import Reproduced
from app.core.store_events import StoreEvent
from app.core.words import Sentence

PROTOCOL_VERSION = 9

FailureKind = Literal[
    "model", "memory", "template", "template_missing", "prompt_too_long", "wrong_use", "cancelled", "engine"
]
"""“memory” is a model, or a second context, that would not fit, refused before anything was given up for it."""


class Hello(msgspec.Struct, frozen=True, tag="hello"):
    """The engine's first message."""

    protocol: int
    pid: int
    clock_ns: int
    """The engine's `perf_counter_ns`, to check that both processes read one clock."""
    modules: tuple[str, ...]
    """Top-level modules loaded in the engine process."""


class LoadProgress(msgspec.Struct, frozen=True, tag="load_progress"):
    """How much of a model is loaded, in per cent."""

    request: int
    percent: float


class Loaded(msgspec.Struct, frozen=True, tag="loaded"):
    """A model is ready."""

    request: int
    model: ModelInfo


class PromptReady(msgspec.Struct, frozen=True, tag="prompt"):
    """The prompt as the model gets it, before anything is evaluated."""

    request: int
    ids: bytes
    """Token ids, int32, little endian."""
    spans: tuple[PromptSpan, ...]
    from_cache: int
    """How many of the tokens are in the KV cache already and are not evaluated again."""
    at_ns: int
    """When the prompt was ready and the prefill began (`perf_counter_ns`)."""
    notes: tuple[Sentence, ...] = ()
    """What people should know of how the prompt was made."""
    dropped: tuple[int, ...] = ()
    """Indices of the messages that were not sent because the context is full, oldest first."""
    seed: int | None = None
    """The seed of the draws."""
    window_from: int = 0
    """The first of the reused tokens that layers with a sliding window still have."""
    thinking_opened: bool = False
    """The prompt ends inside thinking, before an open answer at its end: no tag in the answer opens it."""


class PrefillProgress(msgspec.Struct, frozen=True, tag="prefill_progress"):
    """How many prompt tokens are in the cache, those reused included."""

    request: int
    done: int
    total: int
    from_cache: int
    at_ns: int
    """When the last of them was evaluated (`perf_counter_ns`)."""
    unheard: tuple[tuple[int, int], ...] = ()
    """`done` and `at_ns` of earlier ones that waited until this one came, oldest first: nobody heard them."""
    window_from: int = 0
    """The first token that layers with a sliding window have now; 0 where they have all."""


class Tokens(msgspec.Struct, frozen=True, tag="tokens"):
    """Newly sampled tokens, joined for about a fifteenth of a second."""

    request: int
    first: int
    """Index of the first of these tokens among those of this request, from 0."""
    count: int
    ids: bytes
    text: str
    """Text that became visible; text that may still become a stop string is held back."""
    record: bytes
    """Per-token record (`app.probability.record`) of the tokens since the last one; empty when it is off or still to come."""
    cells_used: int
    last_ns: int
    """When the last of these tokens was sampled (`perf_counter_ns`)."""
    first_ns: int
    gaps: bytes = b""
    """Between neighbours of these tokens, uint32, little endian, in microseconds: one fewer than tokens."""
    held_ns: int = 0
    """For how long the answer was held until now, which all these times leave out."""
    settings: tuple[SettingsChange, ...] = ()
    """What was set from one of these tokens on, the answer's first among them; a token counts from the answer's first."""
    chosen: tuple[int, ...] = ()
    """Indices, among those of this request, of the tokens that somebody chose instead of a draw."""
    window_from: int = 0
    """The first position of this sequence that layers with a sliding window still have; 0 where they have all."""


class GrammarMask(msgspec.Struct, frozen=True):
    """What a grammar that is in force cuts before the first stage of the chain."""

    masked: int | None = None
    """How many tokens of the vocabulary may not come next; None where they were not counted, as that takes too long."""
    fits: bytes = b""
    """A bit for each token id, the lowest bit first: 1 where the token may come next. Empty where they were not counted."""


class Step(msgspec.Struct, frozen=True, tag="step"):
    """The latest step's logits for somebody who looks: the largest 1,024, or the full row at the end and where it is wanted."""

    request: int
    token: int
    """Index, among those of this request, of the token that was drawn from this row."""
    ids: bytes
    """int32, by falling logit; empty for a full row, which is in the order of ids."""
    logits: bytes
    """float32, before any stage of the chain."""
    log_sum_exp: float
    grammar: GrammarMask | None = None
    """What the answer's grammar cuts of this row, perhaps not counted; None without one."""


class Held(msgspec.Struct, frozen=True, tag="held"):
    """An answer waits for somebody before its next token; all tokens before it were sent."""

    request: int
    token: int
    """Index, among those of this request, of the token that will be drawn from this row."""
    logits: bytes
    """float32, the whole row in the order of ids, before any stage of the chain."""
    log_sum_exp: float
    grammar: GrammarMask | None = None
    """What the answer's grammar cuts of this row, perhaps not counted; None without one."""
    refused: Sentence | None = None
    """Why the token that somebody chose was not taken; the answer still waits."""
    forced: int | None = None
    """The token that was chosen for this place before the answer began: it comes unless another one is chosen now."""
    window_from: int = 0
    """The first position that layers with a sliding window have now; 0 where they have all."""


class Finished(msgspec.Struct, frozen=True, tag="finished"):
    """The end of an answer, whole."""

    request: int
    text: str
    ids: bytes
    stop_reason: StopReason
    metrics: Metrics
    seed: int | None
    """The seed of the draws; None when a random one was not drawn yet."""
    settings: tuple[SettingsChange, ...]
    """The settings in force, from which token of the answer on each."""
    notes: tuple[Sentence, ...] = ()


class LanesPlanned(msgspec.Struct, frozen=True, tag="lanes_planned"):
    """How the lanes of a comparison share the cells; sent before the first of them begins."""

    request: int
    plan: LanePlan
    seeds: tuple[int, ...]
    """By lane: the seed of its draws."""
    notes: tuple[Sentence, ...] = ()
    """What people should know of it, such as why the lanes run one after another."""
    prompt_from: int = 0
    """The first position of the prompt that layers with a sliding window have for the lanes; 0 where they have all."""
    cache: CacheSizes | None = None
    """The cells of the context that the lanes run in, which can be a larger one; None where it is that of the load."""


class LaneTokens(msgspec.Struct, frozen=True, tag="lane_tokens"):
    """Newly sampled tokens of one lane; `cells_used` are those of the prompt and of all lanes."""

    request: int
    lane: int
    tokens: Tokens
    prompt_from: int = 0
    """The first position of the prompt that layers with a sliding window have now: a lane may drop of it as well."""
    window_used: int | None = None
    """Cells in use of those layers, of the prompt and of all lanes; None where there are none."""


class LaneFinished(msgspec.Struct, frozen=True, tag="lane_finished"):
    """The end of one lane, whole; its metrics' time to the first token is that of the shared prefill and its own draw."""

    request: int
    lane: int
    finished: Finished
    prompt_from: int = 0
    """The first position of the prompt that layers with a sliding window have now, behind this lane's end."""
    cells_used: int | None = None
    """Cells in use then, of the prompt and of the lanes that go on; None where nobody counted them."""
    window_used: int | None = None
    """Those of the layers with a sliding window; None where there are none."""


class Compared(msgspec.Struct, frozen=True, tag="compared"):
    """The end of a comparison: all of its lanes have ended."""

    request: int
    prefill: SharedPrefill
    kv: KVUse
    """The cache now: it holds the prompt, and nothing of the lanes."""
    notes: tuple[Sentence, ...] = ()
    cache: CacheSizes | None = None
    """The cells of the context as it is left; None where it is that of the load."""


class Failed(msgspec.Struct, frozen=True, tag="failed"):
    """A request that came to nothing, with the reason; nothing that was said before is lost."""

    request: int
    kind: FailureKind
    sentence: Sentence
    details: tuple[str, ...] = ()
    """Lines of llama.cpp's log that belong to it."""
    tokens: int | None = None
    """How many tokens a prompt has that is too long; None where nobody counted them."""

    @property
    def refuses_model(self) -> bool:
        """Whether it is the file, or its options, that would be refused at every other try as well."""
        return self.kind in ("model", "wrong_use")


class Tokenized(msgspec.Struct, frozen=True, tag="tokenized"):
    """The tokens of a plain text."""

    request: int
    ids: bytes


class Rendered(msgspec.Struct, frozen=True, tag="rendered"):
    """A conversation as prompt text and tokens."""

    request: int
    text: str
    ids: bytes
    spans: tuple[PromptSpan, ...]
    notes: tuple[Sentence, ...] = ()
    dropped: tuple[int, ...] = ()
    """Indices of the messages that are left out because the context is full, oldest first."""


class PiecesListed(msgspec.Struct, frozen=True, tag="pieces_listed"):
    """What some tokens of the loaded model say."""

    request: int
    pieces: Pieces


class DevicesListed(msgspec.Struct, frozen=True, tag="devices_listed"):
    """What the engine's build of llama.cpp can compute on."""

    request: int
    library: LibraryFacts
    devices: tuple[Device, ...]


class MemoryMeasured(msgspec.Struct, frozen=True, tag="memory_measured"):
    """What a model would take with some options, worked out without reading its weights."""

    request: int
    path: str
    options: LoadOptions
    """As they were asked for, with the layers and experts that `GPU layers: auto` chose."""
    memory: tuple[DeviceMemory, ...]
    context: int
    layers: int
    devices: tuple[Device, ...]
    """The devices with what was free on them when it was measured."""


class Unloaded(msgspec.Struct, frozen=True, tag="unloaded"):
    """The engine process ended because it was asked to."""


class EngineGone(msgspec.Struct, frozen=True, tag="engine_gone"):
    """The engine process ended by itself; every open request ended with it."""

    exit_code: int
    """As `multiprocessing` reports it: negative is a signal."""
    requests: tuple[int, ...]
    sentence: Sentence
    details: tuple[str, ...] = ()
    fault: LibraryFault | None = None
    """What is wrong with llama.cpp's library, where that is why."""


EngineEvent = (
    Hello
    | LoadProgress
    | Loaded
    | PromptReady
    | PrefillProgress
    | Tokens
    | Step
    | Held
    | Finished
    | Reproduced
    | LanesPlanned
    | LaneTokens
    | LaneFinished
    | Compared
    | ScoreEvent
    | AttentionEvent
    | OperationsEvent
    | Failed
    | Tokenized
    | Rendered
    | PiecesListed
    | DevicesListed
    | MemoryMeasured
    | StateKept
    | Unloaded
    | EngineGone
)
"""What the engine's process says, or what is said of it."""

Event = EngineEvent | JobEvent | StoreEvent

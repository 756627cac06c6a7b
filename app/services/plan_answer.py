"""What the command `plan` says, as plain values: the fields are those of its JSON, in this order. None is unknown."""

from __future__ import annotations

import msgspec

from app.core.model import KVType
from app.core.words import Sentence
from app.planner.gpu import Limit, SourceKind
from app.planner.memory_plan import LeverKind, Source, Verdict

THIS_MACHINE = "this-machine"


class PlanAsked(msgspec.Struct, frozen=True):
    """What somebody wants to know."""

    model: str
    """A file, a folder, or `org/repo[:file]`."""
    context: int | None = None
    """Tokens of each conversation; None is the smaller of 8,192 and what the model was trained for."""
    kv_type: KVType = "f16"
    sequences: int = 1
    """Conversations at once."""
    prompt: int | None = None
    """Tokens of a prompt; None is 1,024, or a whole context that is smaller."""
    gpus: tuple[str, ...] = ()
    """Names of GPUs; empty is this machine."""


class FigureValue(msgspec.Struct, frozen=True):
    """Bytes, and where they come from."""

    bytes: int | None
    source: Source


class DeviceValue(msgspec.Struct, frozen=True):
    """What a model takes of one device, in bytes."""

    name: str
    is_gpu: bool
    weights: FigureValue
    kv: FigureValue
    state: FigureValue
    compute: FigureValue
    overhead: FigureValue
    margin: FigureValue
    needed: int | None
    total: int | None
    free: int | None
    spare: int | None


class LeverValue(msgspec.Struct, frozen=True):
    """A change that needs less memory."""

    kind: LeverKind
    saves: int
    """Bytes."""
    fits: bool
    context: int | None = None
    kv_type: KVType | None = None
    gpu_layers: int | None = None
    experts_on_cpu: int | None = None
    quantisation: str | None = None
    is_estimate: bool = False


class DecodeValue(msgspec.Struct, frozen=True):
    """Tokens per second of each conversation, all of them at once."""

    tokens_per_s: float
    low: float
    high: float
    ceiling: float
    """What the bandwidth of the memory would allow at best."""
    together: float
    """Of all conversations."""
    limited_by: Limit
    source: SourceKind | None
    """Where the figures come from that tell how well the memory is used: runs, answers here, or experience."""
    context: int
    """Tokens in the cache of each conversation that it holds for."""


class FirstTokenValue(msgspec.Struct, frozen=True):
    """Milliseconds to the first token of one prompt with nothing of it in the cache: prefill, nearly all of them."""

    ms: float
    low: float
    high: float
    prefill_tokens_per_s: float | None
    limited_by: Limit
    is_most: bool = False
    """Whether it takes no longer, and how much less nobody knows."""


class PlanValue(msgspec.Struct, frozen=True):
    """One model on one GPU, or on this machine."""

    gpu: str
    """What it is called on the command line; “this-machine” for this one."""
    name: str
    verdict: Verdict
    reason: Sentence | None
    """Why the verdict is unknown, or it is refused."""
    context: int
    """Tokens of each conversation that all figures hold for; where less context fits, those that fit."""
    prompt: int
    """Tokens before the first one that is written."""
    gpu_layers: int | None
    """The output layer counted."""
    experts_on_cpu: int | None
    """Layers whose experts lie in main memory, the first ones."""
    largest_context: int | None
    """Tokens that each conversation could have; 0 is none."""
    most_sequences: int | None
    """Conversations of this context that would fit at once; 0 is none."""
    limited_by: Limit | None
    decode: DecodeValue | None
    """With the context full: the slowest that it gets."""
    decode_after_prompt: DecodeValue | None
    """As an answer begins, which is the page's first figure."""
    ttft: FirstTokenValue | None
    devices: tuple[DeviceValue, ...]
    levers: tuple[LeverValue, ...]
    note: Sentence | None = None
    """What llama.cpp said instead of figures; of a GPU that is not here, what its layers in main memory are judged by."""
    remark: Sentence | None = None
    """What speaks against the context whatever room there is."""
    needed: int | None = None
    """Bytes of the GPU that have to be free: for its part where layers lie in main memory, else for all of it."""
    decode_as_asked: DecodeValue | None = None
    """Where less context fits: with the context that was asked for full, and layers in main memory."""
    gpu_layers_as_asked: int | None = None
    """The layers on the GPU then."""
    context_as_asked: int = 0
    """Tokens of each conversation that were asked for, which the verdict is of, and what levers save is saved of."""
    caveats: tuple[Sentence, ...] = ()
    """Why speeds and times are to be doubted: something held up all answers that told of them."""


class ModelValue(msgspec.Struct, frozen=True):
    """A model, and where it was planned; or the problem with its file."""

    name: str
    path: str
    """On this machine, or inside its repository."""
    architecture: str | None = None
    kind: str | None = None
    quantisation: str | None = None
    parameters: int | None = None
    active_parameters: int | None = None
    layers: int | None = None
    """The output layer not counted."""
    trained_context: int | None = None
    size: int | None = None
    """Bytes of its files."""
    is_best: bool = False
    """Whether it is the largest of several that fits best on the first GPU."""
    problem: Sentence | None = None
    plans: tuple[PlanValue, ...] = ()


class PlanReport(msgspec.Struct, frozen=True):
    """The answer."""

    asked: PlanAsked
    models: tuple[ModelValue, ...]
    problem: Sentence | None = None
    """What is wrong with the table of GPUs that speeds are judged by."""

"""What somebody plans, and what came of it, as plain values that a window shows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec
from msgspec.structs import replace

from app.core.model import DEFAULT_CONTEXT, DEFAULT_PROMPT, KVType
from app.core.words import Sentence
from app.services.plan_use import UseField

HERE = "here"
"""This machine, among the names of GPUs."""
RowKind = Literal["weights", "kv", "state", "compute", "overhead", "margin"]
RowSource = Literal["asked", "formula", "assumed"]
Fit = Literal["fits", "less_context", "partly", "too_large", "unknown"]


class PlanChoice(msgspec.Struct, frozen=True):
    """A configuration as people choose it."""

    where: str = HERE
    """This machine, or the id of a GPU."""
    context: int = DEFAULT_CONTEXT
    """Tokens of each conversation."""
    sequences: int = 1
    """Conversations at once; they share one cache with room for all."""
    kv_type: KVType = "f16"
    kv_type_v: KVType | None = None
    """Of the values, where it is another one than that of the keys."""
    gpu_layers: int | None = None
    """Layers on the GPU, the output layer counted; None is as many as fit, -1 all."""
    experts_on_cpu: int = 0
    """Layers whose experts lie in main memory, the first ones; 0 is as many as need to where layers are as many as fit, -1 all."""
    micro_batch: int = 512
    flash_attention: bool = True
    prompt: int = DEFAULT_PROMPT
    """Tokens of the prompt whose first token is waited for."""
    cached: int = 0
    """Tokens of it that are in the cache already."""


def use_of(choice: PlanChoice) -> dict[UseField, int]:
    """Return what the comparison has of it, too."""
    return {"context": choice.context, "users": choice.sequences, "prompt": choice.prompt}


def with_use(choice: PlanChoice, use: Mapping[UseField, int]) -> PlanChoice:
    """Return the same for another use."""
    now = {**use_of(choice), **use}
    return replace(choice, context=now["context"], sequences=now["users"], prompt=now["prompt"])


class PlanRow(msgspec.Struct, frozen=True):
    """One part of what a device has to hold; None is unknown."""

    kind: RowKind
    bytes: int | None
    source: RowSource


class DeviceRows(msgspec.Struct, frozen=True):
    """What one device has to hold, against what is free on it; None is unknown."""

    name: str
    """Empty for main memory."""
    is_gpu: bool
    rows: tuple[PlanRow, ...]
    needed: int | None
    free: int | None
    total: int | None
    is_used: bool = True
    """Whether anything would lie on it."""


class LeverView(msgspec.Struct, frozen=True):
    """A change that needs less memory."""

    kind: str
    words: Sentence
    saves: int
    """Bytes."""
    fits: bool
    """Whether that is enough."""
    can_use: bool
    """Whether it is a choice here; a smaller file that nobody knows of is not."""


class Range(msgspec.Struct, frozen=True):
    """A figure that is expected, with its band."""

    value: float
    low: float
    high: float
    is_most: bool = False
    """Whether it is no more than that, and how much less nobody knows."""


class SpeedRows(msgspec.Struct, frozen=True):
    """How fast it would be; None is unknown."""

    decode: Range | None = None
    """Tokens/s of each conversation with the prompt in the cache."""
    ceiling: float | None = None
    """Tokens/s that the memory's bandwidth allows at most."""
    decode_full: Range | None = None
    """Decode when the context is full."""
    ceiling_full: float | None = None
    """What bandwidth allows then."""
    context: int = 0
    """Tokens of the full context."""
    sequences: int = 1
    first_token: Range | None = None
    """Seconds until the first token of one prompt: reading it, and what else answers here took where that is known."""
    first_beside: float | None = None
    """Seconds of it that answers here took beside reading; None where nothing tells, and it is left out."""
    evaluated: int = 0
    """Tokens of the prompt that are evaluated for it."""
    limit: Sentence | None = None
    """What keeps decode from being faster."""
    measured: float | None = None
    """Tokens/s that answers of this model showed here."""
    measured_at: int = 0
    """Tokens in the cache while they were written."""
    expected_there: Range | None = None
    """What is predicted for that."""
    read: float | None = None
    """Tokens/s at which prompts of this model were read here."""
    read_tokens: int = 0
    """Tokens of the last of these prompts that were read."""
    expected_read: Range | None = None
    """What is predicted for that."""
    rests_on: Sentence | None = None
    """Where the figures of the device come from."""
    caveats: tuple[Sentence, ...] = ()
    """Why they are to be doubted."""
    reason: Sentence | None = None
    """Why speed is unknown."""


class PlanView(msgspec.Struct, frozen=True):
    """The answer for one configuration."""

    fit: Fit
    answer: Sentence
    """Whether it fits, in one sentence without its end."""
    pace: Sentence | None
    """How fast it would be, to follow the answer; None is unknown."""
    devices: tuple[DeviceRows, ...]
    levers: tuple[LeverView, ...]
    speed: SpeedRows
    gpu_layers: int | None
    """Layers on the GPU as decided; None is unknown."""
    all_layers: int | None
    largest_context: int | None
    """Tokens that each conversation could have."""
    most_sequences: int | None
    is_possible: bool | None = True
    """Whether every device has room for its part as it is planned; None is unknown."""
    is_asked: bool = False
    """Whether llama.cpp has told what it takes."""
    is_asked_of_all: bool = False
    """Whether it told all of it; of several conversations it may tell the weights alone."""
    remark: Sentence | None = None
    """What speaks against the context whatever room there is."""
    prompt_remark: Sentence | None = None
    """That the prompt is longer than the context."""
    asked_problem: Sentence | None = None
    """Why it did not answer."""
    is_loaded: bool = False
    """Whether the model is loaded just so."""

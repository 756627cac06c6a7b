"""A diagnosis as plain values: one sentence, the evidence under it, and the change that would help most."""

from __future__ import annotations

from typing import Literal

import msgspec

from app.core.words import Sentence

Cause = Literal[
    "nothing",
    "no_token",
    "in_parts",
    "too_few",
    "queue",
    "load",
    "prompt",
    "page_in",
    "prefill",
    "little_text",
    "unused_cache",
    "gpu_layers",
    "threads",
    "window",
    "spilled",
    "gpu_limit",
    "busy",
    "sampling",
    "kv_cache",
    "slowed",
    "bandwidth",
    "not_bandwidth",
]
"""“slowed” is an answer that got slower although the cache explains little of it; “not_bandwidth” one that is slow while
memory could give more."""
RemedyKind = Literal["load_options", "new_chat", "choose_model", "top_k"]
"""Load it again with other options; begin a new chat; choose another model; switch top-k on."""


class Evidence(msgspec.Struct, frozen=True):
    """One figure that a diagnosis rests on: what it is, and the figure with its unit."""

    what: Sentence
    figure: Sentence


class Remedy(msgspec.Struct, frozen=True):
    """A change that the program can make, as the words of a button."""

    kind: RemedyKind
    words: Sentence
    changes: dict[str, str | int | bool | None] = {}
    """Options of a load by their names in `LoadOptions`, or settings by theirs in `SamplingSettings`."""


class Diagnosis(msgspec.Struct, frozen=True):
    """What stands out in the time of one answer."""

    sentence: Sentence
    cause: Cause
    evidence: tuple[Evidence, ...] = ()
    remedy: Remedy | None = None
    """None where the program can change nothing that helps."""

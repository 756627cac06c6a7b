"""What the engine tells of a pass over a prompt: how likely each of its tokens was behind those before it."""

from __future__ import annotations

import msgspec


class ScoreProgress(msgspec.Struct, frozen=True, tag="score_progress"):
    """How many tokens of a prompt have their scores."""

    request: int
    done: int
    total: int


class PromptScored(msgspec.Struct, frozen=True, tag="prompt_scored"):
    """The scores of all tokens of a prompt but the first, before which there is nothing: n - 1 values each."""

    request: int
    log_probabilities: bytes
    """float32, little endian, in natural logarithms, before any stage of the chain."""
    ranks: bytes
    """uint32, little endian: the place of the token by falling logit, 1 for the most likely."""
    entropies: bytes
    """float32, little endian, in nats, of the whole row that the token was read behind."""


ScoreEvent = ScoreProgress | PromptScored
"""What is told of a pass; `Failed` ends one, too."""

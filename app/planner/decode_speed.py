"""Tokens per second of decode by two parameters: t = layers x tau + bytes / (bandwidth x efficiency)."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from app.planner.gpu import Gpu, Speed
from app.planner.model_work import ModelWork


class Part(msgspec.Struct, frozen=True):
    """Some layers of a model and the device that has them."""

    work: ModelWork
    gpu: Gpu


def decode_speed(parts: Sequence[Part], context: int, sequences: int = 1) -> Speed | None:
    """Return how fast a token follows another with so many tokens in the cache of each sequence; None is unknown."""
    raise NotImplementedError

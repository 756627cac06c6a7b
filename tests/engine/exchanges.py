"""One prompt and its answer as an engine process reports them, on models of every kind of memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np

from app.core.chat import Prompt, TokenPrompt
from app.core.events import Event, Finished, PromptReady
from app.core.metrics import KVUse
from app.core.sampling import SamplingSettings
from app.probability.record import TokenRecords
from tests.engine.harness import GREEDY, Engine, ids_of, records_of
from tests.ggufs_kinds import (
    write_tiny_hybrid,
    write_tiny_hybrid_window,
    write_tiny_plain,
    write_tiny_recurrent,
    write_tiny_window,
)

WRITERS: dict[str, Callable[[Path], Path]] = {
    "plain": write_tiny_plain,
    "window": write_tiny_window,
    "recurrent": write_tiny_recurrent,
    "hybrid": write_tiny_hybrid,
    "hybrid_window": write_tiny_hybrid_window,
}
CONTEXT = 2048
OPTIONS = {"context": CONTEXT, "threads": 1, "batch": 64, "micro_batch": 32}
"""Prompts of several micro-batches, several times the window of 64 tokens."""
_WORDS = ("the", "people", "good", "over", "hello", "work", "because", "Grüße", "7", "like!", "token", "(after)")


@dataclass(frozen=True)
class Exchange:
    """A prompt, what of it was in the cache, and the answer."""

    ids: list[int]
    from_cache: int
    finished: Finished
    events: tuple[Event, ...]

    @property
    def records(self) -> TokenRecords:
        """The record of the answer, which must not be empty."""
        records = records_of(self.events, self.finished.request)
        assert list(records.tokens) == self.answer
        return records

    @property
    def answer(self) -> list[int]:
        """Ids of the answer."""
        return ids_of(self.finished.ids)

    @property
    def evaluated(self) -> int:
        """How many tokens of the prompt were evaluated for it."""
        return len(self.ids) - self.from_cache

    @property
    def end(self) -> int:
        """How many tokens the cache held at the end: the last one of an answer was drawn and not evaluated."""
        return len(self.ids) + len(self.answer) - 1

    @property
    def kv(self) -> KVUse:
        """The cache after the answer."""
        return self.finished.metrics.kv


def limited(tokens: int) -> SamplingSettings:
    """Return settings that always take the likeliest token, up to so many."""
    return msgspec.structs.replace(GREEDY, max_tokens=tokens)


def text(words: int, seed: int) -> str:
    """Return a text whose beginning already depends on the seed."""
    return " ".join(np.random.default_rng(seed).choice(_WORDS, words))


def tokens(count: int, seed: int) -> list[int]:
    """Return ids of ordinary tokens."""
    return [int(token) for token in np.random.default_rng(seed).integers(4, 400, count)]


def as_prompt(ids: list[int]) -> TokenPrompt:
    """Return ids as a prompt."""
    return TokenPrompt(np.asarray(ids, "<i4").tobytes())


def exchange(engine: Engine, prompt: Prompt, settings: SamplingSettings) -> Exchange:
    """Send a prompt and wait for the whole answer."""
    return exchanged(engine, engine.ask(prompt, settings))


def exchanged(engine: Engine, finished: Finished) -> Exchange:
    """Return what was seen of a request that is finished, no ids where it was cancelled while it waited.

    Forgets the events of this engine.
    """
    ready = [event for event in engine.seen if isinstance(event, PromptReady) and event.request == finished.request]
    ids, from_cache = (ids_of(ready[0].ids), ready[0].from_cache) if ready else ([], 0)
    seen = Exchange(ids, from_cache, finished, tuple(engine.seen))
    engine.seen.clear()
    return seen

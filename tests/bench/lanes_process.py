"""A process in which lanes share a prompt and decoded tokens are counted: `python -m tests.bench.lanes_process MODEL THREADS`."""

from __future__ import annotations

import sys
import time
from typing import Any
from unittest.mock import patch

import msgspec
import numpy as np

from app.core.chat import TokenPrompt
from app.core.commands import Compare
from app.core.events import LaneFinished, PromptReady
from app.core.model import LoadOptions
from app.core.sampling import PRESETS, SamplingSettings
from app.engine import entry
from app.engine.comparing import Comparing
from app.engine.control import Control
from app.engine.kv_cache import KVCache
from app.engine.lane_cells import SharedCells
from app.engine.llama import api, start_library
from app.engine.llama_model import LlamaBackend
from app.engine.prefill import prefill
from tests.bench.children import Answer, serve
from tests.bench.setting import CELLS

ANSWER_TOKENS = 2


class Handlers:
    """What the parent can ask for."""

    def __init__(self, backend: LlamaBackend) -> None:
        self._backend = backend
        self._cache = KVCache(backend)

    def read(self, prompt: list[int]) -> Answer:
        """Let a prompt be in the cells."""
        ids = np.asarray(prompt, np.int32)
        self._cache.rewind(ids)
        for _ in prefill(self._backend, self._cache, ids, lambda: False):
            pass
        return {"cells": self._cache.used}

    def share(self, lanes: int) -> Answer:
        """Share it with so many lanes, and return how long that took."""
        cells = SharedCells(self._backend, self._cache)
        began = time.perf_counter_ns()
        cells.open(lanes)
        ended = time.perf_counter_ns()
        held = self._backend.min_position(lanes)
        cells.close()
        return {"ns": ended - began, "is_shared": held == 0}

    def compare(self, prompt: list[int], lanes: int, seed: int) -> Answer:
        """Compare, and return how many tokens llama.cpp decoded and how many of them were drawn before."""
        decoded, decode = 0, api.llama_decode

        def counted(context: Any, batch: Any) -> int:
            nonlocal decoded
            decoded += batch.n_tokens
            return int(decode(context, batch))

        command = Compare(
            1,
            TokenPrompt(np.asarray(prompt, "<i4").tobytes()),
            by_seed(lanes, ANSWER_TOKENS, seed),
            time.perf_counter_ns(),
        )
        with patch.object(api, "llama_decode", counted):
            events = list(Comparing(self._backend, self._cache, command, Control(1)).run())
        ends = [event.finished for event in events if isinstance(event, LaneFinished)]
        (ready,) = (event for event in events if isinstance(event, PromptReady))
        # the last token of an answer is drawn and not decoded
        drawn = sum(end.metrics.sampled_tokens - 1 for end in ends)
        return {"decoded": decoded, "drawn": drawn, "from_cache": ready.from_cache}


def by_seed(lanes: int, tokens: int, seed: int) -> tuple[SamplingSettings, ...]:
    """Return the ordinary settings with a seed for each lane."""
    balanced = PRESETS["Balanced"]
    return tuple(msgspec.structs.replace(balanced, max_tokens=tokens, seed=seed + lane) for lane in range(lanes))


def main() -> None:
    """Load the model and answer until the parent is done."""
    entry._lower_priority()
    options = LoadOptions(context=CELLS, threads=int(sys.argv[2]))
    handlers = Handlers(LlamaBackend(sys.argv[1], options, start_library(), lambda percent: True))
    serve({"read": handlers.read, "share": handlers.share, "compare": handlers.compare})


if __name__ == "__main__":
    main()

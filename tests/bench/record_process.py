"""One process with both loops on one context: `python -m tests.bench.record_process MODEL THREADS`.

`bare` draws with `llama_sampler_sample`; `record` goes through the engine's stages as `app.engine.loop` does, with the
after-chain probability, our own draw and the per-token record, but without text and without a second process.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from app.core.model import LoadOptions
from app.core.sampling import PRESETS
from app.engine import entry
from app.engine.joiner import JOIN_NS
from app.engine.kv_cache import KVCache
from app.engine.llama import start_library
from app.engine.llama_model import LlamaBackend
from app.engine.logits import Logits
from app.engine.sampling import Sampler
from app.probability.record import RecordWriter
from tests.bench.bare_loop import BareLoop
from tests.bench.children import Answer, serve
from tests.bench.setting import CELLS


class Handlers:
    """What the parent can ask for."""

    def __init__(self, backend: LlamaBackend) -> None:
        self._backend = backend
        self._cache = KVCache(backend)
        self._bare = BareLoop(backend._model, backend._context.handle)

    def tokenize(self, text: str) -> Answer:
        """Return the ids of a text."""
        return {"ids": self._bare.tokenize(text)}

    def bare(self, prompt: list[int], tokens: int, seed: int) -> Answer:
        """Generate a slice with the bare loop."""
        steps, ns = self._bare.decode_slice(prompt, tokens, seed)
        return {"steps": steps, "ns": ns}

    def record(self, prompt: list[int], tokens: int, seed: int) -> Answer:
        """Generate a slice with the engine's stages."""
        self._rewind(prompt)
        backend, cache = self._backend, self._cache
        logits, sampler = Logits(backend), Sampler(backend, PRESETS["Balanced"], seed, prompt)
        writer = RecordWriter(backend.vocabulary.size)
        began = at_ns = due_ns = 0
        for position in range(tokens):
            row, facts = logits.take()
            token, probability, flags = sampler.draw(row, facts, position)
            at_ns = time.perf_counter_ns()
            began = began or at_ns
            writer.add(token, float(row[token]), facts, facts.rank(token), probability, at_ns, flags)
            if at_ns >= due_ns:
                writer.take()
                due_ns = at_ns + JOIN_NS
            if position < tokens - 1:
                sampler.accept(token)
                cache.append((token,), logits=True)
        sampler.close()
        return {"steps": tokens - 1, "ns": at_ns - began}

    def _rewind(self, prompt: list[int]) -> None:
        ids, last = np.asarray(prompt, np.int32), len(prompt) - 1
        kept = self._cache.rewind(ids)
        if kept < last:
            self._cache.append(ids[kept:last], logits=False)
        self._cache.append(ids[last:], logits=True)


def main() -> None:
    """Load the model and answer until the parent is done."""
    entry._lower_priority()
    options = LoadOptions(context=CELLS, threads=int(sys.argv[2]))
    handlers = Handlers(LlamaBackend(sys.argv[1], options, start_library(), lambda percent: True))
    serve({"tokenize": handlers.tokenize, "bare": handlers.bare, "record": handlers.record})


if __name__ == "__main__":
    main()

"""A process that runs llama-cpp-python's own streaming: `python -m tests.bench.high_level_process MODEL THREADS`."""

from __future__ import annotations

import sys
import time
from typing import Any

from llama_cpp import Llama

from app.engine import entry
from tests.bench.bare_loop import BATCH, MICRO_BATCH
from tests.bench.children import Answer, serve
from tests.bench.setting import CELLS


class Handlers:
    """What the parent can ask for."""

    def __init__(self, path: str, threads: int) -> None:
        self._llama = Llama(
            path,
            n_ctx=CELLS,
            n_batch=BATCH,
            n_ubatch=MICRO_BATCH,
            n_threads=threads,
            n_threads_batch=threads,
            flash_attn=True,  # it has no "auto"; on is what auto comes to with this model
            no_perf=True,
            verbose=False,
        )

    def decode(self, prompt: list[int], tokens: int, seed: int) -> Answer:
        """Stream a completion; tokens are counted by the cache, since a chunk is not a token."""
        llama = self._llama
        stream: Any = llama.create_completion(
            prompt,
            stream=True,
            max_tokens=tokens,
            seed=seed,
            temperature=0.8,
            top_k=40,
            top_p=0.95,
            min_p=0.05,
            typical_p=1.0,
            repeat_penalty=1.0,
        )
        next(stream)
        began, first = time.perf_counter_ns(), llama.n_tokens
        for _ in stream:
            pass
        return {"steps": llama.n_tokens - first, "ns": time.perf_counter_ns() - began}


def main() -> None:
    """Load the model and answer until the parent is done."""
    entry._lower_priority()
    serve({"decode": Handlers(sys.argv[1], int(sys.argv[2])).decode})


if __name__ == "__main__":
    main()

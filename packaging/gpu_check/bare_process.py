"""A process with nothing but the bare loop: `python -m gpu_check.bare_process MODEL THREADS GPU_LAYERS CELLS MICRO_BATCH`.

It must use nothing of the engine, so that it cannot share the engine's mistakes; its niceness is the engine's.
"""

from __future__ import annotations

import ctypes
import os
import sys

import llama_cpp.llama_cpp as api

from tests.bench.bare_loop import BATCH, FLASH_AUTO, LANES, BareLoop
from tests.bench.children import Answer, serve

NICENESS = 5


def _say_nothing(_level: int, _text: bytes, _user: object) -> None:
    return


_SAY_NOTHING = api.llama_log_callback(_say_nothing)


def open_bare(path: str, threads: int, gpu_layers: int, cells: int, micro_batch: int) -> BareLoop:
    """Load a model and make a context with the engine's values."""
    api.llama_log_set(_SAY_NOTHING, ctypes.c_void_p(0))
    api.llama_backend_init()
    chosen = api.llama_model_default_params()
    chosen.n_gpu_layers = gpu_layers
    model = api.llama_model_load_from_file(path.encode(), chosen)
    if not model:
        raise RuntimeError("llama.cpp loaded no model")
    params = api.llama_context_default_params()
    params.n_ctx, params.n_batch, params.n_ubatch = cells, max(BATCH, micro_batch), micro_batch
    params.n_seq_max = params.n_outputs_max = LANES
    params.n_threads = params.n_threads_batch = threads
    params.flash_attn_type = FLASH_AUTO
    params.kv_unified, params.swa_full, params.no_perf = True, False, True
    context = api.llama_init_from_model(model, params)
    if not context:
        raise RuntimeError("llama.cpp made no context")
    return BareLoop(model, context)


def main() -> None:
    """Load the model and answer until the parent is done."""
    os.nice(NICENESS)
    loop = open_bare(sys.argv[1], *map(int, sys.argv[2:6]))

    def decode(prompt: list[int], tokens: int, seed: int) -> Answer:
        steps, ns = loop.decode_slice(prompt, tokens, seed)
        return {"steps": steps, "ns": ns}

    def prefill(prompt: list[int]) -> Answer:
        return {"ns": loop.prefill(prompt)}

    serve({"decode": decode, "prefill": prefill})


if __name__ == "__main__":
    main()

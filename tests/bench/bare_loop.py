"""The yardstick: the shortest loop that one can write on llama.cpp, `llama_decode` and `llama_sampler_sample`.

Runs in child processes only. It must not use anything of the engine, so that it cannot share the engine's mistakes.
"""

from __future__ import annotations

import ctypes
import time
from typing import Any

import llama_cpp.llama_cpp as api

from tests.bench.setting import CELLS

BATCH = 2048
MICRO_BATCH = 512
LANES = 9
"""As many sequences and outputs as the engine's context has."""
FLASH_AUTO = -1
ALL_LAYERS = -1


def _say_nothing(_level: int, _text: bytes, _user: object) -> None:
    return


_SAY_NOTHING = api.llama_log_callback(_say_nothing)


def open_bare(
    path: str,
    threads: int,
    gpu_layers: int = ALL_LAYERS,
    cells: int = CELLS,
    micro_batch: int = MICRO_BATCH,
    flash: int = FLASH_AUTO,
) -> BareLoop:
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
    params.flash_attn_type = flash
    params.kv_unified, params.swa_full, params.no_perf = True, False, True
    context = api.llama_init_from_model(model, params)
    if not context:
        raise RuntimeError("llama.cpp made no context")
    return BareLoop(model, context)


class BareLoop:
    """Evaluates and draws with as little Python as there can be between two tokens."""

    def __init__(self, model: Any, context: Any) -> None:
        self._vocabulary = api.llama_model_get_vocab(model)
        self._context = context
        self._memory = api.llama_get_memory(context)
        self._prompt: list[int] = []

    def tokenize(self, text: str) -> list[int]:
        """Return the ids of a text in which control tokens' text becomes control tokens."""
        data = text.encode()
        room = (api.llama_token * (len(data) + 8))()
        return room[: api.llama_tokenize(self._vocabulary, data, len(data), room, len(room), False, True)]

    def decode_slice(self, prompt: list[int], tokens: int, seed: int) -> tuple[int, int]:
        """Generate tokens behind a prompt; returns how many followed the first one, and the ns that they took."""
        self._rewind(prompt)
        chain = balanced_chain(seed)
        token = (api.llama_token * 1)()
        batch = api.llama_batch_get_one(token, 1)
        context = self._context
        token[0] = api.llama_sampler_sample(chain, context, -1)
        began = time.perf_counter_ns()
        for _ in range(tokens - 1):
            if api.llama_decode(context, batch):
                raise RuntimeError("llama_decode refused a token")
            token[0] = api.llama_sampler_sample(chain, context, -1)
        ended = time.perf_counter_ns()
        api.llama_sampler_free(chain)
        return tokens - 1, ended - began

    def lanes_slice(self, prompt: list[int], lanes: int, tokens: int, seed: int) -> tuple[int, int]:
        """Generate several answers behind one prompt, one batch a step; returns as `decode_slice`, for each of them."""
        self._rewind(prompt)
        chains = [balanced_chain(seed + lane) for lane in range(lanes)]
        batch, context = api.llama_batch_init(lanes, 0, 1), self._context
        batch.n_tokens = lanes
        for lane, chain in enumerate(chains):
            api.llama_memory_seq_cp(self._memory, 0, lane + 1, 0, len(prompt))
            batch.n_seq_id[lane], batch.seq_id[lane][0], batch.logits[lane] = 1, lane + 1, 1
            batch.token[lane] = api.llama_sampler_sample(chain, context, -1)
        began = time.perf_counter_ns()
        for position in range(len(prompt), len(prompt) + tokens - 1):
            for lane in range(lanes):
                batch.pos[lane] = position
            if api.llama_decode(context, batch):
                raise RuntimeError("llama_decode refused a batch")
            for lane, chain in enumerate(chains):
                batch.token[lane] = api.llama_sampler_sample(chain, context, lane)
        ended = time.perf_counter_ns()
        for lane, chain in enumerate(chains):
            api.llama_memory_seq_rm(self._memory, lane + 1, 0, -1)
            api.llama_sampler_free(chain)
        api.llama_batch_free(batch)
        return tokens - 1, ended - began

    def prefill(self, prompt: list[int]) -> int:
        """Evaluate a prompt into the emptied cache in micro-batches; returns the ns that it took."""
        self._prompt = []
        api.llama_memory_seq_rm(self._memory, 0, 0, -1)
        batch = api.llama_batch_init(MICRO_BATCH, 0, 1)
        began = time.perf_counter_ns()
        for start in range(0, len(prompt), MICRO_BATCH):
            self._evaluate(batch, prompt[start : start + MICRO_BATCH], start, len(prompt) - 1)
            api.llama_synchronize(self._context)
        ended = time.perf_counter_ns()
        api.llama_batch_free(batch)
        return ended - began

    def _rewind(self, prompt: list[int]) -> None:
        """Let exactly this prompt be in the cache, with the logits of its last token."""
        if prompt != self._prompt:
            self.prefill(prompt)
            self._prompt = prompt
        last = len(prompt) - 1
        api.llama_memory_seq_rm(self._memory, 0, last, -1)
        batch = api.llama_batch_init(1, 0, 1)
        self._evaluate(batch, prompt[last:], last, last)
        api.llama_batch_free(batch)

    def _evaluate(self, batch: Any, ids: list[int], start: int, output: int) -> None:
        batch.n_tokens = len(ids)
        for index, token in enumerate(ids):
            batch.token[index], batch.pos[index] = token, start + index
            batch.n_seq_id[index], batch.seq_id[index][0] = 1, 0
            batch.logits[index] = start + index == output
        if api.llama_decode(self._context, batch):
            raise RuntimeError("llama_decode refused a batch")


def balanced_chain(seed: int) -> Any:
    """Return the native chain of the Balanced settings with llama.cpp's own draw."""
    chain = api.llama_sampler_chain_init(api.llama_sampler_chain_default_params())
    for stage in (
        api.llama_sampler_init_top_k(40),
        api.llama_sampler_init_top_p(0.95, 1),
        api.llama_sampler_init_min_p(0.05, 1),
        api.llama_sampler_init_temp(0.8),
        api.llama_sampler_init_dist(seed),
    ):
        api.llama_sampler_chain_add(chain, stage)
    return chain

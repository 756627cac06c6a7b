"""What llama.cpp is told at a load: parameters of a model and of its context, out of `LoadOptions`.

A real load and a dry run are told the same by construction. Loads nothing itself.
"""

from __future__ import annotations

import ctypes
from typing import Any, Literal

import msgspec

from app.core.lane_memory import PLAIN_SEQUENCES
from app.core.model import ALL_LAYERS, INSPECTION_BATCH, LoadOptions, MemoryKind
from app.core.model_reads import moved_experts
from app.engine.llama import api, ggml_library

LANES = PLAIN_SEQUENCES
NoChat = Literal["encoder", "diffusion"]
KV_TYPES = {"f16": api.GGML_TYPE_F16, "q8_0": api.GGML_TYPE_Q8_0, "q4_0": api.GGML_TYPE_Q4_0}
FLASH = {"auto": -1, "on": 1, "off": 0}
SPLITS = {"none": 0, "layer": 1, "row": 2}


ROPE_PARAMETERS = (
    "rope_scaling_type",
    "rope_freq_base",
    "rope_freq_scale",
    "yarn_ext_factor",
    "yarn_attn_factor",
    "yarn_beta_fast",
    "yarn_beta_slow",
    "yarn_orig_ctx",
)
"""Fields of `llama_context_params` that the keys in the cells depend on."""


class _BufferOverride(ctypes.Structure):
    _fields_ = [("pattern", ctypes.c_char_p), ("buffer_type", ctypes.c_void_p)]


class ModelParameters:
    """`llama_model_params` and the memory that they point to, which has to outlive the model."""

    def __init__(self, options: LoadOptions) -> None:
        """Take the options as they are; layers that nobody chose are all of them."""
        self.values = params = api.llama_model_default_params()
        params.n_gpu_layers = ALL_LAYERS if options.gpu_layers is None else options.gpu_layers
        params.main_gpu = options.main_gpu
        params.split_mode = SPLITS[options.split]
        params.load_mode = int(options.mmap) + 2 * int(options.mlock)
        self._overrides: Any = None
        if options.experts_on_cpu:
            cpu = ggml_library("ggml-base").ggml_backend_cpu_buffer_type
            cpu.restype = ctypes.c_void_p
            self._overrides = (_BufferOverride * 2)(
                _BufferOverride(moved_experts(options.experts_on_cpu).encode(), cpu()), _BufferOverride(None, None)
            )
            params.tensor_buft_overrides = ctypes.cast(self._overrides, ctypes.c_void_p)


def sequences_at_load(model: Any) -> int:
    """Return how many sequences a context of the model has where nothing is compared."""
    return LANES if memory_kind(model) == "plain" else 1


def context_parameters(model: Any, options: LoadOptions, sequences: int | None = None) -> Any:
    """Return the `llama_context_params` for a loaded model; None is as many sequences as at a load."""
    params = api.llama_context_default_params()
    params.n_ctx = options.cells(int(api.llama_model_n_ctx_train(model)) or None)
    params.n_ubatch = min(options.micro_batch, params.n_ctx)
    params.n_batch = max(min(options.batch, params.n_ctx), params.n_ubatch)
    params.n_seq_max = sequences_at_load(model) if sequences is None else sequences
    params.n_outputs_max = params.n_seq_max
    if options.threads is not None:
        params.n_threads = params.n_threads_batch = options.threads
    params.flash_attn_type = FLASH[options.flash_attention]
    params.type_k, params.type_v = KV_TYPES[options.kv_type_k], KV_TYPES[options.kv_type_v]
    params.kv_unified, params.swa_full, params.no_perf = True, False, True
    return params


def inspection_options(options: LoadOptions, cells: int, *, watched: bool = False) -> LoadOptions:
    """Return the options of an inspection context for a model that was loaded with others.

    It computes as the chat does, with the same attention and the same types of keys and values, so that a token has the
    probability that its answer recorded; one that is `watched` works out the weights of attention, which only the plain way
    of it has.
    """
    made = msgspec.structs.replace(options, context=cells, batch=INSPECTION_BATCH, micro_batch=INSPECTION_BATCH)
    if not watched:
        return made
    return msgspec.structs.replace(made, flash_attention="off", kv_type_k="f16", kv_type_v="f16")


def inspection_parameters(model: Any, options: LoadOptions) -> Any:
    """Return the `llama_context_params` of an inspection context: one sequence, and the row of every token.

    A layer with a sliding window keeps all cells, so that each lies at its token's position; what it looks at stays the same.
    """
    params = context_parameters(model, options, 1)
    params.n_outputs_max, params.n_outputs_max_per_seq = params.n_ubatch, params.n_ubatch
    params.swa_full = True
    return params


def unable_to_chat(model: Any) -> NoChat | None:
    """Return why a loaded model cannot answer token by token; None when nothing speaks against it."""
    if api.llama_model_is_diffusion(model):
        return "diffusion"
    if api.llama_model_has_encoder(model) or not api.llama_model_has_decoder(model):
        return "encoder"
    return None


def metadata(model: Any, key: str) -> str | None:
    """Return what a model's file says under a key, cut at 511 bytes; None where it has no such key."""
    buffer = ctypes.create_string_buffer(512)
    length = api.llama_model_meta_val_str(model, key.encode(), buffer, len(buffer))
    return buffer.value.decode("utf-8", "replace") if length >= 0 else None


def takes_long_factors(model: Any, context: Any) -> bool:
    """Whether llama.cpp turns the keys by the long RoPE factors, where a model has a long and a short set of them (LongRoPE).

    It goes by the cells, not by the tokens in them: more than the context before the model was stretched takes the long ones.
    """
    original = _rope_scaling(model, "original_context_length")
    limit = int(original) if original is not None else int(api.llama_model_n_ctx_train(model))
    return int(api.llama_n_ctx_seq(context)) > limit


def least_inspection_cells(model: Any, chat: Any) -> int:
    """Return how many cells another context needs at least to turn its keys as the chat's context does; 0 where any do."""
    original = _rope_scaling(model, "original_context_length")
    may_have_two_sets = original is not None and _rope_scaling(model, "type") in (None, "longrope")
    return int(original) + 1 if original is not None and may_have_two_sets and takes_long_factors(model, chat) else 0


def _rope_scaling(model: Any, key: str) -> str | None:
    return metadata(model, f"{metadata(model, 'general.architecture')}.rope.scaling.{key}")


def memory_kind(model: Any) -> MemoryKind:
    """Return what kind of cache the architecture has."""
    if api.llama_model_is_hybrid(model):
        return "hybrid"
    if api.llama_model_is_recurrent(model):
        return "recurrent"
    return "window" if api.llama_model_n_swa(model) > 0 else "plain"

"""llama.cpp's own samplers and the starter model's vocabulary and logits, for the tests of this folder."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import numpy.typing as npt
from llama_cpp import llama_cpp

from app.core.sampling import SamplingSettings
from app.probability.candidates import Candidates, candidates_of

STARTER = Path(__file__).parents[2] / "models" / "SmolLM2-135M-Instruct.Q4_1.gguf"

_TOKEN_DATA = np.dtype([("id", "<i4"), ("logit", "<f4"), ("p", "<f4")])
_CONTEXT = 512


_silence = llama_cpp.llama_log_callback(lambda level, text, data: None)
llama_cpp.llama_log_set(_silence, ctypes.c_void_p(0))


def apply(sampler: int, candidates: Candidates, history: Iterable[int] = ()) -> Candidates:
    """Run one native sampler on candidates and free it."""
    for token in history:
        llama_cpp.llama_sampler_accept(sampler, token)
    data = np.zeros(candidates.ids.size, _TOKEN_DATA)
    data["id"], data["logit"] = candidates.ids, candidates.logits
    array = llama_cpp.llama_token_data_array(
        data=data.ctypes.data_as(llama_cpp.llama_token_data_p),
        size=data.size,
        selected=-1,
        sorted=candidates.is_sorted,
    )
    llama_cpp.llama_sampler_apply(sampler, ctypes.byref(array))
    # XTC moves the pointer, so the survivors are read where it points now.
    start = ctypes.cast(array.data, ctypes.c_void_p).value
    assert start is not None
    offset = (start - data.ctypes.data) // _TOKEN_DATA.itemsize
    left = data[offset : offset + array.size]
    llama_cpp.llama_sampler_free(sampler)
    places = np.searchsorted(np.sort(candidates.ids), left["id"])
    return Candidates(left["id"].copy(), left["logit"].copy(), places, bool(array.sorted))


def samplers(settings: SamplingSettings, vocabulary: StarterVocabulary | None, size: int) -> dict[str, int]:
    """Build the native samplers of a chain in the order of the settings; XTC always acts."""
    s = settings
    whole = 100_000
    last_n = whole if s.penalty_last_n < 0 else s.penalty_last_n
    penalties = (s.repeat_penalty, s.frequency_penalty, s.presence_penalty)
    makers: dict[str, Callable[[], int]] = {
        "penalties": lambda: llama_cpp.llama_sampler_init_penalties(size, last_n, *penalties),
        "top_k": lambda: llama_cpp.llama_sampler_init_top_k(s.top_k),
        "typical": lambda: llama_cpp.llama_sampler_init_typical(s.typical_p, 1),
        "top_p": lambda: llama_cpp.llama_sampler_init_top_p(s.top_p, 1),
        "min_p": lambda: llama_cpp.llama_sampler_init_min_p(s.min_p, 1),
        "xtc": lambda: llama_cpp.llama_sampler_init_xtc(1.0 if s.xtc_probability else 0.0, s.xtc_threshold, 1, 0),
        "temperature": lambda: llama_cpp.llama_sampler_init_temp(s.temperature),
    }
    if vocabulary is not None:
        makers["dry"] = lambda: vocabulary.dry(s, whole)
    names = [name for name in s.order if name not in s.off]
    if s.temperature <= 0 and "temperature" in names:
        names = [*(name for name in names if name in ("penalties", "dry")), "temperature"]
    return {name: makers[name]() for name in names if name in makers}


class StarterVocabulary:
    """The tokens of the starter model, without its weights."""

    def __init__(self) -> None:
        parameters = llama_cpp.llama_model_default_params()
        parameters.vocab_only = True
        self._model = llama_cpp.llama_model_load_from_file(str(STARTER).encode(), parameters)
        assert self._model is not None
        self.pointer = llama_cpp.llama_model_get_vocab(self._model)
        self.size: int = llama_cpp.llama_vocab_n_tokens(self.pointer)
        self.pieces = [self._piece(token) for token in range(self.size)]

    def close(self) -> None:
        llama_cpp.llama_model_free(self._model)

    def tokenize(self, text: bytes) -> list[int]:
        return _tokens(self.pointer, text, special=False)

    def dry(self, s: SamplingSettings, whole: int) -> int:
        texts = [text.encode() for text in s.dry_sequence_breakers]
        last_n = whole if s.dry_penalty_last_n < 0 else s.dry_penalty_last_n
        sampler: int = llama_cpp.llama_sampler_init_dry(
            self.pointer,
            s.dry_multiplier,
            s.dry_base,
            s.dry_allowed_length,
            last_n,
            (ctypes.c_char_p * len(texts))(*texts),
            len(texts),
        )
        return sampler

    def _piece(self, token: int) -> bytes:
        buffer = ctypes.create_string_buffer(256)
        one = (llama_cpp.llama_token * 1)(token)
        length = llama_cpp.llama_detokenize(self.pointer, one, 1, buffer, len(buffer), False, True)
        assert length >= 0
        return buffer.raw[:length]


def real_rows(prompt: bytes, answer: bytes) -> npt.NDArray[np.float32]:
    """Return the starter model's row of logits before each token of an answer, and the one after it."""
    model = llama_cpp.llama_model_load_from_file(str(STARTER).encode(), llama_cpp.llama_model_default_params())
    assert model is not None
    parameters = llama_cpp.llama_context_default_params()
    parameters.n_ctx = _CONTEXT
    context = llama_cpp.llama_init_from_model(model, parameters)
    assert context is not None
    vocabulary = llama_cpp.llama_model_get_vocab(model)
    size = llama_cpp.llama_vocab_n_tokens(vocabulary)
    rows = []
    for tokens in [_tokens(vocabulary, prompt), *([token] for token in _tokens(vocabulary, answer))]:
        batch = (llama_cpp.llama_token * len(tokens))(*tokens)
        assert llama_cpp.llama_decode(context, llama_cpp.llama_batch_get_one(batch, len(tokens))) == 0
        rows.append(np.ctypeslib.as_array(llama_cpp.llama_get_logits_ith(context, -1), (size,)).copy())
    llama_cpp.llama_free(context)
    llama_cpp.llama_model_free(model)
    return np.array(rows)


def _tokens(vocabulary: int, text: bytes, special: bool = True) -> list[int]:
    tokens = (llama_cpp.llama_token * (len(text) + 8))()
    count = llama_cpp.llama_tokenize(vocabulary, text, len(text), tokens, len(tokens), False, special)
    return list(tokens[:count])


def whole_row(logits: npt.NDArray[np.float32]) -> Candidates:
    """Return a row's candidates in the order of ids."""
    return candidates_of(np.arange(logits.size, dtype=np.int32), logits)

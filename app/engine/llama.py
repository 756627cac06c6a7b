"""The only import of llama_cpp: log, libraries, vocabulary and native sampler stages, wrapped small and typed.

Knows nothing of prompts, chats or the loop. Its neighbour `llama_model.py` wraps model and context with it.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections import deque
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from app.core.sampling import REMEMBERING, SamplingSettings
from app.engine.backend import Row
from app.engine.low_level import import_low_level
from app.engine.spoken_tags import spoken_tags

if TYPE_CHECKING:
    import llama_cpp.llama_cpp as api
else:
    api = import_low_level("llama_cpp", "llama_cpp")

__all__ = [
    "LlamaCandidates",
    "LlamaChain",
    "LlamaVocabulary",
    "LogCapture",
    "api",
    "ggml_library",
    "library_folder",
    "start_library",
]

CONTINUED_LEVEL = 5
LINES_PER_TENSOR = (b"create_tensor: ", b"llama_graph_n_input_tensors: ")
"""What lines of the log begin with that say nothing and come for each tensor: they would push out the others."""
MOST_LINE_BYTES = 2_000
"""Of a line, which may hold a text out of the file however long."""
XTC_ALWAYS = 1.0
MIN_KEEP = 1


class LogCapture:
    """Takes llama.cpp's log instead of the terminal: the last lines with their levels."""

    def __init__(self, keep: int = 2000) -> None:
        self._lines: deque[tuple[int, str]] = deque(maxlen=keep)
        self._callback = api.llama_log_callback(self._take)
        api.llama_log_set(self._callback, ctypes.c_void_p(0))

    def _take(self, level: int, text: bytes, _user: object) -> None:
        if text.startswith(LINES_PER_TENSOR):
            return
        line = text[:MOST_LINE_BYTES].decode("utf-8", "replace")
        if level == CONTINUED_LEVEL and self._lines:
            last_level, last = self._lines[-1]
            self._lines[-1] = (last_level, (last + line)[:MOST_LINE_BYTES])
        else:
            self._lines.append((level, line))

    def clear(self) -> None:
        """Forget the lines so far, at the start of a load."""
        self._lines.clear()

    def lines(self, level: int = 0) -> tuple[str, ...]:
        """Return the lines at or above a level (2 info, 3 warning, 4 error), oldest first."""
        return tuple(text.rstrip() for kept, text in tuple(self._lines) if kept >= level and text.strip(" .\n"))


def start_library() -> LogCapture:
    """Start llama.cpp in this process with its log captured and every backend of its folder loaded."""
    log = LogCapture()
    registry = ggml_library("ggml")
    registry.ggml_backend_reg_count.restype = ctypes.c_size_t
    if registry.ggml_backend_reg_count() == 0:  # a build with its backends in files of their own
        registry.ggml_backend_load_all_from_path.argtypes = [ctypes.c_char_p]
        registry.ggml_backend_load_all_from_path.restype = None
        registry.ggml_backend_load_all_from_path(os.fsencode(library_folder()))
    api.llama_backend_init()
    return log


def library_folder() -> Path:
    """Return where the libraries of llama.cpp lie; the environment may name another place than the package."""
    override = os.environ.get("LLAMA_CPP_LIB_PATH")
    return Path(override) if override else Path(api.__file__).parent / "lib"


def ggml_library(name: str) -> ctypes.CDLL:
    """Return the loaded ggml library; by its versioned file, since a second copy has an empty registry."""
    folder = library_folder()
    names = {"win32": (f"{name}.dll",), "darwin": (f"lib{name}.0.dylib", f"lib{name}.dylib")}
    files = [folder / file for file in names.get(sys.platform, (f"lib{name}.so.0", f"lib{name}.so"))]
    return ctypes.CDLL(str(next((file for file in files if file.exists()), files[0])))


class LlamaVocabulary:
    """A model's vocabulary; it keeps no buffers, so that a second thread may use it."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self.handle = api.llama_model_get_vocab(model)
        self.size = int(api.llama_vocab_n_tokens(self.handle))
        bos, eos = int(api.llama_vocab_bos(self.handle)), int(api.llama_vocab_eos(self.handle))
        self.bos = bos if bos >= 0 else None
        self.eos = eos if eos >= 0 else None
        self.add_bos = bool(api.llama_vocab_get_add_bos(self.handle))

    def tokenize(self, text: str, *, special: bool) -> list[int]:
        """Return the ids of a text, no BOS added."""
        data = text.encode("utf-8")
        room = len(data) + 16
        for _ in range(2):
            buffer = (ctypes.c_int32 * room)()
            count = api.llama_tokenize(self.handle, data, len(data), buffer, room, False, special)
            if count >= 0:
                return buffer[:count]
            room = -count
        raise ValueError(f"llama.cpp cannot tokenise {len(data)} bytes")

    def piece(self, token: int) -> bytes:
        """Return the bytes that a token adds to a text; empty for control tokens but the tags around thinking."""
        return self._spoken.get(token) or self._piece(token, special=False)

    def token_text(self, token: int) -> str:
        """Return a token's text, control tokens included."""
        return self._piece(token, special=True).decode("utf-8", "replace")

    def _piece(self, token: int, *, special: bool) -> bytes:
        room = 64
        for _ in range(2):
            buffer = ctypes.create_string_buffer(room)
            length = api.llama_token_to_piece(self.handle, token, buffer, room, 0, special)
            if length >= 0:
                return buffer.raw[:length]
            room = -length
        raise ValueError(f"llama.cpp has no piece for token {token}")

    def is_end(self, token: int) -> bool:
        """Return whether generation ends at this token."""
        return bool(api.llama_vocab_is_eog(self.handle, token))

    def special_texts(self) -> list[tuple[int, str, bool]]:
        """Return (id, text, is_control) of the control and user-defined tokens."""
        return self._specials

    @cached_property
    def _specials(self) -> list[tuple[int, str, bool]]:
        # llama.cpp finds the unknown token's text too where it looks for control tokens.
        controls = api.LLAMA_TOKEN_ATTR_CONTROL | api.LLAMA_TOKEN_ATTR_UNKNOWN
        special = controls | api.LLAMA_TOKEN_ATTR_USER_DEFINED
        found = []
        for token in range(self.size):
            attributes = int(api.llama_vocab_get_attr(self.handle, token))
            if attributes & special:
                control = bool(attributes & controls)
                found.append((token, self.token_text(token), control))
        return found

    @cached_property
    def _spoken(self) -> dict[int, bytes]:
        return spoken_tags(self._specials, self.is_end)

    def chat_template(self, name: str | None = None) -> str | None:
        """Return the Jinja source that came with the model, or None."""
        source = api.llama_model_chat_template(self._model, None if name is None else name.encode())
        return source.decode("utf-8", "replace") if source else None


CANDIDATE = np.dtype([("id", "<i4"), ("logit", "<f4"), ("p", "<f4")])


class LlamaCandidates:
    """One reusable `llama_token_data_array` with room for the whole vocabulary."""

    def __init__(self, vocabulary: int) -> None:
        self._data = np.zeros(vocabulary, CANDIDATE)
        self._ids, self._logits = self._data["id"], self._data["logit"]
        self._base = int(self._data.ctypes.data)
        pointer: Any = ctypes.cast(self._base, ctypes.POINTER(api.llama_token_data))
        self._array = api.llama_token_data_array(pointer, 0, -1, False)
        self._start = pointer
        self.reference = ctypes.byref(self._array)

    def fill(self, ids: npt.NDArray[np.int32], logits: Row) -> None:
        """Start a step: pointer, size, selection and order are reset, XTC moves the pointer."""
        count = len(ids)
        self._ids[:count] = ids
        self._logits[:count] = logits
        array = self._array
        array.data, array.size, array.selected, array.sorted = self._start, count, -1, False

    def survivors(self) -> tuple[npt.NDArray[np.int32], Row]:
        """Return copies of the ids and logits that are left, in the array's present order."""
        address = ctypes.cast(self._array.data, ctypes.c_void_p).value or self._base
        first = (address - self._base) // CANDIDATE.itemsize
        last = first + self._array.size
        return self._ids[first:last].copy(), self._logits[first:last].copy()


class LlamaStage:
    """One native sampler of the chain."""

    def __init__(self, name: str, sampler: Any, *, remembers: bool = False) -> None:
        self.name = name
        self.remembers = remembers
        self._sampler = sampler
        self.accept: Callable[[int], object] = partial(api.llama_sampler_accept, sampler)

    def apply(self, candidates: LlamaCandidates) -> None:
        """Cut or reshape the candidates in place."""
        api.llama_sampler_apply(self._sampler, candidates.reference)

    def close(self) -> None:
        """Free the native sampler."""
        api.llama_sampler_free(self._sampler)


class LlamaChain:
    """The native stages that a set of settings turns on, in its order; `cells` stands for a look-back of -1."""

    def __init__(self, settings: SamplingSettings, vocabulary: LlamaVocabulary, cells: int) -> None:
        s = settings
        samplers: dict[str, Callable[[], Any]] = {}
        if penalty_reach := s.penalty_reach(cells):
            penalties = (s.repeat_penalty, s.frequency_penalty, s.presence_penalty)
            samplers["penalties"] = partial(
                api.llama_sampler_init_penalties, vocabulary.size, penalty_reach, *penalties
            )
        if dry_reach := s.dry_reach(cells):
            samplers["dry"] = partial(_dry, s, vocabulary, dry_reach)
        cuts = (
            ("top_k", s.top_k > 0, api.llama_sampler_init_top_k, (s.top_k,)),
            ("typical", s.typical_p < 1, api.llama_sampler_init_typical, (s.typical_p, MIN_KEEP)),
            ("top_p", s.top_p < 1, api.llama_sampler_init_top_p, (s.top_p, MIN_KEEP)),
            ("min_p", s.min_p > 0, api.llama_sampler_init_min_p, (s.min_p, MIN_KEEP)),
            (
                "xtc",
                s.xtc_probability > 0 and s.xtc_threshold <= 0.5,
                api.llama_sampler_init_xtc,
                (XTC_ALWAYS, s.xtc_threshold, MIN_KEEP, 0),
            ),
            ("temperature", s.temperature > 0, api.llama_sampler_init_temp, (s.temperature,)),
        )
        samplers |= {name: partial(make, *values) for name, is_on, make, values in cuts if is_on}
        self.stages: Sequence[LlamaStage] = [
            LlamaStage(name, samplers[name](), remembers=name in REMEMBERING) for name in s.stages if name in samplers
        ]

    def close(self) -> None:
        """Free the native stages; calling it twice is harmless."""
        for stage in self.stages:
            stage.close()
        self.stages = []


def _dry(settings: SamplingSettings, vocabulary: LlamaVocabulary, last_n: int) -> Any:
    texts = [text.encode() for text in settings.dry_sequence_breakers if text]
    return api.llama_sampler_init_dry(
        vocabulary.handle,
        settings.dry_multiplier,
        settings.dry_base,
        settings.dry_allowed_length,
        last_n,
        (ctypes.c_char_p * len(texts))(*texts),
        len(texts),
    )

"""What is known of a model: how it was asked to load, and what the engine says after the load."""

from __future__ import annotations

from typing import Literal

import msgspec

from app.core.words import Sentence

KVType = Literal["f16", "q8_0", "q4_0"]
FlashAttention = Literal["auto", "on", "off"]
SplitMode = Literal["none", "layer", "row"]

CONTEXT_STEP = 256
DEFAULT_CONTEXT = 8192


class LoadOptions(msgspec.Struct, frozen=True):
    """How a model is loaded; the defaults suit a machine that nothing is known about."""

    context: int | None = None
    """Cells of the KV cache; rounded up to 256. None is the smaller of 8192 and what the model was trained for."""
    gpu_layers: int | None = None
    """Layers on the GPU; None is all of them (nothing happens on a machine without a GPU)."""
    experts_on_cpu: bool = False
    """Keep the experts of a mixture in main memory."""
    main_gpu: int = 0
    split: SplitMode = "layer"
    kv_type_k: KVType = "f16"
    kv_type_v: KVType = "f16"
    flash_attention: FlashAttention = "auto"
    threads: int | None = None
    """Threads of decode and prefill; None is the number of physical cores."""
    batch: int = 2048
    """Most tokens handed to one decode call."""
    micro_batch: int = 512
    """Tokens evaluated at once; larger is a faster prefill and more memory."""
    mmap: bool = True
    mlock: bool = False


class ModelInfo(msgspec.Struct, frozen=True):
    """What the engine knows of the model it loaded; None is unknown."""

    path: str
    name: str
    architecture: str
    description: str
    parameters: int
    weight_bytes: int
    weight_bytes_per_token: int | None
    """Bytes of weights that decoding one token reads."""
    quantisation: str
    trained_context: int
    context: int
    layers: int
    vocabulary: int
    chat_template: str | None
    license: str | None
    kv_bytes: int | None
    threads: int
    gpu_layers: int
    devices: tuple[str, ...]
    system_info: str
    load_ms: float
    notes: tuple[str, ...] = ()
    """Lines of llama.cpp's log at warning level or above, oldest first."""


class ModelRef(msgspec.Struct, frozen=True):
    """Which model it is, whatever its file is called: size, and a digest of the header and of 16 pieces of weights."""

    size: int
    digest: str
    """sha256 of the header and of 16 evenly spaced 64 KiB blocks of tensor data, in hexadecimal."""
    path: str = ""
    repository: str | None = None
    revision: str | None = None
    sha256: str | None = None
    """The digest of the whole file, where it is known."""

    @property
    def identity(self) -> str:
        """The text that options and answers are remembered under."""
        return f"{self.size}-{self.digest}"


class FoundModel(msgspec.Struct, frozen=True):
    """A model file that was found on this machine, and what its header says; None is unknown."""

    path: str
    size: int
    """Bytes, all parts of a model in several files together."""
    name: str
    architecture: str | None = None
    quantisation: str | None = None
    parameters: int | None = None
    trained_context: int | None = None
    has_template: bool | None = None
    problem: Sentence | None = None
    """Why the file cannot be used; None when nothing speaks against it."""

"""What is known of a model: how it was asked to load, and what the engine says after the load."""

from __future__ import annotations

from typing import Literal

import msgspec

from app.core.cache_shape import AttentionShape, CacheClass
from app.core.download import DownloadWanted
from app.core.found_file import FileOrigin
from app.core.metrics import DeviceMemory
from app.core.model_kind import ModelKind
from app.core.model_shape import ModelShape
from app.core.words import Sentence

KVType = Literal["f16", "q8_0", "q4_0"]
FlashAttention = Literal["auto", "on", "off"]
SplitMode = Literal["none", "layer", "row"]

MemoryKind = Literal["plain", "window", "recurrent", "hybrid"]
"""What a model keeps of its past: every token, some layers only a window, a state of fixed size, or both."""

KV_ELEMENT_BYTES: dict[KVType, float] = {"f16": 2.0, "q8_0": 34 / 32, "q4_0": 18 / 32}
"""Bytes of one element of the KV cache; quantised ones are packed in blocks of 32 with their scale."""

INSPECTION_BATCH = 64
"""Tokens at once in a second context beside the chat's: with a vocabulary of 262,144 their rows are 64 MiB."""
CONTEXT_STEP = 256
DEFAULT_CONTEXT, DEFAULT_PROMPT = 8192, 1024
"""Tokens that anything is planned for where nobody says more: of a conversation, and of a prompt."""
ALL_LAYERS = -1
"""Of `gpu_layers`: every layer goes to the GPU."""
MOST_CONTEXT = 1 << 27
MOST_PLANNED_CONTEXT = 1 << 24
"""Of one conversation: no model was trained for as much."""
MOST_SEQUENCES = 256
"""llama.cpp has no more in one context (`LLAMA_MAX_SEQ`)."""
MOST_LAYERS = 10_000
MOST_GPUS = 16
MOST_THREADS = 1024
MOST_BATCH = 1 << 16
MOST_CHECKPOINTS = 1024


class LoadOptions(msgspec.Struct, frozen=True):
    """How a model is loaded; the defaults suit a machine that nothing is known about."""

    context: int | None = None
    """Cells of the KV cache; rounded up to 256. None is the smaller of 8192 and what the model was trained for."""
    gpu_layers: int | None = None
    """Layers on the GPU, the output layer counted; None is as many as fit, -1 all of them."""
    experts_on_cpu: int | bool = 0
    """Layers of a mixture whose experts lie in main memory, the first ones; -1 is all. Once kept as a yes or no."""
    main_gpu: int = 0
    split: SplitMode = "layer"
    kv_type_k: KVType = "f16"
    kv_type_v: KVType = "f16"
    flash_attention: FlashAttention = "auto"
    threads: int | None = None
    """Threads of decode and prefill; None leaves it to llama.cpp, and is filled in before a load."""
    batch: int = 2048
    """Most tokens handed to one decode call."""
    micro_batch: int = 512
    """Tokens evaluated at once; larger is a faster prefill and more memory."""
    mmap: bool = True
    mlock: bool = False
    checkpoints: int = 8
    """Most saved states of a sliding-window, recurrent or hybrid model, which cannot rewind without; 0 for none."""
    may_shorten_context: bool = False
    """Whether a context that does not fit on the GPU is shortened before layers move to main memory."""

    def __post_init__(self) -> None:
        """Take the yes or no that older settings hold as all layers, or none."""
        if isinstance(self.experts_on_cpu, bool):
            msgspec.structs.force_setattr(self, "experts_on_cpu", ALL_LAYERS if self.experts_on_cpu else 0)

    def validated(self) -> LoadOptions:
        """Return these options with every number within what llama.cpp can be asked for: people edit files by hand."""
        context = self.context if self.context is not None and self.context > 0 else None
        layers = self.gpu_layers
        batch = _within(self.batch, 1, MOST_BATCH)
        return msgspec.structs.replace(
            self,
            context=None if context is None else min(context, MOST_CONTEXT),
            gpu_layers=None if layers is None else _within(layers, ALL_LAYERS, MOST_LAYERS),
            experts_on_cpu=_within(self.experts_on_cpu, ALL_LAYERS, MOST_LAYERS),
            main_gpu=_within(self.main_gpu, 0, MOST_GPUS - 1),
            threads=None if self.threads is None else _within(self.threads, 1, MOST_THREADS),
            batch=batch,
            micro_batch=_within(self.micro_batch, 1, batch),
            checkpoints=_within(self.checkpoints, 0, MOST_CHECKPOINTS),
        )

    def cells(self, trained: int | None) -> int:
        """Return the cells of a context with these options, for a model that was trained for so many tokens."""
        wanted = self.context or min(DEFAULT_CONTEXT, trained or DEFAULT_CONTEXT)
        return -(-wanted // CONTEXT_STEP) * CONTEXT_STEP


def _within(value: int, low: int, high: int) -> int:
    return max(low, min(value, high))


class CacheSizes(msgspec.Struct, frozen=True):
    """What a context allocated for a model's past, in bytes over all devices; None is unknown."""

    full: int | None = None
    """Layers that keep every token."""
    window: int | None = None
    """Layers that keep a sliding window."""
    state: int | None = None
    """Recurrent layers, whose state does not grow."""
    window_cells: int | None = None

    def in_use(self, used: int, cells: int, window_used: int) -> int | None:
        """Return the bytes that hold `used` of `cells` tokens; None where a part of them is unknown."""
        if self.full is None and self.state is None:
            return None
        if self.window is not None and not self.window_cells:
            return None
        full = (self.full or 0) * used // max(1, cells)
        window = (self.window or 0) * window_used // max(1, self.window_cells or 0)
        return full + window + (self.state or 0 if used else 0)


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
    memory_kind: MemoryKind = "plain"
    window: int = 0
    """Tokens of the sliding window, 0 for none."""
    cache: CacheSizes = CacheSizes()
    cache_classes: tuple[CacheClass, ...] = ()
    """Which layers keep what, as llama.cpp set it aside; empty is unknown."""
    attention: AttentionShape = AttentionShape()
    """What its file says of the heads whose keys and values are kept."""
    shape: ModelShape = ModelShape()
    """As its file tells it."""
    memory: tuple[DeviceMemory, ...] = ()
    """What the load took by device, as llama.cpp's log tells it."""
    options: LoadOptions = LoadOptions()
    """As it was loaded: with the layers and experts that `GPU layers: auto` chose."""
    notes: tuple[str, ...] = ()
    """Lines of llama.cpp's log at warning level or above, oldest first."""
    remarks: tuple[Sentence, ...] = ()
    """What people should know of how it was loaded."""
    tokenizer: str = ""
    """Digest of what the vocabulary says: models of one family share it. Empty is unknown."""
    end_tokens: tuple[int, ...] = ()
    """Tokens that end an answer."""
    begin_token: int | None = None
    """The token that a prompt begins with, where the vocabulary has one."""


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
    license: str | None = None
    """As its file tells it."""
    cache_elements: int | None = None
    """Numbers that one token adds to the KV cache at most."""
    is_mixture: bool | None = None
    """Whether only some of its experts work on each token."""
    problem: Sentence | None = None
    """Why the file cannot be used; None when nothing speaks against it."""
    origin: FileOrigin = "own"
    """Whose folder it lies in."""
    kind: ModelKind | None = None
    """What it is for; None where the file cannot be used for anything as it is."""
    parts: int = 1
    """Files of it that were found."""
    parts_wanted: int = 1
    """Files that it comes in."""
    is_read: bool = True
    """Whether more is known than the folder tells."""
    identity: str = ""
    """What notes of it are kept under, whatever its file is called; empty where that is not known, or not yet."""
    name_before: str = ""
    """What it would be called if people had not given it a name of their own; empty where they have not."""
    source: DownloadWanted | None = None
    """The download that it came of, where that is known and it is the same file still."""
    is_lost: bool = False
    """Whether the system did not let it be read, which may be other the next moment though the file is the same."""

    @property
    def is_usable(self) -> bool:
        """Whether it was looked at and can be loaded."""
        return self.is_read and self.problem is None

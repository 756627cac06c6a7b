"""What a comparison of models and GPUs shows, as plain values for windows and files; None is unknown."""

from __future__ import annotations

from typing import Literal

import msgspec

from app.core.model import DEFAULT_CONTEXT, DEFAULT_PROMPT
from app.core.words import Sentence
from app.planner.gpu import Family, Limit
from app.planner.memory_plan import Verdict

AS_IT_IS = ""
"""Instead of the name of a quantisation: the file as it lies here."""
GpuGroup = Literal["here", "own"] | Family


class ModelChoice(msgspec.Struct, frozen=True):
    """A model file, as it is or estimated in another quantisation."""

    path: str
    quantisation: str = AS_IT_IS


class OfferedModel(msgspec.Struct, frozen=True):
    """What can be chosen of one file: itself, and its estimates in other quantisations."""

    path: str
    name: str
    quantisation: str | None
    file_bytes: int | None
    estimates: tuple[str, ...]
    """Names of quantisations, the largest first."""
    is_added: bool = False
    """Whether it is offered because somebody named it, and can be removed."""


class OfferedGpu(msgspec.Struct, frozen=True):
    """A GPU that can be chosen."""

    id: str
    name: str
    group: GpuGroup
    memory: int
    """Bytes as it is sold."""
    count: int = 1
    """More where it stands for all GPUs of this machine together."""


class Wanted(msgspec.Struct, frozen=True):
    """What people want of a model; None leaves it open."""

    first_token_s: float | None = None
    tokens_per_s: float | None = None
    may_split: bool = False
    """Whether layers may lie in main memory; of all else that is wanted, and no wish by itself."""
    room: bool = False
    """Whether room for the context of the use, for so many at once, is wanted, whatever these are."""

    @property
    def has_pace(self) -> bool:
        """Whether a speed or a time is wanted; it is for the context and the requests of the use, which are so too."""
        return self.first_token_s is not None or self.tokens_per_s is not None

    @property
    def is_nothing(self) -> bool:
        """Whether nothing is wanted."""
        return not (self.room or self.has_pace)


class Chosen(msgspec.Struct, frozen=True):
    """What is compared, for which use."""

    models: tuple[ModelChoice, ...] = ()
    gpus: tuple[str, ...] = ()
    """Ids."""
    context: int = DEFAULT_CONTEXT
    """Tokens of each conversation."""
    users: int = 1
    """Conversations at once."""
    prompt: int = DEFAULT_PROMPT
    """Tokens of a prompt."""
    wanted: Wanted = Wanted()


class Band(msgspec.Struct, frozen=True):
    """A predicted figure, and between which two it should lie."""

    value: float
    low: float
    high: float
    is_most: bool = False
    """Whether it is no more than that, and how much less nobody knows."""


class RoofDot(msgspec.Struct, frozen=True):
    """Prefill or decode in a roofline."""

    intensity: float
    """Operations for each byte read."""
    tflops: float
    """What gets done, in 10^12 operations/s."""


class Roof(msgspec.Struct, frozen=True):
    """A GPU's roof and what is under it."""

    bandwidth: float
    """In 10^9 bytes/s."""
    peak_tflops: float
    ridge: float
    """Operations for each byte where arithmetic begins to limit."""
    prefill: RoofDot | None
    decode: RoofDot | None

    def level(self, intensity: float) -> float:
        """Return the most that can be got done with so many operations for each byte, in 10^12 operations/s."""
        return min(self.peak_tflops, intensity * self.bandwidth / 1e3)


class Reference(msgspec.Struct, frozen=True):
    """The roof of a GPU that others are seen against."""

    name: str
    roof: Roof


class NeedVerdict(msgspec.Struct, frozen=True):
    """Whether a row meets what people want."""

    meets: bool
    rank: int
    """0 is the best one: smallest memory first, then those that fail by how far they are from it."""
    words: Sentence
    """What fails, or that nothing does."""
    is_close: bool = False
    """Whether the other end of the band would turn it."""
    is_of_room: bool = False
    """Whether nothing but the context and the requests at once was wanted, so that whether it fits says all."""


class ComparedRow(msgspec.Struct, frozen=True):
    """One model on one GPU."""

    model: str
    quantisation: str
    is_estimate: bool
    gpu: str
    gpu_memory: int
    verdict: Verdict
    needed: int | None
    """Bytes on the GPU, with what stays free on purpose."""
    usable: int
    largest_context: int | None
    most_users: int | None
    first_token: Band | None
    """Seconds, for one prompt by itself."""
    first_token_together: Band | None
    """Seconds until the last has its first token, when all ask at the same moment."""
    each: Band | None
    """Tokens per second of each conversation."""
    together: Band | None
    ceiling: float | None
    """Tokens per second that bandwidth alone would allow each."""
    limited_by: Limit | None
    line: tuple[tuple[int, Band], ...] = ()
    """Tokens per second of each against tokens in the cache."""
    fits_up_to: int | None = None
    roof: Roof | None = None
    need: NeedVerdict | None = None
    """None where nothing is wanted."""
    context: int = 0
    """Tokens of each conversation that its figures hold for: less than was chosen where only less fits."""
    trained_context: int | None = None
    """Tokens beyond which the model was never trained."""
    how_sure: tuple[Sentence, ...] = ()
    """What its speed is judged by, and how far it may be off."""
    caveats: tuple[Sentence, ...] = ()
    """Why its speed is to be doubted."""
    beside: Sentence | None = None
    """What layers in main memory beside a GPU that is not here are judged by; None where there are none."""
    why_no_memory: Sentence | None = None
    """Why nothing is said of memory, context and users."""
    why_no_speed: Sentence | None = None
    why_no_first_token: Sentence | None = None
    why_no_roof: Sentence | None = None
    path: str = ""
    gpu_id: str = ""

    @property
    def key(self) -> tuple[str, str, str]:
        """What tells it from other rows: files, and GPUs, may have one name."""
        return self.path or self.model, self.quantisation, self.gpu_id or self.gpu

    @property
    def shown_quantisation(self) -> str:
        """The name of the quantisation, marked where sizes are an estimate."""
        return f"≈ {self.quantisation}" if self.is_estimate else self.quantisation

    @property
    def shown_model(self) -> str:
        """Model and quantisation in one."""
        return f"{self.model} {self.shown_quantisation}".strip()

"""One sentence on an answer that has ended: where its time went, and what would help.

Pure arithmetic over an answer's figures. It never says more than they show: too few tokens are said to be too few, and
what is not known is not guessed.
"""

from __future__ import annotations

import msgspec

from app.core.metrics import Metrics
from app.core.words import Sentence, translate

FEW_TOKENS = 16
"""Below so many tokens, sampled or evaluated, a rate says nothing."""
SHORT_MS = 1000.0
"""A short answer that took less than this has nothing to tell."""
NEAR = 0.6
"""llama.cpp reads memory at 0.6 to 0.8 of what it gives at best: above this share memory is what it waits for."""
FAR = 0.4
_MS = 1e-3


class Circumstances(msgspec.Struct, frozen=True):
    """What the figures of an answer do not say; None is unknown."""

    gpu_is_there: bool | None = None
    """Whether the machine has a GPU that this build can use."""
    gpu_layers: int = 0
    """Layers on the GPU, the output layer counted."""
    all_layers: int = 0
    """All of them, the output layer counted."""
    weight_bytes_per_token: int | None = None
    first_after_load: bool = False
    """Whether it was the first answer since the model was loaded."""
    memory_gb_per_s: float | None = None
    """The most that the memory which holds the weights gives, where it is known."""

    @property
    def is_split(self) -> bool:
        """Whether some layers are on the GPU and some are not."""
        return 0 < self.gpu_layers < self.all_layers

    @property
    def leaves_gpu_idle(self) -> bool:
        """Whether there is a GPU and the model uses none of it."""
        return self.gpu_is_there is True and self.gpu_layers == 0


class _Times(msgspec.Struct, frozen=True):
    """Where the time of one answer went, in s."""

    queue: float
    prompt: float
    """Template and tokens."""
    prefill: float
    decode: float
    total: float


def diagnose(metrics: Metrics, circumstances: Circumstances) -> Sentence:
    """Return where the time of an answer went and what would help: what a panel shows in two lines."""
    times = _times(metrics)
    few = metrics.sampled_tokens < FEW_TOKENS
    if metrics.sampled_tokens == 0 and times.queue < times.total / 2:
        return translate("Diagnosis", "It ended before its first token: there is nothing to tell of its speed.")
    if metrics.sampled_tokens > 1 and metrics.decode_tokens_per_s is None:
        return translate(
            "Diagnosis",
            "Nobody can tell where its time went: it was written in parts, and how fast each was is not known.",
        )
    if few and times.total < SHORT_MS * _MS:
        return translate(
            "Diagnosis",
            "Too few tokens to tell where the time went: {tokens} in {total:.1f} s.",
            tokens=metrics.sampled_tokens,
            total=times.total,
        )
    largest = max(times.queue, times.prompt, times.prefill, times.decode)
    if largest == times.queue:
        return translate(
            "Diagnosis",
            "Waiting took {queue:.1f} of {total:.1f} s: the engine was not free for this answer before.",
            queue=times.queue,
            total=times.total,
        )
    if largest == times.prefill:
        return _prefill(metrics, times, circumstances)
    if largest == times.decode:
        return _decode(metrics, times, circumstances)
    return translate(
        "Diagnosis",
        "Preparing the prompt took {prompt:.1f} of {total:.1f} s; a shorter chat is prepared faster.",
        prompt=times.prompt,
        total=times.total,
    )


def _times(metrics: Metrics) -> _Times:
    parts, rate = metrics.ttft_parts_ms, metrics.decode_tokens_per_s
    decode = (metrics.sampled_tokens - 1) / rate if rate else 0.0
    waited, prompt = max(0.0, parts.queue) * _MS, max(0.0, parts.tokens) * _MS
    prefill = max(0.0, parts.prefill) * _MS
    rest = sum(part or 0.0 for part in (parts.save, parts.first_sample)) * _MS
    return _Times(waited, prompt, prefill, decode, waited + prompt + prefill + decode + rest)


def _prefill(metrics: Metrics, times: _Times, circumstances: Circumstances) -> Sentence:
    evaluated = max(0, metrics.prompt_tokens - metrics.prompt_tokens_from_cache)
    figures: dict[str, str | int | float] = {
        "prefill": times.prefill,
        "total": times.total,
        "evaluated": evaluated,
    }
    if circumstances.first_after_load:
        return translate(
            "Diagnosis",
            "Reading (prefill) took {prefill:.1f} of {total:.1f} s; the first answer after a load is often slower.",
            **figures,
        )
    if evaluated < FEW_TOKENS:
        return translate(
            "Diagnosis",
            "Reading (prefill) took {prefill:.1f} of {total:.1f} s for little text; the computer may be busy.",
            **figures,
        )
    if circumstances.is_split or circumstances.leaves_gpu_idle:
        return translate(
            "Diagnosis",
            "Reading (prefill) took {prefill:.1f} of {total:.1f} s; more layers on the GPU would help most.",
            **figures,
        )
    if evaluated <= metrics.prompt_tokens / 2:
        return translate(
            "Diagnosis",
            "Reading {evaluated:,} new tokens (prefill) took {prefill:.1f} of {total:.1f} s; a shorter question helps.",
            **figures,
        )
    if circumstances.gpu_layers == 0:
        return translate(
            "Diagnosis",
            "Reading {evaluated:,} tokens (prefill) took {prefill:.1f} of {total:.1f} s; a shorter chat or a GPU helps.",
            **figures,
        )
    return translate(
        "Diagnosis",
        "Reading {evaluated:,} tokens (prefill) took {prefill:.1f} of {total:.1f} s; a shorter chat would help.",
        **figures,
    )


def _decode(metrics: Metrics, times: _Times, circumstances: Circumstances) -> Sentence:
    figures: dict[str, str | int | float] = {
        "decode": times.decode,
        "total": times.total,
        "traffic": metrics.traffic_gb_per_s or 0.0,
        "most": circumstances.memory_gb_per_s or 0.0,
        "on_gpu": circumstances.gpu_layers,
        "layers": circumstances.all_layers,
    }
    if circumstances.is_split:
        return translate(
            "Diagnosis",
            "Writing (decode) took {decode:.1f} of {total:.1f} s; {on_gpu} of {layers} layers are on the GPU: more would "
            "help.",
            **figures,
        )
    if circumstances.leaves_gpu_idle:
        return translate(
            "Diagnosis",
            "Writing (decode) took {decode:.1f} of {total:.1f} s; no layer is on the GPU: it would help most.",
            **figures,
        )
    if metrics.traffic_gb_per_s is None:
        return translate(
            "Diagnosis",
            "Writing (decode) took {decode:.1f} of {total:.1f} s; a smaller model file is usually faster.",
            **figures,
        )
    if metrics.kv.bytes is not None and metrics.kv.bytes > (circumstances.weight_bytes_per_token or metrics.kv.bytes):
        return translate(
            "Diagnosis",
            "Writing (decode) took {decode:.1f} of {total:.1f} s, rereading a long chat: a shorter one is faster.",
            **figures,
        )
    return _traffic(circumstances, figures)


def _traffic(circumstances: Circumstances, figures: dict[str, str | int | float]) -> Sentence:
    """Say what the memory traffic of a decode shows, beside what the memory gives where that is known."""
    most, on_gpu = circumstances.memory_gb_per_s, circumstances.gpu_layers > 0
    share = figures["traffic"] / most if most and isinstance(figures["traffic"], float) else None
    if share is not None and share < FAR:
        return translate(
            "Diagnosis",
            "Writing (decode) took {decode:.1f} of {total:.1f} s; memory was not the limit ({traffic:.1f} of {most:.0f} "
            "GB/s).",
            **figures,
        )
    if share is not None and share >= NEAR and on_gpu:
        return translate(
            "Diagnosis",
            "Writing (decode) took {decode:.1f} of {total:.1f} s; memory is the limit: a smaller file helps.",
            **figures,
        )
    if share is not None and share >= NEAR:
        return translate(
            "Diagnosis",
            "Writing (decode) took {decode:.1f} of {total:.1f} s; memory is the limit: a smaller file or a GPU helps.",
            **figures,
        )
    if on_gpu:
        return translate(
            "Diagnosis",
            "Writing (decode) took {decode:.1f} of {total:.1f} s; a smaller model file would be faster.",
            **figures,
        )
    return translate(
        "Diagnosis",
        "Writing (decode) took {decode:.1f} of {total:.1f} s; a smaller model file or a GPU would be faster.",
        **figures,
    )

"""What stands out while an answer was written: where its layers and its cache lie, what else takes time, what memory gives.

Rules: a time per token that is high and flat is memory bandwidth, one that grows with the context is the KV read; a
share of the measured ceiling far below 0.6 points to something else. Certain faults come before likely ones.
"""

from __future__ import annotations

from app.core.diagnosis import Cause, Diagnosis, Evidence, Remedy
from app.core.metrics import Metrics
from app.core.words import Sentence, translate
from app.planner import diagnosis_evidence as evidence
from app.planner.answer_times import FAR, FLUENT_TOKENS_PER_S, NEAR, SHORT_S, SLOW_TOKENS_PER_S, Times
from app.planner.circumstances import Circumstances
from app.planner.diagnosis_remedies import (
    gpu_layers_remedy,
    kv_type_remedy,
    lock_remedy,
    model_remedy,
    new_chat_remedy,
    shorter_context_remedy,
    threads_remedy,
    top_k_remedy,
)

SPILLED = 1.02
"""Buffers larger by this than all that lies in the GPU's memory cannot all lie there."""
BUSY_WINDOW = 0.5
LEAST_CPU = 0.7
"""Of its cores' time: with less the threads wait for one that other programs hold up."""
MUCH_SAMPLING = 0.25
GROWN = 1.3
"""A token at the end against one at the beginning."""
MUCH_CACHE = 0.2
"""Of the weights: a smaller cache explains no growth that anybody notices."""
PAGED_SHARE = 0.02
"""Of all that a decode reads, from the disk: a disk is slower than memory by more than the other 98 %."""


def diagnose_writing(metrics: Metrics, times: Times, circumstances: Circumstances) -> Diagnosis | None:
    """Return what stands out while the answer was written; None where it was fast, or nothing explains it."""
    rate = metrics.decode_tokens_per_s
    if rate is None or times.decode < SHORT_S:
        return None
    found = _Finding(metrics, times, circumstances)
    certain = found.misplaced()
    if certain is not None:
        return certain
    if rate >= FLUENT_TOKENS_PER_S:
        return None
    return found.hindered() or found.grown() or (found.bandwidth() if rate < SLOW_TOKENS_PER_S else None)


class _Finding:
    """The rules, on one answer."""

    def __init__(self, metrics: Metrics, times: Times, circumstances: Circumstances) -> None:
        self._metrics, self._times, self._circumstances = metrics, times, circumstances
        self._figures: dict[str, str | int | float] = {
            "decode": times.decode,
            "total": times.total,
            "share": 100 * (evidence.share_of_ceiling(metrics, circumstances) or 0.0),
            "on_gpu": circumstances.gpu_layers,
            "layers": circumstances.all_layers,
        }

    def misplaced(self) -> Diagnosis | None:
        """Look for a part of the model that lies in slower memory than it could."""
        circumstances = self._circumstances
        used, buffers = circumstances.gpu_used_bytes, circumstances.gpu_buffer_bytes
        if used and buffers and buffers > used * SPILLED:
            sentence = translate(
                "Diagnosis",
                "Writing (decode) took {decode:.1f} of {total:.1f} s; the GPU's memory spilled into main memory.",
            )
            rows = (evidence.gpu_memory(circumstances), evidence.layers(circumstances))
            return self._told(sentence, "spilled", rows, shorter_context_remedy(self._metrics.kv.cells))
        if circumstances.is_split:
            sentence = translate(
                "Diagnosis",
                "Writing (decode) took {decode:.1f} of {total:.1f} s; {on_gpu} of {layers} layers are on the GPU: more "
                "would help.",
            )
            return self._told(sentence, "gpu_layers", (evidence.layers(circumstances),), gpu_layers_remedy())
        if circumstances.leaves_gpu_idle:
            sentence = translate(
                "Diagnosis",
                "Writing (decode) took {decode:.1f} of {total:.1f} s; no layer is on the GPU: it would help most.",
            )
            return self._told(sentence, "gpu_layers", (evidence.layers(circumstances),), gpu_layers_remedy())
        return None

    def hindered(self) -> Diagnosis | None:
        """Look for what takes time beside the decode itself, or takes it from it."""
        metrics, times, circumstances = self._metrics, self._times, self._circumstances
        if circumstances.has_too_many_threads:
            sentence = translate(
                "Diagnosis", "Writing (decode) took {decode:.1f} of {total:.1f} s with more threads than cores."
            )
            return self._told(sentence, "threads", (evidence.threads(circumstances),), threads_remedy())
        if circumstances.gpu_limits and circumstances.gpu_layers:
            rows = evidence.gpu_limits(circumstances.gpu_limits)
            return self._told(_held_back(circumstances), "gpu_limit", rows, None)
        pages = metrics.page_ins
        if pages is not None and pages.decode_faults and self._is_paged(pages.decode_bytes):
            sentence = translate(
                "Diagnosis",
                "Writing (decode) took {decode:.1f} of {total:.1f} s; weights came from the disk again and again.",
            )
            remedy = None if circumstances.locks_memory else lock_remedy()
            disk = evidence.from_disk(pages.decode_faults, pages.decode_bytes)
            return self._told(sentence, "page_in", (disk,), remedy)
        share = evidence.cpu_share(metrics, times, circumstances)
        if share is not None and share < LEAST_CPU and not circumstances.has_too_many_threads:
            sentence = translate(
                "Diagnosis",
                "Writing (decode) took {decode:.1f} of {total:.1f} s; other programs kept the cores busy.",
            )
            got = (evidence.busy(metrics, times, circumstances), evidence.threads(circumstances))
            return self._told(sentence, "busy", got, None)
        busy = circumstances.window_busy_s
        if busy is not None and busy >= BUSY_WINDOW * times.decode:
            sentence = translate(
                "Diagnosis", "Writing (decode) took {decode:.1f} of {total:.1f} s; showing it took much of a core."
            )
            return self._told(sentence, "window", (evidence.window(circumstances, times),), None)
        if metrics.sampling_ms is not None and metrics.sampling_ms / 1000 >= MUCH_SAMPLING * times.decode:
            return self._told(
                _sampled(circumstances),
                "sampling",
                (evidence.sampling(metrics, times),),
                top_k_remedy() if circumstances.top_k_is_off and not circumstances.has_grammar else None,
            )
        return None

    def grown(self) -> Diagnosis | None:
        """Look for a token that takes longer the longer the chat is."""
        metrics, weights = self._metrics, self._circumstances.weight_bytes_per_token
        cache, drift = metrics.kv.bytes, metrics.drift
        rows = (evidence.weights_and_cache(metrics, self._circumstances), evidence.drift(metrics))
        has_grown = drift is not None and drift.end >= GROWN * drift.begin
        if cache is not None and weights and (cache > weights or (has_grown and cache >= MUCH_CACHE * weights)):
            sentence = translate(
                "Diagnosis",
                "Writing (decode) took {decode:.1f} of {total:.1f} s, rereading a long chat: a shorter one is faster.",
            )
            remedy = kv_type_remedy() if self._circumstances.kv_is_f16 else new_chat_remedy()
            return self._told(sentence, "kv_cache", rows, remedy)
        if has_grown and cache is not None and weights:
            sentence = translate(
                "Diagnosis",
                "Writing (decode) took {decode:.1f} of {total:.1f} s and got slower: heat, or another program.",
            )
            return self._told(sentence, "slowed", rows, None)
        return None

    def bandwidth(self) -> Diagnosis:
        """Say what the memory traffic of a slow decode shows, beside what the memory gives where that is known."""
        circumstances, on_gpu = self._circumstances, self._circumstances.gpu_layers > 0
        share = evidence.share_of_ceiling(self._metrics, circumstances)
        rows = (evidence.weights_and_cache(self._metrics, circumstances), evidence.layers(circumstances))
        if share is not None and share < FAR:
            sentence = translate(
                "Diagnosis",
                "Writing (decode) took {decode:.1f} of {total:.1f} s; memory was not the limit, used at {share:.0f} %.",
            )
            rested = circumstances.threads and circumstances.cores and circumstances.threads < circumstances.cores
            remedy = threads_remedy() if rested and not on_gpu else None
            return self._told(sentence, "not_bandwidth", (*rows, evidence.threads(circumstances)), remedy)
        if share is not None and share >= NEAR and on_gpu:
            sentence = translate(
                "Diagnosis",
                "Writing (decode) took {decode:.1f} of {total:.1f} s; memory limits it: a smaller file helps.",
            )
        elif share is not None and share >= NEAR:
            sentence = translate(
                "Diagnosis",
                "Writing (decode) took {decode:.1f} of {total:.1f} s; memory limits it: a smaller file or GPU helps.",
            )
        elif on_gpu or self._metrics.traffic_gb_per_s is None:
            sentence = translate(
                "Diagnosis",
                "Writing (decode) took {decode:.1f} of {total:.1f} s; a smaller model file is usually faster.",
            )
        else:
            sentence = translate(
                "Diagnosis",
                "Writing (decode) took {decode:.1f} of {total:.1f} s; a smaller model file or a GPU would be faster.",
            )
        return self._told(sentence, "bandwidth", rows, model_remedy())

    def _is_paged(self, size: int | None) -> bool:
        """Return whether a decode waited for the disk; where nobody tells bytes, every tenth token must have."""
        metrics, weights = self._metrics, self._circumstances.weight_bytes_per_token
        if size is None or not weights:
            return (metrics.page_ins.decode_faults if metrics.page_ins else 0) >= metrics.sampled_tokens / 10
        return size >= PAGED_SHARE * weights * metrics.sampled_tokens

    def _told(
        self, sentence: Sentence, cause: Cause, rows: tuple[Evidence | None, ...], remedy: Remedy | None
    ) -> Diagnosis:
        metrics = self._metrics
        used = {name: value for name, value in self._figures.items() if f"{{{name}" in sentence.template}
        around = self._circumstances
        shared = (
            evidence.writing(metrics, self._times),
            evidence.expected(around),
            evidence.traffic(metrics, around),
        )
        told = Sentence(sentence.context, sentence.template, used)
        return Diagnosis(told, cause, evidence.known(*rows, *shared), remedy)


def _held_back(circumstances: Circumstances) -> Sentence:
    if "heat" in circumstances.gpu_limits:
        return translate(
            "Diagnosis",
            "Writing (decode) took {decode:.1f} of {total:.1f} s; the GPU was too hot: it slowed itself down.",
        )
    if "hardware" in circumstances.gpu_limits:
        return translate(
            "Diagnosis",
            "Writing (decode) took {decode:.1f} of {total:.1f} s; the GPU protected itself and slowed down.",
        )
    return translate(
        "Diagnosis", "Writing (decode) took {decode:.1f} of {total:.1f} s; the GPU was at its power limit."
    )


def _sampled(circumstances: Circumstances) -> Sentence:
    if circumstances.has_grammar:
        return translate(
            "Diagnosis", "Writing (decode) took {decode:.1f} of {total:.1f} s; its grammar took much of that."
        )
    return translate(
        "Diagnosis", "Writing (decode) took {decode:.1f} of {total:.1f} s; choosing tokens took much of that."
    )

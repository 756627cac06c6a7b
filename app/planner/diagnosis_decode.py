"""What stands out while an answer was written: where its layers and its cache lie, what else takes time, what memory gives.

Rules: a time per token that is high and flat is memory bandwidth, one that grows with the context is the KV read; a
share of the measured ceiling far below 0.6 points to something else. Of several things that stand out the one is told
that cost most (`decode_costs`), and of equals the certain one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from app.core.circumstances import Circumstances
from app.core.diagnosis import Cause, Diagnosis, Evidence, Remedy
from app.core.metrics import Metrics
from app.core.words import Sentence, translate
from app.planner import diagnosis_evidence as evidence
from app.planner.answer_times import FAR, FLUENT_TOKENS_PER_S, NEAR, SHORT_S, SLOW_TOKENS_PER_S, Times
from app.planner.decode_costs import Costs
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
GROWN = 1.3
"""A token at the end against one at the beginning."""
MUCH_CACHE = 0.2
"""Of the weights: a smaller cache explains no growth that anybody notices."""


def diagnose_writing(metrics: Metrics, times: Times, circumstances: Circumstances) -> Diagnosis | None:
    """Return what stands out while the answer was written; None where it was fast, or nothing explains it.

    Of several things the one that cost most; a decode that is fast enough is only told of what lies in the wrong place.
    """
    rate = metrics.decode_tokens_per_s
    if rate is None or times.decode < SHORT_S:
        return None
    found = _Finding(metrics, times, circumstances)
    misplaced = found.misplaced()
    if rate >= FLUENT_TOKENS_PER_S and not misplaced:
        return None
    causes = [*misplaced, *found.hindered(), *found.grown()]
    if causes:
        return max(causes, key=lambda cause: cause.cost).told()
    return found.bandwidth() if rate < SLOW_TOKENS_PER_S else None


class _Cause(NamedTuple):
    """Something that stands out, what it cost in s, and what makes a diagnosis of it."""

    cost: float
    told: Callable[[], Diagnosis]


class _Finding:
    """The rules, on one answer."""

    def __init__(self, metrics: Metrics, times: Times, circumstances: Circumstances) -> None:
        self._metrics, self._times, self._circumstances = metrics, times, circumstances
        self._costs = Costs(metrics, times, circumstances)
        self._figures: dict[str, str | int | float] = {
            "decode": times.decode,
            "total": times.total,
            "share": 100 * (evidence.share_of_ceiling(metrics, circumstances) or 0.0),
        }

    def misplaced(self) -> list[_Cause]:
        """Look for a part of the model that lies in slower memory than it could."""
        around, found = self._circumstances, list[_Cause]()
        used, buffers = around.gpu_used_bytes, around.gpu_buffer_bytes
        if used and buffers and buffers > used * SPILLED:
            found.append(_Cause(self._costs.spilled, self._spilled))
        if around.is_split or around.leaves_gpu_idle:
            found.append(_Cause(self._costs.off_gpu, self._off_gpu))
        return found

    def hindered(self) -> list[_Cause]:
        """Look for what takes time beside the decode itself, or takes it from it."""
        costs = self._costs
        found = (
            _Cause(costs.threads, self._threads),
            _Cause(costs.gpu_limit, self._gpu_limit),
            _Cause(costs.disk, self._disk),
            _Cause(costs.draws, self._draws),
            _Cause(costs.others, self._others),
            _Cause(costs.window, self._window),
        )
        return [cause for cause in found if cause.cost > 0]

    def grown(self) -> list[_Cause]:
        """Look for a token that takes longer the longer the chat is."""
        metrics, weights = self._metrics, self._circumstances.weight_bytes_per_token
        cache, drift = metrics.kv.bytes, metrics.drift
        if cache is None or not weights:
            return []
        has_grown = drift is not None and drift.end >= GROWN * drift.begin > 0
        if cache > weights or (has_grown and cache >= MUCH_CACHE * weights):
            return [_Cause(self._costs.cache, self._cache)]
        return [_Cause(self._costs.growth, self._slowed)] if has_grown else []

    def _spilled(self) -> Diagnosis:
        sentence = translate(
            "Diagnosis",
            "Writing (decode) took {decode:.1f} of {total:.1f} s; the GPU's memory spilled into main memory.",
        )
        rows = (evidence.gpu_memory(self._circumstances), evidence.layers(self._circumstances))
        return self._told(sentence, "spilled", rows, shorter_context_remedy(self._metrics.kv.cells))

    def _off_gpu(self) -> Diagnosis:
        sentence = translate(
            "Diagnosis",
            "Writing (decode) took {decode:.1f} of {total:.1f} s; no layer is on the GPU: it would help most.",
        )
        if self._circumstances.is_split:
            sentence = translate(
                "Diagnosis",
                "Writing (decode) took {decode:.1f} of {total:.1f} s; more layers on the GPU would help most.",
            )
        return self._told(sentence, "gpu_layers", (evidence.layers(self._circumstances),), gpu_layers_remedy())

    def _threads(self) -> Diagnosis:
        sentence = translate(
            "Diagnosis", "Writing (decode) took {decode:.1f} of {total:.1f} s with more threads than cores."
        )
        return self._told(sentence, "threads", (evidence.threads(self._circumstances),), threads_remedy())

    def _gpu_limit(self) -> Diagnosis:
        rows = evidence.gpu_limits(self._circumstances.gpu_limits)
        return self._told(_held_back(self._circumstances), "gpu_limit", rows, None)

    def _disk(self) -> Diagnosis:
        sentence = translate(
            "Diagnosis",
            "Writing (decode) took {decode:.1f} of {total:.1f} s; weights came from the disk again and again.",
        )
        pages = self._metrics.page_ins
        disk = evidence.from_disk(pages.decode_faults, pages.decode_bytes) if pages is not None else None
        return self._told(sentence, "page_in", (disk,), None if self._circumstances.locks_memory else lock_remedy())

    def _draws(self) -> Diagnosis:
        around, rows = self._circumstances, (evidence.sampling(self._metrics, self._times),)
        remedy = top_k_remedy() if around.top_k_is_off and not around.has_grammar else None
        return self._told(_sampled(around), "sampling", rows, remedy)

    def _others(self) -> Diagnosis:
        sentence = translate(
            "Diagnosis", "Writing (decode) took {decode:.1f} of {total:.1f} s; other programs kept the cores busy."
        )
        got = evidence.busy(self._metrics, self._times, self._circumstances)
        return self._told(sentence, "busy", (got, evidence.threads(self._circumstances)), None)

    def _window(self) -> Diagnosis:
        sentence = translate(
            "Diagnosis", "Writing (decode) took {decode:.1f} of {total:.1f} s; showing it took much of a core."
        )
        got = evidence.busy(self._metrics, self._times, self._circumstances)
        return self._told(sentence, "window", (evidence.window(self._circumstances, self._times), got), None)

    def _cache(self) -> Diagnosis:
        sentence = translate(
            "Diagnosis",
            "Writing (decode) took {decode:.1f} of {total:.1f} s, rereading a long chat: a shorter one is faster.",
        )
        remedy = kv_type_remedy() if self._circumstances.kv_is_f16 else new_chat_remedy()
        return self._told(sentence, "kv_cache", self._growth_rows(), remedy)

    def _slowed(self) -> Diagnosis:
        sentence = translate(
            "Diagnosis",
            "Writing (decode) took {decode:.1f} of {total:.1f} s and got slower: heat, or another program.",
        )
        return self._told(sentence, "slowed", self._growth_rows(), None)

    def _growth_rows(self) -> tuple[Evidence | None, ...]:
        return evidence.weights_and_cache(self._metrics, self._circumstances), evidence.drift(self._metrics)

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

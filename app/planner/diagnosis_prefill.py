"""What stands out before the first text of an answer: waiting, the prompt, the prefill and why it was so long.

Rules: time to first text that grows with the tokens evaluated is compute; much time for few tokens is page-in or another
program (research behind the planner; the same definitions as llama-server's `prompt_ms` and `cache_n`).
"""

from __future__ import annotations

from app.core.circumstances import Circumstances, UnusedCache
from app.core.diagnosis import Diagnosis, Evidence, Remedy
from app.core.metrics import Metrics
from app.core.words import Sentence, translate
from app.planner import diagnosis_evidence as evidence
from app.planner.answer_times import FEW_TOKENS, LONG_WAIT_S, Times
from app.planner.diagnosis_remedies import (
    gpu_layers_remedy,
    larger_context_remedy,
    lock_remedy,
    micro_batch_remedy,
    more_checkpoints_remedy,
    new_chat_remedy,
    threads_remedy,
)
from app.planner.prefill_costs import was_paged_in

LONG_PROMPT_TOKENS = 1024
_WHY: dict[UnusedCache, Sentence] = {
    "edited": translate(
        "Diagnosis", "Reading {evaluated} tokens took {prefill:.1f} of {total:.1f} s: an earlier message was changed."
    ),
    "other_chat": translate(
        "Diagnosis", "Reading {evaluated} tokens took {prefill:.1f} of {total:.1f} s: another chat was in the cache."
    ),
    "system_prompt": translate(
        "Diagnosis", "Reading {evaluated} tokens took {prefill:.1f} of {total:.1f} s: the system prompt was changed."
    ),
    "cut_turns": translate(
        "Diagnosis",
        "Reading {evaluated} tokens took {prefill:.1f} of {total:.1f} s: the full context lost its oldest.",
    ),
    "cannot_rewind": translate(
        "Diagnosis",
        "Reading {evaluated} tokens took {prefill:.1f} of {total:.1f} s: this cache cannot go back to them.",
    ),
    "reloaded": translate(
        "Diagnosis", "Reading {evaluated} tokens took {prefill:.1f} of {total:.1f} s: the model was loaded anew."
    ),
    "comparison": translate(
        "Diagnosis", "Reading {evaluated} tokens took {prefill:.1f} of {total:.1f} s: a comparison came between."
    ),
    "reproduction": translate(
        "Diagnosis", "Reading {evaluated} tokens took {prefill:.1f} of {total:.1f} s: one was written again before."
    ),
}


def diagnose_before(metrics: Metrics, times: Times, circumstances: Circumstances) -> Diagnosis | None:
    """Return what stands out before the first text; None where it came soon."""
    if times.before < LONG_WAIT_S:
        return None
    largest = max(times.queue, times.prompt, times.prefill, times.paint)
    if largest < times.before / 4:
        return None
    figures = {"total": times.total, "seconds": largest}
    if largest == times.queue:
        return _waited(times, circumstances)
    if largest == times.prefill:
        return _prefill(metrics, times, circumstances)
    if largest == times.prompt:
        sentence = translate(
            "Diagnosis",
            "Preparing the prompt took {seconds:.1f} of {total:.1f} s; a shorter chat is prepared faster.",
            **figures,
        )
        rows = evidence.known(evidence.preparing(metrics, times), evidence.first_text(metrics))
        return Diagnosis(sentence, "prompt", rows, new_chat_remedy())
    sentence = translate(
        "Diagnosis",
        "The first text waited {seconds:.1f} of {total:.1f} s for the screen: the window was busy.",
        **figures,
    )
    return Diagnosis(sentence, "window", evidence.known(evidence.painting(times), evidence.first_text(metrics)))


def _waited(times: Times, circumstances: Circumstances) -> Diagnosis:
    if circumstances.first_after_load:
        sentence = translate(
            "Diagnosis",
            "Waiting took {queue:.1f} of {total:.1f} s: the model was being loaded.",
            queue=times.queue,
            total=times.total,
        )
        return Diagnosis(sentence, "load", (evidence.waiting(times),))
    sentence = translate(
        "Diagnosis",
        "Waiting took {queue:.1f} of {total:.1f} s: the engine was not free for this answer before.",
        queue=times.queue,
        total=times.total,
    )
    return Diagnosis(sentence, "queue", (evidence.waiting(times),))


def _prefill(metrics: Metrics, times: Times, circumstances: Circumstances) -> Diagnosis:
    evaluated = max(0, metrics.prompt_tokens - metrics.prompt_tokens_from_cache)
    figures: dict[str, str | int | float] = {
        "prefill": times.prefill,
        "total": times.total,
        "evaluated": evaluated,
    }
    pages = metrics.page_ins
    disk = None if pages is None else evidence.from_disk(pages.prefill_faults, pages.prefill_bytes)
    rows = evidence.known(
        evidence.reading(metrics, times),
        evidence.expected_reading(metrics, circumstances),
        evidence.from_cache(metrics),
    )
    if was_paged_in(metrics, circumstances):
        sentence = translate(
            "Diagnosis",
            "Reading (prefill) took {prefill:.1f} of {total:.1f} s: the weights came from the disk meanwhile.",
            **figures,
        )
        remedy = None if circumstances.first_after_load or circumstances.locks_memory else lock_remedy()
        return Diagnosis(sentence, "page_in", evidence.known(disk, *rows), remedy)
    if circumstances.first_after_load and pages is None and not circumstances.unused_cache:
        sentence = translate(
            "Diagnosis",
            "Reading (prefill) took {prefill:.1f} of {total:.1f} s; the first answer after a load is often slower.",
            **figures,
        )
        return Diagnosis(sentence, "page_in", rows)
    if evaluated < FEW_TOKENS:
        sentence = translate(
            "Diagnosis",
            "Reading (prefill) took {prefill:.1f} of {total:.1f} s for little text; the computer may be busy.",
            **figures,
        )
        return Diagnosis(sentence, "little_text", evidence.known(*rows, disk))
    why = circumstances.unused_cache
    if why is not None and circumstances.read_again >= evaluated / 2:
        words = Sentence(_WHY[why].context, _WHY[why].template, figures)
        found = evidence.known(*rows, evidence.read_again(circumstances))
        return Diagnosis(words, "unused_cache", found, _remedy_for_cache(why, metrics, circumstances))
    return _compute(metrics, circumstances, figures, rows)


def _compute(
    metrics: Metrics,
    circumstances: Circumstances,
    figures: dict[str, str | int | float],
    rows: tuple[Evidence, ...],
) -> Diagnosis:
    """Say that the evaluation itself is what took the time, and what makes it faster."""
    if circumstances.is_split or circumstances.leaves_gpu_idle:
        sentence = translate(
            "Diagnosis",
            "Reading (prefill) took {prefill:.1f} of {total:.1f} s; more layers on the GPU would help most.",
            **figures,
        )
        found = evidence.known(*rows, evidence.layers(circumstances))
        return Diagnosis(sentence, "gpu_layers", found, gpu_layers_remedy())
    if circumstances.has_too_many_threads:
        sentence = translate(
            "Diagnosis",
            "Reading (prefill) took {prefill:.1f} of {total:.1f} s with more threads than cores.",
            **figures,
        )
        return Diagnosis(
            sentence, "threads", evidence.known(*rows, evidence.threads(circumstances)), threads_remedy()
        )
    cached = metrics.prompt_tokens_from_cache
    is_question = cached * 2 >= metrics.prompt_tokens
    if is_question:
        sentence = translate(
            "Diagnosis",
            "Reading {evaluated} new tokens (prefill) took {prefill:.1f} of {total:.1f} s; a shorter question helps.",
            **figures,
        )
    elif circumstances.gpu_layers == 0:
        sentence = translate(
            "Diagnosis",
            "Reading {evaluated} tokens (prefill) took {prefill:.1f} of {total:.1f} s; a shorter chat or a GPU helps.",
            **figures,
        )
    else:
        sentence = translate(
            "Diagnosis",
            "Reading {evaluated} tokens (prefill) took {prefill:.1f} of {total:.1f} s; a shorter chat would help.",
            **figures,
        )
    remedy = micro_batch_remedy(circumstances, metrics.prompt_tokens - cached)
    if remedy is None and metrics.prompt_tokens >= LONG_PROMPT_TOKENS and cached and not is_question:
        remedy = new_chat_remedy()
    return Diagnosis(sentence, "prefill", evidence.known(*rows, evidence.layers(circumstances)), remedy)


def _remedy_for_cache(why: UnusedCache, metrics: Metrics, circumstances: Circumstances) -> Remedy | None:
    if why == "cut_turns":
        return larger_context_remedy(metrics.kv.cells)
    if why == "cannot_rewind":
        return more_checkpoints_remedy(circumstances.checkpoints)
    return None

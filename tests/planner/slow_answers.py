"""Made answers with something to say of the time before their first text, or with nothing, and what is to be said."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

import msgspec

from app.core.circumstances import Circumstances, UnusedCache
from app.core.diagnosis import Cause, RemedyKind
from app.core.metrics import ItlDrift, Metrics, PageIns, TtftParts
from tests.planner.made_answers import CPU, GPU, IDLE, SPLIT, around, figures

LONG_PROMPT = figures(tokens=21, prefill=6000, prompt=2000, cached=100)


class Case(NamedTuple):
    """An answer, what was around it, and what is to be said of it."""

    metrics: Metrics
    circumstances: Circumstances
    cause: Cause
    sentence: str
    remedy: RemedyKind | None = None
    changes: Mapping[str, object] = MappingProxyType({})
    evidence: str = ""
    """One row, as “what: figure”."""


NOTHING: dict[str, Case] = {
    "the first token never came": Case(
        figures(tokens=0, rate=None),
        CPU,
        "no_token",
        "It ended before its first token: there is nothing to tell of its speed.",
    ),
    "an answer of a few tokens": Case(
        figures(tokens=3),
        CPU,
        "too_few",
        "Too few tokens to tell where the time went: 3 in 0.2 s.",
    ),
    "one that was written in parts": Case(
        figures(rate=None),
        CPU,
        "in_parts",
        "Nobody can tell where its time went: it was written in parts of unknown speed.",
    ),
    "one token has no rate": Case(
        figures(tokens=1, rate=None),
        CPU,
        "too_few",
        "Too few tokens to tell where the time went: 1 in 0.1 s.",
    ),
    "an answer that was fast": Case(
        figures(rate=77.6),
        CPU,
        "nothing",
        "Nothing stands out: first text after 0.1 s, then 78 tok/s (decode).",
        evidence="Written (decode): 200 tokens after the first one in 2.58 s: 77.6 tok/s",
    ),
    "one that was neither slow nor hindered": Case(
        figures(rate=45.0),
        CPU,
        "nothing",
        "Nothing stands out: first text after 0.1 s, then 45 tok/s (decode).",
    ),
    "a fast one on a machine with every measure": Case(
        figures(rate=77.6, drift=ItlDrift(12.0, 13.0), sampling_ms=40.0, page_ins=PageIns(2, 0, 8192, 0)),
        around(GPU, memory_gb_per_s=20.0, window_busy_s=0.3, gpu_used_bytes=2_000, gpu_buffer_bytes=1_000),
        "nothing",
        "Nothing stands out: first text after 0.1 s, then 78 tok/s (decode).",
        evidence="Memory traffic: 5.0 of 20.0 GB/s: 25 %",
    ),
    "a fast one with a power limit in force": Case(
        figures(rate=140.0),
        around(GPU, gpu_limits=frozenset({"power"})),
        "nothing",
        "Nothing stands out: first text after 0.1 s, then 140 tok/s (decode).",
    ),
}
BEFORE: dict[str, Case] = {
    "it waited for another answer": Case(
        figures(queue=12_000),
        CPU,
        "queue",
        "Waiting took 12.0 of 22.1 s: the engine was not free for this answer before.",
        evidence="Waited for its turn: 12.0 s",
    ),
    "a cancelled answer that had waited": Case(
        figures(tokens=0, rate=None, queue=9000),
        CPU,
        "queue",
        "Waiting took 9.0 of 9.1 s: the engine was not free for this answer before.",
    ),
    "it waited for the model": Case(
        figures(tokens=0, rate=None, queue=9000),
        around(first_after_load=True),
        "load",
        "Waiting took 9.0 of 9.1 s: the model was being loaded.",
    ),
    "weights from the disk after a load": Case(
        figures(tokens=21, prefill=6000, prompt=300, cached=0, page_ins=PageIns(900, 0, 90_000_000, 0)),
        around(first_after_load=True),
        "page_in",
        "Reading (prefill) took 6.0 of 7.0 s: the weights came from the disk meanwhile.",
        evidence="Read from the disk meanwhile: 90.0 MB, 900 page faults",
    ),
    "weights from the disk although it had answered before": Case(
        figures(tokens=21, prefill=6000, prompt=300, cached=0, page_ins=PageIns(900, 0, None, None)),
        CPU,
        "page_in",
        "Reading (prefill) took 6.0 of 7.0 s: the weights came from the disk meanwhile.",
        "load_options",
        {"mlock": True},
    ),
    "the first answer after a load, of which nobody counts the pages": Case(
        LONG_PROMPT,
        around(first_after_load=True),
        "page_in",
        "Reading (prefill) took 6.0 of 7.0 s; the first answer after a load is often slower.",
    ),
    "the first answer after a load that read nothing from the disk": Case(
        msgspec.structs.replace(LONG_PROMPT, page_ins=PageIns(3, 0, 12_288, 0)),
        around(first_after_load=True),
        "prefill",
        "Reading 1,900 tokens (prefill) took 6.0 of 7.0 s; a shorter chat or a GPU helps.",
        "new_chat",
    ),
    "a long prompt on the processor": Case(
        msgspec.structs.replace(LONG_PROMPT, prefill_tokens_per_s=316.7),
        CPU,
        "prefill",
        "Reading 1,900 tokens (prefill) took 6.0 of 7.0 s; a shorter chat or a GPU helps.",
        "new_chat",
        evidence="Read (prefill): 1,900 tokens in 6.00 s: 317 tok/s",
    ),
    "a long prompt on the GPU": Case(
        LONG_PROMPT,
        around(GPU, micro_batch=512),
        "prefill",
        "Reading 1,900 tokens (prefill) took 6.0 of 7.0 s; a shorter chat would help.",
        "load_options",
        {"micro_batch": 2048, "batch": 2048},
        "From the cache: 100 of 2,000 tokens",
    ),
    "a long prompt on half a GPU": Case(
        LONG_PROMPT,
        SPLIT,
        "gpu_layers",
        "Reading (prefill) took 6.0 of 7.0 s; more layers on the GPU would help most.",
        "load_options",
        {"gpu_layers": None},
        "Layers on the GPU: 12 of 31, the output layer counted",
    ),
    "a long prompt beside an idle GPU": Case(
        LONG_PROMPT,
        IDLE,
        "gpu_layers",
        "Reading (prefill) took 6.0 of 7.0 s; more layers on the GPU would help most.",
        "load_options",
        {"gpu_layers": None},
    ),
    "a long prompt with too many threads": Case(
        LONG_PROMPT,
        around(threads=16),
        "threads",
        "Reading (prefill) took 6.0 of 7.0 s with more threads than cores.",
        "load_options",
        {"threads": None},
        "Threads: 16 on 4 cores",
    ),
    "a long question in a chat that is cached": Case(
        figures(tokens=21, prefill=6000, prompt=2000, cached=1500),
        CPU,
        "prefill",
        "Reading 500 new tokens (prefill) took 6.0 of 7.0 s; a shorter question helps.",
    ),
    "a slow prefill of next to nothing": Case(
        figures(tokens=21, prefill=6000, prompt=2000, cached=1999),
        CPU,
        "little_text",
        "Reading (prefill) took 6.0 of 7.0 s for little text; the computer may be busy.",
    ),
    "few tokens after a long prefill": Case(
        figures(tokens=2, prefill=6000, prompt=2000, cached=0),
        GPU,
        "prefill",
        "Reading 2,000 tokens (prefill) took 6.0 of 6.1 s; a shorter chat would help.",
    ),
    "template and tokens": Case(
        figures(tokens=21, ttft_parts_ms=TtftParts(0.0, 5000, 90.0, 1.0, 0.0)),
        CPU,
        "prompt",
        "Preparing the prompt took 5.0 of 6.1 s; a shorter chat is prepared faster.",
        "new_chat",
        evidence="Template and tokens: 5.00 s for 40 tokens",
    ),
    "a window that painted late": Case(
        figures(tokens=21, ttft_parts_ms=TtftParts(0.0, 1.0, 90.0, 1.0, 0.0, paint=4000)),
        CPU,
        "window",
        "The first text waited 4.0 of 5.1 s for the screen: the window was busy.",
        evidence="First text to the screen: 4.00 s",
    ),
    "a wait before an answer that was then written fast": Case(
        figures(tokens=2001, rate=100.0, prefill=6000, prompt=2000, cached=0),
        GPU,
        "prefill",
        "Reading 2,000 tokens (prefill) took 6.0 of 26.0 s; a shorter chat would help.",
    ),
}
_READ = "Reading 1,900 tokens took 6.0 of 7.0 s: "
WHY: dict[UnusedCache, tuple[str, RemedyKind | None, dict[str, object]]] = {
    "edited": ("an earlier message was changed.", None, {}),
    "other_chat": ("another chat was in the cache.", None, {}),
    "system_prompt": ("the system prompt was changed.", None, {}),
    "cut_turns": ("the full context lost its oldest.", "load_options", {"context": 8192}),
    "cannot_rewind": ("this cache cannot go back to them.", "load_options", {"checkpoints": 8}),
    "reloaded": ("the model was loaded anew.", None, {}),
    "comparison": ("a comparison came between.", None, {}),
    "reproduction": ("one was written again before.", None, {}),
}
UNUSED = {
    f"read again: {why}": Case(
        LONG_PROMPT,
        around(unused_cache=why, read_again=1800, checkpoints=2),
        "unused_cache",
        _READ + words,
        remedy,
        changes,
        "Read before, and again now: 1,800 tokens",
    )
    for why, (words, remedy, changes) in WHY.items()
}

"""An answer of a chat whose every moment is known: the events and the figures that one clock gives."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

import msgspec

from app.core.chat import PromptSpan
from app.core.commands import SettingsChange
from app.core.events import Finished, PrefillProgress, PromptReady, Tokens
from app.core.metrics import ItlQuantiles, Metrics, StopReason, TtftParts
from app.services.gap_bins import quantiles_of
from app.services.turns import Turn
from tests.desk import Desk
from tests.fake_engine import metrics

US = 1_000
QUEUE_US, TEMPLATE_US, TOKENS_US = 60_001_234, 321, 2_345
"""Saving is a part of the first, and takes the time that it takes."""
CHUNKS_US = (40_007, 39_993, 12_501)
"""The chunks of the prefill: 64 tokens, 64 tokens, one."""
FIRST_US = 5_003
GAPS_US = (13_001, 12_999, 14_500, 13_250, 99_000, 13_100, 13_050)
HELD_BACK_US = GAPS_US[0]
"""The first text came with the second token."""
SAMPLING_US = 1_600
PROMPT = 141
FROM_CACHE = 12


def ask(desk: Desk, question: str = "Why?") -> Turn:
    """Send a question; the engine gets it."""
    assert desk.program.chat.send(question)
    desk.settle()
    return desk.program.chat.turns[-1]


def begin(desk: Desk, *, chunks: Sequence[int] = CHUNKS_US) -> int:
    """Let the prompt be tokenised and read; return when that was, in us after the question was sent."""
    asked = desk.engine.question
    ready_us = QUEUE_US + TOKENS_US
    at_ns = asked.sent_ns + ready_us * US
    spans = (PromptSpan(0, PROMPT, "prompt", 0),)
    desk.engine.say(PromptReady(asked.request, bytes(4 * PROMPT), spans, FROM_CACHE, at_ns, seed=7))
    done, ends = FROM_CACHE, (76, 140, 141)
    for chunk_us, done in zip(chunks, ends, strict=False):
        ready_us += chunk_us
        at_ns = asked.sent_ns + ready_us * US
        desk.engine.say(PrefillProgress(asked.request, done, PROMPT, FROM_CACHE, at_ns))
    desk.settle()
    return ready_us


def write(
    desk: Desk, first_us: int, gaps_us: Sequence[int], *, first: int = 0, held_ns: int = 0, text: str = " a"
) -> int:
    """Let tokens follow, the first at a moment and each other so long after the one before; return the last moment."""
    asked, count = desk.engine.question, len(gaps_us) + 1
    last_us = first_us + sum(gaps_us)
    moments = [asked.sent_ns + us * US for us in (first_us, last_us)]
    ids = array("i", range(first, first + count)).tobytes()
    gaps = array("I", gaps_us).tobytes()
    desk.engine.say(
        Tokens(asked.request, first, count, ids, text, b"", 50, moments[1], moments[0], gaps=gaps, held_ns=held_ns)
    )
    desk.settle()
    return last_us


def figures(*, tokens: int = len(GAPS_US) + 1, gaps_us: Sequence[int] = GAPS_US, visible: bool = True) -> Metrics:
    """Return the figures of that answer, as the engine's clock works them out."""
    first_us = QUEUE_US + TOKENS_US + sum(CHUNKS_US) + FIRST_US
    parts = TtftParts(
        queue=QUEUE_US / 1e3,
        tokens=TOKENS_US / 1e3,
        prefill=sum(CHUNKS_US) / 1e3,
        first_sample=FIRST_US / 1e3 if tokens else None,
        held_back=HELD_BACK_US / 1e3 if visible else None,
        template=TEMPLATE_US / 1e3,
    )
    gaps = [gap / 1e3 for gap in gaps_us[: max(tokens - 1, 0)]]
    itl: ItlQuantiles | None = quantiles_of(sorted(gaps))
    return msgspec.structs.replace(
        metrics(tokens, PROMPT, FROM_CACHE),
        ttft_ms=(first_us + HELD_BACK_US) / 1e3 if visible else None,
        ttft_parts_ms=parts,
        decode_tokens_per_s=len(gaps) / sum(gaps) * 1e3 if gaps else None,
        itl_ms=itl,
        sampling_ms=SAMPLING_US / 1e3 if tokens else None,
    )


def finish(
    desk: Desk, of: Metrics, *, reason: StopReason = "end", text: str = " a", tokens: Sequence[int] = ()
) -> Turn:
    """Let the answer end; without `tokens` it has as many as its figures say."""
    asked = desk.engine.question
    ids = array("i", tokens or range(of.sampled_tokens)).tobytes()
    settings = (SettingsChange(asked.first_token, asked.settings),)
    desk.engine.say(Finished(asked.request, text, ids, reason, of, 7, settings))
    desk.settle()
    return desk.program.chat.turns[-1]


def whole_answer(desk: Desk) -> Turn:
    """Have a question answered, each moment of which is known."""
    ask(desk)
    read_us = begin(desk)
    write(desk, read_us + FIRST_US, GAPS_US)
    return finish(desk, figures())

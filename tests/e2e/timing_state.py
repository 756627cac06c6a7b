"""Where the time of an answer went, on the page Inside: how that comes about, each of its moments made up."""

from __future__ import annotations

import random
from array import array
from itertools import accumulate

import msgspec

from app.core.chat import PromptSpan
from app.core.commands import SettingsChange, TimeOperations
from app.core.events import Finished, PrefillProgress, PromptReady, Tokens
from app.core.metrics import Metrics, TtftParts
from app.gui.inside.page import InsidePage
from app.gui.inside.timing.timeline_view import TimelineView
from app.services.gap_bins import quantiles_of
from tests.e2e.scene import Scene
from tests.e2e.weighing import recorded
from tests.e2e.what_if_state import ANSWER, QUESTION
from tests.fake_engine import metrics
from tests.made_up_operations import timed

US = 1_000
QUEUE_US, TEMPLATE_US, TOKENS_US = 40_000, 2_400, 4_100
"""Saving is a part of the first, whatever time it takes."""
CHUNKS_US = (212_000, 206_000, 118_000, 12_400)
PROMPT, AT_ONCE = 431, 128
FIRST_US = 3_200
PAINT_MS = 14.0


def gaps_us(count: int) -> list[int]:
    """Return gaps that are the same in every picture: most alike, some longer."""
    numbers = random.Random(3)
    return [
        round(numbers.lognormvariate(9.48, 0.05) + (6_000 if numbers.random() < 0.06 else 0)) for _ in range(count)
    ]


def figures(tokens: int, gaps: list[int]) -> Metrics:
    """Return the figures of the answer, as its moments give them."""
    prefill_us, first = sum(CHUNKS_US), gaps[0]
    parts = TtftParts(
        queue=QUEUE_US / 1e3,
        tokens=TOKENS_US / 1e3,
        prefill=prefill_us / 1e3,
        first_sample=FIRST_US / 1e3,
        held_back=first / 1e3,
        template=TEMPLATE_US / 1e3,
    )
    return msgspec.structs.replace(
        metrics(tokens, PROMPT, 0),
        ttft_ms=(QUEUE_US + TOKENS_US + prefill_us + FIRST_US + first) / 1e3,
        ttft_parts_ms=parts,
        decode_tokens_per_s=len(gaps) / sum(gaps) * 1e6,
        itl_ms=quantiles_of(sorted(gap / 1e3 for gap in gaps)),
        sampling_ms=tokens * 0.9,
    )


def timeline(scene: Scene) -> None:
    """An answer has ended, and somebody looks at one step of its decode."""
    scene.program.conversations.start()
    scene.desk.settle()
    scene.load(ANSWER)
    scene.program.chat.send(QUESTION)
    scene.desk.settle()
    count = ANSWER.count(" ") + 1
    engine = scene.desk.engine
    question, gaps = engine.question, gaps_us(count - 1)
    at_ns = question.sent_ns + (QUEUE_US + TOKENS_US) * US
    ids = array("i", range(PROMPT)).tobytes()
    engine.say(PromptReady(question.request, ids, (PromptSpan(0, PROMPT, "prompt", 0),), 0, at_ns, seed=7))
    for number, chunk_ns in enumerate(accumulate(chunk * US for chunk in CHUNKS_US), 1):
        done = PROMPT if number == len(CHUNKS_US) else min(number * AT_ONCE, PROMPT - 1)
        engine.say(PrefillProgress(question.request, done, PROMPT, 0, at_ns + chunk_ns))
    first_ns = at_ns + (sum(CHUNKS_US) + FIRST_US) * US
    written = array("i", range(count)).tobytes()
    between = array("I", gaps).tobytes()
    last_ns = first_ns + sum(gaps) * US
    engine.say(
        Tokens(
            question.request,
            0,
            count,
            written,
            ANSWER,
            recorded(range(count), 1),
            500,
            last_ns,
            first_ns,
            gaps=between,
        )
    )
    scene.desk.settle()
    settings = (SettingsChange(0, question.settings),)
    engine.say(Finished(question.request, ANSWER, written, "end", figures(count, gaps), 7, settings))
    scene.desk.settle()
    scene.program.chat.note_ttft(scene.program.chat.turns[-1], (figures(count, gaps).ttft_ms or 0) + PAINT_MS)
    scene.window.page_wanted.emit("inside")
    scene.find(InsidePage, "inside_page").show_part("time")
    scene.desk.until(lambda: not scene.program.inspecting.is_busy)
    assert scene.program.views.operations.begin()
    engine.say(timed(engine.all(TimeOperations)[-1].request))
    scene.desk.settle()
    view = scene.find(TimelineView, "timeline")
    view.picture.scale.show(540e6, 900e6)
    view.look_at(16)
    view.setFocus()

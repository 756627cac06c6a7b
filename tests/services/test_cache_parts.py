"""What the cells of the cache hold, while a prompt is read, while an answer is written, and after it."""

from __future__ import annotations

from array import array
from pathlib import Path

import msgspec
import pytest

from app.core.chat import PromptSpan
from app.core.events import Finished, Loaded, PrefillProgress, PromptReady, Tokens
from app.core.metrics import KVUse
from app.core.model import CacheSizes
from app.services.cache_parts import CachePart, cache_parts
from app.services.live import Live
from tests.desk import Desk
from tests.fake_engine import CONTEXT, metrics, model_info
from tests.services.asking import ask


@pytest.fixture
def live(desk: Desk, model: Path) -> Live:
    desk.load(model)
    ask(desk)
    return desk.program.live


def cache(live: Live) -> dict[str, int]:
    return {part.name: part.tokens for part in live.figures.kv_parts}


SPANS = (
    PromptSpan(0, 4, "template", -1),
    PromptSpan(4, 20, "system", 0),
    PromptSpan(22, 30, "history", 1),
    PromptSpan(30, 38, "prompt", 2),
)


def test_the_cells_are_told_by_what_they_hold(desk: Desk, live: Live) -> None:
    request = desk.engine.question.request
    desk.engine.say(PromptReady(request, bytes(160), SPANS, 10, 0))
    desk.settle()
    assert cache(live) == {"template": 4, "system": 6} and live.figures.kv_cells_used == 10
    desk.engine.say(PrefillProgress(request, 25, 40, 10, 0))
    desk.settle()
    assert cache(live) == {"template": 6, "system": 16, "history": 3}
    desk.engine.say(PrefillProgress(request, 40, 40, 10, 0))
    desk.settle()
    assert cache(live) == {"template": 8, "system": 16, "history": 8, "prompt": 8}
    ids = array("i", range(2)).tobytes()
    desk.engine.say(Tokens(request, 0, 2, ids, "a", b"", 42, 110_000_000, 100_000_000))
    desk.settle()
    assert cache(live) == {"template": 8, "system": 16, "history": 8, "prompt": 8, "answer": 2}
    figures = msgspec.structs.replace(metrics(3), kv=KVUse(43, CONTEXT, 990_720))
    desk.engine.say(Finished(request, "a", b"", "end", figures, 7, ()))
    desk.settle()
    assert cache(live)["answer"] == 3 and live.figures.kv_cells_used == 43


def test_an_answer_that_goes_on_counts_its_beginning_as_answer(desk: Desk, live: Live) -> None:
    desk.engine.prompt(40, 12, answer=(1, 2, 3))
    desk.engine.write("a")
    desk.settle()
    assert cache(live) == {"prompt": 40, "answer": 3}, "the token drawn last is in no cell yet"


def test_the_window_holds_the_last_cells(desk: Desk, model: Path) -> None:
    desk.begin_load(model)
    sizes = CacheSizes(full=4096, window=512, window_cells=512)
    info = msgspec.structs.replace(model_info(str(model)), cache=sizes, memory_kind="window")
    desk.engine.say(Loaded(desk.engine.load.request, info))
    desk.settle()
    ask(desk)
    desk.engine.prompt(2048)
    desk.settle()
    figures = desk.program.live.figures
    assert (figures.window_cells_used, figures.window_cells) == (512, 512)
    assert figures.kv_bytes == 2048 + 512


def test_spans_that_overlap_or_reach_too_far_never_count_a_cell_twice() -> None:
    spans = (PromptSpan(0, 8, "system", 0), PromptSpan(4, 12, "history", 1), PromptSpan(12, 99, "prompt", 2))
    parts = cache_parts(spans, 20, 25)
    assert parts == (
        CachePart("system", 8),
        CachePart("history", 4),
        CachePart("prompt", 8),
        CachePart("answer", 5),
    )


def test_an_empty_cache_has_no_parts() -> None:
    assert cache_parts((), 0, 0) == ()

"""Where every layer that keeps tokens has a sliding window, the loop says of the cells what their map says."""

from __future__ import annotations

from array import array
from pathlib import Path

import msgspec
import pytest

from app.core.events import Finished
from app.core.metrics import KVUse
from app.core.model import CacheSizes
from app.gui.inside.loop.faces import face_of
from app.gui.inside.loop.memory_words import explained_by_kind
from app.gui.inside.loop.number_words import number
from app.services.loop_example import example
from app.services.loop_values import LoopValues, loop_model
from tests.fake_engine import CONTEXT, metrics, model_info
from tests.gui.conftest import Stage, desk, model, stage
from tests.gui.inside.test_cache_windows import FULL, WINDOW, reads

__all__ = ["desk", "model", "stage"]
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")


def values(stage: Stage) -> LoopValues:
    return stage.desk.program.views.loop.values


def by_map(stage: Stage) -> tuple[int, int]:
    """Return the cells in use and those there are, as the map of the cells has them."""
    held = stage.desk.program.views.kv_map.held
    return held.in_cells, held.cells_there


def windowed(read: int, *, kind: str = "window", dropped_from: int | None = 256) -> LoopValues:
    """Return the values of a model whose layers look back 128 tokens, each of those that keep any, or some."""
    shown = example()
    assert shown.model is not None
    changed = msgspec.structs.replace(
        shown.model, memory_kind=kind, window=128, window_cells=dropped_from, bytes_per_token=None
    )
    return msgspec.structs.replace(shown, model=changed, cells_used=read)


def test_while_a_prompt_is_read_all_say_the_same(stage: Stage, model: Path) -> None:
    reads(stage, model, 600, (WINDOW,))
    assert by_map(stage) == (values(stage).held, values(stage).room) == (256, 256)
    assert number("kv", values(stage)).startswith("256 of 256 cells are taken.")
    assert "of 600 tokens the oldest 344 were dropped" in number("kv", values(stage))
    face = face_of("kv", values(stage))
    assert (face.figure, face.meter) == ("256 of 256", (1.0,))


def test_where_some_layers_keep_all_the_cells_are_those_of_the_context(stage: Stage, model: Path) -> None:
    reads(stage, model, 600, (FULL, WINDOW))
    assert by_map(stage) == (values(stage).held, values(stage).room) == (600, CONTEXT)
    assert number("kv", values(stage)).startswith(f"600 of {CONTEXT:,} cells are taken.")


def test_at_the_end_the_engine_knows_how_many_are_held_and_an_earlier_token_had_others(
    stage: Stage, model: Path
) -> None:
    reads(stage, model, 600, (WINDOW,))
    engine = stage.engine
    request, ids = engine.question.request, array("i", range(3)).tobytes()
    engine.write("abc", 3)
    kv = KVUse(602, CONTEXT, 1000, window_cells_used=200, window_cells=256)
    told = msgspec.structs.replace(metrics(3, 600), kv=kv)
    engine.say(Finished(request, "abc", ids, "end", told, 7, ()))
    stage.settle()
    stage.desk.until(lambda: not stage.desk.program.inspecting.is_busy)
    assert by_map(stage) == (values(stage).held, 256) == (200, 256)
    assert number("kv", values(stage)).startswith("200 of 256 cells were taken when it ended.")
    stage.desk.program.views.loop.look_at(0)
    assert values(stage).is_back
    assert number("kv", values(stage)).startswith("256 of 256 cells were taken at this token.")


@pytest.mark.parametrize("kind", ["window", "hybrid"])
def test_no_layer_is_said_to_keep_what_none_keeps(kind: str) -> None:
    everywhere = windowed(600, kind=kind)
    said = f"{number('kv', everywhere)} {number('transformer', everywhere)}"
    assert "Some layers" not in said and "Attention looks back 128 tokens at most." in said
    assert "Every layer that keeps tokens looks back 128 of them at most: of 600 tokens the oldest 344 were" in said
    explained = explained_by_kind("kv", everywhere.model)
    assert "older ones are dropped" in explained and "every earlier token" not in explained
    assert ("running state" in explained) == (kind == "hybrid")


def test_what_is_dropped_is_counted() -> None:
    assert number("kv", windowed(256)).startswith(
        "256 of 256 cells are taken. Every layer that keeps tokens looks back"
    )
    assert "dropped" not in number("kv", windowed(256))
    assert "of 257 tokens the oldest was dropped." in number("kv", windowed(257))
    some = number("kv", windowed(257, dropped_from=None))
    assert "Some layers keep the last 128 tokens alone." in some and "Every layer" not in some
    assert explained_by_kind("kv", windowed(257, dropped_from=None).model) == ""


def test_the_cells_of_the_load_of_an_answer_count(model: Path) -> None:
    info = msgspec.structs.replace(
        model_info(str(model)), window=128, cache=CacheSizes(window=256, window_cells=256), cache_classes=(WINDOW,)
    )
    assert loop_model(info).window_cells == 256
    then = KVUse(602, CONTEXT, 1000, window_cells_used=600, window_cells=640)
    assert loop_model(info, then).window_cells == 640, "loaded with smaller batches since"
    some = msgspec.structs.replace(info, cache_classes=(WINDOW, FULL))
    assert loop_model(some, then).window_cells is None

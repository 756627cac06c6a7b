"""Cells are counted in one way wherever they are told: on the map, in the loop, beside the chat, and in blocks."""

from __future__ import annotations

from array import array
from pathlib import Path

import msgspec
import pytest

from app.core.cache_shape import CacheClass
from app.core.events import Loaded, PrefillProgress, PromptReady
from app.core.model import CacheSizes
from app.core.sampling import SamplingSettings
from app.services.chat import Chat
from app.services.comparing import Comparing
from app.services.kv_cells import in_blocks
from app.services.kv_map import KVMap
from app.services.lane_starts import Lanes
from tests.desk import Desk
from tests.fake_engine import MILLISECOND_NS, model_info
from tests.services.lanes import PROMPT, LanesLead

TWO = Lanes((SamplingSettings(seed=7), SamplingSettings(seed=7)))


@pytest.fixture
def kv_map(desk: Desk) -> KVMap:
    return desk.program.views.kv_map


def test_the_map_the_loop_and_live_count_the_same_cells_while_held_and_after_a_failure(
    chat: Chat, desk: Desk, kv_map: KVMap
) -> None:
    loop = desk.program.views.loop
    desk.program.inspecting.watch(True)
    loop.watch(True)

    def cells() -> set[int | None]:
        return {kv_map.held.used, loop.values.cells_used, desk.program.live.figures.kv_cells_used}

    chat.send("Why?")
    desk.settle()
    desk.engine.prompt()
    desk.engine.write("Because", count=3)
    desk.settle()
    assert cells() == {42}
    desk.engine.hold()
    desk.settle()
    assert cells() == {43} and kv_map.bytes[0] == 43 * 23_040
    desk.engine.fail("engine")
    desk.settle()
    assert cells() == {40} and kv_map.bytes[0] == 40 * 23_040


def test_a_lane_without_a_cell_of_its_own_has_no_block(
    comparing: Comparing, desk: Desk, lead: LanesLead, kv_map: KVMap
) -> None:
    assert comparing.begin(TWO, None, "Why?")
    desk.settle()
    lead.begin()
    for lane, count in ((0, 1), (1, 1), (1, 1), (0, 1)):
        lead.write(lane, "a", count=count)
        use, drawn = kv_map.blocks, in_blocks(kv_map.held)
        assert use is not None and (drawn.end, drawn.copies) == (use.blocks * 16, use.copied)
    assert use is not None and (use.requests, use.copied) == (2, PROMPT % 16)


def test_while_a_prompt_is_read_all_of_it_is_reserved_for(chat: Chat, desk: Desk, kv_map: KVMap) -> None:
    desk.program.sampling.change(max_tokens=100)
    chat.send("Why?")
    desk.settle()
    request = desk.engine.question.request
    desk.engine.say(PromptReady(request, array("i", range(1000)).tobytes(), (), 0, 0))
    desk.engine.say(PrefillProgress(request, 300, 1000, 0, 50 * MILLISECOND_NS))
    desk.settle()
    use = kv_map.blocks
    assert use is not None and (use.reserved, use.unused) == (1100, 800)
    desk.engine.say(PrefillProgress(request, 1000, 1000, 0, 64 * MILLISECOND_NS))
    desk.settle()
    use = kv_map.blocks
    assert use is not None and (use.reserved, use.unused) == (1100, 100)


def test_where_every_layer_has_a_window_no_cell_holds_what_is_dropped(desk: Desk, model: Path, kv_map: KVMap) -> None:
    desk.program.conversations.start()
    desk.begin_load(model)
    sizes = CacheSizes(window=32 * 512, window_cells=32, state=1 << 20)
    kept = CacheClass(32, 6, "f16", 32 * 256, "f16", 32 * 256, is_window=True)
    info = msgspec.structs.replace(
        model_info(str(model)), memory_kind="hybrid", window=16, cache=sizes, cache_classes=(kept,)
    )
    desk.engine.say(Loaded(desk.engine.load.request, info))
    desk.settle()
    desk.program.chat.send("Why?")
    desk.settle()
    desk.engine.prompt()
    desk.settle()
    held = kv_map.held
    assert (held.used, held.dropped, held.in_cells, held.cells_there) == (40, 8, 32, 32)
    assert kv_map.token(held.stretches[0], 7).is_gone and not kv_map.token(held.stretches[0], 8).is_gone
    both = msgspec.structs.replace(info, cache_classes=(kept, msgspec.structs.replace(kept, is_window=False)))
    desk.begin_load(model)
    desk.engine.say(Loaded(desk.engine.load.request, both))
    desk.settle()
    assert kv_map.held.window_cells is None

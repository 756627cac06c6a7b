"""What the map of the KV cache says while an engine is led by hand."""

from __future__ import annotations

from array import array
from pathlib import Path

import msgspec
import pytest

from app.core.chat import PromptSpan
from app.core.commands import Render
from app.core.events import Finished, Loaded, PrefillProgress, PromptReady, Rendered
from app.core.metrics import KVUse
from app.core.model import CacheSizes
from app.core.sampling import SamplingSettings
from app.services.chat import Chat
from app.services.comparing import Comparing
from app.services.kv_cells import GivenBack
from app.services.kv_map import KVMap
from app.services.lane_starts import Lanes
from tests.desk import Desk
from tests.fake_engine import CONTEXT, MILLISECOND_NS, metrics, model_info
from tests.services.asking import say
from tests.services.lanes import FROM_CACHE, PROMPT, LanesLead
from tests.services.recorded_lanes import load
from tests.services.replaying import answer, compared, end, read

TWO = Lanes((SamplingSettings(seed=7), SamplingSettings(seed=7)))


@pytest.fixture
def kv_map(desk: Desk) -> KVMap:
    return desk.program.views.kv_map


def owners(kv_map: KVMap) -> dict[str, int]:
    counts: dict[str, int] = {}
    for each in kv_map.held.stretches:
        counts[each.owner] = counts.get(each.owner, 0) + each.end - each.start
    return counts


def test_without_a_model_there_are_no_cells(kv_map: KVMap) -> None:
    assert kv_map.model is None and kv_map.held.cells == 0 and kv_map.held.stretches == ()
    assert kv_map.saving is None and kv_map.blocks is None and kv_map.sums == ()


def test_the_cells_fill_while_a_prompt_is_read_and_an_answer_written(chat: Chat, desk: Desk, kv_map: KVMap) -> None:
    told: list[int] = []
    kv_map.changed.connect(lambda: told.append(kv_map.held.used))
    chat.send("Why?")
    desk.settle()
    request, ids = desk.engine.question.request, array("i", range(40)).tobytes()
    spans = (PromptSpan(3, 10, "system", 0), PromptSpan(12, 38, "prompt", 1))
    desk.engine.say(PromptReady(request, ids, spans, 8, 0))
    desk.settle()
    assert owners(kv_map) == {"template": 3, "system": 5} and kv_map.held.reused == 8
    desk.engine.say(PrefillProgress(request, 30, 40, 8, 50 * MILLISECOND_NS))
    desk.settle()
    assert owners(kv_map) == {"template": 5, "system": 7, "prompt": 18}
    desk.engine.say(PrefillProgress(request, 40, 40, 8, 64 * MILLISECOND_NS))
    desk.engine.write("Because", count=3)
    desk.settle()
    assert owners(kv_map) == {"template": 7, "system": 7, "prompt": 26, "answer": 2}
    assert kv_map.held.cells == CONTEXT and sorted(set(told)) == [0, 8, 30, 40, 42]
    saving = kv_map.saving
    assert saving is not None and (saving.prompt, saving.reused) == (40, 8)
    assert saving.tokens_per_s == pytest.approx(500) and saving.ms == pytest.approx(16)


def test_thinking_has_cells_of_its_own_in_the_map_and_beside_the_chat(chat: Chat, desk: Desk, kv_map: KVMap) -> None:
    chat.send("Why?")
    desk.settle()
    request = desk.engine.question.request
    spans = (PromptSpan(0, 10, "history", 1), PromptSpan(10, 14, "thinking", 1), PromptSpan(14, 40, "prompt", 2))
    desk.engine.say(PromptReady(request, array("i", range(40)).tobytes(), spans, 0, 0))
    desk.engine.say(PrefillProgress(request, 40, 40, 0, 64 * MILLISECOND_NS))
    desk.engine.write("<think>")
    desk.engine.write("so", count=3)
    desk.settle()
    assert owners(kv_map) == {"history": 10, "thinking": 4 + 3, "prompt": 26}
    desk.engine.write("</think>")
    desk.engine.write("Yes", count=2)
    desk.settle()
    assert [(each.owner, each.start, each.end, each.first) for each in kv_map.held.stretches[-2:]] == [
        ("thinking", 40, 45, 40),
        ("answer", 45, 46, 45),
    ]
    assert {part.name: part.tokens for part in desk.program.live.figures.kv_parts} == owners(kv_map)
    desk.engine.finish()
    desk.settle()
    assert owners(kv_map) == {"history": 10, "thinking": 4 + 5, "prompt": 26, "answer": 2}
    assert {part.name: part.tokens for part in desk.program.live.figures.kv_parts} == owners(kv_map)


def test_a_rate_that_nobody_knows_saves_no_time(chat: Chat, desk: Desk, kv_map: KVMap) -> None:
    chat.send("Why?")
    desk.settle()
    request, ids = desk.engine.question.request, array("i", range(40)).tobytes()
    desk.engine.say(PromptReady(request, ids, (), 30, 0))
    desk.engine.say(PrefillProgress(request, 40, 40, 30, 50 * MILLISECOND_NS))
    desk.settle()
    saving = kv_map.saving
    assert saving is not None and saving.reused == 30 and saving.ms is None


def test_while_an_answer_is_held_all_tokens_before_the_next_are_in_cells(
    chat: Chat, desk: Desk, kv_map: KVMap
) -> None:
    chat.send("Why?")
    desk.settle()
    desk.engine.prompt()
    desk.engine.write("Because", count=3)
    desk.settle()
    assert owners(kv_map) == {"prompt": 40, "answer": 2}
    desk.engine.hold()
    desk.settle()
    assert owners(kv_map) == {"prompt": 40, "answer": 3}, "the row that waits was worked out of it"
    assert kv_map.token(kv_map.held.stretches[-1], 42).token == 2


def test_a_place_tells_its_position_and_what_its_token_says(desk: Desk, model: Path, kv_map: KVMap) -> None:
    desk.program.conversations.start()
    load(desk, model)
    desk.program.chat.send("Why?")
    desk.engine.prompt()
    desk.engine.write("Because", count=2, token=7)
    desk.settle()
    prompt, answer = kv_map.held.stretches
    token = kv_map.token(answer, 40)
    assert (token.position, token.token, token.is_reused) == (40, 7, False)
    assert token.text == desk.program.vocabulary.text(7) and token.text is not None
    assert kv_map.token(prompt, 11).is_reused and not kv_map.token(prompt, 12).is_reused


def test_lanes_hold_what_they_have_evaluated_until_each_ends(
    comparing: Comparing, desk: Desk, lead: LanesLead, kv_map: KVMap
) -> None:
    assert comparing.begin(TWO, None, "Why?")
    desk.settle()
    lead.begin()
    lead.write(0, "a", count=5)
    lead.write(1, "b", count=3)
    assert owners(kv_map) == {"prompt": PROMPT, "lanes": 4 + 2} and kv_map.held.reused == FROM_CACHE
    last = kv_map.held.stretches[-1]
    token = kv_map.token(last, last.start + 1)
    assert (last.lane, token.position, token.token) == (1, PROMPT + 1, 1)
    use = kv_map.blocks
    assert use is not None and (use.requests, use.reserved) == (2, 2 * (PROMPT + 200))
    lead.finish(0)
    assert [each.lane for each in kv_map.held.stretches] == [None, 1] and kv_map.ended is None
    lead.finish(1)
    lead.end()
    assert owners(kv_map) == {"prompt": PROMPT} and kv_map.ended == GivenBack(2, 4 + 2)
    assert comparing.begin(TWO, None, "Why not?")
    desk.settle()
    lead.begin()
    assert kv_map.ended is None, "another prompt is in the cells"


def test_one_reservation_is_as_long_as_the_answer_may_become(chat: Chat, desk: Desk, kv_map: KVMap) -> None:
    desk.program.sampling.change(max_tokens=100)
    chat.send("Why?")
    desk.engine.prompt()
    desk.engine.write("a", count=4)
    desk.engine.finish()
    desk.settle()
    use = kv_map.blocks
    assert use is not None and (use.reserved, use.unused, use.blocks, use.empty) == (140, 96, 3, 4)


def test_an_answer_that_is_written_once_more_reserves_what_it_did_at_first(
    desk: Desk, model: Path, kv_map: KVMap
) -> None:
    desk.program.conversations.start()
    desk.load(model)
    desk.program.sampling.change(max_tokens=100)
    say(desk, "Why?", "a", "b")
    before = kv_map.blocks
    desk.program.sampling.change(max_tokens=300)
    assert desk.program.reproducing.begin(answer(desk))
    read(desk)
    compared(desk, 2)
    during = kv_map.blocks
    end(desk)
    use = kv_map.blocks
    assert before is not None and during is not None and use is not None
    assert before.reserved == during.reserved == use.reserved == 40 + 100


def test_what_failed_leaves_no_more_than_its_prompt(chat: Chat, desk: Desk, kv_map: KVMap) -> None:
    chat.send("Why?")
    desk.engine.prompt()
    desk.engine.write("a", count=4)
    desk.settle()
    assert kv_map.held.used == 43
    desk.engine.fail("engine")
    desk.settle()
    assert owners(kv_map) == {"prompt": 40}


def test_the_cells_of_another_chat_say_whose_they_are(chat: Chat, desk: Desk, kv_map: KVMap) -> None:
    chat.send("Whales")
    desk.answer("Big.")
    assert kv_map.holds == ""
    desk.program.conversations.new()
    desk.settle()
    assert kv_map.holds == "Whales" and kv_map.held.used > 0


def test_another_model_begins_with_empty_cells(chat: Chat, desk: Desk, other_model: Path, kv_map: KVMap) -> None:
    chat.send("Why?")
    desk.answer("Because.")
    assert kv_map.held.used > 0 and kv_map.saving is not None
    desk.load(other_model)
    assert kv_map.held.used == 0 and kv_map.held.cells == CONTEXT and kv_map.saving is None
    desk.engine.die()
    desk.settle()
    assert kv_map.held.cells == 0


def test_the_next_turn_is_told_as_it_is_counted(chat: Chat, desk: Desk, kv_map: KVMap) -> None:
    chat.send("Why?")
    desk.answer("Because.")
    desk.program.prompt_count.set_draft("And then?")
    desk.settle()
    request = desk.engine.all(Render)[-1].request
    ids = array("i", [*range(40), 0, *range(100, 120)]).tobytes()
    desk.engine.say(Rendered(request, "", ids, ()))
    desk.settle()
    shares = kv_map.next.shares
    assert shares is not None and (shares.cached, shares.new) == (41, 20)
    assert kv_map.given_back == range(41, 41), "it goes on behind all that is there"


def test_what_the_next_send_gives_back_is_known_before_it(chat: Chat, desk: Desk, kv_map: KVMap) -> None:
    chat.send("Why?")
    desk.answer("Because.")
    assert len(kv_map.given_back) == 0, "nobody knows yet what comes next"
    desk.program.prompt_count.set_draft("Or rather: how?")
    desk.settle()
    request = desk.engine.all(Render)[-1].request
    desk.engine.say(Rendered(request, "", array("i", [*range(30), *range(100, 120)]).tobytes(), ()))
    desk.settle()
    assert kv_map.given_back == range(30, 41)
    chat.send("Or rather: how?")
    desk.settle()
    assert len(kv_map.given_back) == 0, "now it is read"


def test_what_the_engine_measures_of_a_window_at_the_end_counts(desk: Desk, model: Path, kv_map: KVMap) -> None:
    desk.program.conversations.start()
    desk.begin_load(model)
    sizes = CacheSizes(full=CONTEXT * 1024, window=32 * 512, window_cells=32)
    info = msgspec.structs.replace(model_info(str(model)), memory_kind="window", window=16, cache=sizes)
    desk.engine.say(Loaded(desk.engine.load.request, info))
    desk.settle()
    desk.program.chat.send("Why?")
    desk.settle()
    desk.engine.prompt()
    desk.engine.write("a", count=4)
    desk.settle()
    assert kv_map.held.dropped == 43 - 32, "no window holds more than its cells"
    kv = KVUse(44, CONTEXT, 0, window_cells_used=20, window_cells=32)
    figures = msgspec.structs.replace(metrics(4), kv=kv)
    desk.engine.say(Finished(desk.engine.question.request, "a", b"", "end", figures, 7, ()))
    desk.settle()
    assert kv_map.held.dropped == 24
    desk.program.chat.send("And?")
    desk.settle()
    ids = array("i", range(60)).tobytes()
    desk.engine.say(PromptReady(desk.engine.question.request, ids, (), 43, 0, window_from=24))
    desk.settle()
    assert kv_map.held.dropped == 24, "what is kept is as it was"
    desk.engine.prompt(60, 43)
    desk.settle()
    assert kv_map.held.dropped == 28
    desk.engine.finish()
    desk.settle()
    desk.program.chat.send("Else?")
    desk.settle()
    desk.engine.say(PromptReady(desk.engine.question.request, ids, (), 20, 0))
    desk.settle()
    assert kv_map.held.dropped == 0, "a saved state is there again"

"""The map of the KV cache says what llama.cpp holds: after a turn, an edit, lanes, and when the context is full."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from app.core.events import Compared, Event, LaneFinished, LaneTokens, PrefillProgress, PromptReady, Tokens
from app.core.sampling import SamplingSettings
from app.engine.llama import LogCapture
from app.services.kv_cells import in_blocks
from app.services.lane_starts import Lanes
from tests.engine.kv_desk import KVDesk
from tests.ggufs_kinds import write_tiny_window

CELLS = 256
LIMIT = 12
GREEDY = SamplingSettings(temperature=0.0, seed=7, max_tokens=LIMIT)


@pytest.fixture
def starter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, starter_model: Path, llama_log: LogCapture
) -> Iterator[KVDesk]:
    made = KVDesk(tmp_path / "home", monkeypatch, starter_model, CELLS, llama_log)
    made.program.sampling.change(**msgspec.structs.asdict(GREEDY))
    yield made
    made.close()


def asks(desk: KVDesk, text: str) -> None:
    """Ask in the chat, and look behind every event that tells of the cells."""
    assert desk.program.chat.send(text)
    desk.looks = lambda event: agrees(desk) if isinstance(event, (PrefillProgress, Tokens)) else None
    desk.run()
    agrees(desk)


def agrees(desk: KVDesk) -> None:
    """Assert that the map holds the chat's positions and tokens, and as many cells as the engine counts."""
    held, cache = desk.kv_map.held, desk.cache
    assert desk.positions() == (0 if cache.used else -1, held.used - 1)
    assert held.used == cache.used and held.cells == cache.cells
    assert desk.shown_ids() == cache.ids.tolist()


def test_behind_a_turn_and_the_next_one_the_map_has_the_positions_and_tokens_of_the_cells(starter: KVDesk) -> None:
    asks(starter, "Why is the sky blue?")
    first = starter.kv_map.held
    assert [each.owner for each in first.stretches][-1] == "answer" and first.reused == 0
    assert {"prompt", "template", "answer"} <= {each.owner for each in first.stretches}
    assert first.used == len(starter.program.chat.turns[-1].ids) // 4 + first.stretches[-1].start - 1
    asks(starter, "And red?")
    second = starter.kv_map.held
    assert second.reused >= first.used and "history" in {each.owner for each in second.stretches}
    saving = starter.kv_map.saving
    assert saving is not None and saving.reused == second.reused and saving.ms is not None and saving.ms > 0


def test_behind_an_edit_only_what_comes_before_it_is_reused(starter: KVDesk) -> None:
    asks(starter, "Why is the sky blue?")
    before = starter.kv_map.held
    question = starter.program.chat.turns[0]
    assert starter.program.branches.edit(question, "Why is the grass green, and not red or blue?")
    starter.run()
    agrees(starter)
    after = starter.kv_map.held
    prompt = next(each for each in before.stretches if each.owner == "prompt")
    assert prompt.start <= after.reused < prompt.end
    assert starter.kv_map.token(after.stretches[0], 0).is_reused
    answer = after.stretches[-1]
    assert not starter.kv_map.token(answer, answer.start).is_reused


def test_lanes_have_cells_of_their_own_until_they_end(starter: KVDesk) -> None:
    lanes = Lanes(tuple(msgspec.structs.replace(GREEDY, max_tokens=most) for most in (4, 9, 12)))
    assert starter.program.comparing.begin(lanes, None, "Why is the sky blue?")
    seen: list[int] = []
    told: list[tuple[int, int]] = []

    def look(event: Event) -> None:
        held = starter.kv_map.held
        if isinstance(event, LaneTokens):
            own = sum(each.end - each.start for each in held.stretches if each.lane == event.lane)
            prompt = starter.cache.used
            assert starter.positions(event.lane + 1) == (0, prompt + own - 1)
            assert held.used <= event.tokens.cells_used
            seen.append(own)
            told.append((event.tokens.cells_used, held.used))
        elif isinstance(event, LaneFinished):
            assert starter.positions(event.lane + 1) == (-1, -1)
            assert all(each.lane != event.lane for each in held.stretches)
        elif isinstance(event, Compared):
            agrees(starter)

    starter.looks = look
    starter.run()
    last_told = dict(told)  # once the last lane has told its step
    assert sum(used == all_used for all_used, used in last_told.items()) >= len(last_told) // 2
    assert max(seen) == 11, "the last token of a lane is drawn and never evaluated"
    use = starter.kv_map.blocks
    assert use is not None and use.requests == 1 and use.held == starter.cache.used


def test_in_blocks_the_map_has_the_blocks_that_the_arithmetic_counts(starter: KVDesk) -> None:
    lanes = Lanes((GREEDY, GREEDY))
    assert starter.program.comparing.begin(lanes, None, "Why is the sky blue?")
    compared: list[int] = []

    def look(event: Event) -> None:
        if isinstance(event, LaneTokens):
            use, drawn = starter.kv_map.blocks, in_blocks(starter.kv_map.held)
            lanes_there = {each.lane for each in drawn.stretches if each.lane is not None and each.owner == "lanes"}
            if use is not None and len(lanes_there) == 2:
                assert (drawn.end, drawn.used) == (use.blocks * 16, use.held - use.copied)
                compared.append(use.blocks)

    starter.looks = look
    starter.run()
    assert compared


def test_where_the_context_is_full_the_oldest_turns_leave_the_cells(starter: KVDesk) -> None:
    starter.program.settings.change(when_full="drop_oldest")
    dropped = 0
    for number in range(4):
        asks(starter, f"Tell me fact number {number} " + "about whales, the sea and the wind over it. " * 5)
        dropped = max(dropped, starter.program.chat.turns[-1].dropped)
        saving = starter.kv_map.saving
        assert saving is not None and saving.prompt <= CELLS
    assert dropped > 0


def test_an_answer_that_fills_the_context_fills_the_map(starter: KVDesk) -> None:
    starter.program.sampling.change(max_tokens=0, repeat_penalty=1.3)
    asks(starter, "Write a very long story about a whale. " * 20)
    finished = starter.program.chat.turns[-1].finished
    assert finished is not None and finished.stop_reason == "context_full"
    assert starter.kv_map.held.used == CELLS - 1, "the last token is drawn, and there is no cell to evaluate it in"
    place = starter.kv_map.held.end - 1
    assert starter.kv_map.token(starter.kv_map.held.stretches[-1], place).position == starter.positions()[1]


def test_a_sliding_window_drops_what_llama_cpp_no_longer_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, llama_log: LogCapture
) -> None:
    path = write_tiny_window(tmp_path / "window.gguf")
    desk = KVDesk(tmp_path / "home", monkeypatch, path, 2048, llama_log)
    try:
        desk.program.sampling.change(**msgspec.structs.asdict(GREEDY))
        lowest, begun = 0, list[PromptReady]()

        def look(event: Event) -> None:
            nonlocal lowest
            lowest = max(lowest, desk.kv_map.held.dropped)
            if isinstance(event, PromptReady):
                begun.append(event)
                assert desk.kv_map.held.dropped == max(desk.positions()[0], 0)
            assert desk.kv_map.held.dropped <= max(desk.positions()[0], 0)

        desk.looks = look
        for question, drops in (("short", False), ("The wind blows over the sea. " * 40, True), ("And then?", True)):
            assert desk.program.chat.send(question)
            desk.run()
            oldest, newest = desk.positions()
            held = desk.kv_map.held
            assert (oldest > 0) == drops and (held.dropped, held.used) == (oldest, newest + 1)
        assert lowest > 0
        stretch = held.at(oldest)
        assert stretch is not None and not desk.kv_map.token(stretch, oldest).is_dropped
        assert desk.kv_map.token(held.stretches[0], 0).is_dropped
        assert desk.program.branches.edit(desk.program.chat.turns[2], "shorter")
        desk.run()
        assert desk.kv_map.held.dropped == 0 == desk.positions()[0]
        for question in ("The sea is wide, and it is deep. " * 30, "Who says that it is wide, and deep? " * 26):
            assert desk.program.chat.send(question)
            desk.run()
        assert desk.program.branches.edit(desk.program.chat.turns[-2], "So?")
        desk.run()
        assert begun[-1].from_cache > begun[-1].window_from > 0, "a saved state came back with its own window"
        full, window = desk.kv_map.sums
        assert (full.is_window, window.is_window) == (False, True)
        assert full.bytes == window.bytes == 2 * 1 * (64 + 64) * 2
    finally:
        desk.close()

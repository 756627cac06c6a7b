"""The map of the KV cache says of each lane what llama.cpp's layers with a sliding window still have of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from app.core.events import Compared, Event, LaneFinished, LanesPlanned, LaneTokens
from app.core.model import LoadOptions
from app.core.sampling import SamplingSettings
from app.engine.llama import LogCapture
from app.services.kv_cells import Stretch
from app.services.lane_starts import Lanes
from tests.engine.kv_desk import KVDesk
from tests.ggufs_kinds import write_tiny_plain, write_tiny_window

OPTIONS = LoadOptions(context=2048, threads=1, batch=64, micro_batch=32)
GREEDY = SamplingSettings(temperature=0.0, seed=7)
LIMITS = (40, 260, 420)
"""Of three lanes: within the window's cells, behind their end, and far behind it."""


@pytest.fixture
def open_desk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, llama_log: LogCapture
) -> Iterator[Callable[[Callable[..., Path]], KVDesk]]:
    made: list[KVDesk] = []

    def begin(write: Callable[..., Path]) -> KVDesk:
        made.append(KVDesk(tmp_path / "home", monkeypatch, write(tmp_path / "made.gguf"), OPTIONS, llama_log))
        return made[-1]

    yield begin
    for desk in made:
        desk.close()


class Seen:
    """What the map and llama.cpp agreed on while lanes ran."""

    def __init__(self, desk: KVDesk) -> None:
        self.desk = desk
        self.how = ""
        self.lanes: dict[int, set[int]] = {}
        """By lane: how many of its tokens were dropped, as they grew."""
        self.prompt: set[int] = set()

    def look(self, event: Event) -> None:
        desk, held = self.desk, self.desk.kv_map.held
        if isinstance(event, LanesPlanned):
            self.how = event.plan.how
            assert held.dropped == max(desk.positions()[0], 0)
        elif isinstance(event, LaneTokens):
            own = [each for each in held.stretches if each.lane == event.lane]
            for each in own:
                self._agrees(each)
            self.prompt.add(held.dropped)
            assert held.dropped == min(max(desk.positions()[0], 0), own[0].first if own else held.used)
            assert held.all_dropped == held.dropped + sum(each.dropped for each in held.stretches)
        elif isinstance(event, (LaneFinished, Compared)):
            assert held.dropped == max(desk.positions()[0], 0) < held.end, "the prompt is there again"

    def _agrees(self, lane: Stretch) -> None:
        assert lane.lane is not None
        oldest, newest = self.desk.positions(0 if self.how == "one_by_one" else lane.lane + 1)
        cells = lane.end - lane.start
        assert newest == lane.first + cells - 1
        assert lane.dropped == min(max(oldest - lane.first, 0), cells)
        self.lanes.setdefault(lane.lane, set()).add(lane.dropped)
        for place in {lane.start, lane.start + lane.dropped - 1, lane.start + lane.dropped, lane.end - 1}:
            if lane.start <= place < lane.end:
                token = self.desk.kv_map.token(lane, place)
                assert token.is_dropped == (token.position < oldest)


def compares(desk: KVDesk, prompt: str, limits: tuple[int, ...] = LIMITS) -> Seen:
    """Run lanes behind a prompt, and look at the map behind every event."""
    lanes = Lanes(tuple(msgspec.structs.replace(GREEDY, seed=each, max_tokens=each) for each in limits))
    assert desk.program.comparing.begin(lanes, None, prompt)
    seen = Seen(desk)
    desk.looks = seen.look
    desk.run()
    return seen


@pytest.mark.parametrize("words", [2, 40])
def test_lanes_drop_what_llama_cpp_no_longer_has_of_them(
    open_desk: Callable[[Callable[..., Path]], KVDesk], words: int
) -> None:
    seen = compares(open_desk(write_tiny_window), "wind " * words)
    assert seen.how == "together" and set(seen.lanes) == {0, 1, 2}
    assert seen.lanes[0] == {0} < seen.lanes[1] and max(seen.lanes[2]) > max(seen.lanes[1]) > 0


def test_one_after_another_lanes_drop_the_beginning_of_their_prompt_too(
    open_desk: Callable[[Callable[..., Path]], KVDesk], monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = open_desk(write_tiny_window)
    monkeypatch.setattr(type(desk.backend.sequences), "open", lambda self, count: False)
    seen = compares(desk, "wind " * 40)
    assert seen.how == "one_by_one"
    assert max(seen.lanes[2]) > 0 and max(seen.prompt) == desk.cache.used > min(seen.prompt)


def test_without_a_window_no_lane_drops_anything(open_desk: Callable[[Callable[..., Path]], KVDesk]) -> None:
    seen = compares(open_desk(write_tiny_plain), "wind " * 40, (40, 120))
    assert seen.lanes == {0: {0}, 1: {0}} and seen.prompt == {0}

"""Cells and bytes that people see agree behind every event with what llama.cpp says of its own cells, whatever is asked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

import tests.ggufs_kinds as kinds
from app.core.events import Event, Failed, LaneFinished, LaneTokens
from app.core.model import LoadOptions
from app.core.sampling import SamplingSettings
from app.engine.cache_classes import parse_classes
from app.engine.joiner import TokenJoiner
from app.engine.llama import LlamaVocabulary, LogCapture
from app.engine.window_cells import WindowCells
from app.services.lane_starts import Lanes
from tests.engine.kv_desk import KVDesk

CELLS = 1024
OPTIONS = LoadOptions(context=CELLS, threads=1, batch=64, micro_batch=32)
GREEDY = SamplingSettings(temperature=0.0, seed=7)
EVERY, SOME, HYBRID, NONE = "every layer", "some layers", "hybrid", "no layer"
LONG, SHORT, EDIT, LAST_EDIT = "a long turn", "a short turn", "an edit", "an edit of the end"
TOGETHER, IN_TURN = "lanes together", "lanes one after another"
CHAT = (LONG, SHORT, EDIT, LONG, EDIT, LAST_EDIT, LONG, LONG)
"""A saved state comes back with a short window, a cut leaves cells in the middle free, and the context is full."""
LANES = (TOGETHER, SHORT, IN_TURN, LONG, TOGETHER)


@pytest.fixture(autouse=True)
def long_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """No answer ends by itself, and every few tokens are told."""
    monkeypatch.setattr(LlamaVocabulary, "is_end", lambda self, token: False)
    monkeypatch.setattr(TokenJoiner, "due", lambda self: len(self._ids) % 9 == 1)


def opened(kind: str, tmp_path: Path, patch: pytest.MonkeyPatch, log: LogCapture) -> KVDesk:
    """Load a model whose layers, so many of them, have a window of 64 tokens in 256 cells."""
    if kind == EVERY:
        patch.setattr(kinds, "WINDOW_PATTERN", 0)
    writers: dict[str, Callable[[Path], Path]] = {
        HYBRID: kinds.write_tiny_hybrid_window,
        NONE: kinds.write_tiny_plain,
    }
    write = writers.get(kind, kinds.write_tiny_window)
    return KVDesk(tmp_path / "home", patch, write(tmp_path / "made.gguf"), OPTIONS, log)


def compares(desk: KVDesk, prompt: str, limits: tuple[int, ...]) -> None:
    lanes = Lanes(tuple(msgspec.structs.replace(GREEDY, seed=each, max_tokens=each) for each in limits))
    assert desk.program.comparing.begin(lanes, None, prompt)
    desk.run()


def go(desk: KVDesk, step: str, patch: pytest.MonkeyPatch) -> None:
    """Do one thing that people do."""
    program = desk.program
    program.settings.change(when_full="drop_oldest")
    program.sampling.change(**msgspec.structs.asdict(msgspec.structs.replace(GREEDY, max_tokens=40)))
    if step in (LONG, SHORT):
        program.sampling.change(max_tokens=200 if step == LONG else 40)
        assert program.chat.send("The wind blows over the sea. " * 14 if step == LONG else "And then?")
    elif step in (EDIT, LAST_EDIT):
        questions = [each for each in program.chat.turns if each.role == "user"]
        asked = questions[-1 if step == LAST_EDIT else len(questions) // 2]
        assert program.branches.edit(asked, f"{asked.text} So?" if step == LAST_EDIT else f"So, {len(asked.text)}?")
    else:
        with patch.context() as only_here:
            if step == IN_TURN:
                only_here.setattr(type(desk.backend.sequences), "open", lambda self, count: False)
            compares(desk, "The sea is wide. " * 20, (170, 200, 200))
    desk.run()


def window_cells(desk: KVDesk) -> int:
    """Return how many cells of a window llama.cpp has in use: lanes and the chat hold those of the prompt together."""
    prompt, found = desk.cache.used, set[tuple[int, int]]()
    for sequence in range(desk.backend.sequences.count):
        first, last = desk.positions(sequence)
        found |= {(0 if each < prompt else sequence, each) for each in range(max(first, 0), last + 1)}
    return len(found)


class Seen:
    """Looks behind every event, and knows what came about."""

    def __init__(self, desk: KVDesk, kind: str, log: LogCapture) -> None:
        self._desk, self._log = desk, log
        self._is_told = kind in (EVERY, SOME)
        """A hybrid's positions are those of its recurrent state."""
        self.used: list[int] = []
        self.there: set[int] = set()

    def look(self, event: Event) -> None:
        assert not isinstance(event, Failed)
        desk, figures = self._desk, self._desk.program.live.figures
        classes = parse_classes(self._log.lines())
        there = sum(each.cells for each in classes if each.is_window) or None
        held, in_window = desk.kv_map.held, figures.window_cells_used
        assert figures.window_cells == desk.kv_map.window_cells == desk.cache.use.window_cells == there, event
        assert held.in_cells <= held.cells_there and (there or CELLS) >= (in_window or 0), event
        if self._is_told:
            assert in_window == window_cells(desk) == desk.cache.use.window_cells_used, event
        used = desk.cache.used + (desk.cache.beside.used if desk.cache.beside is not None else 0)
        assert figures.kv_cells_used == used, event
        full, window = (
            sum(each.key_bytes + each.value_bytes for each in classes if each.is_window is of) for of in (False, True)
        )
        state = desk.backend.sequences.cache.state or 0
        expected = full * used / CELLS + window * (in_window or 0) / (there or 1) + (state if used else 0)
        rounded = 0.02 * (1 << 20)  # of what the log tells of a class, keys and values apart
        assert figures.kv_bytes == pytest.approx(expected, abs=rounded), event
        assert figures.kv_bytes_reserved == pytest.approx(full + window + state, abs=rounded), event
        if held.used == used:  # every lane has told of its last step
            assert held.used - held.all_dropped == (used if in_window is None else in_window), event
            assert desk.kv_map.bytes == (figures.kv_bytes, figures.kv_bytes_reserved), event
        self.used.append(in_window or 0)
        self.there.add(there or 0)


@pytest.mark.parametrize("walk", [CHAT, LANES], ids=["chat", "lanes"])
@pytest.mark.parametrize("kind", [EVERY, SOME, HYBRID, NONE])
def test_cells_and_bytes_are_llama_cpps_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, llama_log: LogCapture, kind: str, walk: tuple[str, ...]
) -> None:
    desk = opened(kind, tmp_path, monkeypatch, llama_log)
    seen = Seen(desk, kind, llama_log)
    desk.looks = seen.look
    try:
        for step in walk:
            go(desk, step, monkeypatch)
    finally:
        desk.close()
    if kind != NONE:
        assert seen.there == ({256} if walk is CHAT else {256, 512}), "more sequences need more cells of a window"
        assert max(seen.used) == max(seen.there) > min(seen.used), "all cells were full, and some of them free again"


class WorkedOut(WindowCells):
    """As for a hybrid, whatever llama.cpp tells."""

    @property
    def _is_told(self) -> bool:
        return False


@pytest.mark.parametrize("limits", [(170, 200, 200), (40, 260, 420), (250, 250)])
def test_what_is_worked_out_for_a_hybrid_holds_where_llama_cpp_tells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, llama_log: LogCapture, limits: tuple[int, ...]
) -> None:
    desk = opened(EVERY, tmp_path, monkeypatch, llama_log)
    desk.cache.window = WorkedOut(desk.backend)
    is_exact, seen = True, list[int]()

    def look(event: Event) -> None:
        nonlocal is_exact
        worked_out = desk.cache.use.window_cells_used
        most = desk.backend.sequences.cache.window_cells
        assert worked_out is not None and most is not None
        assert window_cells(desk) <= worked_out <= most, event
        if isinstance(event, LaneTokens) and is_exact:
            assert worked_out == window_cells(desk), event
            seen.append(worked_out - most)
        is_exact = is_exact and not isinstance(
            event, LaneFinished
        )  # then llama.cpp may overwrite what it need not yet

    desk.looks = look
    try:
        compares(desk, "wind " * 2, limits)
    finally:
        desk.close()
    assert seen and (max(seen) == 0 or limits[0] == 40)

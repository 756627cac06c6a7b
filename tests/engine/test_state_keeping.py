"""A conversation goes on from disk as if the model had read it again, and no file that is not its own is ever used."""

from __future__ import annotations

import stat
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt
import pytest

from app.core.kept_state import StateKept, StatePlace
from app.core.model import LoadOptions
from app.engine import state_file, state_keeping
from app.engine.kv_cache import KVCache
from app.engine.llama import LogCapture
from app.engine.llama_model import LlamaBackend
from app.engine.state_keeping import DAMAGED, IDLE_S, LEAST_TOKENS, StateKeeping
from tests.engine.test_checkpoints import NEAR, Ids, from_empty, joined, run, some
from tests.ggufs_kinds import (
    write_tiny_hybrid,
    write_tiny_hybrid_window,
    write_tiny_plain,
    write_tiny_recurrent,
    write_tiny_window,
)

WRITERS: dict[str, Callable[[Path], Path]] = {
    "plain": write_tiny_plain,
    "window": write_tiny_window,
    "recurrent": write_tiny_recurrent,
    "hybrid": write_tiny_hybrid,
    "hybrid window": write_tiny_hybrid_window,
}
OPTIONS = LoadOptions(context=1024, threads=1, batch=64, micro_batch=64)
MODEL = "the model"


class Desk:
    """One engine's life: a backend, a cache and what keeps its states."""

    def __init__(self, backend: LlamaBackend) -> None:
        self.backend = backend
        backend.remove(0, 0)
        self.cache = KVCache(backend)
        self.told: list[StateKept] = []
        self.time = 100.0
        self.keeping = StateKeeping(self.told.append, lambda: self.time)

    def read(self, prompt: Ids, place: StatePlace | None) -> tuple[int, npt.NDArray[np.float32]]:
        """Have a prompt read for a conversation; returns how many of its tokens were not, and the logits."""
        self.keeping.begin(self.backend, self.cache, place)
        read = run(self.backend, self.cache, prompt)
        self.keeping.ended()
        return read

    @property
    def from_disk(self) -> int:
        """How many tokens of the last prompt came from disk."""
        assert self.cache.reuse is not None
        return self.cache.reuse.from_disk


@pytest.fixture(params=list(WRITERS))
def backend(request: pytest.FixtureRequest, tmp_path: Path, llama_log: LogCapture) -> Iterator[LlamaBackend]:
    """A small model of each kind."""
    made = LlamaBackend(str(WRITERS[request.param](tmp_path / "m.gguf")), OPTIONS, llama_log, lambda percent: True)
    yield made
    made.close()


@pytest.fixture
def place(tmp_path: Path) -> StatePlace:
    """Where the conversation is kept."""
    return StatePlace(str(tmp_path / "states" / "1.state"), MODEL, 1 << 30)


def kept(backend: LlamaBackend, place: StatePlace, ids: Ids) -> Desk:
    """Have a conversation read and kept by an engine that ends."""
    desk = Desk(backend)
    desk.read(ids, place)
    desk.keeping.close()
    return desk


def test_a_conversation_goes_on_from_disk_as_if_it_had_been_read_again(
    backend: LlamaBackend, place: StatePlace
) -> None:
    first = kept(backend, place, some(300))
    assert first.told == [StateKept(place.path, 300, Path(place.path).stat().st_size)]
    assert stat.S_IMODE(Path(place.path).stat().st_mode) == 0o600 or sys.platform == "win32"
    later = Desk(backend)
    reused, logits = later.read(joined(some(300), some(40, 2)), place)
    assert (reused, later.from_disk) == (300, 300)
    assert np.abs(logits - from_empty(backend, joined(some(300), some(40, 2)))).max() < NEAR


def test_a_conversation_that_comes_back_takes_its_cells_from_disk(backend: LlamaBackend, place: StatePlace) -> None:
    other = StatePlace(place.path + "2", MODEL, 1 << 30)
    desk = Desk(backend)
    desk.read(some(300), place)
    desk.read(some(200, 7), other)
    has_checkpoint = backend.memory_kind == "recurrent"  # which needs no cells before it, so nothing has to be read
    assert desk.read(joined(some(300), some(10, 2)), place)[0] == (299 if has_checkpoint else 300)
    assert desk.from_disk == (0 if has_checkpoint else 300)
    desk.keeping.close()
    assert {told.path: told.tokens for told in desk.told} == {place.path: 310, other.path: 200}


def test_a_branch_of_a_plain_chat_takes_what_it_shares(quick_backend: LlamaBackend, place: StatePlace) -> None:
    kept(quick_backend, place, some(300))
    later = Desk(quick_backend)
    prompt = joined(some(300)[:200], some(50, 3))
    reused, logits = later.read(prompt, place)
    assert (reused, later.from_disk) == (200, 200)
    assert np.abs(logits - from_empty(quick_backend, prompt)).max() < NEAR


def test_a_branch_of_a_chat_that_cannot_be_cut_is_read_again(backend: LlamaBackend, place: StatePlace) -> None:
    kept(backend, place, some(300))
    later = Desk(backend)
    prompt = joined(some(300)[:200], some(50, 3))
    reused, logits = later.read(prompt, place)
    assert later.from_disk == reused == (200 if backend.memory_kind == "plain" else 0)
    assert np.abs(logits - from_empty(backend, prompt)).max() < NEAR


def test_what_came_back_is_there_for_the_next_answer_too(backend: LlamaBackend, place: StatePlace) -> None:
    kept(backend, place, some(300))
    later = Desk(backend)
    later.read(joined(some(300), some(90, 2)), place)
    assert later.read(joined(some(300), some(40, 3)), place)[0] == 300
    assert later.from_disk == 0


def test_what_is_in_the_cells_is_not_read_from_disk(quick_backend: LlamaBackend, place: StatePlace) -> None:
    desk = Desk(quick_backend)
    desk.read(some(300), place)
    desk.keeping.keep()
    desk.read(joined(some(300), some(10, 2)), place)
    assert desk.from_disk == 0
    desk.keeping.close()


def test_the_same_tokens_are_written_once(quick_backend: LlamaBackend, place: StatePlace) -> None:
    desk = Desk(quick_backend)
    desk.read(some(300), place)
    desk.keeping.keep()
    desk.keeping.keep()
    desk.keeping.close()
    assert len(desk.told) == 1
    later = Desk(quick_backend)
    later.read(some(300), place)
    later.keeping.close()
    assert later.told == []


def test_it_is_kept_when_nobody_goes_on(quick_backend: LlamaBackend, place: StatePlace) -> None:
    desk = Desk(quick_backend)
    assert desk.keeping.waits_s is None
    desk.read(some(300), place)
    assert desk.keeping.waits_s == IDLE_S
    desk.time += IDLE_S / 2
    desk.keeping.keep_if_due()
    desk.time += IDLE_S / 2
    desk.keeping.keep_if_due()
    assert desk.keeping.waits_s is None
    desk.keeping.close()
    assert len(desk.told) == 1


def test_a_short_chat_is_not_kept(quick_backend: LlamaBackend, place: StatePlace) -> None:
    assert kept(quick_backend, place, some(LEAST_TOKENS - 1)).told == []
    assert not Path(place.path).exists()


@pytest.mark.parametrize(
    ("lacks_memory", "reason"), [(False, "0 MB are allowed"), (True, "free memory allows for 0 MB")]
)
def test_a_chat_that_is_too_large_is_not_kept_and_that_is_said(
    quick_backend: LlamaBackend, place: StatePlace, lacks_memory: bool, reason: str
) -> None:
    desk = Desk(quick_backend)
    desk.read(some(300), msgspec.structs.replace(place, most_bytes=1000, lacks_memory=lacks_memory))
    desk.keeping.keep()
    (told,) = desk.told
    assert told.bytes == 0 and told.problem is not None and reason in told.problem.english()
    assert not Path(place.path).exists()


def test_at_the_end_only_what_is_written_quickly_is_kept_and_the_rest_is_said(
    quick_backend: LlamaBackend, place: StatePlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = Desk(quick_backend)
    desk.read(some(300), place)
    size = quick_backend.whole.state_bytes()
    monkeypatch.setattr(state_keeping, "MOST_BYTES_AT_END", size - 1)
    desk.keeping.close()
    (told,) = desk.told
    assert told.problem is not None and "put away" in told.problem.english()
    monkeypatch.setattr(state_keeping, "MOST_BYTES_AT_END", size)
    assert kept(quick_backend, place, some(300)).told[0].problem is None


def test_a_chat_that_is_not_to_be_kept_is_not(quick_backend: LlamaBackend) -> None:
    desk = Desk(quick_backend)
    desk.read(some(300), None)
    assert desk.keeping.waits_s is None
    desk.keeping.close()
    assert desk.told == []


def truncated(data: bytes, share: float) -> bytes:
    """The beginning of a file."""
    return data[: int(len(data) * share)]


def flipped(data: bytes, share: float) -> bytes:
    """A file with one bit changed."""
    place = min(int(len(data) * share), len(data) - 1)
    return data[:place] + bytes([data[place] ^ 4]) + data[place + 1 :]


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda data: b"",
    "a few bytes": lambda data: data[:6],
    "only the head": lambda data: data[:500],
    "half": lambda data: truncated(data, 0.5),
    "without its last byte": lambda data: data[:-1],
    "with a byte more": lambda data: data + b"x",
    "other magic": lambda data: b"X" + data[1:],
    "head": lambda data: data[:30] + b"\xff\xfe" + data[32:],
    "huge head": lambda data: data[:8] + b"\xff\xff\xff\x7f" + data[12:],
    "a token": lambda data: data[:700] + bytes([data[700] ^ 1]) + data[701:],
    "middle of the state": lambda data: flipped(data, 0.5),
    "checksum": lambda data: flipped(data, 1.0),
    "zeros": lambda data: bytes(len(data)),
}


@pytest.mark.parametrize("damage", list(DAMAGES))
def test_a_damaged_file_is_told_and_not_used(quick_backend: LlamaBackend, place: StatePlace, damage: str) -> None:
    kept(quick_backend, place, some(300))
    path = Path(place.path)
    path.write_bytes(DAMAGES[damage](path.read_bytes()))
    later = Desk(quick_backend)
    prompt = joined(some(300), some(40, 2))
    reused, logits = later.read(prompt, place)
    assert (reused, later.from_disk) == (0, 0)
    assert later.cache.take_problem() == DAMAGED
    assert later.cache.take_problem() is None
    assert np.abs(logits - from_empty(quick_backend, prompt)).max() < NEAR
    later.cache.rewind(prompt)
    later.keeping.close()
    assert later.told[-1].problem is None, "the next one is written over it"


OTHERS: dict[str, dict[str, object]] = {
    "model": {"model": "another"},
    "version": {"llama_cpp": "0.0.1"},
    "types": {"kv_types": ("q8_0", "q8_0")},
    "flash attention": {"flash_attention": "off"},
    "rope": {"rope": (1.0,)},
    "kind": {"memory_kind": "window"},
}


@pytest.mark.parametrize("other", list(OTHERS))
def test_the_file_of_another_maker_is_not_used(quick_backend: LlamaBackend, place: StatePlace, other: str) -> None:
    kept(quick_backend, place, some(300))
    maker = quick_backend.whole.maker(MODEL)
    with Path(place.path).open("rb") as file:
        known = state_file.read_known(file, maker)
        state = state_file.read_state(file, known)
    state_file.write(Path(place.path), msgspec.structs.replace(maker, **OTHERS[other]), known.ids, state)
    later = Desk(quick_backend)
    assert later.read(joined(some(300), some(40, 2)), place)[0] == 0
    assert later.from_disk == 0 and later.cache.take_problem() is None


@pytest.mark.parametrize(("kept_with", "from_disk"), [(512, 0), (768, 300)])
def test_a_state_is_not_used_under_other_rope_factors(
    tmp_path: Path, llama_log: LogCapture, place: StatePlace, kept_with: int, from_disk: int
) -> None:
    path = str(write_tiny_plain(tmp_path / "m.gguf", stretched_from=512))
    first, second = (
        LlamaBackend(path, msgspec.structs.replace(OPTIONS, context=cells), llama_log, lambda percent: True)
        for cells in (kept_with, 1024)
    )
    kept(first, place, some(300))
    later = Desk(second)
    prompt = joined(some(300), some(40, 2))
    _, logits = later.read(prompt, place)
    assert (later.from_disk, later.cache.take_problem()) == (from_disk, None)
    assert np.abs(logits - from_empty(second, prompt)).max() < NEAR
    first.close()
    second.close()


def test_a_state_that_llama_cpp_does_not_take_is_read_again(quick_backend: LlamaBackend, place: StatePlace) -> None:
    maker = quick_backend.whole.maker(MODEL)
    state_file.write(Path(place.path), maker, some(300), np.arange(5000, dtype=np.uint8))
    later = Desk(quick_backend)
    later.read(some(70, 9), None)
    prompt = joined(some(300), some(40, 2))
    reused, logits = later.read(prompt, place)
    assert (reused, later.from_disk) == (0, 0)
    assert np.abs(logits - from_empty(quick_backend, prompt)).max() < NEAR


def test_a_context_that_is_too_small_for_it_reads_again(
    tmp_path: Path, llama_log: LogCapture, quick_backend: LlamaBackend, place: StatePlace
) -> None:
    kept(quick_backend, place, some(600))
    options = msgspec.structs.replace(OPTIONS, context=512)
    small = LlamaBackend(str(write_tiny_plain(tmp_path / "m.gguf")), options, llama_log, lambda percent: True)
    later = Desk(small)
    later.read(some(600)[:100], None)
    assert later.read(some(600)[:400], place)[0] == 100, "and what the cells hold stays"
    small.close()


def test_stop_ends_the_reading(quick_backend: LlamaBackend, place: StatePlace) -> None:
    kept(quick_backend, place, some(300))
    later = Desk(quick_backend)
    later.keeping.begin(quick_backend, later.cache, place, lambda: True)
    assert later.cache.rewind(joined(some(300), some(40, 2))) == 0


def test_what_cannot_be_written_is_said(quick_backend: LlamaBackend, tmp_path: Path) -> None:
    (tmp_path / "states").write_text("a file where the folder should be")
    desk = kept(quick_backend, StatePlace(str(tmp_path / "states" / "1.state"), MODEL, 1 << 30), some(300))
    (told,) = desk.told
    assert told.bytes == 0 and told.problem is not None
    assert "could not be kept on disk" in told.problem.template


def test_nothing_is_left_of_a_writing_that_failed(quick_backend: LlamaBackend, place: StatePlace) -> None:
    kept(quick_backend, place, some(300))
    before = Path(place.path).read_bytes()
    Path(place.path + ".partial").mkdir()
    desk = kept(quick_backend, place, some(200, 5))
    assert desk.told[0].problem is not None
    assert Path(place.path).read_bytes() == before

"""Whatever a model keeps of its past, its answers are those from an empty cache, and little is evaluated for them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from app.core.chat import ChatPrompt, PromptMessage
from app.core.events import Failed, Finished, PrefillProgress, Tokens, Unloaded
from tests.engine.exchanges import (
    OPTIONS,
    WRITERS,
    Exchange,
    as_prompt,
    exchange,
    exchanged,
    limited,
    text,
    tokens,
)
from tests.engine.harness import GREEDY, Engine, assert_same_answer

EXACT = ("recurrent", "hybrid", "hybrid_window")
"""These go back to checkpoints and to nothing else."""
LARGE_BATCHES = {"batch": 400, "micro_batch": 400}
"""A cancel comes while one of these is evaluated, not between two."""
WINDOW, WINDOW_CELLS = 64, 256
"""The window of the models here in tokens, and what llama.cpp allocates for it at least, however small it is."""


class Chat:
    """A conversation with an engine; each answer is compared with that of another engine whose cache is empty."""

    def __init__(self, engine: Engine, fresh: Engine, path: Path, **options: object) -> None:
        self.engine = engine
        self._fresh = fresh
        self._path = path
        self._options = {**OPTIONS, **options}
        self.messages: list[PromptMessage] = []
        engine.load(path, **self._options)
        engine.seen.clear()

    def ask(self, message: str | None = None, most: int = 24) -> Exchange:
        """Put a message behind the conversation, or answer its last one again, and keep the answer."""
        if message is not None:
            self.messages.append(PromptMessage("user", message))
        return self.keep(exchange(self.engine, self.prompt, limited(most)))

    @property
    def prompt(self) -> ChatPrompt:
        """The conversation as it is."""
        return ChatPrompt(tuple(self.messages))

    def keep(self, got: Exchange) -> Exchange:
        """Compare an answer and put it behind the conversation."""
        settings = msgspec.structs.replace(GREEDY, max_tokens=len(got.answer))
        self._fresh.load(self._path, **self._options)
        expected = exchange(self._fresh, self.prompt, settings)
        assert expected.from_cache == 0 and expected.ids == got.ids
        assert_same_answer(got.records, expected.records)
        self.messages.append(PromptMessage("assistant", got.finished.text, got.finished.ids))
        return got

    def cut_prefill(self, message: str) -> Exchange | None:
        """Put a long message behind the conversation and cancel its prefill; None where that was over first."""
        self.messages.append(PromptMessage("user", message))
        request = self.engine.start(self.prompt, limited(24))
        self.engine.wait(PrefillProgress, request=request)
        self.engine.cancel(request)
        cut = exchanged(self.engine, self.engine.wait(Finished, request=request))
        if not cut.answer:
            return cut
        self.back(1)
        return None

    def back(self, messages: int) -> None:
        """Take the last messages away."""
        del self.messages[len(self.messages) - messages :]


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A model of each kind of memory."""
    folder = tmp_path_factory.mktemp("kinds")
    return {kind: write(folder / f"{kind}.gguf") for kind, write in WRITERS.items()}


@pytest.fixture(scope="module")
def fresh(models: dict[str, Path]) -> Iterator[Engine]:
    """An engine that loads its model for every answer."""
    with Engine() as running:
        running.load(models["plain"], **OPTIONS)
        yield running


@pytest.fixture(scope="module")
def engine(models: dict[str, Path]) -> Iterator[Engine]:
    """The engine that is looked at; each test loads its model."""
    with Engine() as running:
        running.load(models["plain"], **OPTIONS)
        yield running


@pytest.fixture(params=list(WRITERS))
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def assert_saved(got: Exchange, kind: str) -> None:
    """A plain cache saves nothing, the others at most eight states, whose bytes are told."""
    assert got.kv.cells_used == got.end
    if kind == "plain":
        assert (got.kv.checkpoints, got.kv.checkpoint_bytes) == (0, 0)
    else:
        assert 0 < got.kv.checkpoints <= 8
        assert got.kv.checkpoint_bytes > 0


def test_every_turn_of_a_chat_answers_as_from_an_empty_cache(
    engine: Engine, fresh: Engine, models: dict[str, Path], kind: str
) -> None:
    chat = Chat(engine, fresh, models[kind])
    turns = [chat.ask(text(120, 1))]
    for number in (2, 3):
        turns.append(chat.ask(text(60, number)))
        assert turns[-1].from_cache == turns[-2].end
    for turn in turns:
        assert_saved(turn, kind)
    for _ in range(2):
        chat.back(1)
        again = chat.ask()
        assert again.evaluated == 1
        assert_same_answer(again.records, turns[2].records)
        assert_saved(again, kind)

    chat.back(2)
    edited_last = chat.ask(text(70, 5))
    assert edited_last.from_cache >= turns[1].end
    chat.back(4)
    edited_early = chat.ask(text(50, 6))
    assert edited_early.from_cache >= turns[0].end
    if kind in EXACT:
        assert (edited_last.from_cache, edited_early.from_cache) == (turns[1].end, turns[0].end)
    assert_saved(edited_early, kind)
    assert chat.ask(text(60, 7)).from_cache == edited_early.end


def test_the_first_message_can_be_edited(engine: Engine, fresh: Engine, models: dict[str, Path], kind: str) -> None:
    chat = Chat(engine, fresh, models[kind])
    first = chat.ask(text(120, 1))
    chat.ask(text(60, 2))
    chat.back(4)
    edited = chat.ask(text(100, 3))
    assert edited.from_cache < 20
    chat.back(2)
    again = chat.ask(text(120, 1))
    assert_same_answer(again.records, first.records)
    if kind == "recurrent":
        assert again.evaluated == 1, "its state stands for all tokens before it"
    more = chat.ask(text(40, 4))
    assert more.from_cache == again.end
    assert chat.ask(text(40, 5)).from_cache == more.end


def test_a_cancelled_prefill_leaves_a_cache_to_go_on_with(
    engine: Engine, fresh: Engine, models: dict[str, Path], kind: str
) -> None:
    chat = Chat(engine, fresh, models[kind], **LARGE_BATCHES)
    first = chat.ask(text(120, 1))
    cut = next(cut for seed in (2, 3, 4) if (cut := chat.cut_prefill(text(900, seed))))
    assert (cut.finished.stop_reason, cut.answer) == ("cancelled", [])
    assert first.end <= cut.kv.cells_used < len(cut.ids)

    again = chat.ask()
    assert again.ids == cut.ids and again.from_cache == cut.kv.cells_used
    chat.back(2)
    assert chat.ask(text(40, 3)).from_cache >= first.end


def test_a_cancelled_answer_is_gone_on_with(
    engine: Engine, fresh: Engine, models: dict[str, Path], kind: str
) -> None:
    chat = Chat(engine, fresh, models[kind])
    chat.messages.append(PromptMessage("user", text(200, 4)))
    request = engine.start(chat.prompt, limited(0))
    engine.wait(Tokens, request=request)
    engine.cancel(request)
    cut = chat.keep(exchanged(engine, engine.wait(Finished, request=request)))
    assert cut.finished.stop_reason in ("cancelled", "end")
    assert chat.ask(text(30, 2)).from_cache == cut.end
    chat.back(3)
    assert chat.ask().evaluated == 1


def test_an_answer_that_meets_the_end_of_the_context_does_not_spoil_the_next(
    engine: Engine, fresh: Engine, models: dict[str, Path], kind: str
) -> None:
    chat = Chat(engine, fresh, models[kind], context=512)
    first = chat.ask(text(60, 1))
    chat.ask(text(30, 2))
    chat.back(2)
    ids = first.ids + first.answer + tokens(512 - 20 - first.end, 3)
    full = exchange(engine, as_prompt(ids), limited(0))
    assert full.finished.stop_reason == "context_full"
    assert len(full.ids) + len(full.answer) == 512
    refused = engine.start(as_prompt(tokens(512, 4)), limited(4))
    assert engine.wait(Failed, request=refused).kind == "prompt_too_long"

    again = exchange(engine, as_prompt(ids), limited(0))
    assert again.evaluated == 1
    assert_same_answer(again.records, full.records)
    shorter = chat.ask(text(25, 5))
    assert shorter.from_cache >= first.end
    assert_saved(shorter, kind)


def test_a_reload_begins_with_nothing_and_answers_alike(fresh: Engine, models: dict[str, Path], kind: str) -> None:
    with Engine() as engine:
        chat = Chat(engine, fresh, models[kind])
        chat.ask(text(120, 1))
        before = chat.ask(text(60, 2))
        for unloads in (False, True):
            if unloads:
                engine.client.unload()
                engine.wait(Unloaded)
            loaded = engine.load(models[kind], **OPTIONS)
            assert loaded.model.memory_kind == kind.removesuffix("_window")
            chat.back(1)
            after = chat.ask()
            assert after.from_cache == 0
            assert_same_answer(after.records, before.records)
            assert after.kv.checkpoints == (0 if kind == "plain" else 2)


def test_without_checkpoints_more_is_evaluated_and_the_answers_are_the_same(
    engine: Engine, fresh: Engine, models: dict[str, Path], kind: str
) -> None:
    chat = Chat(engine, fresh, models[kind], checkpoints=0)
    first = chat.ask(text(120, 1))
    second = chat.ask(text(400, 2))
    assert second.from_cache == first.end, "what only goes on needs no saved state"
    chat.back(1)
    again = chat.ask()
    assert_same_answer(again.records, second.records)
    chat.back(2)
    edited = chat.ask(text(30, 3))
    for got in (first, second, again, edited):
        assert (got.kv.checkpoints, got.kv.checkpoint_bytes) == (0, 0)
    if kind in EXACT:
        assert again.from_cache == 0
    if kind != "plain":
        assert edited.from_cache == 0


@pytest.mark.parametrize("back", [1, 10, 63, 64, 65, 100, 250, 320, 500])
def test_a_window_is_cut_where_it_still_holds_what_it_needs(
    engine: Engine, fresh: Engine, models: dict[str, Path], back: int
) -> None:
    engine.load(models["window"], **OPTIONS)
    fresh.load(models["window"], **OPTIONS)
    first = exchange(engine, as_prompt(tokens(300, 1)), limited(8))
    ids = first.ids + first.answer + tokens(500, 2)
    long = exchange(engine, as_prompt(ids), limited(8))
    assert long.from_cache == first.end
    kept = len(ids) - back
    got = exchange(engine, as_prompt(ids[:kept] + tokens(20, 3)), limited(24))
    expected = exchange(fresh, as_prompt(got.ids), limited(24))
    assert_same_answer(got.records, expected.records)
    if back <= WINDOW + 1:
        assert got.from_cache == kept
    elif back > WINDOW_CELLS:
        assert got.from_cache == first.end, "the window is gone, the state at the end of the answer is there"


def test_at_most_as_many_states_are_kept_as_were_asked_for(engine: Engine, models: dict[str, Path]) -> None:
    engine.load(models["hybrid"], **{**OPTIONS, "checkpoints": 3})
    ids = tokens(100, 1)
    for number in range(4):
        got = exchange(engine, as_prompt(ids), limited(6))
        assert got.kv.checkpoints == min(3, 2 + 2 * number)
        ids = got.ids + got.answer + tokens(40, 2 + number)

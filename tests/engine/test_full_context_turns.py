"""A chat in a context of 768 cells: what is evaluated and what is kept, turn after turn, whatever is said."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import msgspec
import numpy as np
import pytest

from app.core.chat import ChatPrompt, PromptMessage
from app.core.commands import WhenFull
from app.core.events import Finished, PromptReady
from app.core.model import LoadOptions
from app.engine.kv_cache import KVCache, common_prefix
from app.engine.llama import LogCapture
from app.engine.llama_model import LlamaBackend
from app.engine.prompt_size import PromptTooLong
from app.engine.tokenizer import prepare
from tests.engine.harness import GREEDY, ids_of
from tests.engine.test_loop import run
from tests.ggufs_kinds import write_tiny_plain

CELLS = 768
QUARTER = CELLS // 4
LIMIT = 8
SYSTEM = PromptMessage("system", "You answer in a few plain words.")
THINGS = ("the sky", "a river", "bread", "the moon", "iron", "a violin", "glass", "snow", "a bee", "salt")


class Told(NamedTuple):
    """What one question came to."""

    prompt: list[int]
    from_cache: int
    dropped: tuple[int, ...]
    done: Finished


class Talk:
    """One conversation that grows by a question and its answer."""

    def __init__(self, backend: LlamaBackend, when_full: WhenFull) -> None:
        backend.remove(0, 0)
        self.backend = backend
        self.cache = KVCache(backend)
        self.when_full = when_full
        self.messages = [SYSTEM]

    def ask(self, number: int, limit: int = LIMIT) -> Told:
        question = f"{number}: what is {THINGS[number % len(THINGS)]} made of?"
        asked = [*self.messages, PromptMessage("user", question)]
        settings = msgspec.structs.replace(GREEDY, max_tokens=limit)
        events = run(
            self.backend, ChatPrompt(tuple(asked)), settings, cache=self.cache, when_full=self.when_full, record="off"
        )
        ready, done = events[0], events[-1]
        assert isinstance(ready, PromptReady) and isinstance(done, Finished)
        self.messages = [*asked, PromptMessage("assistant", done.text, done.ids)]
        return Told(ids_of(ready.ids), ready.from_cache, ready.dropped, done)

    def tokens(self, messages: Sequence[PromptMessage]) -> int:
        return len(prepare(ChatPrompt(tuple(messages)), self.backend.vocabulary).ids)

    def by_the_rule(self, messages: Sequence[PromptMessage], reserve: int) -> tuple[int, ...]:
        """The messages that go: as many whole turns as free the blocks that are missing."""
        whole = self.tokens(messages)
        blocks = -(-max(whole + reserve - CELLS, 0) // QUARTER)
        last = len(messages) - 2
        gone = next(
            gone
            for gone in range(0, last + 1, 2)
            if whole - self.tokens([SYSTEM, *messages[1 + gone :]]) >= blocks * QUARTER or gone == last
        )
        return tuple(range(1, 1 + gone))


@pytest.fixture(scope="module")
def small(llama_log: LogCapture, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LlamaBackend]:
    """A small model: what goes and what stays is a matter of how many tokens there are, not of what they say."""
    path = write_tiny_plain(tmp_path_factory.mktemp("small") / "small.gguf")
    backend = LlamaBackend(str(path), LoadOptions(context=CELLS, threads=2), llama_log, lambda _: True)
    yield backend
    backend.close()


def evaluated_of_new(before: Told, now: Told) -> int:
    """Tokens that the chat grew by; the last one sampled was never evaluated."""
    return len(now.prompt) - len(before.prompt) - before.done.metrics.sampled_tokens + 1


def test_thirty_turns_that_drop_the_oldest_evaluate_only_what_is_new_between_two_blocks(small: LlamaBackend) -> None:
    talk = Talk(small, "drop_oldest")
    turns: list[Told] = []
    for number in range(30):
        held = np.array(talk.cache.ids)
        turn = talk.ask(number)
        turns.append(turn)
        assert turn.dropped == talk.by_the_rule(talk.messages[:-1], LIMIT)
        assert len(turn.prompt) + LIMIT <= CELLS
        assert turn.from_cache == common_prefix(held, np.asarray(turn.prompt, np.int32))
        assert turn.done.stop_reason in ("end", "length")
        kept = [message for index, message in enumerate(talk.messages[:-1]) if index not in turn.dropped]
        assert turn.prompt == prepare(ChatPrompt(tuple(kept)), small.vocabulary).ids
        assert (kept[0], kept[-1]) == (SYSTEM, talk.messages[-2])
    drops = [number for number, (before, now) in enumerate(pairwise(turns), 1) if before.dropped != now.dropped]
    whole = talk.tokens(talk.messages[:-1])
    assert abs(len(drops) - (whole + LIMIT - CELLS) / QUARTER) <= 1
    for number, (before, now) in enumerate(pairwise(turns), 1):
        evaluated = len(now.prompt) - now.from_cache
        if number in drops:
            freed = len(before.prompt) + before.done.metrics.sampled_tokens - len(now.prompt)
            assert evaluated > evaluated_of_new(before, now) and freed > 0
        else:
            assert evaluated == evaluated_of_new(before, now) < 60
    assert len(drops) <= 6
    print(f"dropped at {drops}; evaluated {[len(turn.prompt) - turn.from_cache for turn in turns]}")


def test_thirty_turns_that_stop_end_in_words_with_the_numbers_and_lose_nothing(small: LlamaBackend) -> None:
    talk = Talk(small, "stop")
    before: Told | None = None
    refused = 0
    for number in range(30):
        held, messages = list(talk.cache.ids), list(talk.messages)
        try:
            turn = talk.ask(number)
        except PromptTooLong as error:
            refused += 1
            asked = [*talk.messages, PromptMessage("user", f"{number}: what is {THINGS[number % 10]} made of?")]
            told = error.sentence.english()
            assert str(talk.tokens(asked)) in told and str(CELLS) in told and "Drop the oldest turns" in told
            assert (list(talk.cache.ids), talk.messages) == (held, messages)
            continue
        assert turn.dropped == () and not refused
        assert len(turn.prompt) < CELLS
        assert before is None or len(turn.prompt) - turn.from_cache == evaluated_of_new(before, turn)
        before = turn
    assert before is not None and 8 <= 30 - refused <= 22
    talk.when_full = "drop_oldest"
    after = talk.ask(99)
    assert after.dropped and after.done.text


def test_a_chat_of_hundreds_of_messages_goes_on_in_a_small_context(small: LlamaBackend) -> None:
    talk = Talk(small, "drop_oldest")
    for number in range(300):
        text = f"It is made of thing {number}."
        ids = np.asarray(small.vocabulary.tokenize(text, special=False), "<i4").tobytes()
        talk.messages += [PromptMessage("user", f"{number}: what is it?"), PromptMessage("assistant", text, ids)]
    turns = [talk.ask(number, 2) for number in range(300, 310)]
    drops = sum(before.dropped != now.dropped for before, now in pairwise(turns))
    grown = sum(evaluated_of_new(before, now) for before, now in pairwise(turns) if before.dropped == now.dropped)
    assert drops <= 2 + grown / QUARTER * 1.5
    for before, now in pairwise(turns):
        assert now.dropped[0] == 1 and CELLS - QUARTER - 60 < len(now.prompt) <= CELLS - 2
        if before.dropped == now.dropped:
            assert len(now.prompt) - now.from_cache == evaluated_of_new(before, now) < 60

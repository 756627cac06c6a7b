"""Walks at random through chats on models of every kind of memory: no answer shows what the cache held before."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from app.core.events import Finished, PrefillProgress, PromptReady, Tokens
from app.engine.llama import LogCapture
from tests.engine.empty_cache import EmptyCache, assert_as_from_empty
from tests.engine.exchanges import (
    CONTEXT,
    OPTIONS,
    WRITERS,
    Exchange,
    as_prompt,
    exchange,
    exchanged,
    limited,
    tokens,
)
from tests.engine.harness import Engine

STEPS = 30
FEWER_STEPS = 12
NEAR = 0.02
"""Rounding in other batches was at most 0.013 apart; another beginning of a prompt is 0.3 apart and more."""
CANCELLED_AFTER = (PromptReady, PrefillProgress, Tokens)


class Walk:
    """Prompts that go on, change somewhere, are answered again, are cancelled, or go back to an older branch."""

    def __init__(self, engine: Engine, seed: int) -> None:
        self._engine = engine
        self._random = Random(seed)
        self._branches: list[list[int]] = []
        self._now = self._new(100, 400)
        """The conversation so far, the last answer included."""
        self._asked = self._now
        self.taken: list[str] = []

    def step(self) -> Exchange:
        """Take one step and return its prompt and answer."""
        steps = {"extend": 8, "edit": 8, "regenerate": 4, "cancel": 6, "older": 5, "anew": 1}
        kind = self._random.choices(list(steps), list(steps.values()))[0]
        self.taken.append(kind)
        self._asked = self._prompt(kind)
        settings = limited(self._random.randint(1, 24))
        if kind == "cancel":
            got = self._cancelled()
        else:
            got = exchange(self._engine, as_prompt(self._asked), settings)
        if got.ids:
            self._branches.append(self._now)
            self._now = got.ids + got.answer
        return got

    def _prompt(self, kind: str) -> list[int]:
        if kind == "regenerate":
            return self._asked
        start = self._start(kind)
        most = CONTEXT - 64 - len(start)
        if most < 80:
            start = start[: self._random.randrange(CONTEXT // 2)]
            most = CONTEXT - 64 - len(start)
        return start + self._new(1, min(most, 600 if kind == "cancel" else 150))

    def _start(self, kind: str) -> list[int]:
        """Return what a new prompt begins with."""
        if kind == "edit":
            return self._now[: self._random.randrange(len(self._now))]
        if kind == "older" and self._branches:
            branch = self._random.choice(self._branches)
            return branch[: len(branch) - self._random.choice((0, 0, 1, 30))]
        return [] if kind == "anew" else self._now

    def _new(self, least: int, most: int) -> list[int]:
        return tokens(self._random.randint(least, most), self._random.randrange(1 << 30))

    def _cancelled(self) -> Exchange:
        """Send a prompt and cancel it in some phase; it may be over by then."""
        request = self._engine.start(as_prompt(self._asked), limited(60))
        after = self._random.choice((None, *CANCELLED_AFTER))
        if after is not None:
            self._engine.wait(after, request=request)
        self._engine.cancel(request)
        return exchanged(self._engine, self._engine.wait(Finished, request=request))


@pytest.mark.parametrize("steps", [FEWER_STEPS, pytest.param(STEPS, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("seed", "checkpoints"), [(1, 8), (2, 2)])
@pytest.mark.parametrize("kind", list(WRITERS))
def test_every_answer_of_a_walk_is_the_one_from_an_empty_cache(
    tmp_path: Path, llama_log: LogCapture, kind: str, seed: int, checkpoints: int, steps: int
) -> None:
    path = WRITERS[kind](tmp_path / "model.gguf")
    gap, reused = 0.0, 0
    with Engine() as engine, EmptyCache(path, CONTEXT) as empty:
        engine.load(path, **{**OPTIONS, "checkpoints": checkpoints})
        walk = Walk(engine, seed)
        for _ in range(steps):
            got = walk.step()
            if got.answer:
                expected = empty.log_probabilities(got.ids, got.answer)
                gap = max(gap, assert_as_from_empty(got.records, expected, NEAR))
            assert got.kv.checkpoints <= (0 if kind == "plain" else checkpoints)
            if len(walk.taken) > 1 and walk.taken[-1] == "regenerate" and walk.taken[-2] != "cancel":
                assert got.evaluated == 1
            reused += got.from_cache
    print(f"{kind}: at most {gap:.4f} apart, {reused} tokens reused in {len(walk.taken)} steps")
    assert reused > 0

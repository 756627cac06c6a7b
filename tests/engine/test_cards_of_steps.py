"""The cards of the laboratory say what the engine drew: on the real model, for stages in any order and switched off."""

from __future__ import annotations

from array import array

import msgspec
import numpy as np
import pytest

from app.core.events import PromptReady, Step, Tokens
from app.core.sampling import STAGES, SamplingSettings
from app.engine import joiner, loop
from app.engine.kv_cache import KVCache
from app.engine.llama_model import LlamaBackend
from app.probability.cards import Draws, StepCards
from app.probability.record import join_blocks, read_records
from tests.engine.harness import user
from tests.engine.test_loop import run

SEED = 11
WIDE = SamplingSettings(temperature=1.3, top_k=60, top_p=0.97, min_p=0.01, seed=SEED, max_tokens=10)
CASES = {
    "as they are": WIDE,
    "turned round": msgspec.structs.replace(WIDE, order=tuple(reversed(STAGES))),
    "temperature first": msgspec.structs.replace(WIDE, order=("temperature", *STAGES[:-1]), typical_p=0.9),
    "switched off": msgspec.structs.replace(WIDE, off=("top_k", "temperature"), repeat_penalty=1.3),
    "penalties last": msgspec.structs.replace(
        WIDE, order=(*STAGES[2:], "dry", "penalties"), presence_penalty=0.8, penalty_last_n=-1
    ),
    "XTC": msgspec.structs.replace(WIDE, order=("xtc", *STAGES[:6], "temperature"), xtc_probability=0.6),
}
QUESTION = user("Repeat after me: the sea, the sea, the sky, the sea and the sky.")


@pytest.fixture(autouse=True)
def _every_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the engine tell every step."""
    monkeypatch.setattr(loop, "STEP_NS", 0)
    monkeypatch.setattr(joiner, "JOIN_NS", 0)


@pytest.mark.parametrize("name", CASES)
def test_the_needle_falls_on_the_token_that_the_engine_drew(starter_backend: LlamaBackend, name: str) -> None:
    settings = CASES[name].validated()
    starter_backend.remove(0, 0)
    events = run(starter_backend, QUESTION, settings, cache=KVCache(starter_backend), watched=True, whole=True)
    prompt = next(event.ids for event in events if isinstance(event, PromptReady))
    tokens = [event for event in events if isinstance(event, Tokens)]
    drawn = array("i", b"".join(event.ids for event in tokens)).tolist()
    records = read_records(join_blocks([event.record for event in tokens]))
    steps = [event for event in events if isinstance(event, Step)]
    assert len(steps) == len(drawn) == 10
    for step in steps:
        before = np.array([*memoryview(prompt).cast("i"), *drawn[: step.token]], np.int32)
        cards = StepCards(np.frombuffer(step.logits, "<f4"), before, Draws(SEED, step.token)).of(settings)
        found = cards.draw.drawn
        assert found is not None and found.token == drawn[step.token]
        assert found.end - found.begin == pytest.approx(float(records.probability_after[step.token]), abs=1e-4)

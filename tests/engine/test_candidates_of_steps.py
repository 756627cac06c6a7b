"""What the window works out from a step is what the engine drew from: on the real model, under many settings."""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec
import pytest

from app.core.events import Event, Finished, Loaded, PromptReady, Step, Tokens
from app.core.sampling import PRESETS, SamplingSettings
from app.engine import joiner, loop
from app.engine.kv_cache import KVCache
from app.engine.llama_model import LlamaBackend
from app.engine.pieces import pieces_of
from app.probability.record import join_blocks, read_records
from app.services.next_token import CandidatesView
from tests.engine.harness import user
from tests.engine.test_going_on import open_prompt
from tests.engine.test_loop import run
from tests.onlooker import Onlooker

ALL = SamplingSettings(top_k=0, top_p=1.0, min_p=0.0, seed=3)
CASES = {
    **{name: msgspec.structs.replace(preset, seed=7) for name, preset in PRESETS.items()},
    "plain": msgspec.structs.replace(ALL, temperature=1.0),
    "top-p alone": msgspec.structs.replace(ALL, top_p=0.8),
    "penalties": SamplingSettings(repeat_penalty=1.3, frequency_penalty=0.4, penalty_last_n=-1, seed=2),
    "penalties over everything": msgspec.structs.replace(ALL, repeat_penalty=1.2, presence_penalty=0.5),
    "a penalty that raises": SamplingSettings(repeat_penalty=0.8, seed=4),
    "DRY": SamplingSettings(dry_multiplier=2.0, dry_allowed_length=1, top_k=0, seed=5),
    "typical": msgspec.structs.replace(ALL, typical_p=0.7),
    "XTC": msgspec.structs.replace(ALL, xtc_probability=0.5, xtc_threshold=0.05, min_p=0.02),
    "XTC and penalties": SamplingSettings(repeat_penalty=1.1, xtc_probability=0.9, xtc_threshold=0.02, seed=9),
}
QUESTION = user("Repeat after me: the sea, the sea, the sea, the sky, the sea, the sea and the sky.")


def watched_run(backend: LlamaBackend, settings: SamplingSettings) -> list[Event]:
    """Run an answer of some tokens with somebody looking at every step."""
    backend.remove(0, 0)
    limited = msgspec.structs.replace(settings, max_tokens=12)
    return run(backend, QUESTION, limited, cache=KVCache(backend), watched=True)


def seen(backend: LlamaBackend, settings: SamplingSettings, events: Sequence[Event]) -> list[CandidatesView]:
    """Return what somebody who looks was shown at every step, the last one with all that is known at the end."""
    onlooker = Onlooker(settings)
    info = msgspec.structs.replace(backend.info, tokenizer="starter")
    onlooker.load(Loaded(1, info), pieces_of(backend.vocabulary, "starter", 0, 1 << 20))
    views = []
    for event in events:
        if isinstance(event, PromptReady):
            onlooker.session.sent.emit(event.request, 0)
        if isinstance(event, (PromptReady, Tokens, Step, Finished)):
            onlooker.session.answer_told.emit(event)
        if isinstance(event, Step):
            views.append(onlooker.view)
    return [*views[:-1], onlooker.view]


@pytest.fixture(autouse=True)
def _every_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the engine tell every step, not ten a second."""
    monkeypatch.setattr(loop, "STEP_NS", 0)
    monkeypatch.setattr(joiner, "JOIN_NS", 0)
    monkeypatch.setattr("app.engine.pieces.MOST_PIECES", 1 << 20)


@pytest.mark.parametrize("name", CASES)
def test_the_drawn_token_has_the_probability_that_the_draw_saw(starter_backend: LlamaBackend, name: str) -> None:
    settings = CASES[name]
    events = watched_run(starter_backend, settings)
    records = read_records(join_blocks([event.record for event in events if isinstance(event, Tokens)]))
    views = seen(starter_backend, settings, events)
    assert len(views) == len(records) == 12
    assert views[-1].is_exact, views[-1].doubt
    for place, view in enumerate(views):
        row = next(row for row in view.rows if row.is_drawn)
        if row.rank is None:
            assert records.rank[place] > 1024 and place < 11  # the rest of the row comes at the end
            continue
        assert row.token == records.tokens[place] and row.cut_by is None
        assert row.raw == pytest.approx(math.exp(records.log_probability[place]), rel=1e-3)
        if view.is_exact:
            assert row.after == pytest.approx(float(records.probability_after[place]), rel=1e-4, abs=1e-7)
        else:
            assert row.after == pytest.approx(float(records.probability_after[place]), rel=0.2)


def test_xtc_is_decided_as_the_engine_decided_it(starter_backend: LlamaBackend) -> None:
    settings = CASES["XTC"]
    views = seen(starter_backend, settings, watched_run(starter_backend, settings))
    acted = [any(row.cut_by == "xtc" for row in view.rows) for view in views]
    assert set(acted) == {True, False}


def test_an_answer_that_goes_on_is_counted_from_its_beginning(starter_backend: LlamaBackend) -> None:
    settings = CASES["XTC"]
    whole = watched_run(starter_backend, settings)
    first = whole[-1]
    assert isinstance(first, Finished)
    later = {}
    starter_backend.remove(0, 0)
    cache, prompt = KVCache(starter_backend), open_prompt(first)
    for tokens in range(1, 7):
        goes_on = msgspec.structs.replace(settings, max_tokens=tokens)
        events = run(starter_backend, prompt, goes_on, cache=cache, watched=True, first_token=len(first.ids) // 4)
        view = seen(starter_backend, settings, events)[-1]
        records = read_records(join_blocks([event.record for event in events if isinstance(event, Tokens)]))
        drawn = next(row for row in view.rows if row.is_drawn)
        assert view.is_exact
        assert drawn.after == pytest.approx(float(records.probability_after[-1]), rel=1e-4)
        later[tokens] = any(row.cut_by == "xtc" for row in view.rows)
    assert len(set(later.values())) == 2, later

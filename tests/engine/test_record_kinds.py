"""What is kept of every token: all of it, only what was chosen, or nothing; and steps that come after their tokens."""

from __future__ import annotations

import numpy as np
import pytest

from app.core.commands import RecordKind
from app.core.events import Step, Tokens
from app.engine import joiner, loop
from app.engine.kv_cache import KVCache
from app.engine.llama_model import LlamaBackend
from app.probability.record import TokenRecords, join_blocks, read_records
from tests.engine.harness import GREEDY
from tests.engine.test_loop import run, scripted


def records(kind: RecordKind) -> TokenRecords:
    """Return what is recorded of the scripted answer."""
    events = run(scripted(), record=kind)
    return read_records(join_blocks([event.record for event in events if isinstance(event, Tokens)]))


def test_a_record_of_what_was_chosen_has_no_alternatives_and_is_else_the_same() -> None:
    full, chosen = records("all"), records("chosen")
    assert len(chosen) == len(full) > 10
    assert full.alternative_ids.size >= 8 * len(full)
    assert chosen.alternative_ids.size == 0
    assert chosen.alternatives(3)[0].size == 0
    for column in ("tokens", "flags", "log_probability", "probability_after", "rank", "entropy", "log_sum_exp"):
        np.testing.assert_array_equal(getattr(chosen, column), getattr(full, column))


def test_a_record_of_what_was_chosen_is_a_small_part_of_the_whole() -> None:
    sizes = {}
    for kind in ("all", "chosen", "off"):
        events = run(scripted(), record=kind)
        sizes[kind] = sum(len(event.record) for event in events if isinstance(event, Tokens))
    assert sizes["off"] == 0 < sizes["chosen"] < sizes["all"] / 1.5


@pytest.mark.parametrize("kind", ["all", "chosen", "off"])
def test_the_answer_does_not_depend_on_what_is_kept(starter_backend: LlamaBackend, kind: RecordKind) -> None:
    starter_backend.remove(0, 0)
    events = run(starter_backend, None, GREEDY, cache=KVCache(starter_backend), record=kind, first_token=0)
    ids = b"".join(event.ids for event in events if isinstance(event, Tokens))
    assert len(ids) > 40
    assert kind != "all" or ids
    blocks = [event.record for event in events if isinstance(event, Tokens)]
    if kind != "off":
        assert read_records(join_blocks(blocks)).tokens.astype("<i4").tobytes() == ids


def test_who_looks_knows_every_token_up_to_the_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "STEP_NS", 0)
    monkeypatch.setattr(joiner, "JOIN_NS", 0)
    known = steps = 0
    for event in run(scripted(), watched=True):
        if isinstance(event, Tokens):
            known = event.first + event.count
        elif isinstance(event, Step):
            steps += 1
            assert event.token == known - 1
    assert steps > 10

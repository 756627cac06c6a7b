"""The vocabulary is asked about in chunks: whoever stops is heard between two of them, and a slow mask is given up."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from app.core.events import Event, GrammarMask, Held, LaneFinished, Step
from app.core.grammar import Grammar
from app.core.grammar_check import gbnf_of
from app.core.sampling import SamplingSettings
from app.engine import grammar as asking
from app.engine.control import Control
from app.engine.grammar import GrammarFit, StoppedAsking
from app.engine.kv_cache import KVCache
from app.engine.llama import LlamaCandidates
from app.engine.llama_grammar import LlamaGrammar
from app.engine.llama_model import LlamaBackend
from app.engine.sampling import Sampler
from app.probability.row import RowReader
from tests.engine.comparisons import compare
from tests.engine.grammars import FOREIGN, LIST, PERSON, YES_OR_NO, free, native, natively_fitting, tell, with_grammar
from tests.engine.harness import GREEDY, ids_of, user
from tests.engine.test_loop import finished, run

SLOW = Grammar("gbnf", "root ::= " + "[a-z ]? " * 8)
"""Twenty times the cost of an ordinary grammar."""
WHOLE = SamplingSettings(top_k=0, seed=5, max_tokens=8)


def counted(patch: pytest.MonkeyPatch) -> list[int]:
    """Return where the sizes of chunks come from now on."""
    sizes: list[int] = []
    native_apply = LlamaGrammar.apply

    def apply(stage: LlamaGrammar, candidates: LlamaCandidates) -> None:
        size = len(candidates.survivors()[0])
        if size > 1:
            sizes.append(size)
        assert len(sizes) <= 2 or size == 1, "nobody heard that it was stopped"
        native_apply(stage, candidates)

    patch.setattr(LlamaGrammar, "apply", apply)
    return sizes


@pytest.mark.parametrize("grammar", [YES_OR_NO, LIST, FOREIGN, PERSON, SLOW])
@pytest.mark.parametrize("sizes", [(1, 1000), (7, 3000), (64, 1 << 20)])
def test_chunks_of_any_size_leave_what_llama_cpp_leaves(
    starter_backend: LlamaBackend, monkeypatch: pytest.MonkeyPatch, grammar: Grammar, sizes: tuple[int, int]
) -> None:
    monkeypatch.setattr(asking, "PROBED", sizes[0])
    monkeypatch.setattr(asking, "LARGEST_CHUNK", sizes[1])
    row = np.random.default_rng(7).normal(0, 4, starter_backend.vocabulary.size).astype(np.float32)
    fit, judge = GrammarFit(starter_backend, grammar, []), native(starter_backend, gbnf_of(grammar))
    for _ in range(2):
        ids, logits = fit.fitting(row)
        expected_ids, expected = natively_fitting(starter_backend, judge, row)
        np.testing.assert_array_equal(ids, expected_ids)
        np.testing.assert_array_equal(logits, expected)
        token = int(ids[logits.argmax()])
        if starter_backend.vocabulary.is_end(token):
            break
        fit.accept(token)
        tell(judge, [token])
    fit.close()
    free(judge)


def test_who_stops_is_heard_between_two_chunks(
    starter_backend: LlamaBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = counted(monkeypatch)
    row = np.zeros(starter_backend.vocabulary.size, np.float32)
    facts = RowReader(len(row)).read(row)
    for settings, asked in ((WHOLE, 2), (GREEDY, 1)):  # the few likeliest are one chunk behind the probe
        sizes.clear()
        grammar = with_grammar(settings, YES_OR_NO)
        sampler = Sampler(starter_backend, grammar, 1, [], stopped=lambda asked=asked: len(sizes) == asked)  # type: ignore[misc]
        with pytest.raises(StoppedAsking):
            sampler.draw(row, facts, 0)
        assert len(sizes) == asked
        sampler.close()


def test_stop_ends_an_answer_that_asks_about_the_whole_vocabulary(
    starter_backend: LlamaBackend, cache: KVCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = counted(monkeypatch)
    monkeypatch.setattr(Control, "is_cancelled", lambda control: len(sizes) > 0)
    monkeypatch.setattr(Control, "is_stopped", lambda control, lane: lane == 0 and len(sizes) > 0)
    done = finished(run(starter_backend, user("Hi"), with_grammar(WHOLE, SLOW), cache=cache))
    assert (done.stop_reason, ids_of(done.ids), done.notes) == ("cancelled", [], ())
    assert len(sizes) == 1
    sizes.clear()
    monkeypatch.setattr(Control, "is_cancelled", lambda control: False)
    told = compare(starter_backend, cache, [with_grammar(WHOLE, SLOW), msgspec.structs.replace(GREEDY, max_tokens=3)])
    assert [told.lane(lane).finished.stop_reason for lane in (0, 1)] == ["cancelled", "length"]
    assert len(told.all(LaneFinished)) == 2
    assert len(sizes) == 1


def test_a_mask_that_takes_too_long_is_given_up_and_the_draw_is_the_same(
    starter_backend: LlamaBackend, cache: KVCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = with_grammar(
        SamplingSettings(top_k=5, seed=2, max_tokens=4), Grammar("gbnf", SLOW.text + "[a-z ]? " * 8)
    )
    alone = finished(run(starter_backend, user("Hi"), settings, cache=cache))
    monkeypatch.setattr(asking, "MASK_NS", -1)
    seen: list[Event] = run(starter_backend, user("Hi"), settings, cache=cache, watched=True)
    assert finished(seen).ids == alone.ids
    steps = [event for event in seen if isinstance(event, Step | Held)]
    assert steps
    assert all(step.grammar == GrammarMask(None, b"") for step in steps)
    monkeypatch.undo()
    fit = GrammarFit(starter_backend, YES_OR_NO, [])
    row = np.zeros(starter_backend.vocabulary.size, np.float32)
    mask = fit.mask(row)
    assert mask.masked == len(row) - 5
    fit.close()

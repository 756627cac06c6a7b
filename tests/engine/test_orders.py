"""The engine's chain in any order of its stages is llama.cpp's own samplers in that order, built by hand."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from app.core.sampling import STAGES, SamplingSettings
from app.engine.llama_model import LlamaBackend
from app.engine.sampling import Sampler
from app.probability.candidates import Candidates, weights_of
from app.probability.draw import XTC_STREAM, draw, uniform
from app.probability.record import NO_DRAW
from app.probability.row import RowReader
from tests.examples import examples
from tests.probability import native
from tests.probability.cuts import is_undecided

PROMPT = [1, 9690, 198, 2683, 359, 253, 5356, 5646, 11173, 2, 198]
SEED = 7
Row = npt.NDArray[np.float32]


@pytest.fixture(scope="module")
def real_row(starter_backend: LlamaBackend) -> Row:
    starter_backend.remove(0, 0)
    starter_backend.decode(PROMPT, 0, sequence=0, logits=True)
    return starter_backend.logits().copy()


@pytest.fixture(scope="module")
def starter() -> Iterator[native.StarterVocabulary]:
    vocabulary = native.StarterVocabulary()
    yield vocabulary
    vocabulary.close()


@st.composite
def any_chain(draw_: st.DrawFn) -> SamplingSettings:
    """Draw settings with any order, of which often all stages do something."""
    return SamplingSettings(
        temperature=draw_(st.sampled_from([0.0, 0.4, 0.9, 1.0, 1.8])),
        top_k=draw_(st.sampled_from([0, 4, 40, 300, 2000])),
        top_p=draw_(st.sampled_from([0.3, 0.8, 0.97, 1.0])),
        min_p=draw_(st.sampled_from([0.0, 0.003, 0.05, 0.3])),
        typical_p=draw_(st.sampled_from([0.4, 0.9, 1.0])),
        repeat_penalty=draw_(st.sampled_from([1.0, 1.3, 0.7])),
        presence_penalty=draw_(st.sampled_from([0.0, 0.8, -0.8])),
        penalty_last_n=draw_(st.sampled_from([-1, 5, 64])),
        dry_multiplier=draw_(st.sampled_from([0.0, 1.5])),
        dry_sequence_breakers=draw_(st.sampled_from([(), ("\n", ":")])),
        xtc_probability=draw_(st.sampled_from([0.0, 0.5, 1.0])),
        xtc_threshold=draw_(st.sampled_from([0.02, 0.1])),
        order=tuple(draw_(st.permutations(STAGES))),
        off=draw_(st.just(()) | st.lists(st.sampled_from(STAGES), unique=True, max_size=2).map(tuple)),
    )


def row_like(real_row: Row, seed: int) -> Row:
    """Return a row that a model may give: the real one, sharper or flatter, with some noise and a few spikes."""
    chance = np.random.default_rng(seed)
    row = real_row * chance.choice([0.4, 1.0, 1.6]) + chance.choice([0.0, 0.3]) * chance.standard_normal(
        real_row.size
    )
    row[chance.integers(0, row.size, 6)] = row.max() - chance.exponential(2.0, 6)
    found: Row = row.astype(np.float32)
    return found


def history_like(row: Row, seed: int) -> list[int]:
    """Return tokens before the step that are likely again, and some that repeat themselves."""
    chance = np.random.default_rng(seed)
    likely = np.argsort(-row)[: chance.integers(1, 60)]
    return [int(token) for token in (*PROMPT, *chance.choice(likely, chance.integers(0, 80)))]


def by_hand(
    row: Row, s: SamplingSettings, history: list[int], position: int, starter: native.StarterVocabulary
) -> Candidates:
    """Run llama.cpp's samplers one after another; a row on which float32 cannot say where one cuts is passed over."""
    left = native.whole_row(row)
    for name, sampler in native.samplers(s, starter, row.size).items():
        if name == "xtc" and uniform(SEED, position, XTC_STREAM) >= s.xtc_probability:
            continue
        is_idle = (name, getattr(s, f"{name}_p" if name == "typical" else name, None)) in (
            ("min_p", 0.0),
            ("top_p", 1.0),
            ("typical", 1.0),
        )
        assume(is_idle or not is_undecided(name, s, left))
        left = native.apply(sampler, left, history)
    return left


@examples(600)
@given(s=any_chain(), seed=st.integers(0, 2**32 - 1), position=st.integers(0, 99))
def test_the_chain_is_llama_cpps_samplers_in_the_order_of_the_settings(
    real_row: Row,
    starter_backend: LlamaBackend,
    starter: native.StarterVocabulary,
    s: SamplingSettings,
    seed: int,
    position: int,
) -> None:
    row = row_like(real_row, seed)
    history = history_like(row, seed)
    expected = by_hand(row, s, history, position, starter)
    sampler = Sampler(starter_backend, s, SEED, history)
    choice = sampler.draw(row, RowReader(row.size).read(row), position)
    sampler.close()
    if s.is_greedy:
        assert (choice.probability, choice.flags) == (1.0, NO_DRAW)
        assert choice.token == expected.ids[expected.logits > -np.inf].min()
        return
    ids, logits = sampler._candidates.survivors()
    ours, theirs = np.argsort(ids), np.argsort(expected.ids)
    assert ids[ours].tolist() == expected.ids[theirs].tolist()
    shares = [weights_of(values) / weights_of(values).sum() for values in (logits[ours], expected.logits[theirs])]
    np.testing.assert_allclose(shares[0], shares[1], rtol=1e-5, atol=1e-9)
    drawn = draw(expected.ids, expected.logits, uniform(SEED, position))
    assert choice.token == drawn.token
    assert choice.probability == pytest.approx(drawn.probability, rel=1e-5)


FLAT = SamplingSettings(top_k=40, top_p=1.0, min_p=0.0, xtc_threshold=0.02)


@pytest.mark.parametrize(
    ("changes", "is_short"),
    [
        ({}, True),
        ({"order": ("temperature", *STAGES[:-1])}, True),
        ({"order": ("top_p", *STAGES)}, True),  # it is open, so that it does nothing
        ({"top_p": 0.9, "order": ("top_p", "top_k")}, False),
        ({"min_p": 0.1, "order": ("min_p", "top_k")}, True),
        ({"typical_p": 0.9, "order": ("typical", "top_k")}, False),
        ({"xtc_probability": 1.0, "order": ("xtc", "top_k")}, False),
        ({"off": ("top_k",)}, False),
        ({"repeat_penalty": 1.2}, True),
        ({"repeat_penalty": 0.8}, False),
        ({"repeat_penalty": 0.8, "order": ("top_k", "penalties")}, True),
        ({"repeat_penalty": 0.8, "off": ("penalties",)}, True),
        ({"temperature": 0.0, "off": ("temperature",)}, True),
        ({"temperature": 0.0}, False),
    ],
)
def test_the_largest_logits_are_enough_only_where_nothing_before_top_k_sums_or_raises(
    real_row: Row, starter_backend: LlamaBackend, changes: dict[str, object], is_short: bool
) -> None:
    s = msgspec.structs.replace(FLAT, **changes).validated()
    sampler = Sampler(starter_backend, s, SEED, PROMPT)
    assert (sampler._enough() is not None) is is_short
    sampler.close()


def test_an_order_that_is_moved_while_an_answer_is_written_holds_from_the_next_draw_on(
    real_row: Row, starter_backend: LlamaBackend
) -> None:
    best = int(real_row.argmax())
    usual = SamplingSettings(top_k=1, top_p=1.0, min_p=0.0, presence_penalty=2.0, frequency_penalty=2.0)
    facts = RowReader(real_row.size).read(real_row)
    sampler = Sampler(starter_backend, usual, SEED, [best] * 20)
    assert sampler.draw(real_row, facts, 0).token != best, "the penalties come before top-k"
    sampler.change(msgspec.structs.replace(usual, order=("top_k", "penalties")))
    assert sampler.draw(real_row, facts, 1).token == best, "top-k has left nobody else"
    sampler.change(msgspec.structs.replace(usual, off=("penalties",)))
    assert sampler.draw(real_row, facts, 2).token == best
    sampler.change(usual)
    assert sampler.draw(real_row, facts, 3).token != best, "the tokens before are still known"
    sampler.close()

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.sampling import SamplingSettings
from app.probability.candidates import Candidates
from app.probability.dry import Breakers, DryRule, apply_dry, find_breakers
from tests.examples import examples
from tests.probability import native

TEXTS = ("\n", ":", '"', " the", "ab", "e\n", "<|im_end|>", "é", "once upon a time there was a king and a queen")
TEXT = (
    b'once upon a time there was a king and a queen: "ab ab ab"\n\nthe the the the\xc3\xa9\xc3\xa9 once upon a time'
    b" there was a\nking and a king and a king and a"
)
RULES = st.builds(
    DryRule,
    multiplier=st.sampled_from([0.5, 0.8, -1.0, 5.0]),
    base=st.sampled_from([1.0, 1.0000005, 1.05, 1.75, 4.0]),
    allowed_length=st.integers(1, 5),
    last_n=st.sampled_from([-1, 1, 5, 20, 500]),
)


def native_dry(
    starter: native.StarterVocabulary, before: Candidates, rule: DryRule, texts: tuple[str, ...], history: list[int]
) -> Candidates:
    s = SamplingSettings(
        dry_multiplier=rule.multiplier,
        dry_base=rule.base,
        dry_allowed_length=rule.allowed_length,
        dry_penalty_last_n=rule.last_n,
        dry_sequence_breakers=texts,
    )
    return native.apply(starter.dry(s, 100_000), before, history)


def assert_same(ours: Candidates, theirs: Candidates) -> None:
    assert ours.ids.tolist() == theirs.ids.tolist()
    np.testing.assert_allclose(ours.logits, theirs.logits, rtol=1e-5, atol=1e-5)


@examples(300)
@given(rule=RULES, seed=st.integers(0, 2**32), variety=st.integers(1, 8), length=st.integers(0, 300))
def test_dry_without_breakers_equals_the_native_stage(
    starter: native.StarterVocabulary, rule: DryRule, seed: int, variety: int, length: int
) -> None:
    chance = np.random.default_rng(seed)
    history = chance.integers(0, variety, length).astype(np.int32)
    before = native.whole_row(chance.standard_normal(20).astype(np.float32))
    assert_same(apply_dry(before, history, rule, Breakers()), native_dry(starter, before, rule, (), history.tolist()))


@pytest.fixture(scope="module")
def found(starter: native.StarterVocabulary) -> dict[tuple[str, ...], Breakers]:
    choices = [("\n", ":", '"', "*"), TEXTS, (" the", "king and"), ("ab",)]
    return {texts: find_breakers(texts, starter.pieces, starter.tokenize) for texts in choices}


@examples(60)
@given(
    rule=RULES, choice=st.integers(0, 3), start=st.integers(0, 20), times=st.integers(1, 3), seed=st.integers(0, 99)
)
def test_dry_with_breakers_equals_the_native_stage(
    starter: native.StarterVocabulary,
    found: dict[tuple[str, ...], Breakers],
    rule: DryRule,
    choice: int,
    start: int,
    times: int,
    seed: int,
) -> None:
    texts = list(found)[choice]
    breakers = found[texts]
    chance = np.random.default_rng(seed)
    heads = np.fromiter(breakers.tails, np.int32)
    tokens = starter.tokenize(TEXT)
    for _ in range(chance.integers(0, 4)):
        head = int(chance.choice(heads))
        place = int(chance.integers(0, len(tokens)))
        tokens[place:place] = [head, *breakers.tails[head][0]]
    history = (tokens * times)[start : len(tokens) * times - int(chance.integers(0, 12))]
    before = native.whole_row(chance.standard_normal(starter.size).astype(np.float32))
    ours = apply_dry(before, np.array(history, np.int32), rule, breakers)
    assert_same(ours, native_dry(starter, before, rule, texts, history))


def test_a_continued_repetition_costs_more_the_longer_it_is() -> None:
    rule = DryRule(multiplier=1.0, base=2.0, allowed_length=2, last_n=-1)
    row = native.whole_row(np.zeros(10, np.float32))
    history = np.array([1, 2, 3, 4, 9, 2, 3, 7, 1, 2, 3], np.int32)
    after = apply_dry(row, history, rule, Breakers()).logits
    assert after.tolist() == [0, 0, 0, 0, -2, 0, 0, -1, 0, 0]


def test_no_match_reaches_over_a_breaker_and_a_breaker_itself_costs_nothing() -> None:
    rule = DryRule(multiplier=1.0, base=2.0, allowed_length=1, last_n=-1)
    row = native.whole_row(np.zeros(10, np.float32))
    breakers = Breakers({5: [()], 6: [(7,)]})
    assert apply_dry(row, np.array([1, 2, 5, 3, 4, 1, 2, 5, 3], np.int32), rule, breakers).logits[4] == -1
    assert not apply_dry(row, np.array([1, 2, 5, 1, 2], np.int32), rule, breakers).logits.any()
    assert apply_dry(row, np.array([6, 8, 2, 4, 6, 8, 2], np.int32), rule, breakers).logits[4] == -4
    assert apply_dry(row, np.array([6, 7, 2, 4, 6, 7, 2], np.int32), rule, breakers).logits[4] == -1


def test_breakers_are_found_inside_tokens_and_across_them() -> None:
    pieces = [b"xab", b"a", b"b", b"zza", b"ba", b""]
    breakers = find_breakers(("ab", ""), pieces, lambda text: [pieces.index(text)])
    assert breakers.tails == {0: [()], 1: [(2,)], 3: [(2,)], 4: [(2,)]}


def test_long_breakers_are_cut_as_the_native_ones_are() -> None:
    assert find_breakers(("a" * 50,), [b"a"], lambda text: [len(text)]).tails == {0: [(39,)]}
    assert find_breakers(("a" * 50,), [b"a"], lambda text: [0] * len(text)).tails == {0: [(0,) * 20]}

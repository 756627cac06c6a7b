from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.probability.row import RowReader, UnusableRow
from tests.examples import examples
from tests.probability.rows import Row
from tests.probability.rows import rows as any_row


def naive_order(row: Row) -> list[int]:
    return sorted(range(row.size), key=lambda token: (-float(row[token]), token))


def naive_facts(row: Row) -> tuple[float, float]:
    wide = row.astype(np.float64)
    wide = wide[np.isfinite(wide)]
    log_sum_exp = wide.max() + np.log(np.exp(wide - wide.max()).sum())
    p = np.exp(wide - log_sum_exp)
    return float(log_sum_exp), float((p * (log_sum_exp - wide)).sum())


def check(row: Row, largest: int = 1024) -> None:
    facts = RowReader(row.size, largest).read(row)
    log_sum_exp, entropy = naive_facts(row)
    assert facts.maximum == row.max()
    assert facts.log_sum_exp == pytest.approx(log_sum_exp, abs=1e-5)
    assert facts.entropy == pytest.approx(entropy, rel=1e-4, abs=1e-4)
    order = naive_order(row)
    assert facts.ids.dtype == np.int32
    assert facts.logits.dtype == np.float32
    assert facts.ids.tolist() == order[:largest]
    assert facts.logits.tolist() == row[order[:largest]].tolist()


@examples(200)
@given(any_row(), st.sampled_from([1, 40, 64, 65, 1024]))
def test_facts_equal_a_naive_reading_of_any_row(row: Row, largest: int) -> None:
    check(row, largest)


def test_facts_equal_a_naive_reading_of_real_rows(rows: npt.NDArray[np.float32]) -> None:
    for row in rows:
        check(row)


@pytest.mark.parametrize("size", [1, 64, 1024, 3073, 49_152, 151_936])
def test_a_constant_row_comes_in_the_order_of_ids(size: int) -> None:
    facts = RowReader(size).read(np.full(size, 2.5, np.float32))
    assert facts.ids.tolist() == list(range(min(size, 1024)))
    assert facts.entropy == pytest.approx(np.log(size), rel=1e-4)
    assert facts.log_sum_exp == pytest.approx(2.5 + np.log(size), abs=1e-5)


def test_a_single_possible_token_has_no_entropy_and_all_the_others_come_behind_it() -> None:
    row = np.full(5000, -np.inf, np.float32)
    row[4321] = -3.0
    facts = RowReader(5000).read(row)
    assert (facts.entropy, facts.maximum) == (0.0, -3.0)
    assert facts.log_sum_exp == pytest.approx(-3.0)
    assert facts.ids[:3].tolist() == [4321, 0, 1]
    assert facts.rank(4999) == 5000


@examples(100)
@given(any_row(), st.lists(st.integers(1, 3000), min_size=1, max_size=4))
def test_any_number_of_top_tokens_can_be_asked_for_in_any_order(row: Row, counts: list[int]) -> None:
    facts = RowReader(row.size).read(row)
    order = naive_order(row)
    for count in counts:
        ids, logits = facts.top(count)
        assert ids.tolist() == order[:count]
        assert logits.tolist() == row[order[:count]].tolist()


@examples(100)
@given(any_row(), st.floats(-40, 40, width=32))
def test_above_gives_every_token_at_or_over_a_logit(row: Row, logit: float) -> None:
    ids, logits = RowReader(row.size).read(row).above(logit)
    wanted = [token for token in naive_order(row) if row[token] >= logit]
    assert ids.tolist() == wanted
    assert logits.tolist() == row[wanted].tolist()


@examples(200)
@given(any_row(), st.data())
def test_rank_counts_larger_logits_and_equal_ones_with_a_lower_id(row: Row, data: st.DataObject) -> None:
    reader = RowReader(row.size)
    facts = reader.read(row)
    token = data.draw(st.integers(0, row.size - 1))
    assert facts.rank(token) == reader.rank(row, token) == naive_order(row).index(token) + 1


def test_a_reader_forgets_the_row_before() -> None:
    reader = RowReader(4000)
    chance = np.random.default_rng(3)
    for _ in range(20):
        row = (chance.standard_normal(4000) * chance.uniform(0.1, 9)).astype(np.float32)
        facts = reader.read(row)
        assert facts.ids.tolist() == naive_order(row)[:1024]
        assert facts.log_sum_exp == pytest.approx(naive_facts(row)[0], abs=1e-5)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("place", [0, 4095, 4999])
def test_a_row_that_is_no_distribution_is_refused(bad: float, place: int) -> None:
    row = np.zeros(5000, np.float32)
    row[place] = bad
    with pytest.raises(UnusableRow):
        RowReader(5000).read(row)


def test_a_row_without_a_possible_token_is_refused() -> None:
    with pytest.raises(UnusableRow):
        RowReader(10).read(np.full(10, -np.inf, np.float32))

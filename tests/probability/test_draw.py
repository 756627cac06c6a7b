from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.probability.draw import GENERATOR_VERSION, XTC_STREAM, draw, uniform
from tests.examples import examples
from tests.probability.rows import Row
from tests.probability.rows import rows as any_row


def naive_span(ids: npt.NDArray[np.int32], logits: Row, token: int) -> tuple[float, float]:
    """Return the numbers between which a token is drawn."""
    order = sorted(range(ids.size), key=lambda place: (-float(logits[place]), int(ids[place])))
    largest = float(logits.max())
    weights = [math.exp(float(logits[place]) - largest) for place in order]
    place = [int(ids[place]) for place in order].index(token)
    total = math.fsum(weights)
    return math.fsum(weights[:place]) / total, math.fsum(weights[: place + 1]) / total


@examples(400)
@given(any_row(), st.floats(0, 1, exclude_max=True), st.integers(0, 2**32))
def test_the_draw_falls_where_a_naive_walk_falls(row: Row, u: float, seed: int) -> None:
    ids = np.random.default_rng(seed).permutation(3 * row.size)[: row.size].astype(np.int32)
    drawn = draw(ids, row, u)
    low, high = naive_span(ids, row, drawn.token)
    assert low - 1e-12 <= u <= high + 1e-12
    assert ids[drawn.index] == drawn.token
    wide = row.astype(np.float64) - row.max()
    assert drawn.probability == pytest.approx(math.exp(wide[drawn.index]) / np.exp(wide).sum(), rel=1e-9)
    assert drawn.probability > 0


def test_the_draw_reaches_to_the_end_of_a_large_flat_row() -> None:
    row = np.zeros(262_144, np.float32)
    ids = np.arange(row.size, dtype=np.int32)[::-1].copy()
    for u in (0.0, 0.25, 0.999, 1 - 2**-53):
        drawn = draw(ids, row, u)
        assert drawn.token == int(u * row.size)
        assert drawn.index == row.size - 1 - drawn.token


@pytest.mark.parametrize("size", [3, 200])
def test_what_is_ruled_out_is_never_drawn(size: int) -> None:
    row = np.full(size, -np.inf, np.float32)
    row[1] = 0.0
    row[2] = -2.0
    ids = np.arange(size, dtype=np.int32)
    assert draw(ids, row, 0.0).token == 1
    assert draw(ids, row, 1 - 2**-53).token == 2


@pytest.mark.parametrize("size", [3, 200])
def test_infinite_logits_share_the_draw(size: int) -> None:
    row = np.zeros(size, np.float32)
    row[:2] = np.inf
    ids = np.arange(size, dtype=np.int32)
    assert draw(ids, row, 0.4).token == 0
    assert draw(ids, row, 0.6).token == 1
    assert draw(ids, row, 0.6).probability == 0.5


def test_equal_logits_are_walked_by_lower_id() -> None:
    ids = np.array([9, 4, 7], np.int32)
    assert [draw(ids, np.zeros(3, np.float32), u).token for u in (0.1, 0.5, 0.9)] == [4, 7, 9]


@pytest.mark.parametrize("size", [2, 64, 100])
def test_a_number_on_the_edge_between_two_tokens_belongs_to_the_second(size: int) -> None:
    drawn = draw(np.arange(size, dtype=np.int32), np.zeros(size, np.float32), 0.5)
    assert drawn.token == size // 2


@pytest.mark.parametrize("size", [4, 100])
def test_rounding_at_the_very_end_draws_what_still_has_mass(size: int) -> None:
    row = np.full(size, -np.inf, np.float32)
    row[:2] = (0.0, -2.0)
    # 1 itself is never drawn; it stands for a product that was rounded up to the whole mass.
    assert draw(np.arange(size, dtype=np.int32), row, 1.0).token == 1


def test_a_single_candidate_is_certain() -> None:
    drawn = draw(np.array([17], np.int32), np.array([-3.0], np.float32), 0.99)
    assert (drawn.token, drawn.index, drawn.probability) == (17, 0, 1.0)


PINNED = [
    ((0, 0, 0), 0.41779284824769514),
    ((0, 1, 0), 0.25175488441604743),
    ((0, 0, 1), 0.4466551244123357),
    ((42, 1000, 0), 0.2895994566625306),
    ((2**32 - 1, 10**6, 1), 0.8690627069237936),
]


@pytest.mark.parametrize(("key", "number"), PINNED)
def test_version_1_gives_these_numbers_on_every_machine(key: tuple[int, int, int], number: float) -> None:
    assert GENERATOR_VERSION == 1
    assert uniform(*key) == number


def test_the_stream_of_the_draw_is_the_default() -> None:
    assert uniform(5, 6) == uniform(5, 6, 0) != uniform(5, 6, XTC_STREAM)


def test_numbers_have_53_bits_and_lie_below_1() -> None:
    numbers = [uniform(1, position) for position in range(5000)]
    assert all(0.0 <= number < 1.0 and (number * 2**53).is_integer() for number in numbers)
    assert any((number * 2**53) % 2 for number in numbers)


def keys(direction: str, count: int) -> list[tuple[int, int, int]]:
    match direction:
        case "position":
            return [(7, n, 0) for n in range(count)]
        case "seed":
            return [(n, 3, 0) for n in range(count)]
        case "both":
            return [(n, n, 0) for n in range(count)]
    return [(n // 2, 0, n % 2) for n in range(count)]


@pytest.mark.parametrize("direction", ["position", "seed", "both", "stream"])
def test_numbers_look_drawn_in_every_direction(direction: str) -> None:
    count = 20_000
    numbers = np.array([uniform(*key) for key in keys(direction, count)])
    assert np.unique(numbers).size == count
    # Chi-square over 100 bins, and over 10 x 10 bins of neighbours: mean 99, standard deviation 14.
    single = np.histogram(numbers, 100, (0, 1))[0]
    pairs = np.histogram2d(numbers[:-1], numbers[1:], 10, ((0, 1), (0, 1)))[0]
    for counts in (single, pairs):
        expected = counts.sum() / 100
        assert 40 < ((counts - expected) ** 2 / expected).sum() < 180
    for lag in (1, 2, 3, 16):
        assert abs(np.corrcoef(numbers[:-lag], numbers[lag:])[0, 1]) < 0.03
    bits = (numbers * 2**53).astype(np.uint64)
    ones = [int(((bits >> np.uint64(bit)) & np.uint64(1)).sum()) for bit in range(53)]
    assert all(abs(one - count / 2) < 6 * math.sqrt(count) / 2 for one in ones)


def test_drawn_tokens_are_as_frequent_as_they_are_likely() -> None:
    row = np.log(np.array([0.5, 0.3, 0.15, 0.05], np.float32))
    ids = np.arange(4, dtype=np.int32)
    counts = np.bincount([draw(ids, row, uniform(11, n)).token for n in range(10_000)], minlength=4)
    assert counts / 10_000 == pytest.approx([0.5, 0.3, 0.15, 0.05], abs=0.02)

"""What quantisations lose: as published, between what was measured, and unknown outside."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from app.core.quality import expected_loss, level_of, read_quality
from app.system.resources import find_resources

TEXT = find_resources().quality_table()
TABLE = read_quality(TEXT)
B = 10**9
BITS = st.floats(2.0, 17.0)
SIZES = st.integers(B, 100 * B)


def test_the_table_that_ships_is_whole_and_tells_its_sources() -> None:
    assert TABLE.problem is None
    assert [model.name for model in TABLE.models] == ["Qwen2.5 1.5B Instruct", "Llama 3 8B", "Llama 2 70B"]
    assert all("perplexity" in model.source for model in TABLE.models)


@pytest.mark.parametrize(
    ("bits", "parameters", "percent", "level"),
    [
        (8.51, 8_030_261_248, 0.043, "none"),
        (6.56, 8_030_261_248, 0.35, "none"),
        (4.90, 8_030_261_248, 2.43, "small"),
        (4.00, 8_030_261_248, 8.07, "noticeable"),
        (3.16, 8_030_261_248, 38.8, "large"),
        (4.80, 68_976_648_192, 1.20, "small"),
        (5.10, 1_543_714_304, 3.07, "small"),
        (16.0, 8_030_261_248, 0.0, "none"),
        (32.0, 8_030_261_248, 0.0, "none"),
    ],
)
def test_where_it_was_measured_it_is_what_was_published(
    bits: float, parameters: int, percent: float, level: str
) -> None:
    loss = expected_loss(TABLE, bits, parameters)
    assert loss is not None
    assert loss.percent == pytest.approx(percent, abs=0.002)
    assert loss.level == level


def test_between_two_models_it_lies_between_theirs() -> None:
    loss = expected_loss(TABLE, 4.85, 24 * B)
    assert loss is not None and 1.2 < loss.percent < 2.4


@pytest.mark.parametrize(
    ("bits", "parameters"),
    [
        (4.8, B),
        (4.8, 100 * B),
        (2.0, 8 * B),
        (3.0, 70 * B),
        (3.2, 30 * B),
        (2.2, 3 * B),
        (None, 8 * B),
        (4.8, None),
        (4.8, 0),
        (float("nan"), 8 * B),
    ],
)
def test_outside_of_what_was_measured_it_is_unknown(bits: float | None, parameters: int | None) -> None:
    assert expected_loss(TABLE, bits, parameters) is None


@given(BITS, BITS, SIZES)
def test_more_bits_never_lose_more(one: float, other: float, parameters: int) -> None:
    few, many = (expected_loss(TABLE, bits, parameters) for bits in sorted((one, other)))
    assume(few is not None and many is not None)
    assert few is not None and many is not None
    assert many.percent <= few.percent + 1e-9


@given(BITS, SIZES, SIZES)
def test_a_larger_model_never_loses_more(bits: float, one: int, other: int) -> None:
    small, large = (expected_loss(TABLE, bits, size) for size in sorted((one, other)))
    assume(small is not None and large is not None)
    assert small is not None and large is not None
    assert large.percent <= small.percent + 1e-9


@given(BITS, SIZES)
def test_what_is_known_of_some_bits_is_known_of_more(bits: float, parameters: int) -> None:
    if expected_loss(TABLE, bits, parameters) is not None:
        assert expected_loss(TABLE, bits + 1, parameters) is not None


def test_levels_are_called_by_their_limits() -> None:
    assert [level_of(percent) for percent in (0, 0.59, 0.6, 3.49, 3.5, 11.9, 12, 900)] == [
        *("none",) * 2,
        *("small",) * 2,
        *("noticeable",) * 2,
        *("large",) * 2,
    ]


@pytest.mark.parametrize(
    ("old", "new"),
    [("[2.15, 309.1]", "[2.5, 309.1]"), ("[2.15, 309.1]", "[2.15, 9]"), ("8030261248", "1"), ('"models"', '"x"')],
)
def test_a_damaged_table_is_empty_and_says_what_to_do(old: str, new: str) -> None:
    assert old in TEXT
    read = read_quality(TEXT.replace(old, new, 1))
    assert not read.models and read.problem is not None
    assert "install Tokenlight anew" in read.problem.english()
    assert expected_loss(read, 4.8, 8 * B) is None


@given(st.text(max_size=100))
def test_no_text_raises(text: str) -> None:
    assert read_quality(text).problem is not None

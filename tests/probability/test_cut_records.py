"""The first tokens of a record without a numbers library, and records whose parts were written far apart."""

from __future__ import annotations

import numpy as np
import pytest

from app.probability.known_rows import part_of
from app.probability.record import TICK_NS, RecordWriter, TokenRecords, join_blocks, read_records
from app.probability.record_layout import first_tokens, tokens_in
from app.probability.row import RowReader
from tests.probability.test_record import COLUMNS, write

COUNT = 12


def block_of(size: int, *, alternatives: bool = True) -> bytes:
    chance = np.random.default_rng(size)
    rows = (3 * chance.standard_normal((COUNT, size))).astype(np.float32)
    return write(rows, RecordWriter(size, alternatives=alternatives))


def is_the_same(one: TokenRecords, other: TokenRecords) -> None:
    assert (one.vocabulary, one.generator, one.base_ns) == (other.vocabulary, other.generator, other.base_ns)
    for column in COLUMNS:
        np.testing.assert_array_equal(getattr(one, column), getattr(other, column), column)


@pytest.mark.parametrize("size", [40, 70_000], ids=["narrow", "wide"])
@pytest.mark.parametrize("alternatives", [True, False])
@pytest.mark.parametrize("count", [1, 5, COUNT - 1])
def test_the_first_tokens_of_a_block_are_a_block_of_their_own(size: int, alternatives: bool, count: int) -> None:
    block = block_of(size, alternatives=alternatives)
    cut = first_tokens(block, count)
    assert tokens_in(block) == COUNT and tokens_in(cut) == count
    is_the_same(read_records(cut), part_of(read_records(block), slice(0, count)))


def test_what_is_no_block_has_no_tokens() -> None:
    assert tokens_in(b"") == tokens_in(b"nothing of the kind, but long enough to be one") == 0


@pytest.mark.parametrize("apart_ns", [7 * 3600 * 10**9, 40 * 24 * 3600 * 10**9, -(40 * 24 * 3600 * 10**9)])
def test_parts_that_were_written_days_apart_are_read_as_one(apart_ns: int) -> None:
    rows = (3 * np.random.default_rng(1).standard_normal((COUNT, 40))).astype(np.float32)
    first, second = RecordWriter(40), RecordWriter(40)
    base = 10**17
    for place, row in enumerate(rows):
        facts = RowReader(40).read(row)
        for writer, moment in ((first, base), (second, base + apart_ns)):
            writer.add(3, float(row[3]), facts, facts.rank(3), 0.5, moment + place * 10 * TICK_NS)
    blocks = [first.take(), second.take()]
    for records in (read_records(*blocks), read_records(join_blocks(blocks))):
        assert len(records) == 2 * COUNT
        assert np.diff(records.time[:COUNT]).tolist() == [10 * TICK_NS] * (COUNT - 1)
        assert (records.time[COUNT] > records.time[COUNT - 1]) == (apart_ns > 0)

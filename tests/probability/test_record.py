from __future__ import annotations

import itertools
import struct
import zlib

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.probability.record import (
    FORCED,
    NO_DRAW,
    TICK_NS,
    RecordError,
    RecordWriter,
    TokenRecords,
    join_blocks,
    read_records,
)
from app.probability.row import RowReader
from tests.examples import examples
from tests.probability.rows import Row
from tests.probability.rows import rows as any_row

COLUMNS = [name for name in TokenRecords.__dataclass_fields__ if name not in ("vocabulary", "generator", "base_ns")]


def write(rows: npt.NDArray[np.float32] | list[Row], writer: RecordWriter, start: int = 0) -> bytes:
    """Record a made-up token for each row and take the block."""
    for number, row in enumerate(rows, start):
        facts = RowReader(row.size).read(row)
        token = number * 7919 % row.size
        flags = (0, FORCED, NO_DRAW)[number % 3]
        writer.add(token, float(row[token]), facts, facts.rank(token), 0.25 * (number % 4), moment(number), flags)
    return writer.take()


def moment(number: int) -> int:
    return 10**15 + number * 7_654_321_987


def wanted_alternatives(row: Row) -> range:
    """Return the number that reaches 99 % of the mass, or all between which float32 cannot tell."""
    p = np.sort(np.exp(row.astype(np.float64) - row.max()))[::-1]
    mass = np.cumsum(p / p.sum())
    reached = [int((mass < goal).sum()) + 1 for goal in (0.99 - 1e-5, 0.99 + 1e-5)]
    first, last = (min(max(count, min(8, row.size)), 64, row.size) for count in reached)
    return range(first, last + 1)


def check(rows: npt.NDArray[np.float32] | list[Row], block: bytes) -> TokenRecords:
    records = read_records(block)
    assert len(records) == len(rows)
    for number, row in enumerate(rows):
        log_p = row.astype(np.float64) - row.max()
        log_p -= np.log(np.exp(log_p).sum())
        token = number * 7919 % row.size
        assert records.tokens[number] == token
        if np.isfinite(row[token]):
            assert records.log_probability[number] == pytest.approx(log_p[token], abs=2e-5)
        assert records.rank[number] == np.flatnonzero(np.argsort(-row, kind="stable") == token)[0] + 1
        assert records.probability_after[number] == 0.25 * (number % 4)
        assert records.flags[number] == (0, FORCED, NO_DRAW)[number % 3]
        assert 0 <= moment(number) - (records.base_ns + records.time[number]) < TICK_NS
        ids, alternatives = records.alternatives(number)
        assert ids.size in wanted_alternatives(row)
        assert ids.tolist() == np.argsort(-row, kind="stable")[: ids.size].tolist()
        np.testing.assert_allclose(alternatives.astype(np.float64), log_p[ids], rtol=1e-3, atol=1e-3)
    return records


@examples(100)
@given(st.data(), st.sampled_from([3, 40, 5000]))
def test_what_is_written_is_read(data: st.DataObject, size: int) -> None:
    rows = data.draw(st.lists(any_row((size,)), min_size=1, max_size=20))
    check(rows, write(rows, RecordWriter(size)))


def test_real_rows_come_back_and_stay_small(rows: npt.NDArray[np.float32]) -> None:
    block = write(rows, RecordWriter(rows.shape[1]))
    records = check(rows, block)
    counts = np.diff(records.offsets)
    assert (counts.min(), counts.max()) == (8, 64)
    assert len(block) == 29 + 28 * len(rows) + 4 * counts.sum()
    assert np.median(28 + 4 * counts) < 250
    for number, row in enumerate(rows):
        facts = RowReader(row.size).read(row)
        assert records.entropy[number] == pytest.approx(facts.entropy, rel=1e-6)
        assert records.log_sum_exp[number] == pytest.approx(facts.log_sum_exp, rel=1e-6)


@pytest.mark.parametrize(("vocabulary", "width"), [(65_536, 2), (65_537, 4)])
def test_ids_take_two_bytes_where_two_are_enough(vocabulary: int, width: int) -> None:
    row = np.zeros(vocabulary, np.float32)
    row[-1] = 40.0
    writer = RecordWriter(vocabulary)
    writer.add(vocabulary - 1, 40.0, RowReader(vocabulary).read(row), 1, 1.0, 0)
    block = writer.take()
    assert read_records(block).tokens.tolist() == [vocabulary - 1]
    assert read_records(block).alternative_ids[0] == vocabulary - 1
    assert len(block) == 29 + 26 + width + 8 * (width + 2)


def test_a_taken_record_is_forgotten_and_nothing_is_no_bytes() -> None:
    writer = RecordWriter(3)
    rows = [np.array([1.0, 2.0, 3.0], np.float32)]
    assert writer.take() == b""
    assert len(read_records(write(rows, writer))) == 1
    assert writer.take() == b""
    assert len(read_records(write(rows, writer))) == 1


def test_joined_blocks_are_what_one_block_would_have_been() -> None:
    chance = np.random.default_rng(5)
    rows = [chance.standard_normal(500).astype(np.float32) * 3 for _ in range(50)]
    whole = write(rows, RecordWriter(500))
    writer = RecordWriter(500)
    cuts = [0, 1, 4, 20, 21, 50]
    blocks = [write(rows[start:end], writer, start) for start, end in itertools.pairwise(cuts)]
    assert join_blocks([b"", *blocks, b""]) == whole
    assert join_blocks([join_blocks(blocks[:2]), join_blocks(blocks[2:])]) == whole
    assert read_records(*blocks).time.tolist() == read_records(whole).time.tolist()
    check(rows, whole)
    assert join_blocks([]) == b""


def test_later_blocks_may_lie_before_the_first() -> None:
    rows = [np.zeros(10, np.float32)] * 2
    early, late = write(rows, RecordWriter(10)), write(rows, RecordWriter(10), 5)
    records = read_records(join_blocks([late, early]))
    assert (records.base_ns + records.time).tolist() == [moment(n) // TICK_NS * TICK_NS for n in (5, 6, 0, 1)]


def test_blocks_of_different_models_or_generators_are_not_joined() -> None:
    rows = [np.zeros(10, np.float32)]
    block = write(rows, RecordWriter(10))
    for other in (write([np.zeros(11, np.float32)], RecordWriter(11)), write(rows, RecordWriter(10, generator=2))):
        with pytest.raises(RecordError):
            join_blocks([block, other])


def test_the_block_names_its_generator_and_vocabulary() -> None:
    records = read_records(write([np.zeros(10, np.float32)], RecordWriter(10, generator=9)))
    assert (records.generator, records.vocabulary) == (9, 10)


def some_block() -> bytes:
    chance = np.random.default_rng(1)
    return write([chance.standard_normal(300).astype(np.float32) for _ in range(3)], RecordWriter(300))


def test_every_truncated_block_says_so() -> None:
    block = some_block()
    for length in range(len(block)):
        with pytest.raises(RecordError):
            read_records(block[:length])
    with pytest.raises(RecordError):
        read_records(block + b"\0")


def test_no_damaged_byte_goes_unnoticed() -> None:
    block = some_block()
    for place in range(len(block)):
        with pytest.raises(RecordError):
            read_records(block[:place] + bytes([block[place] ^ 0x10]) + block[place + 1 :])


@given(st.binary(max_size=200), st.booleans())
def test_foreign_bytes_are_refused(foreign: bytes, with_magic: bool) -> None:
    with pytest.raises(RecordError):
        read_records(some_block()[:5] * with_magic + foreign)


def test_a_record_of_another_version_says_which() -> None:
    block = bytearray(some_block())
    block[3] = 7
    with pytest.raises(RecordError, match="version 7"):
        read_records(bytes(block))


def test_alternatives_that_do_not_add_up_are_refused() -> None:
    block = bytearray(some_block())
    block[29 + 3 * 27] += 1
    checksum = zlib.crc32(block[29:], zlib.crc32(block[:25]))
    block[25:29] = struct.pack("<I", checksum)
    with pytest.raises(RecordError, match="add up"):
        read_records(bytes(block))

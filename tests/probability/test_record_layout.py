from __future__ import annotations

import numpy as np
import pytest

from app.probability.record import RecordWriter, read_records
from app.probability.record_layout import entropies
from app.probability.row import RowReader


@pytest.mark.parametrize("size", [300, 70_000])
def test_the_entropies_of_a_block_are_those_of_its_record(size: int) -> None:
    chance, writer = np.random.default_rng(3), RecordWriter(size)
    for number in range(5):
        row = chance.standard_normal(size).astype(np.float32)
        facts = RowReader(size).read(row)
        writer.add(number, float(row[number]), facts, facts.rank(number), 0.5, number)
    block = writer.take()
    assert entropies(block) == read_records(block).entropy.tolist() != []


def test_what_is_no_whole_block_has_no_entropies() -> None:
    writer = RecordWriter(50)
    row = np.zeros(50, np.float32)
    facts = RowReader(50).read(row)
    writer.add(1, 0.0, facts, 1, 0.5, 1)
    block = writer.take()
    assert len(entropies(block)) == 1
    assert [entropies(bad) for bad in (b"", b"x" * 200, block[:40], b"?" + block[1:])] == [[], [], [], []]

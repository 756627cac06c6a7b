from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.chat import PromptSpan
from app.store.columns import pack_indices, pack_spans, unpack_indices, unpack_spans
from app.store.packing import NARROW, WIDE, pack_blocks, pack_ids, unpack_blocks, unpack_ids
from tests.store.shelf import ids


@given(st.lists(st.integers(-(2**31), 2**31 - 1)))
def test_ids_come_back_as_they_went_in(numbers: list[int]) -> None:
    assert unpack_ids(*pack_ids(ids(*numbers))) == ids(*numbers)


@given(st.lists(st.integers(0, 65_535)))
def test_small_ids_take_two_bytes(numbers: list[int]) -> None:
    stored, width = pack_ids(ids(*numbers))
    assert (len(stored), width) == (2 * len(numbers), NARROW)
    assert unpack_ids(stored, width) == ids(*numbers)


@pytest.mark.parametrize("large", [65_536, -1, 2**24, 2**31 - 1])
def test_one_large_id_makes_all_of_them_wide(large: int) -> None:
    assert pack_ids(ids(1, large)) == (ids(1, large), WIDE)


def test_bytes_that_are_no_ids_are_kept_as_they_are() -> None:
    assert unpack_ids(*pack_ids(b"\x01\0\0\0\x02")) == b"\x01\0\0\0\x02"


@given(st.lists(st.binary(max_size=40)))
def test_blocks_come_apart_again_without_the_empty_ones(blocks: list[bytes]) -> None:
    assert list(unpack_blocks(pack_blocks(blocks))) == [block for block in blocks if block]


def test_blocks_that_are_cut_off_cost_only_the_last_one() -> None:
    stored = pack_blocks([b"first", b"second"])
    for length in range(len(stored)):
        assert list(unpack_blocks(stored[:length])) == ([b"first"] if length >= 9 else [])


@given(st.lists(st.integers(0, 50)))
def test_indices_come_back_in_the_order_that_they_had(numbers: list[int]) -> None:
    assert unpack_indices(pack_indices(tuple(numbers))) == tuple(numbers)


def test_indices_are_kept_as_runs_and_unreadable_ones_are_none() -> None:
    assert pack_indices((1, 2, 3, 7)) == "[[1,4],[7,8]]"
    assert pack_indices(()) is None
    assert unpack_indices("[0,2,3]") == (0, 2, 3)
    assert unpack_indices(None) == unpack_indices("[[0,9000000000000]]") == unpack_indices("[[1,2,3]]") == ()


def test_parts_of_a_prompt_come_back_and_unreadable_ones_are_none() -> None:
    spans = (PromptSpan(0, 4, "template", -1), PromptSpan(4, 9, "prompt", 1))
    assert unpack_spans(pack_spans(spans)) == (0, spans)
    assert unpack_spans(pack_spans(spans, 1)) == (1, spans[1:])
    assert unpack_spans(b"no zlib") is unpack_spans(None) is None
    assert unpack_spans(pack_spans((PromptSpan(0, 1, "unheard of", 0),))) is None  # type: ignore[arg-type]  # on purpose

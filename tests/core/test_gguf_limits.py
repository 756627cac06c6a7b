"""Headers with anything in their counts, lengths, offsets, steps and types, held against the engine's own reader."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.core import gguf_entries
from app.core.errors import UserError
from app.core.gguf_header import read_header
from app.core.gguf_tensors import Tensor
from app.core.gguf_types import MAX_KEPT_TEXT_BYTES, MAX_TENSORS, NUMBER_FORMATS, TENSOR_TYPES
from app.core.gguf_verdict import check_tensor_data
from tests.engine_reader import READ, EngineReader
from tests.gguf_bytes import encode_tensor, encode_text, encode_value, raw_gguf, raw_gguf_of

LENGTHS = st.sampled_from([0, 1, 2, 3, 32, 64, 256, 2**16, 2**31, 2**32, 2**62, 2**63 - 1, 2**63, 2**64 - 1])
SHAPES = st.one_of(
    st.lists(LENGTHS, min_size=1, max_size=4),
    st.lists(st.sampled_from([0, 1, 2, 32]), min_size=1, max_size=4),
).map(tuple)
STEPS = st.sampled_from([None, 1, 8, 32, 64, 4096, 2**31])
TYPES = st.sampled_from([*TENSOR_TYPES, 4, 31, 99])


def refusal_of(content: bytes) -> str:
    """Return the sentence that a file is refused with; nothing where it passes."""
    try:
        header = read_header(lambda offset, size: content[offset : offset + size], len(content))
        check_tensor_data(header, len(content), "m.gguf")
    except UserError as error:
        return str(error)
    return ""


@st.composite
def entries(draw: st.DrawFn) -> bytes:
    """Return an entry of any type, with a value that has the length of that type."""
    key = draw(st.sampled_from(["a", "b", "\0", "ü", "k" * 300, "", "general.architecture", "general.alignment"]))
    value_type = draw(st.integers(0, 13))
    number = struct.pack("<Q", draw(st.integers(0, 2**64 - 1)))
    layout = NUMBER_FORMATS.get(value_type)
    if layout is not None:
        return encode_text(key) + struct.pack("<I", value_type) + number[: layout.size]
    if value_type == 8:
        return encode_text(key) + encode_value(draw(st.sampled_from(["", "x", "x\0y"])))
    element_type = draw(st.integers(0, 13))
    count = draw(st.sampled_from([0, 1, 3, 2**40]))
    layout = NUMBER_FORMATS.get(element_type)
    element = encode_text("xy") if layout is None else number[: layout.size]
    return encode_text(key) + struct.pack("<IIQ", 9, element_type, count) + element * min(count, 3)


@st.composite
def files(draw: st.DrawFn) -> bytes:
    """Return a file whose tensors mostly lie where they should, however impossible they are."""
    step = draw(STEPS)
    found = [] if step is None else [encode_text("general.alignment") + encode_value(step)]
    found += draw(st.lists(entries(), max_size=2))
    tensors: list[bytes] = []
    at = 0
    for number in range(draw(st.integers(0, 3))):
        name = draw(st.sampled_from([f"t{number}", "a", "a\0b", "a\0c", "", "x" * 63, "ü" * 31, "x" * 64]))
        tensor = Tensor(name, draw(SHAPES), draw(TYPES), at + draw(st.sampled_from([0, 0, 0, 0, 1, 32, 2**63])))
        tensors.append(encode_tensor(name, tensor.dimensions, tensor.type, tensor.offset % 2**64))
        at = -(-(at + (tensor.size or 0)) // (step or 32)) * (step or 32) % 2**64
    return raw_gguf_of(found, tensors, data=bytes(draw(st.sampled_from([0, 32, 4096]))))


def test_what_passes_is_read_by_the_engine_too(tmp_path: Path) -> None:
    with EngineReader(tmp_path) as engine:

        @settings(max_examples=250, deadline=None)
        @given(files())
        def is_read(content: bytes) -> None:
            if not refusal_of(content):
                assert engine.ask(content) == READ

        is_read()


def test_one_tensor_that_passes_is_read_by_the_engine_too(tmp_path: Path) -> None:
    with EngineReader(tmp_path) as engine:

        @settings(max_examples=150, deadline=None)
        @given(SHAPES, st.sampled_from([*TENSOR_TYPES]), STEPS)
        def is_read(shape: tuple[int, ...], tensor_type: int, step: int | None) -> None:
            size = Tensor("t", shape, tensor_type, 0).size or 0
            metadata = {} if step is None else {"general.alignment": step}
            content = raw_gguf(metadata, [("t", shape, tensor_type, 0)], data=bytes(min(size, 1 << 16)))
            if not refusal_of(content):
                assert engine.ask(content) == READ

        is_read()


@pytest.mark.parametrize("shape", [(0,), (32, 0), (0, 2**31), (2**31, 0, 2**32), (2**31, 0, 1, 2**32)])
def test_a_tensor_of_nothing_is_refused(shape: tuple[int, ...]) -> None:
    """llama.cpp aborts with some of these shapes, and has no use for the others."""
    assert "“t” an impossible shape" in refusal_of(raw_gguf({}, [("t", shape, 8, 0)]))


def test_some_shapes_would_end_the_engine(tmp_path: Path) -> None:
    """The reason for refusing them; where the engine learns to refuse them itself, this test may go."""
    content = raw_gguf({}, [("t", (2**31, 0, 2**32), 8, 0)])
    with EngineReader(tmp_path) as engine:
        assert engine.ask(content).startswith("ended with")
        assert engine.ask(raw_gguf({})) == READ


def test_more_tensors_than_any_model_has_are_refused_before_they_are_read() -> None:
    """With 131,072 llama.cpp was busy for minutes."""
    content = bytearray(raw_gguf({}))
    content[8:16] = (MAX_TENSORS + 1).to_bytes(8, "little")
    assert f"{MAX_TENSORS + 1:,} tensors, so it is damaged" in refusal_of(bytes(content))
    assert 4_096 < MAX_TENSORS < 16_384


def test_a_name_that_would_end_early_is_refused() -> None:
    assert "name of a tensor cannot be read" in refusal_of(raw_gguf({}, [("a\0b", (4,), 0, 0)]))


def test_names_of_entries_are_kept_within_the_limit_of_all_texts() -> None:
    length = 65_000
    fitting = MAX_KEPT_TEXT_BYTES // length
    found = [encode_text(f"{number:0{length}}") + encode_value(1) for number in range(fitting + 1)]
    assert refusal_of(raw_gguf_of(found[:-1], [])) == ""
    assert f"{length:,} bytes long" in refusal_of(raw_gguf_of(found, []))


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 400), st.integers(0, 400)), min_size=1, max_size=5))
def test_tensors_that_overlap_or_leave_a_gap_are_refused(places: list[tuple[int, int]]) -> None:
    rows = [(f"t{number}", (elements + 1,), 24, 32 * place) for number, (place, elements) in enumerate(places)]
    content = raw_gguf({}, rows, data=bytes(16_384))
    expected = 0
    in_line = True
    for _, (elements,), _, offset in rows:
        in_line &= offset == expected
        expected = -(-(offset + elements) // 32) * 32
    assert (refusal_of(content) == "") == in_line


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(1, 200), min_size=1, max_size=6), st.integers(0, 40))
def test_tensors_in_line_pass_only_while_all_of_them_are_there(sizes: list[int], missing: int) -> None:
    rows, at, end = [], 0, 0
    for number, size in enumerate(sizes):
        rows.append((f"t{number}", (size,), 24, at))
        end = at + size
        at = -(-end // 32) * 32
    content = raw_gguf({}, rows, data=bytes(max(end - missing, 0)))
    assert (refusal_of(content) == "") == (missing == 0)
    assert missing == 0 or missing > end or "is not complete" in refusal_of(content)


def arrays(*values: list[int] | list[str]) -> bytes:
    """Return a header with arrays and nothing else."""
    return raw_gguf_of([encode_text(f"k{number}") + encode_value(value) for number, value in enumerate(values)], [])


def test_texts_of_all_arrays_together_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gguf_entries, "MAX_ARRAY_TEXTS", 5)
    assert refusal_of(arrays(["a"] * 3, ["b"] * 2)) == ""
    assert "claims 3 texts in the entry “k1”" in refusal_of(arrays(["a"] * 3, ["b"] * 3))


def test_elements_of_all_arrays_together_are_kept_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gguf_entries, "MAX_KEPT_ELEMENTS", 5)
    content = arrays([1, 2, 3], [4, 5, 6], [7, 8])
    metadata = read_header(lambda offset, size: content[offset : offset + size], len(content)).metadata
    assert metadata["k0"] == (1, 2, 3) and metadata["k2"] == (7, 8)
    assert isinstance(metadata["k1"], gguf_entries.UnreadValue)

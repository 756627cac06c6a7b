"""The header of a GGUF file, read from bytes."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import pytest
from gguf import GGUFReader
from hypothesis import given
from hypothesis import strategies as st

from app.core.errors import ExitCode, UserError
from app.core.gguf_entries import UnreadValue
from app.core.gguf_header import Header, read_header
from app.core.gguf_types import MAX_HEADER_BYTES, MAX_KEPT_ARRAY
from tests.gguf_bytes import Entry, encode_tensor, encode_text, encode_value, raw_gguf, raw_gguf_of
from tests.ggufs import write_other_tokenizer

U32 = struct.Struct("<I")
U64 = struct.Struct("<Q")
TENSOR = encode_tensor("token_embd.weight", (4, 2), 0, 0)


def header_of(content: bytes) -> Header:
    """Return the header of these bytes."""
    return read_header(lambda offset, size: content[offset : offset + size], len(content))


def refusal_of(content: bytes) -> str:
    """Return the sentence that these bytes are refused with."""
    with pytest.raises(UserError) as caught:
        header_of(content)
    assert caught.value.exit_code is ExitCode.MODEL_UNUSABLE
    return str(caught.value)


def entry(key: str, value_type: int, payload: bytes) -> bytes:
    """Return an entry whose type and payload are given separately."""
    return encode_text(key) + U32.pack(value_type) + payload


def test_every_kind_of_value_is_read_as_it_was_written() -> None:
    numbers = [
        ("u8", 0, "<B", 200),
        ("i8", 1, "<b", -5),
        ("u16", 2, "<H", 60_000),
        ("i16", 3, "<h", -300),
        ("u32", 4, "<I", 4_000_000_000),
        ("i32", 5, "<i", -70_000),
        ("f32", 6, "<f", 0.5),
        ("flag", 7, "<?", True),
        ("u64", 10, "<Q", 2**63),
        ("i64", 11, "<q", -(2**40)),
        ("f64", 12, "<d", 1e-9),
    ]
    entries = [entry(key, kind, struct.pack(layout, value)) for key, kind, layout, value in numbers]
    entries += [encode_text("list") + encode_value([1, 2, 3]), encode_text("empty") + encode_value([])]
    entries += [encode_text("words") + encode_value(["ä", ""])]
    header = header_of(raw_gguf_of(entries, [TENSOR]))
    assert header.metadata == {key: value for key, _, _, value in numbers} | {
        "list": (1, 2, 3),
        "empty": (),
        "words": ("ä", ""),
    }
    assert header.metadata["flag"] is True


@given(
    st.dictionaries(
        st.text(min_size=1, max_size=20).filter(lambda key: key != "general.alignment"),
        st.one_of(
            st.booleans(),
            st.integers(0, 2**64 - 1),
            st.floats(width=32, allow_nan=False),
            st.text(max_size=200),
            st.lists(st.text(max_size=9), max_size=5),
            st.lists(st.integers(0, 2**32 - 1), max_size=9),
        ),
        max_size=8,
    ),
)
def test_what_is_written_is_read(metadata: dict[str, Any]) -> None:
    content = raw_gguf(metadata)
    header = header_of(content)
    expected = {key: tuple(value) if isinstance(value, list) else value for key, value in metadata.items()}
    assert header.metadata == expected
    assert [tensor.name for tensor in header.tensors] == ["token_embd.weight"]
    assert content[header.data_offset :] == bytes(32)


def test_a_model_reads_as_the_reference_reader_reads_it(tmp_path: Path) -> None:
    path = write_other_tokenizer(tmp_path / "model.gguf")
    header = header_of(path.read_bytes())
    reference = GGUFReader(path)
    assert header.version == 3
    assert header.data_offset == reference.data_offset
    assert header.alignment == reference.alignment
    assert [(t.name, t.dimensions, t.type, header.data_offset + t.offset, t.size) for t in header.tensors] == [
        (t.name, tuple(int(n) for n in t.shape), int(t.tensor_type), int(t.data_offset), int(t.n_bytes))
        for t in reference.tensors
    ]
    for key, value in header.metadata.items():
        expected = reference.fields[key].contents()
        assert value == (tuple(expected) if isinstance(expected, list) else expected)
    assert list(header.metadata) == [key for key in reference.fields if not key.startswith("GGUF.")]


def test_a_long_vocabulary_is_passed_over_and_what_follows_is_read() -> None:
    tokens = [f"token {number}" for number in range(MAX_KEPT_ARRAY + 1)]
    metadata: dict[str, Entry] = {"before": 1, "tokens": tokens, "types": [1] * len(tokens), "after": "here"}
    header = header_of(raw_gguf(metadata))
    value = header.metadata["tokens"]
    assert isinstance(value, UnreadValue)
    assert (value.element_type, value.count) == ("text", len(tokens))
    assert header.array_length("tokens") == header.array_length("types") == len(tokens)
    assert header.text("after") == "here"


def test_numbers_that_are_passed_over_are_not_fetched() -> None:
    scores = entry("scores", 9, U32.pack(6) + U64.pack(2_000_000) + bytes(8_000_000))
    content = raw_gguf_of([scores, encode_text("after") + encode_value("here")], [TENSOR])
    fetched = 0

    def read(offset: int, size: int) -> bytes:
        nonlocal fetched
        fetched += size
        return content[offset : offset + size]

    assert read_header(read, len(content)).text("after") == "here"
    assert fetched < len(content) / 10


def test_a_short_array_is_kept_and_a_text_over_the_budget_is_not() -> None:
    header = header_of(raw_gguf({"long": "x" * (33 * 1024 * 1024), "short": "x" * 1000, "layers": [1, 2]}))
    long = header.metadata["long"]
    assert isinstance(long, UnreadValue)
    assert (long.count, long.size) == (None, 33 * 1024 * 1024)
    assert header.array_length("long") is None
    assert header.text("short") == "x" * 1000
    assert header.integers("layers") == (1, 2)


def test_version_2_and_another_alignment_are_read() -> None:
    header = header_of(raw_gguf({"general.alignment": 64, "filler": "x" * 40}, version=2))
    assert (header.version, header.alignment) == (2, 64)
    assert header.data_offset % 64 == 0


def test_bytes_that_are_no_text_are_replaced_in_a_value() -> None:
    header = header_of(raw_gguf_of([entry("name", 8, encode_text(b"M\xff\xfeller"))], [TENSOR]))
    assert header.text("name") == "M��ller"


def test_a_value_of_another_type_than_expected_counts_as_absent() -> None:
    header = header_of(raw_gguf({"text": "x", "flag": True, "number": 3, "list": ["x"], "mixed": [1.5]}))
    assert header.integer("text") is None
    assert header.integer("flag") is None
    assert header.text("number") is None
    assert header.flag("number") is None
    assert header.number("flag") is None
    assert header.number("number") == 3.0
    assert header.texts("text") is None
    assert header.texts("list") == ("x",)
    assert header.integers("list") is None
    assert header.integers("mixed") is None
    assert header.integers("number") == 3
    assert header.integers("absent") is None


REFUSED = {
    "version 1": (raw_gguf({}, version=1), "version 1 of the GGUF format, which llama.cpp no longer reads"),
    "version 0": (raw_gguf({}, version=0), "version 0 of the GGUF format, which llama.cpp no longer reads"),
    "version 4": (
        raw_gguf({}, version=4),
        "version 4 of the GGUF format, which this program does not know yet",
    ),
    "big endian": (b"GGUF" + struct.pack(">IQQ", 3, 1, 1) + bytes(99), "big-endian"),
    "too many entries": (b"GGUF" + struct.pack("<IQQ", 3, 1, 2**40) + bytes(99), "1,099,511,627,776 entries"),
    "too many tensors": (b"GGUF" + struct.pack("<IQQ", 3, 2**31, 1) + bytes(99), "2,147,483,648 tensors"),
    "key too long": (raw_gguf_of([U64.pack(2**20) + bytes(2**20)], []), "1,048,576 bytes long"),
    "key not text": (raw_gguf_of([encode_text(b"\xff\xfe") + encode_value(1)], []), "damaged at byte 24"),
    "empty key": (raw_gguf_of([encode_text("") + encode_value(1)], []), "damaged at byte 24"),
    "key twice": (raw_gguf_of([encode_text("a.b") + encode_value(1)] * 2, []), "the entry “a.b” twice"),
    "unknown value type": (
        raw_gguf_of([entry("k", 13, bytes(8))], []),
        "“k” in the header of this file is of type 13",
    ),
    "unknown element type": (
        raw_gguf_of([entry("k", 9, U32.pack(77) + U64.pack(1))], []),
        "“k” in the header of this file is of type 77",
    ),
    "nested array": (
        raw_gguf_of([entry("k", 9, U32.pack(9) + U64.pack(1) + encode_value([1]))], []),
        "“k” in the header of this file is of type 9",
    ),
    "text too long": (raw_gguf_of([entry("k", 8, U64.pack(2**60))], []), "damaged at byte 37"),
    "array too long": (
        raw_gguf_of([entry("k", 9, U32.pack(4) + U64.pack(2**50))], []),
        f"over {MAX_HEADER_BYTES:,} bytes",
    ),
    "too many texts": (
        raw_gguf_of([entry("k", 9, U32.pack(8) + U64.pack(2**33))], []),
        "8,589,934,592 texts in the entry “k”",
    ),
    "text in a skipped array too long": (
        raw_gguf_of([entry("k", 9, U32.pack(8) + U64.pack(5000) + U64.pack(2**60))], []),
        "damaged at byte 49",
    ),
    "alignment not a power of two": (raw_gguf({"general.alignment": 48}), "impossible step"),
    "alignment zero": (raw_gguf({"general.alignment": 0}), "impossible step"),
    "alignment of another type": (raw_gguf({"general.alignment": 2**40}), "impossible step"),
    "tensor name too long": (raw_gguf({}, [("x" * 64, (4,), 0, 0)]), "64 bytes long"),
    "tensor name not text": (raw_gguf_of([], [encode_tensor(b"\xff", (4,), 0, 0)]), "name of a tensor"),
    "tensor twice": (raw_gguf({}, [("t", (4,), 0, 0)] * 2), "the tensor “t” twice"),
    "five dimensions": (raw_gguf({}, [("t", (1, 1, 1, 1, 1), 0, 0)]), "“t” an impossible shape"),
    "no dimension": (raw_gguf({}, [("t", (), 0, 0)]), "“t” an impossible shape"),
    "negative dimension": (raw_gguf({}, [("t", (0, 2**63), 0, 0)]), "“t” an impossible shape"),
    "too many elements": (raw_gguf({}, [("t", (2**32, 2**32), 0, 0)]), "“t” an impossible shape"),
    "half a block": (raw_gguf({}, [("t", (48, 2), 2, 0)]), "“t” an impossible shape"),
    "type given up": (raw_gguf({}, [("t", (32,), 31, 0)]), "quantised as Q4_0_4_4"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_a_damaged_header_gets_its_own_sentence(kind: str) -> None:
    content, expected = REFUSED[kind]
    assert expected in refusal_of(content)


def test_a_header_cut_anywhere_says_that_the_file_ends_there() -> None:
    content = raw_gguf({"general.name": "x", "list": ["a", "b"], "tokens": ["t"] * (MAX_KEPT_ARRAY + 1)})
    end = header_of(content).data_offset - 31
    for size in [*range(24, 140), *range(end - 80, end)]:
        assert f"ends after {size:,} bytes, in the middle of its header" in refusal_of(content[:size])


def test_a_file_shorter_than_its_folder_says_is_a_broken_download() -> None:
    content = raw_gguf({"general.name": "x" * 500})
    with pytest.raises(UserError, match="ends after 300 bytes"):
        read_header(lambda offset, size: content[:300][offset : offset + size], len(content))


def test_a_type_that_is_not_known_is_left_to_the_engine() -> None:
    header = header_of(raw_gguf({}, [("t", (7, 3), 99, 0)]))
    (tensor,) = header.tensors
    assert (tensor.size, tensor.type_name, tensor.elements) == (None, "type 99", 21)


def test_a_strange_name_is_shown_printable_and_short() -> None:
    entries = [encode_text("\n\x00" + "k" * 200) + encode_value(1)] * 2
    sentence = refusal_of(raw_gguf_of(entries, []))
    assert "“��" + "k" * 57 + "…”" in sentence


def test_the_longest_name_and_the_highest_rank_are_read() -> None:
    (tensor,) = header_of(raw_gguf({}, [("x" * 63, (1, 2, 3, 4), 0, 0)], data=bytes(96))).tensors
    assert (tensor.name, tensor.dimensions, tensor.elements) == ("x" * 63, (1, 2, 3, 4), 24)


def test_a_header_may_end_where_the_file_ends() -> None:
    kept = raw_gguf_of([encode_text("k") + encode_value("end")], [])
    assert header_of(kept.rstrip(b"\0")).text("k") == "end"
    skipped = entry("k", 9, U32.pack(4) + U64.pack(5000) + bytes(range(1, 251)) * 80)
    assert header_of(raw_gguf_of([skipped], []).rstrip(b"\0")).array_length("k") == 5000


def test_texts_are_kept_until_together_they_are_too_long() -> None:
    text = "x" * (20 * 1024 * 1024)
    header = header_of(raw_gguf({"first": text, "second": text, "third": text[: 10 * 1024 * 1024]}))
    assert header.text("first") == text
    assert isinstance(header.metadata["second"], UnreadValue)
    assert header.text("third") == text[: 10 * 1024 * 1024]


def test_the_part_of_a_split_model_is_known() -> None:
    split = header_of(raw_gguf({"split.no": 1, "split.count": 3, "split.tensors.count": 40})).split
    assert split is not None
    assert (split.number, split.count, split.tensors) == (1, 3, 40)
    assert header_of(raw_gguf({"split.no": 0, "split.count": 2})).split is not None
    assert header_of(raw_gguf({"split.no": 0, "split.count": 1})).split is None
    assert header_of(raw_gguf({})).split is None

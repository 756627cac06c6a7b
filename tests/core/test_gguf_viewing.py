"""What there is to see of a file: all of it, each part within its limit, and what differs between two."""

from __future__ import annotations

import struct
from pathlib import Path

import gguf
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.core import gguf_view
from app.core.errors import UserError
from app.core.gguf_difference import difference_of
from app.core.gguf_places import tensor_kind
from app.core.gguf_view import (
    MOST_CHARACTERS,
    MOST_ELEMENTS,
    MOST_SPECIAL,
    MOST_TOKEN_BYTES,
    GgufView,
    TensorColumn,
    TokenView,
    named_tensors,
    sorted_tensors,
)
from app.core.gguf_viewing import read_view
from app.services.viewing_words import shape_text, value_text
from tests.core.test_gguf_fuzz import CONTENT
from tests.core.test_gguf_limits import files
from tests.gguf_bytes import encode_text, encode_value, open_in_folder, open_in_memory, raw_gguf, raw_gguf_of
from tests.ggufs import copy_with, write_split_llama, write_tiny_llama, write_vocab_only

LONG = 5_000
"""Elements of an array that is passed over when a header is read."""
TYPE_NAMES = {"UINT32": "u32", "INT32": "i32", "FLOAT32": "f32", "BOOL": "bool", "STRING": "text"}


def view_of(content: bytes) -> GgufView:
    """Return what there is to see of these bytes."""
    return read_view("m.gguf", open_in_memory({"m.gguf": content}))


def test_a_model_is_seen_as_the_reference_reader_reads_it(starter_model: Path) -> None:
    view = read_view(starter_model.name, open_in_folder(starter_model.parent))
    reader = gguf.GGUFReader(starter_model)
    assert view.file_size == starter_model.stat().st_size
    fields = {key: field for key, field in reader.fields.items() if not key.startswith("GGUF.")}
    assert [entry.key for entry in view.entries] == list(fields)
    for entry in view.entries:
        *outer, inner = (each.name for each in fields[entry.key].types)
        assert entry.type == TYPE_NAMES[inner] + ("[]" if outer else "")
        contents = fields[entry.key].contents()
        if isinstance(contents, list):
            assert list(entry.value if isinstance(entry.value, tuple) else ()) == contents[:MOST_ELEMENTS]
            assert (entry.length, entry.is_shortened) == (len(contents), len(contents) > MOST_ELEMENTS)
        else:
            assert entry.value == contents
    assert [(each.name, each.shape, each.type, each.size, each.offset) for each in view.tensors] == [
        (each.name, tuple(each.shape.tolist()), each.tensor_type.name, each.n_bytes, each.data_offset)
        for each in reader.tensors
    ]
    assert view.tokenizer.vocabulary == 49_152
    assert view.tokenizer.special[:2] == (TokenView(1, "<|im_start|>", "bos"), TokenView(2, "<|im_end|>", "eos"))
    assert view.tokenizer.special[4] == TokenView(3, "<repo_name>")
    tokens = fields["tokenizer.ggml.tokens"].contents()
    assert all(each.text == tokens[each.id] for each in view.tokenizer.special)


def test_sizes_by_layer_and_by_type_are_all_of_the_weights(tmp_path: Path) -> None:
    write_tiny_llama(tmp_path / "m.gguf", layers=3)
    view = read_view("m.gguf", open_in_folder(tmp_path))
    whole = sum(tensor.size or 0 for tensor in view.tensors)
    assert [(row.place, row.layer) for row in view.places] == [
        ("input", None),
        ("layer", 0),
        ("layer", 1),
        ("layer", 2),
        ("output", None),
    ]
    assert sum(row.size or 0 for row in view.places) == sum(row.size or 0 for row in view.types) == whole
    assert sum(row.tensors for row in view.places) == sum(row.tensors for row in view.types) == len(view.tensors)
    assert [row.type for row in view.types] == ["F16", "F32"]
    (template,) = view.templates
    assert (template.name, template.text[:2], template.left_out) == ("", "{%", 0)


def test_a_file_that_is_not_for_chat_can_be_looked_at(tmp_path: Path) -> None:
    write_vocab_only(tmp_path / "v.gguf")
    view = read_view("v.gguf", open_in_folder(tmp_path))
    assert (view.tensors, view.places, view.types, view.templates) == ((), (), (), ())
    assert view.tokenizer.special[0] == TokenView(0, "<|endoftext|>", "bos")
    plain = view_of(raw_gguf({}))
    assert (plain.tokenizer.kind, plain.tokenizer.vocabulary, plain.tokenizer.special) == (None, None, ())


def test_values_of_any_length_are_shown_by_their_beginning() -> None:
    view = view_of(
        raw_gguf(
            {
                "text": "x" * (MOST_CHARACTERS + 1),
                "numbers": list(range(LONG)),
                "texts": [f"token {number}" for number in range(LONG)],
                "kept": list(range(MOST_ELEMENTS + 1)),
                "short": [1, 2],
                "of long texts": ["y" * 9_000],
            }
        )
    )
    text, numbers, texts, kept, short, long_texts = view.entries
    assert (text.value, text.length, text.is_shortened) == ("x" * MOST_CHARACTERS, MOST_CHARACTERS + 1, True)
    assert (numbers.value, numbers.length, numbers.type) == (tuple(range(MOST_ELEMENTS)), LONG, "u32[]")
    assert texts.value == tuple(f"token {number}" for number in range(MOST_ELEMENTS))
    assert (kept.value, kept.length, kept.is_shortened) == (tuple(range(16)), 17, True)
    assert (short.value, short.length, short.is_shortened) == ((1, 2), 2, False)
    assert long_texts.value == ("y" * MOST_CHARACTERS,) and long_texts.is_shortened


def test_a_text_that_was_passed_over_is_shown_by_its_beginning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.core.gguf_entries.MAX_KEPT_TEXT_BYTES", 100)
    (entry,) = view_of(raw_gguf({"k": "ü" * 600})).entries
    assert (entry.value, entry.length, entry.is_shortened) == ("ü" * MOST_CHARACTERS, 1_200, True)


def test_a_vocabulary_of_nothing_but_control_tokens_is_shown_in_part() -> None:
    tokens = [f"<{number}>" for number in range(LONG)]
    entries = [
        encode_text("tokenizer.ggml.tokens") + encode_value(tokens),
        encode_text("tokenizer.ggml.token_type") + struct.pack("<IIQ", 9, 5, LONG) + struct.pack("<i", 3) * LONG,
        encode_text("tokenizer.ggml.eos_token_id") + encode_value(4_321),
        encode_text("tokenizer.ggml.bos_token_id") + encode_value(LONG),
    ]
    told = view_of(raw_gguf_of(entries, [])).tokenizer
    assert told.special[:3] == (TokenView(4_321, "<4321>", "eos"), TokenView(LONG, None, "bos"), TokenView(0, "<0>"))
    assert len(told.special) == MOST_SPECIAL
    assert told.special_left_out == LONG - 1 - (MOST_SPECIAL - 2)


@pytest.mark.parametrize("others", [0, LONG])
def test_a_token_that_is_a_book_is_shown_by_its_beginning(others: int) -> None:
    tokens = ["x" * 900, "y" * 900, *(f"t{number}" for number in range(others))]
    told = view_of(raw_gguf({"tokenizer.ggml.tokens": tokens, "tokenizer.ggml.eos_token_id": 1})).tokenizer
    assert told.special == (TokenView(1, "y" * MOST_TOKEN_BYTES, "eos"),)


def test_more_entries_templates_and_layers_than_anybody_has_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    for limit, value in {"MOST_ENTRIES": 2, "MOST_TEMPLATE_CHARACTERS": 5}.items():
        monkeypatch.setattr(f"app.core.gguf_viewing.{limit}", value)
    monkeypatch.setattr("app.core.gguf_places.MOST_LAYERS", 2)
    rows = [(f"blk.{layer}.w", (8,), 0, 32 * layer) for layer in range(5)]
    view = view_of(
        raw_gguf(
            {"a": 1, "tokenizer.chat_template": "template", "tokenizer.chat_template.tool": "t"},
            rows,
            data=bytes(160),
        )
    )
    assert (len(view.entries), view.entries_left_out) == (2, 1)
    assert [(each.name, each.text, each.left_out) for each in view.templates] == [("", "templ", 3), ("tool", "t", 0)]
    assert [(row.place, row.layer, row.tensors) for row in view.places] == [
        ("layer", 0, 1),
        ("layer", 1, 1),
        ("further", None, 3),
    ]


def test_what_a_layer_takes_is_told_by_kind_and_type(tmp_path: Path) -> None:
    write_tiny_llama(tmp_path / "m.gguf", experts=4)
    view = read_view("m.gguf", open_in_folder(tmp_path))
    for row in view.places:
        assert sum(part.size for part in row.parts) == row.size
        assert [part.size for part in row.parts] == sorted((part.size for part in row.parts), reverse=True)
    before, layer, *_others = view.places
    assert {(part.kind, part.type) for part in before.parts} == {("vocabulary", "F16")}
    assert {part.kind for part in layer.parts} == {"attention", "experts", "other"}
    assert layer.parts[0].kind == "experts"
    elements = sum(row.elements for row in view.types)
    assert (view.name, view.architecture, view.parameters) == ("Tiny Mixture 1", "llama", elements)
    assert view.bits_per_weight is not None and 16 <= view.bits_per_weight < 17


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("blk.3.attn_q.weight", "attention"),
        ("dec.blk.3.cross_attn_k.weight", "attention"),
        ("blk.3.attn_norm.weight", "other"),
        ("blk.3.ffn_down.weight", "feed_forward"),
        ("blk.3.ffn_down_exps.weight", "experts"),
        ("blk.3.ffn_gate_inp.weight", "experts"),
        ("blk.3.ssm_in.weight", "state"),
        ("token_embd.weight", "vocabulary"),
        ("output.weight", "vocabulary"),
        ("output_norm.weight", "other"),
        ("a", "other"),
    ],
)
def test_a_tensor_is_for_what_its_name_says(name: str, kind: str) -> None:
    assert tensor_kind(name) == kind


def test_tensors_are_found_by_words_of_their_name_or_type() -> None:
    tensors = view_of(raw_gguf({}, [("a.Up", (4,), 0, 0), ("b.up", (4,), 1, 32)], data=bytes(64))).tensors
    assert [each.name for each in named_tensors(tensors, " UP ")] == ["a.Up", "b.up"]
    assert [each.name for each in named_tensors(tensors, "up f16")] == ["b.up"]
    assert named_tensors(tensors, "") == tensors


def test_a_type_that_is_not_known_has_no_size() -> None:
    view = view_of(raw_gguf({}, [("blk.0.w", (8,), 99, 0), ("blk.1.w", (8,), 0, 32)], data=bytes(64)))
    assert [row.size for row in view.places] == [None, 32]
    assert {row.type: row.size for row in view.types} == {"F32": 32, "type 99": None}
    assert [each.size for each in sorted_tensors(view.tensors, "size", descending=True)] == [32, None]


def test_all_parts_that_are_there_are_one(tmp_path: Path) -> None:
    paths = write_split_llama(tmp_path)
    view = read_view(paths[0].name, open_in_folder(tmp_path))
    assert view.parts == view.parts_wanted == len(paths) > 2
    assert view.file_size == sum(path.stat().st_size for path in paths)
    assert {tensor.part for tensor in view.tensors} == set(range(len(paths)))
    other = read_view(paths[1].name, open_in_folder(tmp_path))
    assert (other.parts, other.parts_wanted, other.part, view.part) == (1, len(paths), 1, 0)
    paths[-1].unlink()
    fewer = read_view(paths[0].name, open_in_folder(tmp_path))
    assert (fewer.parts, fewer.parts_wanted) == (len(paths) - 1, len(paths))


COLUMNS: dict[TensorColumn, list[str]] = {
    "file": ["blk.10.w", "blk.9.w", "a"],
    "name": ["a", "blk.9.w", "blk.10.w"],
    "shape": ["blk.9.w", "a", "blk.10.w"],
    "type": ["blk.9.w", "blk.10.w", "a"],
    "size": ["blk.9.w", "a", "blk.10.w"],
    "offset": ["blk.10.w", "blk.9.w", "a"],
}


@pytest.mark.parametrize("column", COLUMNS)
def test_tensors_are_sorted(column: TensorColumn) -> None:
    rows = [("blk.10.w", (64,), 0, 0), ("blk.9.w", (4,), 1, 256), ("a", (32, 2), 8, 288)]
    tensors = view_of(raw_gguf({}, rows, data=bytes(288 + 68))).tensors
    assert [each.name for each in sorted_tensors(tensors, column)] == COLUMNS[column]
    assert [each.name for each in sorted_tensors(tensors, column, descending=True)] == COLUMNS[column][::-1]


def test_what_differs_is_told_and_what_is_only_moved_is_not(tmp_path: Path) -> None:
    write_tiny_llama(tmp_path / "a.gguf")
    copy_with(
        tmp_path / "a.gguf", tmp_path / "b.gguf", chat_template="other", remove=["general.license"], set={"new": 1}
    )
    first, second = (read_view(name, open_in_folder(tmp_path)) for name in ("a.gguf", "b.gguf"))
    told = difference_of(first, second)
    assert [(each.key, each.first is None, each.second is None) for each in told.entries] == [
        ("general.license", False, True),
        ("tokenizer.chat_template", False, False),
        ("new", True, False),
    ]
    assert told.tensors == () and told.types == ()
    assert told.same_tensors == len(first.tensors)
    assert not told.is_none and difference_of(first, first).is_none


def test_values_that_differ_beyond_what_is_shown_differ() -> None:
    tokens = [f"t{number}" for number in range(LONG)]
    first = view_of(raw_gguf({"tokens": tokens, "text": "x" * 900, "kept": list(range(40)), "same": tokens}))
    second = view_of(
        raw_gguf({"tokens": [*tokens[:-1], "tx"], "text": "x" * 899 + "y", "kept": [*range(39), 0], "same": tokens})
    )
    assert [each.key for each in difference_of(first, second).entries] == ["tokens", "text", "kept"]


def test_tensors_of_another_type_or_shape_differ() -> None:
    first = view_of(raw_gguf({}, [("a", (8,), 0, 0), ("b", (32,), 0, 32)], data=bytes(160)))
    second = view_of(raw_gguf({}, [("b", (32,), 1, 0), ("a", (8,), 0, 64)], data=bytes(96)))
    told = difference_of(first, second)
    assert [each.name for each in told.tensors] == ["b"] and told.same_tensors == 1
    assert [(each.type, each.first, each.second) for each in told.types] == [("F32", 160, 32), ("F16", 0, 64)]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.integers(0, len(CONTENT) - 1), st.integers(0, 255)), min_size=1, max_size=6))
def test_a_damaged_file_is_seen_or_is_one_sentence(flips: list[tuple[int, int]]) -> None:
    damaged = bytearray(CONTENT)
    for position, byte in flips:
        damaged[position] = byte
    try:
        view = view_of(bytes(damaged))
    except UserError:
        return
    assert difference_of(view, view).is_none
    assert len(view.entries) <= gguf_view.MOST_ENTRIES


@settings(max_examples=200, deadline=None)
@given(files())
def test_whatever_passes_can_be_shown_and_printed(content: bytes) -> None:
    try:
        view = view_of(content)
    except UserError:
        return
    assert msgspec.json.encode(view)
    rows = [value_text(entry) for entry in view.entries] + [shape_text(tensor) for tensor in view.tensors]
    assert all(row.isprintable() for row in rows)
    assert sum(row.tensors for row in view.places) == len(view.tensors)


def test_a_file_that_is_cut_is_one_sentence() -> None:
    for size in (0, 10, 100, len(CONTENT) - 40):
        with pytest.raises(UserError):
            view_of(CONTENT[:size])

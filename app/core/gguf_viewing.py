"""Reads a GGUF file for people to look at, whatever it is for: also one that cannot chat.

Opens nothing: it asks the function it was given for the bytes of a file by name.
"""

from __future__ import annotations

import hashlib

from app.core.gguf_entries import Scalar, UnreadValue, Value
from app.core.gguf_header import Header, read_header
from app.core.gguf_places import place_sizes, type_sizes
from app.core.gguf_tokens import texts_at, tokenizer_view
from app.core.gguf_types import NUMBER_FORMATS, VALUE_TYPE_NAMES
from app.core.gguf_verdict import check_tensor_data
from app.core.gguf_view import (
    MOST_CHARACTERS,
    MOST_ELEMENTS,
    MOST_ENTRIES,
    MOST_TEMPLATE_CHARACTERS,
    MOST_TEMPLATES,
    EntryView,
    GgufView,
    TemplateView,
    TensorView,
)
from app.core.model_facts import ModelFacts, model_facts
from app.core.model_file import MAX_PARTS, ModelSource, OpenFile, opened, part_names

_PIECE_BYTES = 1 << 20
_NUMBERS = {VALUE_TYPE_NAMES[number]: layout for number, layout in NUMBER_FORMATS.items()}


def read_view(file_name: str, open_file: OpenFile) -> GgufView:
    """Return what there is to see of a file, and of the others of its model that lie beside it.

    Raises the sentence that says what is wrong with it.
    """
    source = opened(file_name, open_file)
    first = read_header(*source)
    check_tensor_data(first, source.size, file_name)
    others, wanted = _other_parts(first, file_name, open_file)
    parts = [(first, source), *others]
    tensors = [tensor for header, _ in parts for tensor in header.tensors]
    facts = model_facts([header for header, _ in parts])
    shown = list(first.metadata.items())[:MOST_ENTRIES]
    return GgufView(
        version=first.version,
        alignment=first.alignment,
        file_size=sum(each.size for _, each in parts),
        header_size=sum(header.data_offset for header, _ in parts),
        entries=tuple(_entry(key, value, first.types.get(key, ""), source) for key, value in shown),
        entries_left_out=len(first.metadata) - len(shown),
        tensors=tuple(
            TensorView(
                each.name, each.dimensions, each.type_name, each.size, header.data_offset + each.offset, number
            )
            for number, (header, _) in enumerate(parts)
            for each in header.tensors
        ),
        tokenizer=tokenizer_view(first, source),
        templates=_templates(facts),
        places=place_sizes(tensors),
        types=type_sizes(tensors),
        parts=len(parts),
        parts_wanted=wanted,
        part=first.split.number if first.split is not None else 0,
        name=_name(facts.name),
        architecture=_name(facts.architecture),
        quantisation=facts.quantisation,
        parameters=facts.parameters,
        weights=facts.tensor_bytes,
    )


def _other_parts(first: Header, file_name: str, open_file: OpenFile) -> tuple[list[tuple[Header, ModelSource]], int]:
    """Return the further files of a model whose first one this is, and how many there should be in all."""
    split = first.split
    if split is None or split.count > MAX_PARTS:
        return [], 1
    if split.number != 0:
        return [], split.count
    found = []
    for name in (part_names(file_name, split.count) or ())[1:]:
        source = open_file(name)
        if source is not None:
            header = read_header(*source)
            check_tensor_data(header, source.size, name)
            found.append((header, source))
    return found, split.count


def _entry(key: str, value: Value, kind: str, source: ModelSource) -> EntryView:
    """Return one entry, its value cut where it is long."""
    if isinstance(value, UnreadValue):
        start = _beginning(value, source)
        length = value.size if value.count is None else value.count
        return EntryView(key, kind, start, length, True, _digest_of_bytes(value, source))
    digest = hashlib.sha256(repr(value).encode("utf-8", "surrogatepass")).hexdigest()
    if isinstance(value, tuple):
        cut = tuple(_cut(each) for each in value[:MOST_ELEMENTS])
        return EntryView(key, kind, cut, len(value), cut != value, digest)
    if isinstance(value, str):
        return EntryView(key, kind, _cut(value), len(value), len(value) > MOST_CHARACTERS, digest)
    return EntryView(key, kind, value, digest=digest)


def _cut(value: Scalar) -> Scalar:
    return value[:MOST_CHARACTERS] if isinstance(value, str) else value


def _beginning(value: UnreadValue, source: ModelSource) -> Scalar | tuple[Scalar, ...]:
    """Return the first elements of an array that was passed over, or the beginning of such a text."""
    if value.count is None:
        raw = source.read(value.offset, min(value.size, 4 * MOST_CHARACTERS))
        return raw.decode("utf-8", errors="replace")[:MOST_CHARACTERS]
    count = min(value.count, MOST_ELEMENTS)
    layout = _NUMBERS.get(value.element_type)
    if layout is None:
        return tuple(texts_at(source, value, range(count)))
    raw = source.read(value.offset, count * layout.size)
    return tuple(number for (number,) in layout.iter_unpack(raw[: len(raw) // layout.size * layout.size]))


def _digest_of_bytes(value: UnreadValue, source: ModelSource) -> str:
    digest = hashlib.sha256()
    for at in range(0, value.size, _PIECE_BYTES):
        digest.update(source.read(value.offset + at, min(_PIECE_BYTES, value.size - at)))
    return digest.hexdigest()


def _name(name: str | None) -> str | None:
    return name[:MOST_CHARACTERS] if name is not None else None


def _templates(facts: ModelFacts) -> tuple[TemplateView, ...]:
    found = [("", facts.tokenizer.chat_template), *facts.tokenizer.named_templates.items()]
    return tuple(
        TemplateView(
            name[:MOST_CHARACTERS], text[:MOST_TEMPLATE_CHARACTERS], max(len(text) - MOST_TEMPLATE_CHARACTERS, 0)
        )
        for name, text in found[:MOST_TEMPLATES]
        if text is not None
    )

"""What is too long to be shown at once of a GGUF file: one entry in full, and the whole vocabulary.

Reads the header anew, because nobody keeps either until somebody asks; both have an end of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

import msgspec

from app.core.errors import UserError
from app.core.gguf_cursor import shown_name
from app.core.gguf_entries import Scalar, UnreadValue, Value
from app.core.gguf_header import read_header
from app.core.gguf_tokens import TOKENS_KEY, TYPES_KEY, walk_texts
from app.core.gguf_types import NUMBER_FORMATS, VALUE_TYPE_NAMES
from app.core.gguf_view import MOST_TOKEN_BYTES
from app.core.model_file import ModelSource, OpenFile, opened
from app.core.words import translate

MOST_WHOLE = 1_000_000
"""Characters of an entry that are shown."""
MOST_TOKENS = 1_048_576
_PIECE_BYTES = 1 << 20
_NUMBERS = {VALUE_TYPE_NAMES[number]: layout for number, layout in NUMBER_FORMATS.items()}


class WholeValue(msgspec.Struct, frozen=True):
    """An entry in full: a text as it is, an array with an element in each line."""

    key: str
    text: str
    is_cut: bool = False
    """Whether more of it is in the file."""


class TokenTable(msgspec.Struct, frozen=True):
    """All tokens of a vocabulary in their order, each by its beginning."""

    texts: tuple[str, ...] = ()
    kinds: tuple[int, ...] = ()
    """What the vocabulary calls each; empty where it does not say."""
    left_out: int = 0


def whole_value(file_name: str, open_file: OpenFile, key: str) -> WholeValue:
    """Return one entry, or raise the sentence that says why it cannot be read."""
    source = opened(file_name, open_file)
    value = read_header(*source).metadata.get(key)
    if value is None:
        raise UserError(
            translate(
                "ModelFile",
                "The file has no entry “{key}” any more: open it again to see what it holds now.",
                key=shown_name(key),
            )
        )
    if isinstance(value, UnreadValue) and value.count is None:
        text = source.read(value.offset, min(value.size, 4 * MOST_WHOLE)).decode("utf-8", errors="replace")
        return WholeValue(key, text[:MOST_WHOLE], value.size > 4 * MOST_WHOLE or len(text) > MOST_WHOLE)
    if not isinstance(value, UnreadValue | tuple):
        text = str(value)
        return WholeValue(key, text[:MOST_WHOLE], len(text) > MOST_WHOLE)
    lines: list[str] = []
    room = MOST_WHOLE
    for number, element in enumerate(_elements(value, source)):
        line = f"{number}: {element}"
        if len(line) > room:
            return WholeValue(key, "\n".join((*lines, line[:room])), is_cut=True)
        lines.append(line)
        room -= len(line) + 1
    return WholeValue(key, "\n".join(lines))


def token_table(file_name: str, open_file: OpenFile) -> TokenTable:
    """Return the vocabulary, or raise the sentence that says why it cannot be read."""
    source = opened(file_name, open_file)
    metadata = read_header(*source).metadata
    tokens, kinds = metadata.get(TOKENS_KEY), metadata.get(TYPES_KEY)
    if not isinstance(tokens, UnreadValue | tuple):
        return TokenTable()
    texts = tuple(
        str(each)[:MOST_TOKEN_BYTES] for each in islice(_elements(tokens, source, MOST_TOKEN_BYTES), MOST_TOKENS)
    )
    told: tuple[int, ...] = ()
    if isinstance(kinds, UnreadValue | tuple):
        told = tuple(each if isinstance(each, int) else 0 for each in islice(_elements(kinds, source), len(texts)))
    return TokenTable(texts, told, _length(tokens) - len(texts))


def _length(value: Value) -> int:
    return (value.count or 0) if isinstance(value, UnreadValue) else len(value) if isinstance(value, tuple) else 0


def _elements(
    value: UnreadValue | tuple[Scalar, ...], source: ModelSource, most_bytes: int = 4 * MOST_WHOLE
) -> Iterator[Scalar]:
    """Read the elements of an array one after the other, also of one that was passed over."""
    if isinstance(value, tuple):
        yield from value
        return
    layout = _NUMBERS.get(value.element_type)
    if layout is None:
        yield from walk_texts(source, value, range(value.count or 0), most_bytes)
        return
    step = _PIECE_BYTES // layout.size * layout.size
    for at in range(0, value.size, step):
        raw = source.read(value.offset + at, min(step, value.size - at))
        numbers: Iterable[tuple[Scalar]] = layout.iter_unpack(raw[: len(raw) // layout.size * layout.size])
        yield from (number for (number,) in numbers)

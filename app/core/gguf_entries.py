"""The entries of a GGUF header: keys with numbers, texts and short arrays; long values are passed over.

Knows how values lie in the file, not what any key means.
"""

from __future__ import annotations

import msgspec

from app.core.errors import UserError
from app.core.gguf_cursor import Cursor, shown_name
from app.core.gguf_types import (
    ALIGNMENT_KEY,
    ARRAY_TYPE,
    DEFAULT_ALIGNMENT,
    MAX_ARRAY_TEXTS,
    MAX_HEADER_BYTES,
    MAX_KEPT_ARRAY,
    MAX_KEPT_ELEMENTS,
    MAX_KEPT_TEXT_BYTES,
    MAX_KEY_BYTES,
    NUMBER_FORMATS,
    STRING_TYPE,
    UINT32_TYPE,
    VALUE_TYPE_NAMES,
)
from app.core.words import translate

Scalar = bool | int | float | str


class UnreadValue(msgspec.Struct, frozen=True):
    """A value too long to keep, such as a vocabulary: what it holds and where it lies in the file."""

    element_type: str
    count: int | None
    """Elements of an array; None for one long text."""
    offset: int
    size: int


Value = bool | int | float | str | tuple[Scalar, ...] | UnreadValue


class EntryReader:
    """Reads entries one after the other and keeps account of how much of them stays in memory."""

    def __init__(self, cursor: Cursor) -> None:
        self._cursor = cursor
        self._elements_left = MAX_KEPT_ELEMENTS
        self._text_bytes_left = MAX_KEPT_TEXT_BYTES
        self._array_texts_left = MAX_ARRAY_TEXTS
        self.types: dict[str, str] = {}
        """Of each entry that was read; that of an array ends in brackets."""

    def read(self, count: int) -> dict[str, Value]:
        """Return the next `count` entries in their order."""
        metadata: dict[str, Value] = {}
        for _ in range(count):
            key = self._key()
            if key in metadata:
                raise _twice(key)
            value_type = self._cursor.u32()
            if key == ALIGNMENT_KEY and value_type != UINT32_TYPE:
                raise _bad_alignment()
            metadata[key] = self._value(key, value_type)
        return metadata

    def _key(self) -> str:
        """Return the name of the next entry."""
        start = self._cursor.position
        raw = self._cursor.text(min(MAX_KEY_BYTES, self._text_bytes_left))
        self._text_bytes_left -= len(raw)
        try:
            key = raw.decode("utf-8")
        except UnicodeDecodeError:
            key = ""
        if not key:
            raise _unreadable_key(start)
        return key

    def _value(self, key: str, value_type: int) -> Value:
        """Return the next value."""
        if value_type == ARRAY_TYPE:
            return self._array(key)
        self.types[key] = VALUE_TYPE_NAMES.get(value_type, "")
        if value_type == STRING_TYPE:
            return self._text()
        layout = NUMBER_FORMATS.get(value_type)
        if layout is None:
            raise _unknown_type(key, value_type)
        return self._cursor.number(layout)

    def _text(self) -> str | UnreadValue:
        """Return the next text, or where it lies when it is longer than what may still be kept."""
        length = self._cursor.length(MAX_HEADER_BYTES)
        if length <= self._text_bytes_left:
            self._text_bytes_left -= length
            return self._cursor.take(length).decode("utf-8", errors="replace")
        unread = UnreadValue(VALUE_TYPE_NAMES[STRING_TYPE], None, self._cursor.position, length)
        self._cursor.skip(length)
        return unread

    def _array(self, key: str) -> Value:
        """Return the next array, or where it lies when it is long."""
        element_type = self._cursor.u32()
        self.types[key] = VALUE_TYPE_NAMES.get(element_type, "") + "[]"
        count = self._cursor.u64()
        start = self._cursor.position
        is_kept = count <= min(MAX_KEPT_ARRAY, self._elements_left)
        if is_kept:
            self._elements_left -= count
        if element_type == STRING_TYPE:
            if count > self._array_texts_left:
                raise _too_many_texts(key, count)
            self._array_texts_left -= count
            if is_kept:
                return tuple(self._array_text() for _ in range(count))
            self._cursor.skip_texts(count)
        else:
            layout = NUMBER_FORMATS.get(element_type)
            if layout is None:
                raise _unknown_type(key, element_type)
            if is_kept:
                return tuple(number for (number,) in layout.iter_unpack(self._cursor.take(count * layout.size)))
            self._cursor.skip(count * layout.size)
        return UnreadValue(VALUE_TYPE_NAMES[element_type], count, start, self._cursor.position - start)

    def _array_text(self) -> str:
        """Return the next text of an array that is kept."""
        text = self._cursor.text(self._text_bytes_left)
        self._text_bytes_left -= len(text)
        return text.decode("utf-8", errors="replace")


def alignment_of(metadata: dict[str, Value]) -> int:
    """Return the step that tensors start at, which must be a power of two."""
    alignment = metadata.get(ALIGNMENT_KEY, DEFAULT_ALIGNMENT)
    if not isinstance(alignment, int) or alignment <= 0 or alignment & (alignment - 1):
        raise _bad_alignment()
    return alignment


def _twice(key: str) -> UserError:
    return UserError(
        translate(
            "ModelFile",
            "The header of this file has the entry “{key}” twice, so it is damaged: download the model again.",
            key=shown_name(key),
        )
    )


def _unreadable_key(offset: int) -> UserError:
    return UserError(
        translate(
            "ModelFile",
            "The header of this file is damaged at byte {offset:,}, where the name of an entry cannot be"
            " read: download the model again.",
            offset=offset,
        )
    )


def _too_many_texts(key: str, count: int) -> UserError:
    return UserError(
        translate(
            "ModelFile",
            "The header of this file claims {count:,} texts in the entry “{key}”, so it is damaged: download"
            " the model again.",
            count=count,
            key=shown_name(key),
        )
    )


def _unknown_type(key: str, value_type: int) -> UserError:
    return UserError(
        translate(
            "ModelFile",
            "The entry “{key}” in the header of this file is of type {type}, which llama.cpp does not read"
            " there, so the file is damaged: download the model again.",
            key=shown_name(key),
            type=value_type,
        )
    )


def _bad_alignment() -> UserError:
    return UserError(
        translate(
            "ModelFile",
            "The header of this file says that tensors start at an impossible step, so it is damaged:"
            " download the model again.",
        )
    )

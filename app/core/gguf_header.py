"""Reads the header of a GGUF file: its entries and the list of its tensors, within fixed limits.

Opens nothing and judges only the form of the header; whether the model can be used is `gguf_verdict`'s.
"""

from __future__ import annotations

from typing import TypeGuard

import msgspec

from app.core.errors import UserError
from app.core.gguf_cursor import DISK_PIECES, Cursor, Pieces, Read
from app.core.gguf_entries import EntryReader, UnreadValue, Value, alignment_of
from app.core.gguf_magic import GGUF_MAGIC, HEAD_BYTES, refuse_other_formats
from app.core.gguf_tensors import Tensor, read_tensors
from app.core.gguf_types import MAX_ENTRIES, MAX_TENSORS
from app.core.words import translate

OLDEST_VERSION = 2
NEWEST_VERSION = 3
LONGEST_LABEL = 200
"""Characters of a name, a license or whatever else of a header stands in a row."""


class Split(msgspec.Struct, frozen=True):
    """Which part of a model in several files this one is, counted from 0."""

    number: int
    count: int
    tensors: int | None
    """Tensors in all parts together."""


class Header(msgspec.Struct, frozen=True):
    """Everything before the weights: entries in their order, tensors in their order."""

    version: int
    metadata: dict[str, Value]
    tensors: tuple[Tensor, ...]
    alignment: int
    data_offset: int
    types: dict[str, str] = msgspec.field(default_factory=dict)
    """Of each entry, as `gguf_types` names it; that of an array ends in brackets."""

    @property
    def split(self) -> Split | None:
        """The part this file is of a model in several files; None for a model in one file."""
        count = self.integer("split.count")
        if count is None or count <= 1:
            return None
        return Split(self.integer("split.no") or 0, count, self.integer("split.tensors.count"))

    def text(self, key: str) -> str | None:
        """Return the entry if it is there and a text."""
        value = self.metadata.get(key)
        return value if isinstance(value, str) else None

    def label(self, key: str) -> str | None:
        """Return a text that people are shown, cut where it is longer than any of its kind: a header may hold megabytes."""
        value = self.text(key)
        return None if value is None else short_label(value)

    def integer(self, key: str) -> int | None:
        """Return the entry if it is there and a whole number."""
        value = self.metadata.get(key)
        return value if _is_integer(value) else None

    def number(self, key: str) -> float | None:
        """Return the entry if it is there and a number, whole or not."""
        value = self.metadata.get(key)
        return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None

    def flag(self, key: str) -> bool | None:
        """Return the entry if it is there and a truth value."""
        value = self.metadata.get(key)
        return value if isinstance(value, bool) else None

    def texts(self, key: str) -> tuple[str, ...] | None:
        """Return the entry if it is there, was kept, and is an array of texts."""
        value = self.metadata.get(key)
        if not isinstance(value, tuple):
            return None
        texts = tuple(element for element in value if isinstance(element, str))
        return texts if len(texts) == len(value) else None

    def integers(self, key: str) -> int | tuple[int, ...] | None:
        """Return the entry if it is a whole number, or an array of them such as one for each layer."""
        value = self.metadata.get(key)
        if not isinstance(value, tuple):
            return self.integer(key)
        integers = tuple(element for element in value if _is_integer(element))
        return integers if len(integers) == len(value) else None

    def array_length(self, key: str) -> int | None:
        """Return how many elements the array has, whether it was kept or not."""
        value = self.metadata.get(key)
        if isinstance(value, UnreadValue):
            return value.count
        return len(value) if isinstance(value, tuple) else None


def read_header(read: Read, file_size: int, pieces: Pieces = DISK_PIECES) -> Header:
    """Return the header of the file that `read(offset, size)` reads, or raise the sentence that fits.

    `pieces` is how much is read at once: what lies beyond the header is at most the larger of them.
    """
    head = read(0, min(HEAD_BYTES, file_size))
    refuse_other_formats(head, file_size)
    cursor = Cursor(read, file_size, pieces)
    cursor.skip(len(GGUF_MAGIC))
    version = cursor.u32()
    _check_version(version)
    tensor_count = cursor.u64()
    entry_count = cursor.u64()
    check_counts(tensor_count, entry_count)
    entries = EntryReader(cursor)
    metadata = entries.read(entry_count)
    alignment = alignment_of(metadata)
    tensors = read_tensors(cursor, tensor_count)
    return Header(version, metadata, tensors, alignment, -(-cursor.position // alignment) * alignment, entries.types)


def check_counts(tensors: int, entries: int) -> None:
    """Refuse counts that no real model has, before anything is read for them."""
    if tensors > MAX_TENSORS or entries > MAX_ENTRIES:
        raise UserError(
            translate(
                "ModelFile",
                "The header of this file claims {entries:,} entries and {tensors:,} tensors, so it is"
                " damaged: download the model again.",
                entries=entries,
                tensors=tensors,
            )
        )


def short_label(text: str) -> str:
    """Return a text of a header as it may stand in a row."""
    return text if len(text) <= LONGEST_LABEL else text[: LONGEST_LABEL - 1] + "…"


def _is_integer(value: object) -> TypeGuard[int]:
    """Whether a value is a whole number; truth values are not."""
    return isinstance(value, int) and not isinstance(value, bool)


def _check_version(version: int) -> None:
    """Refuse the versions that llama.cpp refuses."""
    if OLDEST_VERSION <= version <= NEWEST_VERSION:
        return
    if version and not version & 0xFFFF:
        raise UserError(
            translate(
                "ModelFile",
                "This model was made for machines with big-endian numbers, which this one is not: get the"
                " ordinary GGUF file of the model.",
            )
        )
    if version > NEWEST_VERSION:
        raise UserError(
            translate(
                "ModelFile",
                "This model is in version {version} of the GGUF format, which this program does not know"
                " yet: update the program, or get the model in version {newest}.",
                version=version,
                newest=NEWEST_VERSION,
            )
        )
    raise UserError(
        translate(
            "ModelFile",
            "This model is in version {version} of the GGUF format, which llama.cpp no longer reads: get a"
            " newer GGUF file of the model.",
            version=version,
        )
    )

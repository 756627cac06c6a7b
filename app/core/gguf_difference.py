"""What differs between two GGUF files: entries, tensors by name, and what each type takes.

Compares what headers say; the numbers of weights of the same shape and type are not read.
"""

from __future__ import annotations

import msgspec

from app.core.gguf_view import EntryView, GgufView, TensorView


class EntryPair(msgspec.Struct, frozen=True):
    """An entry that is not the same in both files; None where one does not have it."""

    key: str
    first: EntryView | None
    second: EntryView | None


class TensorPair(msgspec.Struct, frozen=True):
    """A tensor that is not the same in both files; None where one does not have it."""

    name: str
    first: TensorView | None
    second: TensorView | None


class TypePair(msgspec.Struct, frozen=True):
    """What a type takes in each of the files, where that is not the same; None where it is not known."""

    type: str
    first: int | None
    second: int | None


class GgufDifference(msgspec.Struct, frozen=True):
    """All that differs, in the order of the first file, then what only the second has."""

    entries: tuple[EntryPair, ...]
    same_entries: int
    tensors: tuple[TensorPair, ...]
    same_tensors: int
    types: tuple[TypePair, ...]

    @property
    def is_none(self) -> bool:
        """Whether the headers say the same."""
        return not self.entries and not self.tensors


def difference_of(first: GgufView, second: GgufView) -> GgufDifference:
    """Return what differs."""
    left, right = {each.key: each for each in first.entries}, {each.key: each for each in second.entries}
    entries = tuple(
        EntryPair(key, left.get(key), right.get(key))
        for key in {**left, **right}
        if not _is_same(left.get(key), right.get(key))
    )
    ours, theirs = {each.name: each for each in first.tensors}, {each.name: each for each in second.tensors}
    names = {**ours, **theirs}
    tensors = tuple(
        TensorPair(name, ours.get(name), theirs.get(name))
        for name in names
        if _facts(ours.get(name)) != _facts(theirs.get(name))
    )
    here, there = {each.type: each.size for each in first.types}, {each.type: each.size for each in second.types}
    types = tuple(
        TypePair(name, here.get(name, 0), there.get(name, 0))
        for name in {**here, **there}
        if here.get(name, 0) != there.get(name, 0)
    )
    return GgufDifference(entries, len({**left, **right}) - len(entries), tensors, len(names) - len(tensors), types)


def _is_same(first: EntryView | None, second: EntryView | None) -> bool:
    if first is None or second is None:
        return False
    return (first.type, first.length, first.digest) == (second.type, second.length, second.digest)


def _facts(tensor: TensorView | None) -> tuple[tuple[int, ...], str] | None:
    """Return what counts of a tensor: not where it lies, which any longer entry before it moves."""
    return None if tensor is None else (tensor.shape, tensor.type)

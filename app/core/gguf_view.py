"""What people can look at of a GGUF file: entries, tensors, tokenizer, templates, and where its size goes.

Values alone, each within a limit of its own: a header may hold anything, and all of this is to be shown.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from app.core.gguf_entries import Scalar

MOST_ENTRIES = 4_096
MOST_CHARACTERS = 500
MOST_ELEMENTS = 16
MOST_TEMPLATE_CHARACTERS = 200_000
MOST_TEMPLATES = 32
MOST_SPECIAL = 256
MOST_TOKEN_BYTES = 128
MOST_LAYERS = 1_024

TensorColumn = Literal["file", "name", "shape", "type", "size", "offset"]
"""What tensors can be sorted by; `file` is as they lie in the file."""
Place = Literal["input", "layer", "output", "further"]
"""`further` are the layers beyond the first 1,024, which no model has."""
TensorKind = Literal["attention", "feed_forward", "experts", "state", "vocabulary", "other"]
"""What a tensor is for, as far as its name says it; `other` are norms and whatever is called otherwise."""


class EntryView(msgspec.Struct, frozen=True):
    """One entry: its value, or the beginning of it."""

    key: str
    type: str
    """Such as “u32”, “text” or, of an array, “text[]”."""
    value: Scalar | tuple[Scalar, ...]
    length: int | None = None
    """Elements of an array, or characters of a text (bytes, of one that was not kept); None for a number."""
    is_shortened: bool = False
    digest: str = ""
    """Of the whole value, to tell whether two are the same."""


class TensorView(msgspec.Struct, frozen=True):
    """One tensor."""

    name: str
    shape: tuple[int, ...]
    type: str
    size: int | None
    """None where its type is not known."""
    offset: int
    """From the beginning of its file."""
    part: int = 0
    """Which file of the model holds it."""


class TokenView(msgspec.Struct, frozen=True):
    """One token that means something to the model; what it is for is empty for other control tokens."""

    id: int
    text: str | None
    """None where the vocabulary has no such token."""
    role: str = ""


class TokenizerView(msgspec.Struct, frozen=True):
    """What the file says of its tokenizer."""

    kind: str | None
    pre: str | None
    vocabulary: int | None
    special: tuple[TokenView, ...] = ()
    special_left_out: int = 0
    merges: int | None = None


class TemplateView(msgspec.Struct, frozen=True):
    """One chat template; the ordinary one has no name."""

    name: str
    text: str
    left_out: int = 0
    """Characters beyond what is shown."""


class PartSize(msgspec.Struct, frozen=True):
    """What tensors of one kind and one type take in a place."""

    kind: TensorKind
    type: str
    size: int


class PlaceSize(msgspec.Struct, frozen=True):
    """What a layer takes, or all that comes before or after them."""

    place: Place
    layer: int | None
    tensors: int
    size: int | None
    """None where one of them is of a type that is not known."""
    parts: tuple[PartSize, ...] = ()
    """The largest first; without those whose size is not known."""


class TypeSize(msgspec.Struct, frozen=True):
    """What all tensors of one type take."""

    type: str
    tensors: int
    elements: int
    size: int | None


class GgufView(msgspec.Struct, frozen=True):
    """All that is shown of one file, or of all files of one model."""

    version: int
    alignment: int
    file_size: int
    """Bytes of all files that were read."""
    header_size: int
    entries: tuple[EntryView, ...]
    entries_left_out: int
    tensors: tuple[TensorView, ...]
    tokenizer: TokenizerView
    templates: tuple[TemplateView, ...]
    places: tuple[PlaceSize, ...]
    types: tuple[TypeSize, ...]
    parts: int = 1
    parts_wanted: int = 1
    part: int = 0
    """Which part of its model the file is that was opened, counted from 0."""
    name: str | None = None
    architecture: str | None = None
    quantisation: str | None = None
    parameters: int = 0
    """Numbers in all tensors that were read."""
    weights: int | None = None
    """Bytes of all tensors; None where one of them is of a type that is not known."""

    @property
    def bits_per_weight(self) -> float | None:
        """What one number takes; None where that is not known."""
        return 8 * self.weights / self.parameters if self.weights is not None and self.parameters else None


def sorted_tensors(
    tensors: tuple[TensorView, ...], column: TensorColumn, *, descending: bool = False
) -> tuple[TensorView, ...]:
    """Return tensors in another order; of equal ones those that lie first come first, unknown sizes last."""
    if column == "file":
        return tensors[::-1] if descending else tensors
    if column == "size":
        known = [tensor for tensor in tensors if tensor.size is not None]
        unknown = [tensor for tensor in tensors if tensor.size is None]
        return (*sorted(known, key=lambda tensor: tensor.size or 0, reverse=descending), *unknown)
    if column == "offset":
        return tuple(sorted(tensors, key=lambda tensor: (tensor.part, tensor.offset), reverse=descending))
    if column == "shape":
        return tuple(sorted(tensors, key=lambda tensor: tensor.shape, reverse=descending))
    if column == "type":
        return tuple(sorted(tensors, key=lambda tensor: tensor.type, reverse=descending))
    return tuple(sorted(tensors, key=lambda tensor: _by_numbers(tensor.name), reverse=descending))


def named_tensors(tensors: tuple[TensorView, ...], words: str) -> tuple[TensorView, ...]:
    """Return those whose name, or type, has all of these words in it, whatever their case."""
    wanted = words.casefold().split()
    if not wanted:
        return tensors
    return tuple(each for each in tensors if all(word in f"{each.name} {each.type}".casefold() for word in wanted))


def _by_numbers(name: str) -> tuple[tuple[bool, int, str], ...]:
    """Return what to sort a name by, so that layer 10 comes after layer 9."""
    return tuple((word.isdecimal(), int(word) if word.isdecimal() else 0, word) for word in name.split("."))

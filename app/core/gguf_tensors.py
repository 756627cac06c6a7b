"""One tensor of a GGUF header, and the list of them read and checked for shapes that cannot be.

Knows sizes and names of ggml's types; whether the weights are really there is `gguf_verdict`'s.
"""

from __future__ import annotations

import struct

import msgspec

from app.core.errors import UserError
from app.core.gguf_cursor import Cursor, shown_name
from app.core.gguf_types import (
    MAX_DIMENSIONS,
    MAX_TENSOR_ELEMENTS,
    MAX_TENSOR_NAME_BYTES,
    REMOVED_TENSOR_TYPES,
    TENSOR_TYPES,
)
from app.core.words import translate

ENDS_NAMES = "\0"
"""Where a name ends for llama.cpp, which would know the tensor by another one than is read here."""
_DIMENSIONS = [struct.Struct(f"<{count}Q") for count in range(MAX_DIMENSIONS + 1)]


class Tensor(msgspec.Struct, frozen=True):
    """One tensor as the header describes it; `offset` counts from the header's `data_offset`."""

    name: str
    dimensions: tuple[int, ...]
    type: int
    offset: int

    @property
    def elements(self) -> int:
        """How many numbers the tensor holds."""
        product = 1
        for dimension in self.dimensions:
            product *= dimension
        return product

    @property
    def type_name(self) -> str:
        """The type by name; one that is not known reads “type 99”."""
        known = TENSOR_TYPES.get(self.type)
        return known.name if known else f"type {self.type}"

    @property
    def size(self) -> int | None:
        """Bytes in the file; None where the type is not known."""
        known = TENSOR_TYPES.get(self.type)
        return self.elements // known.block_elements * known.block_bytes if known else None


def read_tensors(cursor: Cursor, count: int) -> tuple[Tensor, ...]:
    """Return the `count` tensors that are described from here on."""
    tensors: dict[str, Tensor] = {}
    for _ in range(count):
        tensor = _read_tensor(cursor)
        if tensor.name in tensors:
            raise UserError(
                translate(
                    "ModelFile",
                    "The header of this file names the tensor “{tensor}” twice, so it is damaged: download"
                    " the model again.",
                    tensor=shown_name(tensor.name),
                )
            )
        tensors[tensor.name] = tensor
    return tuple(tensors.values())


def _read_tensor(cursor: Cursor) -> Tensor:
    """Return the tensor described next."""
    name = _read_name(cursor)
    rank = cursor.u32()
    if not 1 <= rank <= MAX_DIMENSIONS:
        raise _impossible_shape(name)
    layout = _DIMENSIONS[rank]
    tensor = Tensor(name, layout.unpack(cursor.take(layout.size)), cursor.u32(), cursor.u64())
    # Of a length of nothing llama.cpp computes strides that overflow, and ends the process.
    if min(tensor.dimensions) == 0 or tensor.elements >= MAX_TENSOR_ELEMENTS:
        raise _impossible_shape(name)
    if tensor.type in REMOVED_TENSOR_TYPES:
        raise UserError(
            translate(
                "ModelFile",
                "This model is quantised as {type}, which llama.cpp no longer reads: get another"
                " quantisation of it, such as Q4_0 or Q4_K_M.",
                type=REMOVED_TENSOR_TYPES[tensor.type],
            )
        )
    known = TENSOR_TYPES.get(tensor.type)
    if known and tensor.dimensions[0] % known.block_elements:
        raise _impossible_shape(name)
    return tensor


def _read_name(cursor: Cursor) -> str:
    """Return the name of the tensor described next."""
    start = cursor.position
    raw = cursor.text(MAX_TENSOR_NAME_BYTES)
    try:
        name = raw.decode("utf-8")
    except UnicodeDecodeError:
        name = ENDS_NAMES
    if ENDS_NAMES in name:
        raise UserError(
            translate(
                "ModelFile",
                "The header of this file is damaged at byte {offset:,}, where the name of a tensor cannot be"
                " read: download the model again.",
                offset=start,
            )
        )
    return name


def _impossible_shape(name: str) -> UserError:
    return UserError(
        translate(
            "ModelFile",
            "The header of this file gives the tensor “{tensor}” an impossible shape, so it is damaged:"
            " download the model again.",
            tensor=shown_name(name),
        )
    )

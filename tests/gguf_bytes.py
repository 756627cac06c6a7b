"""Puts GGUF files together byte by byte, so that a test can get any of them wrong, and opens files for tests.

Written from the format's description, without the reader that is tested.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from app.core.model_file import ModelSource, OpenFile

Entry = bool | int | float | str | Sequence[int] | Sequence[float] | Sequence[str]


def open_in_memory(files: Mapping[str, bytes]) -> OpenFile:
    """Return a function that opens these files by name."""

    def source(content: bytes) -> ModelSource:
        return ModelSource(lambda offset, size: content[offset : offset + size], len(content))

    return lambda name: source(files[name]) if name in files else None


def open_in_folder(folder: Path) -> OpenFile:
    """Return a function that opens the files of a folder by name."""

    def source(path: Path) -> ModelSource:
        def read(offset: int, size: int) -> bytes:
            with path.open("rb") as file:
                file.seek(offset)
                return file.read(size)

        return ModelSource(read, path.stat().st_size)

    return lambda name: source(folder / name) if (folder / name).is_file() else None


def raw_gguf(
    metadata: Mapping[str, Entry],
    tensors: Iterable[tuple[str, tuple[int, ...], int, int]] = (("token_embd.weight", (4, 2), 0, 0),),
    *,
    data: bytes = bytes(32),
    version: int = 3,
) -> bytes:
    """Return the bytes of a GGUF file put together by hand; a tensor is (name, dimensions, type, offset)."""
    entries = [encode_text(key) + encode_value(value) for key, value in metadata.items()]
    return raw_gguf_of(entries, [encode_tensor(*tensor) for tensor in tensors], data=data, version=version)


def raw_gguf_of(
    entries: Sequence[bytes], tensors: Sequence[bytes], *, data: bytes = bytes(32), version: int = 3
) -> bytes:
    """Return the bytes of a GGUF file made of entries and tensors that are encoded already."""
    header = (
        b"GGUF" + struct.pack("<IQQ", version, len(tensors), len(entries)) + b"".join(entries) + b"".join(tensors)
    )
    return header + bytes(-len(header) % 32) + data


def encode_text(text: str | bytes) -> bytes:
    """Return a text with its length before it."""
    raw = text.encode() if isinstance(text, str) else text
    return struct.pack("<Q", len(raw)) + raw


def encode_tensor(name: str | bytes, dimensions: tuple[int, ...], tensor_type: int, offset: int) -> bytes:
    """Return the description of a tensor."""
    shape = struct.pack(f"<I{len(dimensions)}Q", len(dimensions), *dimensions)
    return encode_text(name) + shape + struct.pack("<IQ", tensor_type, offset)


def encode_value(value: Entry) -> bytes:
    """Return a value with its type before it: the type that model makers use for such a value."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        encoded = [encode_value(element) for element in value]
        element_type = encoded[0][:4] if encoded else struct.pack("<I", 8)
        return (
            struct.pack("<I", 9) + element_type + struct.pack("<Q", len(encoded)) + b"".join(e[4:] for e in encoded)
        )
    if isinstance(value, str):
        return struct.pack("<I", 8) + encode_text(value)
    if isinstance(value, bool):
        return struct.pack("<I?", 7, value)
    if isinstance(value, float):
        return struct.pack("<If", 6, value)
    if value < 0:
        return struct.pack("<Ii", 5, value)
    return struct.pack("<II", 4, value) if value < 2**32 else struct.pack("<IQ", 10, value)

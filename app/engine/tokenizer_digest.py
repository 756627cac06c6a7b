"""A digest of what a model's tokens say, so that models with one vocabulary share what is kept of it.

Reads the header's own bytes through a function that it is given; must not know the file.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable

from app.core.gguf_entries import UnreadValue, Value
from app.core.gguf_header import Header

DIGITS = 32
"""Hexadecimal digits of the digest."""
KEYS = ("tokenizer.ggml.model", "tokenizer.ggml.tokens", "tokenizer.ggml.token_type")
"""The entries that decide what tokens say: how bytes are written, the texts, and which of them are control tokens."""
_BLOCK_BYTES = 1 << 20
_LENGTH = struct.Struct("<Q")


def digest_of(header: Header, read: Callable[[int, int], bytes]) -> str:
    """Return the digest of a vocabulary; `read` takes an offset and a length. Nothing is no vocabulary."""
    if KEYS[1] not in header.metadata:
        return ""
    digest = hashlib.sha256()
    for key in KEYS:
        value = header.metadata.get(key)
        digest.update(key.encode() + b"\0")
        if isinstance(value, UnreadValue):
            digest.update(f"{value.element_type} {value.count}\0".encode())
            for offset in range(value.offset, value.offset + value.size, _BLOCK_BYTES):
                digest.update(read(offset, min(_BLOCK_BYTES, value.offset + value.size - offset)))
        else:
            _add_kept(digest.update, value)
    return digest.hexdigest()[:DIGITS]


def _add_kept(update: Callable[[bytes], None], value: Value | None) -> None:
    """Add a value that is short enough to be in memory."""
    for element in value if isinstance(value, tuple) else (value,):
        data = repr(element).encode()
        update(_LENGTH.pack(len(data)) + data)

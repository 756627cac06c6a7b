"""The tokenizer of a GGUF file as people look at it: which tokens are special, and how these are written.

Walks through a vocabulary that was passed over when the header was read, and keeps only the tokens it looks for.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Iterable, Iterator, Sequence

from app.core.gguf_cursor import Cursor
from app.core.gguf_entries import UnreadValue
from app.core.gguf_header import Header
from app.core.gguf_types import MAX_ARRAY_TEXTS, MAX_HEADER_BYTES
from app.core.gguf_view import MOST_SPECIAL, MOST_TOKEN_BYTES, TokenizerView, TokenView
from app.core.model_facts import model_facts
from app.core.model_file import ModelSource

TOKENS_KEY, TYPES_KEY, MERGES_KEY = (f"tokenizer.ggml.{name}" for name in ("tokens", "token_type", "merges"))
_ROLE_START, _ROLE_END = "tokenizer.ggml.", "_token_id"
_I32 = struct.Struct("<i")
_CONTROL = 3
"""What a vocabulary says of tokens that stand for no text."""


def tokenizer_view(header: Header, source: ModelSource) -> TokenizerView:
    """Return what a file says of its tokenizer."""
    facts = model_facts([header]).tokenizer
    roles = _roles(header)
    control = _control(header, source, {*roles.values()})
    shown = control[: max(MOST_SPECIAL - len(roles), 0)]
    texts = _texts(header, source, {*roles.values(), *shown})
    return TokenizerView(
        kind=facts.model,
        pre=facts.pre,
        vocabulary=facts.vocabulary,
        special=(
            *(TokenView(number, texts.get(number), role) for role, number in roles.items()),
            *(TokenView(number, texts.get(number)) for number in shown),
        ),
        special_left_out=len(control) - len(shown),
        merges=header.array_length(MERGES_KEY),
    )


def _roles(header: Header) -> dict[str, int]:
    """Return the tokens that have a task, by its name, such as “eos”."""
    found: dict[str, int] = {}
    for key in header.metadata:
        if key.startswith(_ROLE_START) and key.endswith(_ROLE_END) and len(found) < MOST_SPECIAL:
            number = header.integer(key)
            role = key[len(_ROLE_START) : -len(_ROLE_END)]
            if number is not None and role:
                found[role[:MOST_TOKEN_BYTES]] = number
    return found


def _control(header: Header, source: ModelSource, others: set[int]) -> Sequence[int]:
    """Return the tokens that the vocabulary calls control tokens, without these others."""
    types = header.metadata.get(TYPES_KEY)
    if isinstance(types, UnreadValue) and types.element_type == "i32":
        raw = source.read(types.offset, min(types.size, _I32.size * MAX_ARRAY_TEXTS))
        values: Iterable[object] = (number for (number,) in _I32.iter_unpack(raw[: len(raw) // 4 * 4]))
    elif isinstance(types, tuple):
        values = types
    else:
        return ()
    found = (token for token, kind in enumerate(values) if kind == _CONTROL and token not in others)
    return array("l", found)


def _texts(header: Header, source: ModelSource, wanted: set[int]) -> dict[int, str]:
    """Return how these tokens are written, as far as there are such tokens."""
    tokens = header.metadata.get(TOKENS_KEY)
    if isinstance(tokens, tuple):
        return {number: str(tokens[number])[:MOST_TOKEN_BYTES] for number in wanted if 0 <= number < len(tokens)}
    if not isinstance(tokens, UnreadValue) or tokens.element_type != "text" or tokens.count is None:
        return {}
    there = sorted(number for number in wanted if 0 <= number < (tokens.count or 0))
    return dict(zip(there, texts_at(source, tokens, there), strict=True))


def texts_at(source: ModelSource, texts: UnreadValue, numbers: Iterable[int]) -> list[str]:
    """Return the beginnings of these texts of an array, whose numbers rise."""
    return list(walk_texts(source, texts, numbers))


def walk_texts(
    source: ModelSource, texts: UnreadValue, numbers: Iterable[int], most_bytes: int = MOST_TOKEN_BYTES
) -> Iterator[str]:
    """Read the beginnings of these texts of an array, whose numbers rise, one after the other."""
    cursor = Cursor(*source)
    cursor.skip(texts.offset)
    at = 0
    for number in numbers:
        cursor.skip_texts(number - at)
        length = cursor.length(MAX_HEADER_BYTES)
        taken = cursor.take(min(length, most_bytes))
        cursor.skip(length - len(taken))
        yield taken.decode("utf-8", errors="replace")
        at = number + 1

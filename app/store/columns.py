"""Values as they lie in columns: text that can always be saved, JSON for what is not searched, and back again.

A column that cannot be decoded costs its value and nothing else.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from typing import Any, TypeVar

import msgspec

from app.core.chat import PromptSpan, clean_text
from app.core.commands import SettingsChange
from app.core.conversation import Thinking
from app.core.metrics import Metrics
from app.core.model import ModelRef
from app.core.sampling import SamplingSettings
from app.core.words import Sentence
from app.system.settings_file import read_struct

MODEL = msgspec.json.Decoder(ModelRef)
CHANGES = msgspec.json.Decoder(tuple[SettingsChange, ...])
METRICS = msgspec.json.Decoder(Metrics)
SENTENCE = msgspec.json.Decoder(Sentence)
SENTENCES = msgspec.json.Decoder(tuple[Sentence, ...])
THINKING = msgspec.json.Decoder(Thinking)
INDICES = msgspec.json.Decoder(tuple[int, ...])
_SETTINGS = msgspec.json.Decoder(SamplingSettings)
_SPANS = msgspec.msgpack.Decoder(tuple[tuple[int, int, str, int], ...])
_UNREADABLE = (msgspec.MsgspecError, ValueError, TypeError, OverflowError, RecursionError)

_Value = TypeVar("_Value")
_Choice = TypeVar("_Choice", bound=str)


def to_json(value: object) -> str | None:
    """Return a value as JSON text, None as nothing."""
    if value is None:
        return None
    try:
        return msgspec.json.encode(value).decode()
    except UnicodeEncodeError:  # a lone surrogate, as in the name of a file that is no UTF-8
        return msgspec.json.encode(_cleaned(msgspec.to_builtins(value))).decode()


def from_json(stored: Any, decoder: msgspec.json.Decoder[_Value], otherwise: _Value) -> _Value:
    """Return the value of a JSON column."""
    if stored is None:
        return otherwise
    try:
        return decoder.decode(stored)
    except _UNREADABLE:
        return otherwise


def maybe_json(stored: Any, decoder: msgspec.json.Decoder[_Value]) -> _Value | None:
    """Return the value of a JSON column that may be empty."""
    if stored is None:
        return None
    try:
        return decoder.decode(stored)
    except _UNREADABLE:
        return None


def settings(stored: Any) -> SamplingSettings:
    """Return a column of sampling settings; one that cannot be read is at its default and costs no other."""
    if (whole := maybe_json(stored, _SETTINGS)) is not None:
        return whole
    try:
        raw = msgspec.json.decode(stored)
    except _UNREADABLE:
        return SamplingSettings()
    if not isinstance(raw, dict):
        return SamplingSettings()
    return read_struct(SamplingSettings, raw, "", []).validated()


def one_of(stored: Any, choices: Iterable[_Choice], otherwise: _Choice) -> _Choice:
    """Return the choice that a column names."""
    return next((choice for choice in choices if choice == stored), otherwise)


def text(stored: Any) -> str:
    """Return a column as text."""
    return stored if isinstance(stored, str) else ""


def data(stored: Any) -> bytes:
    """Return a column as bytes."""
    return stored if isinstance(stored, bytes) else b""


def integer(stored: Any) -> int | None:
    """Return a column as a whole number."""
    return stored if isinstance(stored, int) else None


def number(stored: Any) -> float | None:
    """Return a column as a number."""
    return float(stored) if isinstance(stored, int | float) else None


def pack_spans(spans: tuple[PromptSpan, ...]) -> bytes:
    """Return the parts of a prompt in few bytes."""
    rows = [(span.start, span.end, span.part, span.message) for span in spans]
    return zlib.compress(msgspec.msgpack.encode(rows))


def unpack_spans(stored: Any) -> tuple[PromptSpan, ...]:
    """Return the parts of a prompt; those that cannot be read are none."""
    try:
        rows = _SPANS.decode(zlib.decompress(data(stored)))
        spans = [{"start": start, "end": end, "part": part, "message": index} for start, end, part, index in rows]
        return msgspec.convert(spans, tuple[PromptSpan, ...])
    except (*_UNREADABLE, zlib.error):
        return ()


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, dict):
        return {_cleaned(key): _cleaned(element) for key, element in value.items()}
    if isinstance(value, list | tuple):
        return [_cleaned(element) for element in value]
    return value

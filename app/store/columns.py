"""Values as they lie in columns: text that can always be saved, JSON for what is not searched, and back again.

A column that cannot be decoded costs its value and nothing else.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, TypeVar

import msgspec

from app.core.chat import PromptSpan, clean_value
from app.core.commands import SettingsChange
from app.core.conversation import Thinking
from app.core.metrics import Metrics
from app.core.model import ModelRef
from app.core.sampling import SamplingSettings
from app.core.words import Sentence
from app.system.struct_fields import read_struct

MODEL = msgspec.json.Decoder(ModelRef)
_CHANGES = msgspec.json.Decoder(tuple[SettingsChange, ...])
METRICS = msgspec.json.Decoder(Metrics)
SENTENCE = msgspec.json.Decoder(Sentence)
SENTENCES = msgspec.json.Decoder(tuple[Sentence, ...])
THINKING = msgspec.json.Decoder(Thinking)
_SETTINGS = msgspec.json.Decoder(SamplingSettings)
_INDICES = msgspec.json.Decoder(tuple[int | tuple[int, int], ...])
_MOST_SETTINGS = 512
_MOST_INDICES = 10_000_000
"""More messages are in no prompt: damage may make up a run that no memory holds."""
_Rows = tuple[tuple[int, int, str, int], ...]
_SPANS = msgspec.msgpack.Decoder(tuple[int, _Rows])
_WHOLE_SPANS = msgspec.msgpack.Decoder(_Rows)
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
        return msgspec.json.encode(clean_value(msgspec.to_builtins(value))).decode()


def to_msgpack(value: object) -> bytes:
    """Return a value as msgpack, which any number goes through."""
    try:
        return msgspec.msgpack.encode(value)
    except UnicodeEncodeError:
        return msgspec.msgpack.encode(clean_value(msgspec.to_builtins(value, builtin_types=(bytes,))))


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
    """Return a column of sampling settings in their ranges; one that cannot be read is at its default."""
    return _settings(stored) if isinstance(stored, (str, bytes)) else SamplingSettings()


@lru_cache(_MOST_SETTINGS)
def _settings(stored: str | bytes) -> SamplingSettings:
    """Many chats have the same; looking into each costs a start time."""
    if (whole := maybe_json(stored, _SETTINGS)) is not None:
        return whole.validated()
    try:
        raw = msgspec.json.decode(stored)
    except _UNREADABLE:
        return SamplingSettings()
    if not isinstance(raw, dict):
        return SamplingSettings()
    return read_struct(SamplingSettings, raw, "", []).validated()


def changes(stored: Any) -> tuple[SettingsChange, ...]:
    """Return a column that says with which settings an answer was written, in their ranges."""
    found = from_json(stored, _CHANGES, ())
    return tuple(msgspec.structs.replace(each, settings=each.settings.validated()) for each in found)


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


def pack_indices(indices: tuple[int, ...]) -> str | None:
    """Return indices as JSON: a run of them takes two numbers, however long it is; none are nothing."""
    runs: list[list[int]] = []
    for index in indices:
        if runs and index == runs[-1][1]:
            runs[-1][1] += 1
        else:
            runs.append([index, index + 1])
    return to_json(runs or None)


def unpack_indices(stored: Any) -> tuple[int, ...]:
    """Return indices that were kept as runs or one by one; those that cannot be read are none."""
    runs = [(run, run + 1) if isinstance(run, int) else run for run in from_json(stored, _INDICES, ())]
    if sum(max(end - start, 0) for start, end in runs) > _MOST_INDICES:
        return ()
    return tuple(index for start, end in runs for index in range(start, end))


def pack_spans(spans: Sequence[PromptSpan], shared: int = 0) -> bytes:
    """Return the parts of a prompt in few bytes, without as many of the first ones as another prompt has, too."""
    return pack_span_rows(spans[shared:], shared)


def pack_span_rows(spans: Sequence[PromptSpan], shared: int) -> bytes:
    """Return parts of a prompt in few bytes, behind so many of another one."""
    rows = [(span.start, span.end, span.part, span.message) for span in spans]
    return zlib.compress(msgspec.msgpack.encode((shared, rows)))


def unpack_spans(stored: Any) -> tuple[int, tuple[PromptSpan, ...]] | None:
    """Return how many parts a prompt shares with the one that it builds on, and the others; None cannot be read."""
    try:
        packed = zlib.decompress(data(stored))
        try:
            shared, rows = _SPANS.decode(packed)
        except msgspec.ValidationError:  # as they were kept once: all of them
            shared, rows = 0, _WHOLE_SPANS.decode(packed)
        spans = [{"start": start, "end": end, "part": part, "message": index} for start, end, part, index in rows]
        return shared, msgspec.convert(spans, tuple[PromptSpan, ...])
    except (*_UNREADABLE, zlib.error):
        return None

"""Values with many fields as plain data and back: only differences are written, a bad field costs itself when read."""

from __future__ import annotations

from typing import Any, TypeVar, get_args, get_origin

import msgspec

from app.system.lenient_json import mended

LARGEST_NUMBER = 2**32 - 1
"""No setting means more, and neither the file nor the engine can be told numbers of any length."""
UNREADABLE = (msgspec.MsgspecError, ValueError, OverflowError, RecursionError)
"""What converting raises for a bad value, or a number too large."""

_Value = TypeVar("_Value", bound=msgspec.Struct)


def differences(value: msgspec.Struct) -> dict[str, Any]:
    """Return the fields that differ from their defaults, those of values inside included."""
    changed: dict[str, Any] = {}
    for field in msgspec.structs.fields(type(value)):
        current = getattr(value, field.name)
        default = field.default if field.default is not msgspec.NODEFAULT else None
        if field.default_factory is not msgspec.NODEFAULT:
            default = field.default_factory()
        if current != default:
            changed[field.encode_name] = _plain(current)
    return changed


def _plain(value: object) -> object:
    if isinstance(value, msgspec.Struct):
        return differences(value)
    if isinstance(value, dict):
        return {_plain(key): _plain(element) for key, element in value.items()}
    if isinstance(value, tuple):
        return [_plain(element) for element in value]
    return mended(value) if isinstance(value, str) else msgspec.to_builtins(value)


def read_struct(kind: type[_Value], raw: dict[str, Any], where: str, unread: list[str]) -> _Value:
    """Build a value field by field; what does not fit becomes the default and is named in `unread`.

    A value without one of the fields that have no default is a ValueError: it is no such value.
    """
    found: dict[str, Any] = {}
    for field in msgspec.structs.fields(kind):
        if field.encode_name not in raw:
            continue
        value, name = raw[field.encode_name], f"{where}{field.encode_name}"
        try:
            found[field.name] = _read_field(field.type, value, name, unread)
        except UNREADABLE:
            unread.append(name)
    if any(field.required and field.name not in found for field in msgspec.structs.fields(kind)):
        raise ValueError(f"no {kind.__name__}")
    return kind(**found)


def _read_field(kind: Any, value: object, name: str, unread: list[str]) -> object:
    if get_origin(kind) is dict and isinstance(value, dict):
        return _read_entries(get_args(kind)[1], value, name, unread)
    if kind == tuple[str, ...] and isinstance(value, list) and any(isinstance(text, str) for text in value):
        unread.extend(f"{name}.{place}" for place, text in enumerate(value, 1) if not isinstance(text, str))
        return tuple(text for text in value if isinstance(text, str))
    struct = next((k for k in (kind, *get_args(kind)) if isinstance(k, type) and issubclass(k, msgspec.Struct)), None)
    if struct is not None and isinstance(value, dict):
        return read_struct(struct, value, f"{name}.", unread)
    if isinstance(value, int) and abs(value) > LARGEST_NUMBER:
        raise OverflowError
    return msgspec.convert(value, kind)


def _read_entries(kind: Any, raw: dict[str, Any], name: str, unread: list[str]) -> dict[str, object]:
    entries: dict[str, object] = {}
    for key, value in raw.items():
        try:
            entries[key] = _read_field(kind, value, f"{name}.{key}", unread)
        except UNREADABLE:
            unread.append(f"{name}.{key}")
    return entries

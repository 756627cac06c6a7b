"""What can be told of JSON schemas without a grammar: which values are of a type, and which schemas no value fits both of. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from itertools import combinations
from typing import Any

Schema = dict[str, Any]
TYPES = ("object", "array", "string", "number", "integer", "boolean", "null")
OF_TYPE = {
    "object": frozenset(("properties", "required", "additionalProperties")),
    "array": frozenset(("items", "prefixItems", "minItems", "maxItems")),
    "string": frozenset(("minLength", "maxLength")),
}
"""Keywords that ask something of one type alone."""
_CLASSES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}
_DEEPEST = 8


def is_of(value: object, kind: str) -> bool:
    """Return whether a value of JSON is of a type; 1.0 is an integer, as JSON Schema has it."""
    if (of_class := _CLASSES.get(kind)) is not None:
        return isinstance(value, of_class)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return kind == "number" or isinstance(value, int) or value.is_integer()


def implied_type(keywords: Iterable[str]) -> str | None:
    """Return the type that a schema without one means by its keywords."""
    return next((kind for kind, own in OF_TYPE.items() if not own.isdisjoint(keywords)), None)


def are_apart(schemas: Iterable[object], resolve: Callable[[object], object]) -> bool:
    """Return whether no value fits two of some schemas, as far as that can be told; `resolve` follows references."""
    return all(_apart(one, other, resolve, 0) for one, other in combinations(schemas, 2))


def _apart(one: object, other: object, resolve: Callable[[object], object], depth: int) -> bool:
    one, other = resolve(one), resolve(other)
    if not isinstance(one, dict) or not isinstance(other, dict) or depth >= _DEEPEST:
        return False
    values, others = _values(one), _values(other)
    if values is not None and others is not None:
        return {_key(each) for each in values}.isdisjoint(_key(each) for each in others)
    kinds, other_kinds = _kinds(one), _kinds(other)
    if values is not None or others is not None:
        listed, fitting = (values, other_kinds) if values is not None else (others or [], kinds)
        return fitting is not None and not any(is_of(value, kind) for value in listed or [] for kind in fitting)
    if kinds is None or other_kinds is None:
        return False
    if kinds.isdisjoint(other_kinds):
        return True
    return kinds & other_kinds == {"object"} and (
        _lacks(one, other) or _lacks(other, one) or _differ(one, other, resolve, depth)
    )


def _lacks(closed: Schema, other: Schema) -> bool:
    """Return whether an object may not have what the other must have."""
    return closed.get("additionalProperties") is False and any(
        name not in closed.get("properties", {}) for name in _required(other)
    )


def _differ(one: Schema, other: Schema, resolve: Callable[[object], object], depth: int) -> bool:
    """Return whether a property that both must have cannot be the same in both."""
    own, others = one.get("properties", {}), other.get("properties", {})
    shared = [name for name in _required(one) if name in _required(other) and name in own and name in others]
    return any(_apart(own[name], others[name], resolve, depth + 1) for name in shared)


def _required(schema: Schema) -> list[object]:
    required = schema.get("required", [])
    return required if isinstance(required, list) else []


def _values(schema: Schema) -> list[object] | None:
    values = [schema["const"]] if "const" in schema else schema.get("enum")
    return values if isinstance(values, list) else None


def _kinds(schema: Schema) -> set[str] | None:
    said = schema.get("type", implied_type(schema))
    if said is None:
        return None
    kinds = set(said if isinstance(said, list) else [said])
    return kinds | {"integer"} if "number" in kinds else kinds


def _key(value: object) -> str:
    """Return the same for values that JSON Schema takes for one."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return json.dumps(value, sort_keys=True)

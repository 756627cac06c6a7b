"""The Jinja filters that chat templates may use, none of which can make more than the limits allow.

Filters that make HTML, that draw at random or that take a regular expression's time are left out: a prompt has no use
for them.
"""

from __future__ import annotations

import html
import json
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from typing import Any

from jinja2 import Environment
from jinja2.filters import make_attrgetter
from jinja2.utils import pass_environment

from app.engine.template_limits import TemplateFault
from app.engine.template_values import GuardedValues

ITEMS_AT_ONCE = 1024
MAX_JSON_INDENT = 16

# fmt: off
_KEPT = (
    "abs", "attr", "batch", "capitalize", "center", "count", "d", "default", "dictsort", "first", "float",
    "groupby", "int", "items", "last", "length", "lower", "map", "max", "min", "reject", "rejectattr",
    "reverse", "round", "select", "selectattr", "slice", "sort", "title", "trim", "truncate", "unique",
    "upper", "wordcount",
)
# fmt: on

_COUNTING = frozenset(("batch", "center", "round", "slice", "truncate"))

Filter = Callable[..., Any]


def guarded_filters(builtin: Mapping[str, Filter], values: GuardedValues) -> dict[str, Filter]:
    """Return the filters by name: Jinja's own behind a check, and those written anew."""
    own = _Filters(values)
    escaped = own.escaped
    return {name: _guarded(name, builtin[name], values) for name in _KEPT} | {
        "e": escaped,
        "escape": escaped,
        "forceescape": escaped,
        "format": own.formatted,
        "indent": own.indented,
        "join": own.joined,
        "list": own.listed,
        "replace": own.replaced,
        "safe": values.text,
        "string": values.text,
        "sum": own.summed,
        "tojson": own.json_text,
    }


def _guarded(name: str, function: Filter, values: GuardedValues) -> Filter:
    """Return a filter that refuses counts beyond reason and counts what comes out."""
    first = 1 if hasattr(function, "jinja_pass_arg") else 0
    limits = values.limits

    def guarded(*args: Any, **kwargs: Any) -> Any:
        if name in _COUNTING:
            limits.check_count(*args[first + 1 :], *kwargs.values())
        if isinstance(args[first], (list, tuple, dict)):
            limits.check_text(limits.weigh(args[first]))
        result = function(*args, **kwargs)
        if isinstance(result, str):
            limits.spend(len(result))
        elif isinstance(result, (list, tuple, dict)):
            limits.spend_items(len(result))
            limits.check_text(limits.weigh(result))
        elif isinstance(result, int):
            limits.check_bits(result.bit_length())
        return result

    # The mark by which Jinja hands a filter its environment is an attribute, and goes along.
    return wraps(function)(guarded)


class _Filters:
    """The filters that are written anew, because Jinja's own make things before they can be checked."""

    def __init__(self, values: GuardedValues) -> None:
        self._values = values
        self._limits = values.limits

    def escaped(self, value: object) -> str:
        """Return text with HTML's characters escaped, as plain text."""
        text = self._values.text(value)
        self._limits.spend(len(text))
        return html.escape(text).replace("&quot;", "&#34;").replace("&#x27;", "&#39;")

    def formatted(self, value: object, *args: Any, **kwargs: Any) -> Any:
        """Return a layout of the `%` operator, filled."""
        return self._values.binary("%", self._values.text(value), kwargs or args)

    def indented(self, value: object, width: int | str = 4, first: bool = False, blank: bool = False) -> str:
        """Return text with its lines moved to the right."""
        self._limits.check_count(width)
        margin = width if isinstance(width, str) else " " * width
        # As in Jinja, a line break at the end stays only where blank lines are indented.
        lines = (self._values.text(value) + "\n").splitlines()
        self._limits.spend(sum(map(len, lines)) + (len(margin) + 1) * len(lines))
        moved = [margin + line if blank or line else line for line in lines[1:]]
        return "\n".join([margin + lines[0] if first else lines[0], *moved])

    @pass_environment
    def joined(
        self,
        environment: Environment,
        values: Iterable[Any],
        d: object = "",
        attribute: str | int | None = None,
    ) -> str:
        """Return values written out with a separator between them."""
        if attribute is not None:
            values = map(make_attrgetter(environment, attribute), values)
        return self._values.joined(self._values.text(d), values)

    def listed(self, value: Iterable[Any]) -> list[Any]:
        """Return the items of anything as a list."""
        if isinstance(value, (str, list, tuple, dict, range)):
            self._limits.spend_items(len(value))
            return list(value)
        items = []
        for item in value:
            items.append(item)
            if len(items) % ITEMS_AT_ONCE == 0:
                self._limits.spend_items(ITEMS_AT_ONCE)
        self._limits.check_text(self._limits.weigh(items))
        return items

    def replaced(self, value: object, old: object, new: object, count: int | None = None) -> str:
        """Return text with a part of it replaced."""
        text = self._values.text
        return self._values.replaced(text(value), text(old), text(new), -1 if count is None else count)

    @pass_environment
    def summed(
        self,
        environment: Environment,
        values: Iterable[Any],
        attribute: str | int | None = None,
        start: Any = 0,
    ) -> Any:
        """Return the sum of values."""
        if attribute is not None:
            values = map(make_attrgetter(environment, attribute), values)
        for value in values:
            start = self._values.binary("+", start, value)
        return start

    def json_text(
        self,
        value: object,
        ensure_ascii: bool = False,
        indent: int | str | None = None,
        separators: tuple[str, str] | None = None,
        sort_keys: bool = False,
    ) -> str:
        """Return a value as JSON, made piece by piece."""
        margin = len(indent) if isinstance(indent, str) else indent or 0
        if max(margin, *(len(separator) for separator in separators or ("",))) > MAX_JSON_INDENT:
            raise TemplateFault("size")
        encoder = json.JSONEncoder(
            ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys
        )
        self._limits.check_text(self._limits.weigh(value))
        return self._values.joined("", encoder.iterencode(value))

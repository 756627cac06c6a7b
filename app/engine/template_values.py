"""What templates do with values (operators, formatting, methods), each checked before it makes something large.

Knows nothing of Jinja beyond the sandbox that `str.format` looks attributes up with.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from types import BuiltinMethodType
from typing import Any

from jinja2.sandbox import SandboxedEnvironment, SandboxedFormatter

from app.engine.template_limits import Limits, TemplateFault

MAX_WIDTH_DIGITS = 3
MAX_LAYOUT_CHARACTERS = 200

# One conversion of the % operator; a name that is longer or holds brackets is not understood and refused.
_CONVERSION = re.compile(r"%(?:\(([^()%]{0,100})\))?[-+ #0]*(\*|\d*)(?:\.(\*|\d*))?[hlL]?[a-zA-Z%]")
_LONG_NUMBER = re.compile(rf"\d{{{MAX_WIDTH_DIGITS + 1}}}")
_WIDE_TIME = re.compile(rf"%[-_0^#+]*\d{{{MAX_WIDTH_DIGITS + 1}}}")

_OPERATORS: Mapping[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "**": operator.pow,
    "%": operator.mod,
}

# fmt: off
_HARMLESS: Mapping[type, frozenset[str]] = {
    str: frozenset((
        "capitalize", "casefold", "count", "endswith", "find", "index", "isalnum", "isalpha", "isascii",
        "isdecimal", "isdigit", "isidentifier", "islower", "isnumeric", "isprintable", "isspace", "istitle",
        "isupper", "lower", "lstrip", "partition", "removeprefix", "removesuffix", "rfind", "rindex",
        "rpartition", "rsplit", "rstrip", "split", "splitlines", "startswith", "strip", "swapcase", "title",
        "upper",
    )),
    list: frozenset(("copy", "count", "index")),
    tuple: frozenset(("count", "index")),
    dict: frozenset(("copy", "get", "items", "keys", "values")),
}
# fmt: on
_WIDENING = frozenset(("center", "ljust", "rjust", "zfill"))


class GuardedValues:
    """Does what templates ask for within the limits of one rendering."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits

    def text(self, value: object) -> str:
        """Return a value written out."""
        if type(value) is str:
            return value
        if isinstance(value, (list, tuple, dict)):
            self.limits.check_text(self.limits.weigh(value))
        return str(value)

    def joined(self, separator: str, values: Iterable[object]) -> str:
        """Return values written out one after another."""
        texts = []
        length = 0
        for value in values:
            texts.append(self.text(value))
            length += len(texts[-1]) + len(separator)
            self.limits.check_text(length)
        self.limits.spend(length)
        return separator.join(texts)

    def replaced(self, text: str, old: str, new: str, count: int = -1) -> str:
        """Return `text.replace(old, new, count)`."""
        found = text.count(old) if count < 0 else min(count, text.count(old))
        self.limits.spend(len(text) + max(found * (len(new) - len(old)), 0))
        return text.replace(old, new, count)

    def binary(self, name: str, left: Any, right: Any) -> Any:
        """Apply a binary operator."""
        if isinstance(left, int) and isinstance(right, int):
            self._check_numbers(name, left, right)
        elif name == "%" and isinstance(left, str):
            return self._percent(left, right)
        elif name == "*":
            self._check_repeats(left, right)
        elif name == "+" and isinstance(left, (str, list, tuple)) and isinstance(right, type(left)):
            self._spend_sequence(left, len(left) + len(right))
        result = _OPERATORS[name](left, right)
        if isinstance(result, (list, tuple)):
            self.limits.check_text(self.limits.weigh(result))
        return result

    def format_text(
        self, sandbox: SandboxedEnvironment, layout: str, values: Sequence[Any], named: Mapping[str, Any]
    ) -> str:
        """Return `layout.format(*values, **named)`."""
        text = _CountedFormatter(sandbox, self).vformat(layout, values, named)
        self.limits.spend(len(text))
        return text

    def time_text(self, now: datetime, layout: str) -> str:
        """Return a point in time written out by a `strftime` layout."""
        if len(layout) > MAX_LAYOUT_CHARACTERS or _WIDE_TIME.search(layout):
            raise TemplateFault("size")
        return now.strftime(layout)

    def call_method(self, method: BuiltinMethodType, values: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """Call a method of a text or a list that is known not to make more than it was given, or is checked."""
        owner, name = method.__self__, method.__name__
        if isinstance(owner, str):
            if name == "join" and len(values) == 1 and not named:
                return owner.join(self._listed(owner, values[0]))
            if name == "replace":
                return self.replaced(owner, *values, **named)
            if name in _WIDENING:
                self.limits.check_count(*values, *named.values())
            elif name == "expandtabs":
                size = next(iter((*values, *named.values())), 8)
                self.limits.spend(len(owner) + owner.count("\t") * max(size, 0))
            elif name not in _HARMLESS[str]:
                raise TemplateFault("forbidden", f"{name}() is not allowed")
        elif name not in _HARMLESS.get(type(owner), ()):
            raise TemplateFault("forbidden", f"{name}() is not allowed")
        result = method(*values, **named)
        if isinstance(result, (str, list, tuple)):
            self._spend_sequence(result, len(result))
        return result

    def _spend_sequence(self, kind: str | list[Any] | tuple[Any, ...], length: int) -> None:
        if isinstance(kind, str):
            self.limits.spend(length)
        else:
            self.limits.spend_items(length)

    def _listed(self, separator: str, values: Iterable[Any]) -> list[Any]:
        listed = list(values)
        self.limits.spend(sum(len(item) + len(separator) for item in listed if isinstance(item, str)))
        return listed

    def _check_numbers(self, name: str, left: int, right: int) -> None:
        if name == "**":
            self.limits.check_bits(left.bit_length() * max(right, 1))
        elif name == "*":
            self.limits.check_bits(left.bit_length() + right.bit_length())
        else:
            self.limits.check_bits(max(left.bit_length(), right.bit_length()))

    def _check_repeats(self, left: Any, right: Any) -> None:
        for repeated, count in ((left, right), (right, left)):
            if isinstance(repeated, (str, list, tuple)) and isinstance(count, int):
                self._spend_sequence(repeated, len(repeated) * max(count, 0))
                if not isinstance(repeated, str):
                    self.limits.check_text(self.limits.weigh(repeated) * max(count, 1))

    def _percent(self, layout: str, values: Any) -> str:
        """Return `layout % values`; widths that come from the values are refused."""
        conversions = list(_CONVERSION.finditer(layout))
        if "%" in _CONVERSION.sub("", layout):
            raise TemplateFault("failed", "unsupported format")
        for conversion in conversions:
            for number in conversion.group(2, 3):
                if number == "*" or len(number or "") > MAX_WIDTH_DIGITS:
                    raise TemplateFault("size")
        longest = self.limits.weigh(values) + 10**MAX_WIDTH_DIGITS
        self.limits.spend(len(layout) + longest * len(conversions))
        return str(layout % values)


class _CountedFormatter(SandboxedFormatter):
    """Fills the fields of `str.format` with widths within reason and counts what they come to."""

    def __init__(self, sandbox: SandboxedEnvironment, values: GuardedValues) -> None:
        super().__init__(sandbox)
        self._values = values
        self._length = 0

    def format_field(self, value: Any, format_spec: str) -> str:
        """Return one field."""
        if _LONG_NUMBER.search(format_spec):
            raise TemplateFault("size")
        text = format(self._values.text(value) if isinstance(value, (list, tuple, dict)) else value, format_spec)
        self._length += len(text)
        self._values.limits.check_text(self._length)
        return text

    def convert_field(self, value: Any, conversion: str | None) -> Any:
        """Apply `!r`, `!s` or `!a` to a value that is not too large for it."""
        self._values.limits.check_text(self._values.limits.weigh(value))
        return super().convert_field(value, conversion)

"""Numbers of one architecture out of a header, none of them absurd: what cannot be is as if it were not there."""

from __future__ import annotations

from app.core.gguf_header import Header

MOST = 1 << 40
"""No size of a model is larger; more is damage."""


class Numbers:
    """Reads `{architecture}.{name}` entries."""

    def __init__(self, header: Header, architecture: str) -> None:
        self._header = header
        self._prefix = f"{architecture}."

    def has(self, name: str) -> bool:
        """Whether the header has the entry, whatever it holds."""
        return self._prefix + name in self._header.metadata

    def one(self, name: str) -> int | None:
        """Return a number from 0 to `MOST`; None where there is none."""
        value = self._header.integer(self._prefix + name)
        return value if value is not None and 0 <= value <= MOST else None

    def most(self, name: str) -> int | None:
        """Return the largest of a number for each layer, or the one for all."""
        value = self._header.integers(self._prefix + name)
        numbers = value if isinstance(value, tuple) else (value,)
        known = [number for number in numbers if number is not None and 0 <= number <= MOST]
        return max(known, default=None)

    def each(self, name: str, layers: int) -> tuple[int, ...] | None:
        """Return one number for each layer, 0 where the list is shorter; None where there is none, or one cannot be."""
        value = self._header.integers(self._prefix + name)
        if value is None:
            return None
        numbers = value if isinstance(value, tuple) else (value,) * layers
        if any(not 0 <= number <= MOST for number in numbers):
            return None
        return (*numbers[:layers], *(0,) * (layers - len(numbers)))

    def marks(self, name: str, layers: int) -> tuple[bool, ...] | None:
        """Return a list of yes and no for each layer, stored as truth values or numbers; None where there is no list."""
        value = self._header.metadata.get(self._prefix + name)
        if not isinstance(value, tuple) or any(not isinstance(mark, bool | int) for mark in value):
            return None
        marks = tuple(bool(mark) for mark in value)
        return (*marks[:layers], *(False,) * (layers - len(marks)))

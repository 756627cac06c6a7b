"""Sentences for people, as values: a template that lupdate finds and the values that fill it.

Knows nothing of languages or widgets: `gui` renders a sentence translated, `cli` formats the English.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec


class Sentence(msgspec.Struct, frozen=True):
    """One sentence for people: lupdate context, English template with `{name}` fields, and their values."""

    context: str
    template: str
    values: dict[str, str | int | float] = msgspec.field(default_factory=dict)

    def english(self) -> str:
        """Return the English text."""
        return self.template.format(**grouped(self.values))


class _Grouped(int):
    """A whole number that shows with its thousands separated, unless a template says otherwise."""

    def __format__(self, how: str) -> str:
        return format(int(self), how or ",")


def grouped(values: Mapping[str, str | int | float]) -> dict[str, str | int | float]:
    """Return values as they stand in sentences: whole numbers with thousands separated, everything else as it is.

    What names something and counts nothing, such as a seed, is given as text.
    """
    return {name: _Grouped(value) if isinstance(value, int) else value for name, value in values.items()}


def counted(number: int | None, one: Sentence, several: Sentence) -> Sentence:
    """Return the sentence on one of something, or the one on any other number of it; languages differ in both."""
    return one if number == 1 else several


def translate(context: str, template: str, /, **values: str | int | float) -> Sentence:
    """Make a sentence; named so that lupdate finds the two literal strings."""
    return Sentence(context, template, values)

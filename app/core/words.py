"""Sentences for people, as values: a template that lupdate finds and the values that fill it.

Knows nothing of languages or widgets: `gui` renders a sentence translated, `cli` formats the English.
"""

from __future__ import annotations

import msgspec


class Sentence(msgspec.Struct, frozen=True):
    """One sentence for people: lupdate context, English template with `{name}` fields, and their values."""

    context: str
    template: str
    values: dict[str, str | int | float] = msgspec.field(default_factory=dict)

    def english(self) -> str:
        """Return the English text; numbers keep Python's plain formatting unless the template formats them."""
        return self.template.format(**self.values)


def translate(context: str, template: str, /, **values: str | int | float) -> Sentence:
    """Make a sentence; named so that lupdate finds the two literal strings."""
    return Sentence(context, template, values)

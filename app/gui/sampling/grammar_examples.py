"""Ready grammars and schemas to begin with."""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtCore import QCoreApplication

from app.core.grammar import Grammar


class Example(NamedTuple):
    """A grammar to begin with."""

    title: str
    grammar: Grammar


def examples() -> tuple[Example, ...]:
    """Return ready grammars and schemas."""
    translate = QCoreApplication.translate
    return (
        Example(translate("Grammar", "Yes or no"), Grammar("gbnf", _YES_OR_NO)),
        Example(translate("Grammar", "A numbered list"), Grammar("gbnf", _LIST)),
        Example(translate("Grammar", "A JSON object with name and age"), Grammar("json_schema", _PERSON)),
    )


_YES_OR_NO = """\
# Yes or no
root ::= "Yes" | "No"
"""
_LIST = """\
# A numbered list of three to nine
root ::= "1. " item "2. " item "3. " item ([4-9] ". " item){0,6}
item ::= [^\\r\\n]+ "\\n"
"""
_PERSON = """\
{
  "title": "A person",
  "type": "object",
  "properties": {
    "name": {"type": "string"},
    "age": {"type": "integer"}
  },
  "required": ["name", "age"]
}
"""

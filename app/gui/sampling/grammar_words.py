"""Grammars in words, and ready ones to begin with."""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtCore import QCoreApplication

from app.core.grammar import Grammar
from app.core.grammar_check import name_of
from app.gui.widgets.words import isolated


class Example(NamedTuple):
    """A grammar to begin with."""

    title: str
    grammar: Grammar


def grammar_name(grammar: Grammar | None) -> str:
    """Return what a grammar is called in a row."""
    if grammar is None:
        return QCoreApplication.translate("Grammar", "none")
    if name := name_of(grammar):
        return isolated(name)
    if grammar.kind == "json_schema":
        return QCoreApplication.translate("Grammar", "JSON schema")
    return QCoreApplication.translate("Grammar", "a grammar")


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

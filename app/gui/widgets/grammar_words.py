"""What grammars are called."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from app.core.grammar import Grammar
from app.core.grammar_check import name_of
from app.gui.widgets.words import isolated


def grammar_name(grammar: Grammar | None) -> str:
    """Return what a grammar is called in a row."""
    if grammar is None:
        return QCoreApplication.translate("Grammar", "none")
    if name := name_of(grammar):
        return isolated(name)
    if grammar.kind == "json_schema":
        return QCoreApplication.translate("Grammar", "JSON schema")
    return QCoreApplication.translate("Grammar", "without a name")


def fits_words(grammar: Grammar | None) -> str:
    """Return which grammar answers fit, in few words."""
    if grammar is None:
        return QCoreApplication.translate("Grammar", "no grammar")
    return QCoreApplication.translate("Grammar", "grammar “{name}”").format(name=grammar_name(grammar))

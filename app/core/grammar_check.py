"""The check of what an answer has to fit, before anything runs, and its name for people. Pure."""

from __future__ import annotations

from functools import lru_cache

from app.core import schema_words
from app.core.gbnf import check_gbnf, first_rule
from app.core.grammar import Grammar, WrongGrammar
from app.core.json_schema import gbnf_of_schema, schema_title
from app.core.printable import printable

LONGEST_NAME = 40


def check(grammar: Grammar) -> None:
    """Raise `WrongGrammar` where a grammar or a schema cannot be used: one sentence, with the place where it is known."""
    gbnf_of(grammar)


@lru_cache(maxsize=16)
def gbnf_of(grammar: Grammar) -> str:
    """Return the GBNF text of a grammar or a schema that was checked. Raises `WrongGrammar`."""
    if grammar.kind == "gbnf":
        check_gbnf(grammar.text)
        return grammar.text
    text = gbnf_of_schema(grammar.text)
    try:
        check_gbnf(text)
    except WrongGrammar as error:
        raise schema_words.not_convertible() from error
    return text


@lru_cache(maxsize=16)
def name_of(grammar: Grammar) -> str:
    """Return what a grammar is called: its first comment or rule, or the title of the schema; empty where it has none."""
    name = first_rule(grammar.text) if grammar.kind == "gbnf" else schema_title(grammar.text)
    name = printable(name)
    return name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…"

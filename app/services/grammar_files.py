"""Reads a grammar or a JSON schema out of a file that somebody named, and checks it."""

from __future__ import annotations

from pathlib import Path

from app.core.errors import ExitCode, UserError
from app.core.grammar import LONGEST_GRAMMAR, Grammar, GrammarKind
from app.core.grammar_check import check
from app.core.words import translate
from app.services.file_names import short_name

_MOST_BYTES = LONGEST_GRAMMAR * 4


def read_grammar(kind: GrammarKind, path: Path) -> Grammar:
    """Return the grammar of a file. Raises `UserError` where it cannot be read or used."""
    try:
        with path.open("rb") as file:
            text = file.read(_MOST_BYTES + 1).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise _unreadable(path) from error
    grammar = Grammar(kind, text)
    check(grammar)
    return grammar


def _unreadable(path: Path) -> UserError:
    return UserError(
        translate(
            "CommandLine",
            "The grammar in “{file}” cannot be read: name a text file that is there.",
            file=short_name(path),
        ),
        ExitCode.WRONG_USE,
    )

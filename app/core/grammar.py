"""What an answer has to fit: a grammar in GBNF, or a JSON schema that becomes one. Plain values, and what is said of wrong ones."""

from __future__ import annotations

from typing import Literal

import msgspec

from app.core.errors import ExitCode, UserError
from app.core.words import Sentence, translate

GrammarKind = Literal["gbnf", "json_schema"]

LONGEST_GRAMMAR = 65_536
"""Characters of a grammar or a schema."""

ENDED_BY = "ended_by"
"""Among the values of a note, where that says why an answer ended: one of the two below."""
NOTHING_FITTED = "grammar"
GRAMMAR_TOO_SLOW = "slow grammar"

NOT_ALLOWED = translate(
    "Engine",
    "The grammar that is set for this chat now does not allow that token here: choose another one, or switch the grammar "
    "off in the settings.",
)
"""What is said of a token that somebody chose for an answer that is there, which goes on with the grammar of today."""


class Grammar(msgspec.Struct, frozen=True):
    """What every answer has to fit, as people wrote it."""

    kind: GrammarKind
    text: str


class Place(msgspec.Struct, frozen=True):
    """A place in a text as editors count: line and column from 1, the column in characters."""

    line: int
    column: int


class WrongGrammar(UserError):
    """A grammar that cannot be used: one sentence, and the place in its text where that is known."""

    def __init__(self, sentence: Sentence, place: Place | None = None) -> None:
        super().__init__(sentence, ExitCode.WRONG_USE)
        self.place = place


def place_at(text: str, offset: int) -> Place:
    """Return the place of a character of a text; lines end at LF, CR or both."""
    before = text[:offset]
    if before.endswith("\r") and text[offset : offset + 1] == "\n":
        before = before[:-1]
    before = before.replace("\r\n", "\n").replace("\r", "\n")
    return Place(before.count("\n") + 1, len(before) - before.rfind("\n"))

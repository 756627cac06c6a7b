"""What is wrong with the rules of a grammar as a whole, as sentences. Knows nothing of how that is found out."""

from __future__ import annotations

from app.core.grammar import Place, WrongGrammar
from app.core.words import translate


def empty() -> WrongGrammar:
    """Return that there is no rule at all."""
    place = Place(1, 1)
    return WrongGrammar(
        translate("Grammar", 'The grammar has no rule: write one, such as root ::= "yes" | "no".'), place
    )


def too_long(most: int) -> WrongGrammar:
    """Return that a text has more characters than are read."""
    return WrongGrammar(
        translate("Grammar", "A grammar or a schema has at most {most} characters: make this one shorter.", most=most)
    )


def no_root(place: Place, first: str) -> WrongGrammar:
    """Return that the rule is missing with which every answer begins."""
    return WrongGrammar(
        translate(
            "Grammar",
            "Line {line}, column {column}: no rule is called root, with which every answer begins; call one so, for "
            "example this rule “{first}”.",
            line=place.line,
            column=place.column,
            first=first,
        ),
        place,
    )


def undefined(place: Place, name: str) -> WrongGrammar:
    """Return that a rule is used which is not there."""
    return WrongGrammar(
        translate(
            "Grammar",
            "Line {line}, column {column}: there is no rule “{name}”; write one, or put the word in double quotes if "
            "it is text.",
            line=place.line,
            column=place.column,
            name=name,
        ),
        place,
    )


def defined_twice(place: Place, name: str) -> WrongGrammar:
    """Return that two rules have one name."""
    return WrongGrammar(
        translate(
            "Grammar",
            "Line {line}, column {column}: there is a rule “{name}” already; put | between what each of the two says, "
            "or call one of them differently.",
            line=place.line,
            column=place.column,
            name=name,
        ),
        place,
    )


def left_recursion(place: Place, name: str) -> WrongGrammar:
    """Return that a rule begins with itself."""
    return WrongGrammar(
        translate(
            "Grammar",
            "Line {line}, column {column}: here “{name}” begins with itself, so it would never begin; put something "
            "before it, or repeat with * instead.",
            line=place.line,
            column=place.column,
            name=name,
        ),
        place,
    )


def endless(place: Place) -> WrongGrammar:
    """Return that something is repeated without end that can be nothing."""
    return WrongGrammar(
        translate(
            "Grammar",
            "Line {line}, column {column}: what is repeated here can be empty, so the repetition would never end; let "
            "it have at least one character.",
            line=place.line,
            column=place.column,
        ),
        place,
    )


def too_many_ways(place: Place, most: int) -> WrongGrammar:
    """Return that too many parts alike stand side by side that can each be left out."""
    return WrongGrammar(
        translate(
            "Grammar",
            "Line {line}, column {column}: of parts alike that can be left out, at most {most} may stand side by side, as "
            "llama.cpp tries every choice of them; write one with a number, such as [a-z]{{0,30}}.",
            line=place.line,
            column=place.column,
            most=most,
        ),
        place,
    )


def read_in_many_ways(place: Place) -> WrongGrammar:
    """Return that the same text can be read in so many ways that llama.cpp never gets through them."""
    return WrongGrammar(
        translate(
            "Grammar",
            "Line {line}, column {column}: from here on a few characters can be read in over a million ways, and llama.cpp "
            "tries each; repeat only once what is repeated, such as [-=]+ for ([-=]+)*, and let no two parts say the same.",
            line=place.line,
            column=place.column,
        ),
        place,
    )

"""What is wrong with a JSON schema, as sentences: with the place in its text and the path in it."""

from __future__ import annotations

from app.core.gbnf_rule_words import too_long
from app.core.grammar import Place, WrongGrammar
from app.core.printable import printable
from app.core.schema_places import Where
from app.core.words import translate

__all__ = ["too_long"]


def empty() -> WrongGrammar:
    """Return that nothing is written."""
    return WrongGrammar(
        translate("Grammar", 'The JSON schema is empty: write one, such as {{"type": "object"}}.'), Place(1, 1)
    )


def no_json(line: int, column: int) -> WrongGrammar:
    """Return where a text stops being JSON."""
    return WrongGrammar(
        translate(
            "Grammar",
            "Line {line}, column {column}: this is no JSON from here on; look for a missing or needless quote, comma or "
            "bracket.",
            line=line,
            column=column,
        ),
        Place(line, column),
    )


def no_number(place: Place) -> WrongGrammar:
    """Return that a number of a text is none of JSON."""
    return WrongGrammar(
        translate(
            "Grammar",
            "Line {line}, column {column}: here stands a number that JSON does not have, such as NaN: take it out.",
            line=place.line,
            column=place.column,
        ),
        place,
    )


def too_deep(where: Where) -> WrongGrammar:
    """Return that schemas lie too deep inside one another."""
    return WrongGrammar(
        translate(
            "Grammar",
            "Line {line}, column {column} ({path}): the schema lies too deep inside itself: put the inner part "
            "under $defs and refer to it.",
            **_told(where),
        ),
        where.place,
    )


def no_schema(where: Where) -> WrongGrammar:
    """Return that something is no schema."""
    return WrongGrammar(
        translate(
            "Grammar",
            "Line {line}, column {column} ({path}): here stands no schema: write one in braces, such as "
            '{{"type": "string"}}.',
            **_told(where),
        ),
        where.place,
    )


def wrong_value(keyword: str, where: Where) -> WrongGrammar:
    """Return that a keyword has a value that JSON Schema does not give it."""
    return WrongGrammar(
        translate(
            "Grammar",
            "Line {line}, column {column} ({path}): “{keyword}” has a value that it cannot have: look up what "
            "JSON Schema allows there.",
            **_told(where),
            keyword=printable(keyword),
        ),
        where.place,
    )


def not_kept(keyword: str, where: Where) -> WrongGrammar:
    """Return that a grammar cannot keep a keyword."""
    return WrongGrammar(
        translate(
            "Grammar",
            "Line {line}, column {column} ({path}): “{keyword}” asks for what a grammar cannot keep here: take "
            "it out, or write a grammar instead.",
            **_told(where),
            keyword=printable(keyword),
        ),
        where.place,
    )


def not_apart(where: Where) -> WrongGrammar:
    """Return that a value may fit several of the ways of which it has to fit exactly one."""
    return WrongGrammar(
        translate(
            "Grammar",
            "Line {line}, column {column} ({path}): a value may fit two of “oneOf” at once, which a grammar "
            "cannot forbid: use “anyOf”, or make them differ by a required property.",
            **_told(where),
        ),
        where.place,
    )


def nothing_fits(keyword: str, other: str, where: Where) -> WrongGrammar:
    """Return that two keywords contradict each other."""
    return WrongGrammar(
        translate(
            "Grammar",
            "Line {line}, column {column} ({path}): nothing fits both “{keyword}” and “{other}”: change one of them.",
            **_told(where),
            keyword=printable(keyword),
            other=printable(other),
        ),
        where.place,
    )


def too_many(keyword: str, where: Where, most: int) -> WrongGrammar:
    """Return that a keyword has a larger number than a grammar can count to."""
    return WrongGrammar(
        translate(
            "Grammar",
            "Line {line}, column {column} ({path}): “{keyword}” can be up to {most}: use a smaller number, or "
            "leave it out.",
            **_told(where),
            keyword=printable(keyword),
            most=most,
        ),
        where.place,
    )


def unlisted(name: str, where: Where) -> WrongGrammar:
    """Return that a property is required of which the schema does not say what it is."""
    return WrongGrammar(
        translate(
            "Grammar",
            "Line {line}, column {column} ({path}): “{name}” is required and not among the properties: list it "
            "there.",
            **_told(where),
            name=printable(name),
        ),
        where.place,
    )


def other_schema(where: Where) -> WrongGrammar:
    """Return that a schema refers to something outside of itself."""
    return WrongGrammar(
        translate(
            "Grammar",
            "Line {line}, column {column} ({path}): the schema refers to another document: put that under $defs "
            "and refer to #/$defs/….",
            **_told(where),
        ),
        where.place,
    )


def no_target(ref: str, where: Where) -> WrongGrammar:
    """Return that a schema refers to something that is not there."""
    return WrongGrammar(
        translate(
            "Grammar",
            "Line {line}, column {column} ({path}): the schema refers to “{ref}”, which is not there: write it "
            "there, or correct the name.",
            **_told(where),
            ref=printable(ref),
        ),
        where.place,
    )


def not_convertible() -> WrongGrammar:
    """Return that the grammar of a schema cannot be used."""
    return WrongGrammar(
        translate(
            "Grammar",
            "The schema becomes a grammar that cannot be used: its references lead round in a circle, or it counts too "
            "far; make it simpler.",
        )
    )


def _told(where: Where) -> dict[str, str | int]:
    return {"line": where.place.line, "column": where.place.column, "path": printable(where.path) or "/"}

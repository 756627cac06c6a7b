"""What is wrong with a JSON schema, as sentences: a place in the text where it is no JSON, else the path in the schema."""

from __future__ import annotations

from app.core.gbnf_rule_words import too_long
from app.core.grammar import Place, WrongGrammar
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


def no_number() -> WrongGrammar:
    """Return that a number of a text is none of JSON."""
    return WrongGrammar(
        translate("Grammar", "The schema holds a number that JSON does not have, such as NaN: take it out.")
    )


def too_deep(path: str) -> WrongGrammar:
    """Return that schemas lie too deep inside one another."""
    return WrongGrammar(
        translate(
            "Grammar",
            "At {path} the schema lies too deep inside itself: put the inner part under $defs and refer to it.",
            path=_path(path),
        )
    )


def no_schema(path: str) -> WrongGrammar:
    """Return that something is no schema."""
    return WrongGrammar(
        translate(
            "Grammar",
            'At {path} stands no schema: write one in braces, such as {{"type": "string"}}.',
            path=_path(path),
        )
    )


def wrong_value(keyword: str, path: str) -> WrongGrammar:
    """Return that a keyword has a value that JSON Schema does not give it."""
    return WrongGrammar(
        translate(
            "Grammar",
            "At {path} “{keyword}” has a value that it cannot have: look up what JSON Schema allows there.",
            path=_path(path),
            keyword=keyword,
        )
    )


def not_kept(keyword: str, path: str) -> WrongGrammar:
    """Return that a grammar cannot keep a keyword."""
    return WrongGrammar(
        translate(
            "Grammar",
            "At {path} “{keyword}” asks for what a grammar cannot keep here: take it out, or write a grammar instead.",
            path=_path(path),
            keyword=keyword,
        )
    )


def too_many(keyword: str, path: str, most: int) -> WrongGrammar:
    """Return that a keyword has a larger number than a grammar can count to."""
    return WrongGrammar(
        translate(
            "Grammar",
            "At {path} “{keyword}” can be up to {most}: use a smaller number, or leave it out.",
            path=_path(path),
            keyword=keyword,
            most=most,
        )
    )


def unlisted(name: str, path: str) -> WrongGrammar:
    """Return that a property is required of which the schema does not say what it is."""
    return WrongGrammar(
        translate(
            "Grammar",
            "At {path} “{name}” is required and not among the properties: list it there.",
            path=_path(path),
            name=name,
        )
    )


def other_schema(path: str) -> WrongGrammar:
    """Return that a schema refers to something outside of itself."""
    return WrongGrammar(
        translate(
            "Grammar",
            "At {path} the schema refers to another document: put that under $defs and refer to #/$defs/….",
            path=_path(path),
        )
    )


def no_target(ref: str, path: str) -> WrongGrammar:
    """Return that a schema refers to something that is not there."""
    return WrongGrammar(
        translate("Grammar", "At {path} the schema refers to “{ref}”, which is not there.", path=_path(path), ref=ref)
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


def _path(path: str) -> str:
    return path or "/"

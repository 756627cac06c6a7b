"""What is wrong with a grammar, as sentences with the place where to mend it. Knows nothing of how that is found out."""

from __future__ import annotations

from app.core.grammar import Place, WrongGrammar
from app.core.words import translate


def name_expected(place: Place) -> WrongGrammar:
    """Return that no rule begins here."""
    return WrongGrammar(
        translate(
            "Grammar",
            'Line {line}, column {column}: a rule begins with its name, such as root ::= "yes"; a name has letters, '
            "digits and hyphens.",
            line=place.line,
            column=place.column,
        ),
        place,
    )


def leading_bar(place: Place) -> WrongGrammar:
    """Return that a rule does not go on where a line begins with a bar."""
    return WrongGrammar(
        translate(
            "Grammar",
            "Line {line}, column {column}: a line cannot begin with |; put it at the end of the line before, or put "
            "parentheses around all that the rule says.",
            line=place.line,
            column=place.column,
        ),
        place,
    )


def sign_expected(place: Place, name: str) -> WrongGrammar:
    """Return that a name is not followed by the sign of a rule."""
    return WrongGrammar(
        translate(
            "Grammar",
            "Line {line}, column {column}: write ::= after the name “{name}” of the rule.",
            line=place.line,
            column=place.column,
            name=name,
        ),
        place,
    )


def unexpected(place: Place, sign: str) -> WrongGrammar:
    """Return that a character cannot stand where it does."""
    return WrongGrammar(
        translate(
            "Grammar",
            "Line {line}, column {column}: “{sign}” cannot stand here; put text in double quotes, and begin the next "
            "rule on a new line.",
            line=place.line,
            column=place.column,
            sign=sign,
        ),
        place,
    )


def not_closed(place: Place, opening: str, closing: str) -> WrongGrammar:
    """Return that something is opened and never closed."""
    return WrongGrammar(
        translate(
            "Grammar",
            "Line {line}, column {column}: this {opening} is never closed; put a {closing} where it ends.",
            line=place.line,
            column=place.column,
            opening=opening,
            closing=closing,
        ),
        place,
    )


def unknown_escape(place: Place, escape: str) -> WrongGrammar:
    """Return that a backslash has no meaning before this character."""
    return WrongGrammar(
        translate(
            "Grammar",
            'Line {line}, column {column}: “{escape}” means nothing; after a backslash stands one of t r n \\ " [ ] - '
            "x u U, so write \\\\ for the backslash itself.",
            line=place.line,
            column=place.column,
            escape=escape,
        ),
        place,
    )


def digits_expected(place: Place, escape: str, count: int) -> WrongGrammar:
    """Return that an escape has too few hexadecimal digits."""
    return WrongGrammar(
        translate(
            "Grammar",
            "Line {line}, column {column}: write {count} hexadecimal digits after “{escape}”.",
            line=place.line,
            column=place.column,
            escape=escape,
            count=count,
        ),
        place,
    )


def nothing_to_repeat(place: Place, sign: str) -> WrongGrammar:
    """Return that a repetition has nothing before it."""
    return WrongGrammar(
        translate(
            "Grammar",
            "Line {line}, column {column}: there is nothing before “{sign}” that it could repeat.",
            line=place.line,
            column=place.column,
            sign=sign,
        ),
        place,
    )


def numbers_expected(place: Place) -> WrongGrammar:
    """Return that braces hold something else than a repetition."""
    return WrongGrammar(
        translate(
            "Grammar",
            "Line {line}, column {column}: braces hold how often something is repeated, such as {{3}}, {{1,}} or "
            "{{1,3}}.",
            line=place.line,
            column=place.column,
        ),
        place,
    )


def wrong_order(place: Place, least: int, most: int) -> WrongGrammar:
    """Return that a repetition has a least number that is larger than its most."""
    return WrongGrammar(
        translate(
            "Grammar",
            "Line {line}, column {column}: at least {least} times and at most {most} cannot be kept; put the smaller "
            "number first.",
            line=place.line,
            column=place.column,
            least=least,
            most=most,
        ),
        place,
    )


def too_often(place: Place, most: int) -> WrongGrammar:
    """Return that a repetition asks for more than llama.cpp does."""
    return WrongGrammar(
        translate(
            "Grammar",
            "Line {line}, column {column}: repetitions may be up to {most}, those inside one another multiplied; use a "
            "smaller number, or leave the second one out for any number.",
            line=place.line,
            column=place.column,
            most=most,
        ),
        place,
    )


def too_large(place: Place) -> WrongGrammar:
    """Return that what is repeated adds up to more than is held in memory."""
    return WrongGrammar(
        translate(
            "Grammar",
            "Line {line}, column {column}: the grammar becomes too large here; repeat less, or shorter texts.",
            line=place.line,
            column=place.column,
        ),
        place,
    )


def too_deep(place: Place, most: int) -> WrongGrammar:
    """Return that groups and repetitions lie too deep inside one another."""
    return WrongGrammar(
        translate(
            "Grammar",
            "Line {line}, column {column}: groups and repetitions may lie {most} deep inside one another; make a rule "
            "of its own of the inner ones.",
            line=place.line,
            column=place.column,
            most=most,
        ),
        place,
    )


def empty_set(place: Place) -> WrongGrammar:
    """Return that brackets hold no character."""
    return WrongGrammar(
        translate(
            "Grammar",
            "Line {line}, column {column}: these brackets hold no character; write the ones that may stand here, such "
            "as [a-z], or a full stop for any.",
            line=place.line,
            column=place.column,
        ),
        place,
    )


def empty_range(place: Place, written: str) -> WrongGrammar:
    """Return that a range ends before it begins."""
    return WrongGrammar(
        translate(
            "Grammar",
            "Line {line}, column {column}: the range “{written}” ends before it begins; put the lower character first.",
            line=place.line,
            column=place.column,
            written=written,
        ),
        place,
    )


def unusable_character(place: Place) -> WrongGrammar:
    """Return that a grammar holds a character at which llama.cpp would stop to read."""
    return WrongGrammar(
        translate(
            "Grammar",
            "Line {line}, column {column}: this character is none that people see; take it out.",
            line=place.line,
            column=place.column,
        ),
        place,
    )

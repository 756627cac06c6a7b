"""Rules that the grammars of JSON schemas share, and how texts and names are written in them. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable

ANY = "any-value"
FIXED = {
    "space": '| " " | "\\n" " "{0,20}',
    "boolean": '"true" | "false"',
    "null": '"null"',
    "integer": '"-"? ("0" | [1-9] [0-9]{0,15})',
    "number": 'integer ("." [0-9]{1,16})? ([eE] [-+]? [0-9]{1,2})?',
    "hex": "[0-9a-fA-F]",
    "plain": r'[^"\\\x7F\x00-\x1F]',
    "character": r'[^"\\\x7F\x00-\x1F] | "\\" (["\\/bfnrt] | "u" (whole-character | both-halves))',
    "whole-character": "[0-9a-cA-CeEfF] hex{3} | [dD] [0-7] hex{2}",
    "both-halves": r'[dD] [89abAB] hex{2} "\\u" [dD] [c-fC-F] hex{2}',
    "string": r'"\"" character* "\""',
    "any-object": '"{" space (string ":" " "? any-value ("," space string ":" " "? any-value)* space)? "}"',
    "any-array": '"[" space (any-value ("," space any-value)* space)? "]"',
    ANY: "any-object | any-array | string | number | boolean | null",
    "day": 'year "-" day-of-year | leap-year "-02-29"',
    "year": '[0-9]{3} [1-9] | [0-9]{2} [1-9] "0" | [0-9] [1-9] "00" | [1-9] "000"',  # nobody counts a year 0000
    "leap-year": '[0-9]{2} every-fourth | every-fourth "00"',
    "every-fourth": '"0" [48] | [2468] [048] | [13579] [26]',
    "day-of-year": '("0" [13578] | "1" [02]) "-" (any-day | "29" | "3" [01]) '
    '| ("0" [469] | "11") "-" (any-day | "29" | "30") | "02-" any-day',
    "any-day": '"0" [1-9] | "1" [0-9] | "2" [0-8]',
    "clock": '([01] [0-9] | "2" [0-3]) ":" [0-5] [0-9] ":" [0-5] [0-9] ("." [0-9]{3})? '
    '("Z" | [-+] ([01] [0-9] | "2" [0-3]) ":" [0-5] [0-9])',
    "date": r'"\"" day "\""',
    "time": r'"\"" clock "\""',
    "date-time": r'"\"" day "T" clock "\""',
    "uuid": r'"\"" hex{8} "-" hex{4} "-" hex{4} "-" hex{4} "-" hex{12} "\""',
}
"""By their names."""
FORMATS = ("date", "time", "date-time", "uuid")
LONGEST_NAME = 100
"""Characters of a name that others are kept apart from: each becomes a rule."""
_USED = re.compile(r"[a-z]+(?:-[a-z]+)*")
_TEXTS = re.compile(r'"(?:[^"\\]|\\.)*"|\[(?:[^\]\\]|\\.)*\]')


def with_shared(rules: dict[str, str]) -> dict[str, str]:
    """Return rules with the shared ones that they use, and those that these use."""
    found, waiting = dict(rules), list(rules.values())
    while waiting:
        for name in _USED.findall(_TEXTS.sub(" ", waiting.pop())):
            if name in FIXED and name not in found:
                found[name] = FIXED[name]
                waiting.append(FIXED[name])
    return found


def json_literal(value: object) -> str:
    """Return a value as JSON writes it, as a text of a grammar. Raises `ValueError` for a number that JSON has not."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    if any("\ud800" <= sign <= "\udfff" for sign in text):  # half a character can only be escaped
        text = json.dumps(value)
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def times(least: int, most: int | None) -> str:
    """Return how often something is repeated; no end where `most` is None."""
    if (least, most) == (0, None):
        return "*"
    return f"{{{least},{'' if most is None else most}}}"


def other_name(names: Iterable[str], named: Callable[[str], str]) -> str:
    """Return what stands for a text in quotation marks that is none of some names, by letters that need no escape.

    One rule for each beginning of a name: it leaves the name at some letter, or stops where no name ends. `named` gives a
    rule its name. An escape would let a name be written another way, and names that need one cannot come without.
    """
    plain = [name for name in names if all(_is_plain(sign) for sign in name)]
    if not plain:
        return '"\\"" plain* "\\""'
    next_signs: dict[str, set[str]] = {}
    for name in plain:
        next_signs.setdefault(name, set())
        for length, sign in enumerate(name):
            next_signs.setdefault(name[:length], set()).add(sign)
    rules: dict[str, str] = {}
    for beginning in sorted(next_signs, key=len, reverse=True):
        signs = sorted(next_signs[beginning])
        ways = [f'"{sign}" {rules[beginning + sign]}' for sign in signs]
        ways.append(f'[^"\\\\\\x7F\\x00-\\x1F{"".join(map(_code, signs))}] plain*')
        rules[beginning] = named(f"({' | '.join(ways)}){'' if beginning in plain else '?'}")
    return f'"\\"" {rules[""]} "\\""'


def _is_plain(sign: str) -> bool:
    return sign >= " " and sign not in '"\\\x7f' and not "\ud800" <= sign <= "\udfff"


def _code(sign: str) -> str:
    return f"\\U{ord(sign):08X}"

"""Reads the text of a GBNF grammar into rules, with the place of all that is wrong; as llama.cpp reads it, and no more.

Knows what each rule says, not whether the rules fit together. Written after llama.cpp's description of GBNF and checked
against it: what that accepts and this refuses would hang it, fill the memory, or silently mean something else.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NoReturn

from app.core import gbnf_words as words
from app.core.grammar import Place, WrongGrammar, place_at

MOST_REPETITIONS = 2000
"""llama.cpp repeats no more often, repetitions inside one another multiplied."""
MOST_ELEMENTS = 500_000
"""So many characters and references of rules take some megabytes."""
MOST_DEEP = 100
_NAME = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-")
_ASCII = "".join(map(chr, range(128)))
_DIGITS = frozenset("0123456789")
_HEX = frozenset("0123456789abcdefABCDEF")
_HEX_DIGITS = {"x": 2, "u": 4, "U": 8}
_ESCAPED = {"t": "\t", "r": "\r", "n": "\n", **{sign: sign for sign in '\\"[]-'}}
_LONGEST_NUMBER = 18


@dataclass(slots=True)
class Element:
    """One symbol of a rule: characters, another rule, a group of alternatives, or something repeated."""

    kind: Literal["characters", "rule", "group", "repeat"]
    place: int
    """Offset in the text."""
    size: int = 1
    """Into how many of llama.cpp's elements it is written out."""
    name: str = ""
    """Of the rule; of characters and groups what is written."""
    parts: list[list[Element]] = field(default_factory=list)
    """Alternatives of a group; what is repeated is the only one of a repetition."""
    least: int = 1
    most: int = 1
    """What is repeated without end counts as once."""
    is_endless: bool = False
    signs: str = ""
    """The ASCII characters that one character can be; empty for all else."""
    codes: tuple[int, ...] = ()
    """The characters of a text in quotes."""


@dataclass(slots=True)
class Rule:
    """A rule as it is written."""

    name: str
    place: int
    parts: list[list[Element]]


@dataclass(slots=True)
class _Sequence:
    """What stands between two bars, as far as it is read."""

    elements: list[Element] = field(default_factory=list)
    can_repeat: bool = False
    """Whether the last element is one that a repetition would apply to."""
    rules: int = 1
    """Into how many rules llama.cpp would write the last element out, repetitions multiplied."""
    depth: int = 0
    """How many repetitions are around the last element."""


class GbnfReader:
    """Reads one text, once."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._end = len(text)
        self._at = 0
        self._names: set[str] = set()
        self._made = 0
        """Rules that llama.cpp would make up for groups and repetitions."""
        self._size = 0
        self._depth = 0

    def rules(self) -> list[Rule]:
        """Return the rules in their order. Raises `WrongGrammar`."""
        if (offset := self._text.find("\0")) >= 0:
            raise words.unusable_character(self.place(offset))
        rules = []
        self._skip(lines=True)
        while self._at < self._end:
            rules.append(self._rule())
        return rules

    def place(self, offset: int) -> Place:
        """Return the place of a character of the text."""
        return place_at(self._text, offset)

    def _peek(self, ahead: int = 0) -> str:
        """Return the next character, empty at the end of the text."""
        return self._text[self._at + ahead : self._at + ahead + 1]

    def _skip(self, *, lines: bool) -> None:
        """Go over white space and comments, and over ends of lines where these do not end a rule."""
        blank = " \t\r\n" if lines else " \t"
        while (sign := self._peek()) and (sign in blank or sign == "#"):
            if sign == "#":
                while (sign := self._peek()) and sign not in "\r\n":
                    self._at += 1
            else:
                self._at += 1

    def _word(self, allowed: frozenset[str]) -> str:
        start = self._at
        while self._at < self._end and self._text[self._at] in allowed:
            self._at += 1
        return self._text[start : self._at]

    def _rule(self) -> Rule:
        start = self._at
        if not (name := self._word(_NAME)):
            raise (words.leading_bar if self._peek() == "|" else words.name_expected)(self.place(start))
        self._skip(lines=False)
        self._names.add(name)
        if self._text[self._at : self._at + 3] != "::=":
            if self._peek() == "_":
                raise words.name_expected(self.place(self._at))
            raise words.sign_expected(self.place(self._at), name)
        self._at += 3
        self._skip(lines=True)
        parts = self._alternatives(nested=False)
        if (sign := self._peek()) and sign not in "\r\n":
            self._refuse_sign(sign)
        self._skip(lines=True)
        return Rule(name, start, parts)

    def _refuse_sign(self, sign: str) -> NoReturn:
        raise words.unexpected(self.place(self._at), sign)

    def _alternatives(self, *, nested: bool) -> list[list[Element]]:
        parts = [self._sequence(nested=nested)]
        while self._peek() == "|":
            self._at += 1
            self._skip(lines=True)
            parts.append(self._sequence(nested=nested))
        return parts

    def _sequence(self, *, nested: bool) -> list[Element]:
        found = _Sequence()
        while sign := self._peek():
            start = self._at
            if sign in "*+?{":
                self._repeat(found, sign, nested=nested)
                continue
            made_before = len(self._names) + self._made
            element = self._symbol(sign)
            if element is None:
                break
            found.rules = max(len(self._names) + self._made - made_before, 1) if element.kind == "group" else 1
            found.can_repeat, found.depth = element.size > 0, 0
            if element.kind != "rule":
                element.name = self._text[start : self._at]
            if element.size > 0:
                found.elements.append(element)
                self._grow(element.size, start)
            self._skip(lines=nested)
        return found.elements

    def _symbol(self, sign: str) -> Element | None:
        """Read the next symbol but a repetition; None where none begins here."""
        start = self._at
        if sign == '"':
            codes = self._literal()
            return Element("characters", start, len(codes), codes=codes)
        if sign == "[":
            return self._set()
        if sign in "<!":
            self._token()
            return Element("characters", start)
        if sign == "(":
            return Element("group", start, parts=self._group())
        if sign == ".":
            self._at += 1
            return Element("characters", start, signs=_ASCII)
        if name := self._word(_NAME):
            self._names.add(name)
            return Element("rule", start, name=name)
        return None

    def _literal(self) -> tuple[int, ...]:
        """Read a text in quotes; returns its characters."""
        start, codes = self._at, list[int]()
        self._at += 1
        while self._peek() != '"':
            codes.append(self._character(start, '"'))
        self._at += 1
        return tuple(codes)

    def _set(self) -> Element:
        """Read characters in brackets, each of which is one of llama.cpp's elements."""
        start, count = self._at, 0
        self._at += 1
        if is_negated := self._peek() == "^":
            self._at += 1
        named: set[int] = set()
        while self._peek() != "]":
            first_at = self._at
            first = last = self._character(start, "]")
            count += 1
            if self._peek() == "-" and self._peek(1) != "]":
                self._at += 1
                last = self._character(start, "]")
                if last < first:
                    raise words.empty_range(self.place(first_at), self._text[first_at : self._at])
                count += 1
            named.update(range(first, min(last + 1, len(_ASCII))))
        if not count:
            raise words.empty_set(self.place(start))
        self._at += 1
        signs = "".join(sign for sign in _ASCII if (ord(sign) in named) is not is_negated)
        return Element("characters", start, count, signs=signs)

    def _character(self, opened: int, closing: str) -> int:
        """Read one character, perhaps escaped, of what was opened at a place."""
        start, sign = self._at, self._peek()
        if not sign:
            raise words.not_closed(self.place(opened), self._text[opened], closing)
        if sign != "\\":
            self._at += 1
            return ord(sign)
        escape = self._peek(1)
        self._at += 2
        if (count := _HEX_DIGITS.get(escape)) is not None:
            digits = self._text[self._at : self._at + count]
            if len(digits) < count or not _HEX.issuperset(digits):
                raise words.digits_expected(self.place(start), "\\" + escape, count)
            self._at += count
            return int(digits, 16)
        if not escape:
            raise words.not_closed(self.place(opened), self._text[opened], closing)
        if escape not in _ESCAPED:
            raise words.unknown_escape(self.place(start), "\\" + escape)
        return ord(_ESCAPED[escape])

    def _token(self) -> None:
        """Read a token of the model, as <[17]> or <its text>, with ! before it any other one."""
        start = self._at
        if self._peek() == "!":
            self._at += 1
        if self._peek() != "<":
            self._refuse_sign("!")
        self._at += 1
        if self._peek() != "[":
            end = self._text.find(">", self._at)
            if end < 0:
                raise words.not_closed(self.place(start), "<", ">")
            self._at = end + 1
            return
        self._at += 1
        digits = self._word(_DIGITS)
        if not digits or len(digits) > _LONGEST_NUMBER or self._text[self._at : self._at + 2] != "]>":
            raise words.not_closed(self.place(start), "<[", "]>")
        self._at += 2

    def _group(self) -> list[list[Element]]:
        start = self._at
        if self._depth >= MOST_DEEP:
            raise words.too_deep(self.place(start), MOST_DEEP)
        self._depth += 1
        self._at += 1
        self._skip(lines=True)
        self._made += 1
        parts = self._alternatives(nested=True)
        if self._peek() != ")":
            if sign := self._peek():
                self._refuse_sign(sign)
            raise words.not_closed(self.place(start), "(", ")")
        self._at += 1
        self._depth -= 1
        return parts

    def _repeat(self, found: _Sequence, sign: str, *, nested: bool) -> None:
        start = self._at
        self._at += 1
        self._skip(lines=nested)
        bounds: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
        least, most = bounds[sign] if sign in bounds else self._numbers(start, nested=nested)
        if not found.can_repeat:
            raise words.nothing_to_repeat(self.place(start), sign)
        found.rules *= max(most or least, 1) if most is not None else max(least, 1)
        found.depth += 1
        if found.rules > MOST_REPETITIONS:
            raise words.too_often(self.place(start), MOST_REPETITIONS)
        if found.depth > MOST_DEEP:
            raise words.too_deep(self.place(start), MOST_DEEP)
        inner = found.elements.pop()
        optional = 1 if most is None else most - least
        self._made += optional
        size = inner.size * least + (1 if optional else 0)
        self._grow(size + optional * (inner.size + 3), start)
        found.can_repeat = size > 0
        times = (least, max(least, 1)) if most is None else (least, most)
        found.elements.append(Element("repeat", start, size, inner.name, [[inner]], *times, is_endless=most is None))

    def _numbers(self, start: int, *, nested: bool) -> tuple[int, int | None]:
        """Read what stands in braces after the first one; None is no upper bound."""
        least = self._number(start, nested=nested)
        if least is None:
            raise words.numbers_expected(self.place(self._at))
        most: int | None = least
        if self._peek() == ",":
            self._at += 1
            self._skip(lines=nested)
            most = self._number(start, nested=nested)
        if self._peek() != "}":
            raise words.numbers_expected(self.place(self._at))
        self._at += 1
        self._skip(lines=nested)
        if most is not None and most < least:
            raise words.wrong_order(self.place(start), least, most)
        return least, most

    def _number(self, start: int, *, nested: bool) -> int | None:
        digits = self._word(_DIGITS)
        self._skip(lines=nested)
        if digits and (len(digits) > _LONGEST_NUMBER or int(digits) > MOST_REPETITIONS):
            raise words.too_often(self.place(start), MOST_REPETITIONS)
        return int(digits) if digits else None

    def _grow(self, elements: int, start: int) -> None:
        self._size += elements
        if self._size > MOST_ELEMENTS:
            raise words.too_large(self.place(start))


def read_rules(text: str) -> tuple[list[Rule], GbnfReader]:
    """Return the rules of a grammar, and the reader that knows their places. Raises `WrongGrammar`."""
    reader = GbnfReader(text)
    return reader.rules(), reader


__all__ = ["Element", "GbnfReader", "Rule", "WrongGrammar", "read_rules"]

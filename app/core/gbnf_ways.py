"""In how many ways a grammar can read one token: llama.cpp goes through all of them at one that does not fit.

Grammars are written out as llama.cpp does, and one that would take it minutes for a token is found. Pure.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from app.core.gbnf_reader import Element, Rule

MOST_WAYS = 1 << 20
"""llama.cpp takes up to a second for so many."""
RUN = 32
"""Vocabularies have such runs of one of these characters as one token, with an end of line behind them too."""
RUNNING = frozenset(map(ord, " \t\n=-*#_./~+"))
LONGEST_WORD = 20
"""Other tokens have no more characters."""
_MOST_WORK = 300_000
_MOST_SIZE = 200_000
_MOST_STACKS = 500
_DEEPEST = 200
_Stack = tuple[int, ...]
_Signs = frozenset[int]
_NONE: _Signs = frozenset()
_ORDER = ("repeat", "group", "rule")


class _TooMuchWork(Exception):
    """The grammar is too large to be looked through: nothing is said of it."""


class _Written:
    """A grammar written out: symbols one after the other, None behind each sequence."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.symbols: list[_Signs | int | None] = []
        """Characters that may stand there, the number of a rule, or the end of a sequence."""
        self.starts: list[list[int]] = [[] for _ in rules]
        """Where the alternatives of each rule begin; one that is empty begins at its end."""
        self.places: list[tuple[Element, int]] = []
        """What may be read in several ways, and where it begins."""
        self._numbers = {rule.name: number for number, rule in enumerate(rules)}
        self._codes: dict[str, _Signs] = {}
        for number, rule in enumerate(rules):
            self._alternatives(number, rule.parts)

    def _alternatives(self, number: int, parts: list[list[Element]]) -> None:
        for part in parts:
            symbols: list[_Signs | int] = []
            begins: list[tuple[Element, int]] = []
            for element in part:
                if element.kind != "characters":
                    begins.append((element, len(symbols)))
                symbols += self._symbols_of(element)
            at = self._append(number, symbols)
            self.places += [(element, at + begin) for element, begin in begins]

    def _append(self, number: int, symbols: list[_Signs | int]) -> int:
        at = len(self.symbols)
        if at + len(symbols) > _MOST_SIZE:
            raise _TooMuchWork
        self.starts[number].append(at)
        self.symbols += [*symbols, None]
        return at

    def _new_rule(self) -> int:
        self.starts.append([])
        return len(self.starts) - 1

    def _symbols_of(self, element: Element) -> list[_Signs | int]:
        match element.kind:
            case "characters":
                return self._characters(element)
            case "rule":
                return [self._numbers[element.name]]
            case "group":
                number = self._new_rule()
                self._alternatives(number, element.parts)
                return [number]
            case "repeat":
                return self._repeated(element)

    def _characters(self, element: Element) -> list[_Signs | int]:
        if element.codes:
            return [frozenset((code,)) for code in element.codes]
        found = self._codes.get(element.name)
        if found is None:
            found = frozenset(map(ord, element.signs))
            if not found and element.name.startswith("["):  # no ASCII character: alike only what is written alike
                found = frozenset((-1 - len(self._codes),))
            self._codes[element.name] = found
        return [found]

    def _repeated(self, element: Element) -> list[_Signs | int]:
        """More than the longest run is as good as without end."""
        once = self._symbols_of(element.parts[0][0])
        symbols = once * min(element.least, RUN + 1)
        if element.is_endless:
            number = self._new_rule()
            self._append(number, [*once, number])
            self._append(number, [])
            return [*symbols, number]
        last: list[_Signs | int] = []
        for _ in range(min(element.most - element.least, RUN + 1)):
            number = self._new_rule()
            self._append(number, [*once, *last])
            self._append(number, [])
            last = [number]
        return symbols + last


class _Reading:
    """How far a grammar can be read, as llama.cpp keeps it: stacks of what is still to come."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.written = _Written(rules)
        self._symbols = self.written.symbols
        self._after: dict[_Stack, list[_Stack]] = {}
        self._work = 0

    def signs(self, stack: _Stack) -> _Signs:
        """Return which characters may come next."""
        found = self._symbols[stack[-1]] if stack else _NONE
        return found if isinstance(found, frozenset) else _NONE

    def begun(self, at: int) -> list[_Stack]:
        """Return the stacks before the first character of a sequence from one of its symbols on."""
        return self._advanced((at,))

    def after(self, stack: _Stack) -> list[_Stack]:
        """Return the stacks behind the next character of a stack."""
        if (found := self._after.get(stack)) is None:
            at = stack[-1] + 1
            found = self._after[stack] = self._advanced(
                stack[:-1] if self._symbols[at] is None else (*stack[:-1], at)
            )
        return found

    def _advanced(self, stack: _Stack) -> list[_Stack]:
        waiting, seen, found = [stack], set[_Stack](), list[_Stack]()
        while waiting:
            stack = waiting.pop()
            if stack in seen:
                continue
            seen.add(stack)
            self.count(1)
            symbol = self._symbols[stack[-1]] if stack else None
            if not isinstance(symbol, int):
                found.append(stack)
                continue
            if len(stack) > _DEEPEST:
                raise _TooMuchWork
            at = stack[-1] + 1
            rest = stack[:-1] if self._symbols[at] is None else (*stack[:-1], at)
            starts = self.written.starts[symbol]
            waiting += [rest if self._symbols[start] is None else (*rest, start) for start in starts]
        return found

    def count(self, work: int) -> None:
        """Raise `_TooMuchWork` where it takes too long."""
        self._work += work
        if self._work > _MOST_WORK:
            raise _TooMuchWork

    def is_endless_work(self, begun: list[_Stack], sign: int) -> bool:
        """Return whether a run of one character that does not fit is read in more ways than llama.cpp can try."""
        counts, ways = dict.fromkeys(begun, 1), 0
        for length in range(1, RUN + 1):
            following: defaultdict[_Stack, int] = defaultdict(int)
            for stack, number in counts.items():
                if sign in self.signs(stack):
                    ways += number
                    for after in self.after(stack):
                        following[after] += number
                        self.count(1)
            counts = following
            if len(counts) > _MOST_STACKS:  # parentheses inside one another: no token has many of them
                return False
            if not any(sign in self.signs(stack) for stack in counts):
                is_word = sign in RUNNING or length < LONGEST_WORD  # a token that is longer by one does not fit
                return is_word and ways > MOST_WAYS
        end = ord(" ") if sign == ord("\n") else ord("\n")
        is_left = any(end in self.signs(stack) for stack in counts)
        return sign in RUNNING and not is_left and ways > MOST_WAYS


def too_many_ways(rules: Sequence[Rule]) -> Element | None:
    """Return what a grammar can read in more ways than llama.cpp can try; None where nothing is found."""
    try:
        reading = _Reading(rules)
        places = sorted(reading.written.places, key=lambda each: (_ORDER.index(each[0].kind), -each[0].place))
        alike = _Alike(reading.written.symbols)
        for element, at in places:
            begun = reading.begun(at)
            for sign in alike.first_of(frozenset().union(*map(reading.signs, begun))):
                if reading.is_endless_work(begun, sign):
                    return element
    except _TooMuchWork:
        return None
    return None


class _Alike:
    """Characters that a grammar does not tell apart."""

    def __init__(self, symbols: Sequence[_Signs | int | None]) -> None:
        sets = {symbol for symbol in symbols if isinstance(symbol, frozenset)}
        kinds: defaultdict[tuple[bool, frozenset[int]], list[int]] = defaultdict(list)
        within: defaultdict[int, set[int]] = defaultdict(set)
        for number, signs in enumerate(sets):
            for sign in signs:
                within[sign].add(number)
        for sign, numbers in within.items():
            kinds[sign in RUNNING, frozenset(numbers)].append(sign)
        self._first = sorted(min(signs) for signs in kinds.values())

    def first_of(self, signs: _Signs) -> Iterator[int]:
        """Yield one character of each kind among some."""
        return (sign for sign in self._first if sign in signs)

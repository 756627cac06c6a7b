"""Whether the rules of a GBNF grammar fit together: there is a root, nothing is missing, nothing goes round for ever.

Pure; llama.cpp is the last judge, and says less.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

from app.core import gbnf_rule_words as words
from app.core.gbnf_reader import Element, GbnfReader, Rule, read_rules
from app.core.gbnf_ways import too_many_ways
from app.core.grammar import LONGEST_GRAMMAR

ROOT = "root"
MOST_ALIKE = 20
"""With so many parts alike side by side that can be empty, llama.cpp takes up to a tenth of a second for one token."""


def check_gbnf(text: str) -> None:
    """Read a whole grammar. Raises `WrongGrammar`, which says what is wrong and where."""
    if len(text) > LONGEST_GRAMMAR:
        raise words.too_long(LONGEST_GRAMMAR)
    rules, reader = read_rules(text)
    if not rules:
        raise words.empty()
    known: dict[str, Rule] = {}
    for rule in rules:
        if rule.name in known:
            raise words.defined_twice(reader.place(rule.place), rule.name)
        known[rule.name] = rule
    for element in _elements(part for rule in rules for part in rule.parts):
        if element.kind == "rule" and element.name not in known:
            raise words.undefined(reader.place(element.place), element.name)
    if ROOT not in known:
        raise words.no_root(reader.place(rules[0].place), rules[0].name)
    empties = _Empties(known)
    empties.refuse_endless(reader)
    empties.refuse_too_many_ways(reader)
    if (explosive := too_many_ways(rules)) is not None:
        raise words.read_in_many_ways(reader.place(explosive.place))


def first_rule(text: str) -> str:
    """Return the name that a grammar goes by: of its first comment, else of its first rule; empty where it has none."""
    for line in map(str.strip, text.splitlines()):
        if name := line.strip("# ") if line.startswith("#") else line.partition("::=")[0].strip():
            return name
    return ""


def _elements(parts: Iterable[list[Element]]) -> Iterator[Element]:
    for part in parts:
        for element in part:
            yield element
            yield from _elements(element.parts)


def _sequences(parts: Iterable[list[Element]]) -> Iterator[list[Element]]:
    for part in parts:
        yield part
        for element in part:
            yield from _sequences(element.parts)


def _has_empty(parts: list[list[Element]]) -> bool:
    """Return whether nothing is among the alternatives; what is repeated 0 times is nothing."""
    return any(all(element.size == 0 for element in part) for part in parts)


class _Empties:
    """Which rules can be empty, and with which others they can begin."""

    def __init__(self, rules: dict[str, Rule]) -> None:
        self._rules = rules
        self._empty: set[str] = set()
        users: defaultdict[str, set[str]] = defaultdict(set)
        for rule in rules.values():
            for element in _elements(rule.parts):
                if element.kind == "rule":
                    users[element.name].add(rule.name)
        waiting = list(rules)
        while waiting:
            name = waiting.pop()
            if name not in self._empty and self._any_empty(rules[name].parts):
                self._empty.add(name)
                waiting += users[name]

    def _any_empty(self, parts: list[list[Element]]) -> bool:
        return any(all(map(self._is_empty, part)) for part in parts)

    def _is_empty(self, element: Element) -> bool:
        match element.kind:
            case "characters":
                return False
            case "rule":
                return element.name in self._empty
            case "group":
                return self._any_empty(element.parts)
            case "repeat":
                return element.least == 0 or self._any_empty(element.parts)

    def _is_plainly_empty(self, element: Element) -> bool:
        """Return whether an element can be empty without a look into others, as far as llama.cpp looks itself.

        What it finds empty is refused where it is repeated without end; what is hidden deeper works.
        """
        match element.kind:
            case "characters":
                return False
            case "rule":
                return _has_empty(self._rules[element.name].parts)
            case "group":
                return _has_empty(element.parts)
            case "repeat":
                return element.least == 0 or all(map(self._is_plainly_empty, element.parts[0]))

    def refuse_endless(self, reader: GbnfReader) -> None:
        """Raise `WrongGrammar` where a rule begins with itself, or something empty is repeated without end."""
        for element in _elements(part for rule in self._rules.values() for part in rule.parts):
            if element.kind == "repeat" and element.is_endless and all(map(self._is_plainly_empty, element.parts[0])):
                raise words.endless(reader.place(element.place))
        begins = {name: list(self._firsts(rule.parts)) for name, rule in self._rules.items()}
        done: set[str] = set()
        for start in self._rules:
            if start in done:
                continue
            path, under_way = [(start, iter(begins[start]))], {start}
            while path:
                name, rest = path[-1]
                following = next(rest, None)
                if following is None:
                    path.pop()
                    under_way.discard(name)
                    done.add(name)
                elif following.name in under_way:
                    raise words.left_recursion(reader.place(following.place), following.name)
                elif following.name not in done:
                    under_way.add(following.name)
                    path.append((following.name, iter(begins[following.name])))

    def refuse_too_many_ways(self, reader: GbnfReader) -> None:
        """Raise `WrongGrammar` where so many parts alike can be left out that llama.cpp would try them for minutes.

        For a token of k characters it goes through every choice of k of them.
        """
        for part in _sequences(part for rule in self._rules.values() for part in rule.parts):
            alike: Counter[str] = Counter()
            for element in part:
                if not self._is_empty(element):
                    alike.clear()
                    continue
                inner_empty = element.kind == "repeat" and self._is_empty(element.parts[0][0])
                signs = element.parts[0][0].signs if element.kind == "repeat" else ""
                keys = signs or (f"{element.name} ",)  # longer than any sign
                alike.update(dict.fromkeys(keys, element.most if inner_empty else 1))
                if any(alike[key] > MOST_ALIKE for key in keys):
                    raise words.too_many_ways(reader.place(element.place), MOST_ALIKE)

    def _firsts(self, parts: list[list[Element]]) -> Iterator[Element]:
        """Yield the references to rules with which alternatives can begin."""
        for part in parts:
            for element in part:
                if element.kind == "rule":
                    yield element
                yield from self._firsts(element.parts)
                if not self._is_empty(element):
                    break

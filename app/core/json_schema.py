"""Writes a JSON schema as a GBNF grammar: the parts of it that a grammar can keep; all others are refused by their names.

An object has the properties that the schema lists, in their order, and others only where it asks for them. Pure.
"""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

from app.core import schema_words as words
from app.core.gbnf_reader import MOST_DEEP, MOST_REPETITIONS
from app.core.grammar import LONGEST_GRAMMAR

Schema = dict[str, Any]
_SAYS_NOTHING = frozenset(
    (
        *("title", "description", "default", "examples", "example", "deprecated", "readOnly", "writeOnly", "format"),
        *("$schema", "$id", "$comment", "$anchor", "$defs", "definitions"),
    )
)
"""Keywords that ask for nothing; formats that a grammar can keep are looked up by name."""
_TYPES = ("object", "array", "string", "number", "integer", "boolean", "null")
_OF_TYPE = {
    "object": frozenset(("properties", "required", "additionalProperties")),
    "array": frozenset(("items", "prefixItems", "minItems", "maxItems")),
    "string": frozenset(("minLength", "maxLength")),
}
_ANY = "any-value"
_FIXED = {
    "space": '| " " | "\\n" " "{0,20}',
    "boolean": '"true" | "false"',
    "null": '"null"',
    "integer": '"-"? ("0" | [1-9] [0-9]{0,15})',
    "number": 'integer ("." [0-9]{1,16})? ([eE] [-+]? [0-9]{1,2})?',
    "hex": "[0-9a-fA-F]",
    "character": r'[^"\\\x7F\x00-\x1F] | "\\" (["\\/bfnrt] | "u" hex{4})',
    "string": r'"\"" character* "\""',
    "any-object": '"{" space (string ":" " "? any-value ("," space string ":" " "? any-value)* space)? "}"',
    "any-array": '"[" space (any-value ("," space any-value)* space)? "]"',
    _ANY: "any-object | any-array | string | number | boolean | null",
    "day": '[0-9]{4} "-" ("0" [1-9] | "1" [0-2]) "-" ("0" [1-9] | [1-2] [0-9] | "3" [0-1])',
    "clock": '([01] [0-9] | "2" [0-3]) ":" [0-5] [0-9] ":" [0-5] [0-9] ("." [0-9]{3})? '
    '("Z" | [-+] ([01] [0-9] | "2" [0-3]) ":" [0-5] [0-9])',
    "date": r'"\"" day "\""',
    "time": r'"\"" clock "\""',
    "date-time": r'"\"" day "T" clock "\""',
    "uuid": r'"\"" hex{8} "-" hex{4} "-" hex{4} "-" hex{4} "-" hex{12} "\""',
}
"""Rules that schemas share."""
_FORMATS = ("date", "time", "date-time", "uuid")
_USED = re.compile(r"[a-z]+(?:-[a-z]+)*")
_NOT_OF_NAMES = re.compile(r"[^A-Za-z0-9]+")


def gbnf_of_schema(text: str) -> str:
    """Return the grammar of a schema. Raises `WrongGrammar`, with a place in the text or the path in the schema."""
    if len(text) > LONGEST_GRAMMAR:
        raise words.too_long(LONGEST_GRAMMAR)
    schema = parsed(text)
    return _Converter(schema).grammar()


def parsed(text: str) -> object:
    """Return what a text says as JSON. Raises `WrongGrammar`."""
    if not text.strip():
        raise words.empty()
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise words.no_json(error.lineno, error.colno) from error
    except RecursionError as error:
        raise words.too_deep("") from error
    except ValueError as error:  # a number of thousands of digits, or NaN
        raise words.no_number() from error


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)


def schema_title(text: str) -> str:
    """Return the title of a schema; empty where it has none or is no schema."""
    try:
        schema = json.loads(text)
    except (ValueError, RecursionError):
        return ""
    title = schema.get("title") if isinstance(schema, dict) else None
    return title.strip() if isinstance(title, str) else ""


class _Converter:
    """Turns one schema into rules."""

    def __init__(self, schema: object) -> None:
        self._schema = schema
        self._rules: dict[str, str] = {}
        self._of_refs: dict[str, str] = {}
        self._depth = 0

    def grammar(self) -> str:
        """Return all rules, the first one first."""
        self._rules["root"] = ""
        self._of_refs["#"] = "root"
        self._rules["root"] = self._said(self._schema, "", "root")
        self._add_fixed()
        return "\n".join(f"{name} ::= {said}" for name, said in self._rules.items()) + "\n"

    def _add_fixed(self) -> None:
        """Add the shared rules that are used, and those that they use."""
        waiting = list(self._rules.values())
        while waiting:
            for name in _USED.findall(_without_texts(waiting.pop())):
                if name in _FIXED and name not in self._rules:
                    self._rules[name] = _FIXED[name]
                    waiting.append(_FIXED[name])

    def _rule(self, schema: object, path: str, name: str) -> str:
        """Return the name of a rule for a schema; the rule is new unless a shared one says the same."""
        said = self._said(schema, path, name)
        return said if said in _FIXED else self._named(name, said)

    def _named(self, name: str, said: str) -> str:
        wanted = name = _NOT_OF_NAMES.sub("-", name).strip("-") or "value"
        number = 1
        while name in self._rules or name in _FIXED:
            number += 1
            name = f"{wanted}-{number}"
        self._rules[name] = said
        return name

    def _said(self, schema: object, path: str, name: str) -> str:
        """Return what a rule says for a schema at a path."""
        if schema is True or schema == {}:
            return _ANY
        if not isinstance(schema, dict):
            raise words.no_schema(path)
        if self._depth >= MOST_DEEP:
            raise words.too_deep(path)
        self._depth += 1
        try:
            return self._of_object(schema, path, name)
        finally:
            self._depth -= 1

    def _of_object(self, schema: Schema, path: str, name: str) -> str:
        asks = {key: value for key, value in schema.items() if key not in _SAYS_NOTHING}
        if "$ref" in asks:
            self._only(asks, path, "$ref")
            return self._of_ref(asks["$ref"], path)
        for keyword in ("const", "enum"):
            if keyword in asks:
                self._only(asks, path, keyword, "type")
                values = [asks["const"]] if keyword == "const" else asks["enum"]
                if not isinstance(values, list) or not values:
                    raise words.wrong_value(keyword, path)
                return " | ".join(_literal(json.dumps(value, ensure_ascii=False)) for value in values)
        for keyword in ("anyOf", "oneOf", "allOf"):
            if keyword in asks:
                self._only(asks, path, keyword)
                return self._of_several(keyword, asks[keyword], path, name)
        return self._of_types(schema, asks, path, name)

    def _of_several(self, keyword: str, schemas: object, path: str, name: str) -> str:
        if not isinstance(schemas, list) or not schemas:
            raise words.wrong_value(keyword, path)
        if keyword == "allOf" and len(schemas) > 1:
            raise words.not_kept(keyword, path)
        ways = [
            self._rule(each, f"{path}/{keyword}/{number}", f"{name}-{number + 1}")
            for number, each in enumerate(schemas)
        ]
        return " | ".join(ways)

    def _of_types(self, schema: Schema, asks: Schema, path: str, name: str) -> str:
        kinds = asks.pop("type", None)
        if kinds is None:
            kinds = next((kind for kind, keywords in _OF_TYPE.items() if keywords & asks.keys()), None)
        if kinds is None:
            self._only(asks, path)
            return _ANY
        several = kinds if isinstance(kinds, list) else [kinds]
        if not several or any(kind not in _TYPES for kind in several):
            raise words.wrong_value("type", path)
        fitting = frozenset[str]().union(*(_OF_TYPE.get(kind, frozenset()) for kind in several))
        self._only(asks, path, *fitting)
        if len(several) == 1:
            return self._of_type(several[0], schema, path, name)
        return " | ".join(
            said
            if (said := self._of_type(kind, schema, path, name)) in _FIXED
            else self._named(f"{name}-{kind}", said)
            for kind in several
        )

    def _of_type(self, kind: str, schema: Schema, path: str, name: str) -> str:
        match kind:
            case "object":
                return self._object(schema, path, name)
            case "array":
                return self._array(schema, path, name)
            case "string":
                return self._string(schema, path)
            case _:
                return kind

    def _string(self, schema: Schema, path: str) -> str:
        least, most = self._bounds(schema, path, "minLength", "maxLength")
        if (form := schema.get("format")) is not None:
            if form not in _FORMATS or (least, most) != (0, None):
                raise words.not_kept("format", path)
            return str(form)
        return "string" if (least, most) == (0, None) else f'"\\"" character{_times(least, most)} "\\""'

    def _array(self, schema: Schema, path: str, name: str) -> str:
        least, most = self._bounds(schema, path, "minItems", "maxItems")
        first, items = schema.get("prefixItems", []), schema.get("items", True)
        if not isinstance(first, list) or isinstance(items, list):
            raise words.wrong_value("items" if isinstance(items, list) else "prefixItems", path)
        if first:
            if (least, most) != (0, None) or ("items" in schema and items is not False):
                raise words.not_kept("prefixItems", path)
            parts = [
                self._rule(each, f"{path}/prefixItems/{number}", f"{name}-{number + 1}")
                for number, each in enumerate(first)
            ]
            return '"[" space ' + ' "," space '.join(parts) + ' space "]"'
        if most == 0 or items is False:
            return '"[" space "]"'
        item = self._rule(items, f"{path}/items", f"{name}-item")
        more = f'{item} ("," space {item}){_times(max(least - 1, 0), None if most is None else most - 1)} space'
        return f'"[" space {more} "]"' if least else f'"[" space ({more})? "]"'

    def _object(self, schema: Schema, path: str, name: str) -> str:
        properties, required = schema.get("properties", {}), schema.get("required", [])
        if not isinstance(properties, dict):
            raise words.wrong_value("properties", path)
        if not isinstance(required, list) or not all(isinstance(each, str) for each in required):
            raise words.wrong_value("required", path)
        others = schema.get("additionalProperties", "properties" not in schema)
        if (missing := next((each for each in required if each not in properties), None)) is not None:
            raise words.unlisted(missing, path)
        if not properties and others is True:
            return "any-object"
        first = after = '"}"'
        if others is not False:
            value = self._rule(others, f"{path}/additionalProperties", f"{name}-other")
            pair = f'string ":" " "? {value}'
            first = self._named(f"{name}-others", f'({pair} ("," space {pair})* space)? "}}"')
            after = self._named(f"{name}-more", f'("," space {pair})* space "}}"')
        else:
            after = 'space "}"'
        for number, (key, each) in reversed(list(enumerate(properties.items()))):
            pointer = f"{path}/properties/{_escaped(key)}"
            value = self._rule(each, pointer, f"{name}-{key}")
            pair = f'{_literal(json.dumps(key, ensure_ascii=False))} ":" " "? {value}'
            optional = key not in required
            # what may follow where a property came before, and where none did
            chosen = f'"," space {pair} {after}'
            begins = f"{pair} {after}" + (f" | {first}" if optional else "")
            if number == 0:
                return f'"{{" space ({begins})'
            after = self._named(f"{name}-{key}-after", chosen + (f" | {after}" if optional else ""))
            first = self._named(f"{name}-{key}-first", begins)
        return f'"{{" space {first}'

    def _of_ref(self, ref: object, path: str) -> str:
        if not isinstance(ref, str) or not (ref == "#" or ref.startswith("#/")):
            raise words.other_schema(path)
        if (name := self._of_refs.get(ref)) is not None:
            return name
        target = self._schema
        for key in ref.split("/")[1:]:
            key_said = key.replace("~1", "/").replace("~0", "~")
            if isinstance(target, dict) and key_said in target:
                target = target[key_said]
            else:
                raise words.no_target(ref, path)
        name = self._named(ref.rpartition("/")[2], "")
        self._of_refs[ref] = name
        self._rules[name] = self._said(target, ref[1:], name)
        return name

    def _bounds(self, schema: Schema, path: str, low: str, high: str) -> tuple[int, int | None]:
        least, most = schema.get(low, 0), schema.get(high)
        for keyword, value in ((low, least), (high, 0 if most is None else most)):
            if type(value) is not int or value < 0:
                raise words.wrong_value(keyword, path)
            if value > MOST_REPETITIONS:
                raise words.too_many(keyword, path, MOST_REPETITIONS)
        if most is not None and most < least:
            raise words.wrong_value(high, path)
        return least, most

    def _only(self, asks: Schema, path: str, *keywords: str) -> None:
        """Refuse what a grammar cannot keep, or not beside the others."""
        if (other := next((key for key in asks if key not in keywords), None)) is not None:
            raise words.not_kept(other, path)


def _times(least: int, most: int | None) -> str:
    if (least, most) == (0, None):
        return "*"
    return f"{{{least},{'' if most is None else most}}}"


def _literal(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


def _without_texts(said: str) -> str:
    """Return a rule without its texts and sets, which hold words that are no rules."""
    return re.sub(r'"(?:[^"\\]|\\.)*"|\[(?:[^\]\\]|\\.)*\]', " ", said)

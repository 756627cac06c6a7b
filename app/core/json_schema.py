"""Writes a JSON schema as a GBNF grammar: the parts of it that a grammar can keep; all others are refused by their names.

Whatever fits the grammar fits the schema. An object has the properties that the schema lists, in their order, and others
only where it asks for them, under names of their own. Pure.
"""

from __future__ import annotations

import json
import re
from typing import NoReturn

from app.core import schema_facts, schema_places
from app.core import schema_words as words
from app.core.gbnf_reader import MOST_DEEP, MOST_REPETITIONS
from app.core.grammar import LONGEST_GRAMMAR
from app.core.schema_facts import OF_TYPE, TYPES, Schema
from app.core.schema_places import Where
from app.core.schema_rules import ANY, FIXED, FORMATS, LONGEST_NAME, json_literal, other_name, times, with_shared

_SAYS_NOTHING = frozenset(
    (
        *("title", "description", "default", "examples", "example", "deprecated", "readOnly", "writeOnly", "format"),
        *("$schema", "$id", "$comment", "$anchor", "$defs", "definitions"),
    )
)
"""Keywords that ask for nothing; formats that a grammar can keep are looked up by name."""
_NO_FORMAT = ("$ref", "const", "enum", "anyOf", "oneOf", "allOf")
"""Beside these the format of a text cannot be kept."""
_MOST_DIGITS = 4300
_NOT_OF_NAMES = re.compile(r"[^A-Za-z0-9]+")


def gbnf_of_schema(text: str) -> str:
    """Return the grammar of a schema. Raises `WrongGrammar`, with the place in the text and the path in the schema."""
    if len(text) > LONGEST_GRAMMAR:
        raise words.too_long(LONGEST_GRAMMAR)
    schema = parsed(text)
    return _Converter(schema, text).grammar()


def parsed(text: str) -> object:
    """Return what a text says as JSON. Raises `WrongGrammar`."""
    if not text.strip():
        raise words.empty()
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise words.no_json(error.lineno, error.colno) from error
    except RecursionError as error:
        raise words.too_deep(Where("", schema_places.deepest(text, MOST_DEEP))) from error
    except ValueError as error:  # a number of thousands of digits, or NaN
        raise words.no_number(schema_places.wrong_number(text, _MOST_DIGITS)) from error


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

    def __init__(self, schema: object, text: str) -> None:
        self._schema = schema
        self._text = text
        self._rules: dict[str, str] = {}
        self._of_refs: dict[str, str] = {}
        self._depth = 0

    def grammar(self) -> str:
        """Return all rules, the first one first."""
        self._rules["root"] = ""
        self._of_refs["#"] = "root"
        self._rules["root"] = self._said(self._schema, "", "root")
        return "\n".join(f"{name} ::= {said}" for name, said in with_shared(self._rules).items()) + "\n"

    def _at(self, path: str, keyword: str | None = None) -> Where:
        """Return where a schema stands, or one of its keywords."""
        return schema_places.find(self._text, path, keyword)

    def _rule(self, schema: object, path: str, name: str) -> str:
        """Return the name of a rule for a schema; the rule is new unless a shared one says the same."""
        said = self._said(schema, path, name)
        return said if said in FIXED else self._named(name, said)

    def _named(self, name: str, said: str) -> str:
        wanted = name = _NOT_OF_NAMES.sub("-", name).strip("-") or "value"
        number = 1
        while name in self._rules or name in FIXED:
            number += 1
            name = f"{wanted}-{number}"
        self._rules[name] = said
        return name

    def _said(self, schema: object, path: str, name: str) -> str:
        """Return what a rule says for a schema at a path."""
        if schema is True or schema == {}:
            return ANY
        if not isinstance(schema, dict):
            raise words.no_schema(self._at(path))
        if self._depth >= MOST_DEEP:
            raise words.too_deep(self._at(path))
        self._depth += 1
        try:
            return self._of_object(schema, path, name)
        finally:
            self._depth -= 1

    def _of_object(self, schema: Schema, path: str, name: str) -> str:
        asks = {key: value for key, value in schema.items() if key not in _SAYS_NOTHING}
        if "format" in schema and not asks.keys().isdisjoint(_NO_FORMAT):
            raise words.not_kept("format", self._at(path, "format"))
        if "$ref" in asks:
            self._only(asks, path, "$ref")
            return self._of_ref(asks["$ref"], path)
        for keyword in ("const", "enum"):
            if keyword in asks:
                self._only(asks, path, keyword, "type")
                return self._listed(keyword, asks, path)
        for keyword in ("anyOf", "oneOf", "allOf"):
            if keyword in asks:
                self._only(asks, path, keyword)
                return self._of_several(keyword, asks[keyword], path, name)
        return self._of_types(schema, asks, path, name)

    def _listed(self, keyword: str, asks: Schema, path: str) -> str:
        """Return the values that a schema lists, those alone that are of its type."""
        values = [asks["const"]] if keyword == "const" else asks["enum"]
        if not isinstance(values, list) or not values:
            raise words.wrong_value(keyword, self._at(path, keyword))
        if "type" in asks:
            kinds = self._kinds(asks["type"], path)
            values = [value for value in values if any(schema_facts.is_of(value, kind) for kind in kinds)]
            if not values:
                raise words.nothing_fits(keyword, "type", self._at(path, keyword))
        try:
            return " | ".join(map(json_literal, values))
        except ValueError as error:  # a number that is too large to be one
            raise words.wrong_value(keyword, self._at(path, keyword)) from error

    def _kinds(self, kinds: object, path: str) -> list[str]:
        several: list[object] = kinds if isinstance(kinds, list) else [kinds]
        known = [kind for kind in TYPES if kind in several]
        if not several or len(known) < len(several):
            raise words.wrong_value("type", self._at(path, "type"))
        return known

    def _of_several(self, keyword: str, schemas: object, path: str, name: str) -> str:
        if not isinstance(schemas, list) or not schemas:
            raise words.wrong_value(keyword, self._at(path, keyword))
        if keyword == "allOf" and len(schemas) > 1:
            raise words.not_kept(keyword, self._at(path, keyword))
        ways = [
            self._rule(each, f"{path}/{keyword}/{number}", f"{name}-{number + 1}")
            for number, each in enumerate(schemas)
        ]
        if keyword == "oneOf" and not schema_facts.are_apart(schemas, self._resolved):
            raise words.not_apart(self._at(path, keyword))
        return " | ".join(ways)

    def _of_types(self, schema: Schema, asks: Schema, path: str, name: str) -> str:
        kinds = asks.pop("type", None)
        if kinds is None:
            kinds = schema_facts.implied_type(asks)
        if kinds is None:
            self._only(schema, path, *(_SAYS_NOTHING - {"format"}))  # the format of anything
            return ANY
        several = self._kinds(kinds, path)
        fitting = frozenset[str]().union(*(OF_TYPE.get(kind, frozenset()) for kind in several))
        self._only(asks, path, *fitting)
        if len(several) == 1:
            return self._of_type(several[0], schema, path, name)
        return " | ".join(
            said
            if (said := self._of_type(kind, schema, path, name)) in FIXED
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
            if form not in FORMATS or (least, most) != (0, None):
                raise words.not_kept("format", self._at(path, "format"))
            return str(form)
        return "string" if (least, most) == (0, None) else f'"\\"" character{times(least, most)} "\\""'

    def _array(self, schema: Schema, path: str, name: str) -> str:
        least, most = self._bounds(schema, path, "minItems", "maxItems")
        first, items = schema.get("prefixItems", []), schema.get("items", True)
        if not isinstance(first, list) or isinstance(items, list):
            wrong = "items" if isinstance(items, list) else "prefixItems"
            raise words.wrong_value(wrong, self._at(path, wrong))
        if first:
            if (least, most) != (0, None) or ("items" in schema and items is not False):
                raise words.not_kept("prefixItems", self._at(path, "prefixItems"))
            parts = [
                self._rule(each, f"{path}/prefixItems/{number}", f"{name}-{number + 1}")
                for number, each in enumerate(first)
            ]
            return '"[" space ' + ' "," space '.join(parts) + ' space "]"'
        if least and items is False:
            raise words.nothing_fits("minItems", "items", self._at(path, "minItems"))
        if most == 0 or items is False:
            return '"[" space "]"'
        item = self._rule(items, f"{path}/items", f"{name}-item")
        more = f'{item} ("," space {item}){times(max(least - 1, 0), None if most is None else most - 1)} space'
        return f'"[" space {more} "]"' if least else f'"[" space ({more})? "]"'

    def _object(self, schema: Schema, path: str, name: str) -> str:
        properties, required = schema.get("properties", {}), schema.get("required", [])
        if not isinstance(properties, dict):
            raise words.wrong_value("properties", self._at(path, "properties"))
        if not isinstance(required, list) or not all(isinstance(each, str) for each in required):
            raise words.wrong_value("required", self._at(path, "required"))
        others = schema.get("additionalProperties", "properties" not in schema)
        if (missing := next((each for each in required if each not in properties), None)) is not None:
            place = self._at(f"{path}/required/{required.index(missing)}").place
            raise words.unlisted(missing, Where(path, place))
        if not properties and others is True:
            return "any-object"
        first = after = '"}"'
        if others is not False:
            value = self._rule(others, f"{path}/additionalProperties", f"{name}-other")
            pair = f'{self._other_name(properties, path, name)} ":" " "? {value}'
            first = self._named(f"{name}-others", f'({pair} ("," space {pair})* space)? "}}"')
            after = self._named(f"{name}-more", f'("," space {pair})* space "}}"')
        else:
            after = 'space "}"'
        for number, (key, each) in reversed(list(enumerate(properties.items()))):
            pointer = f"{path}/properties/{_escaped(key)}"
            value = self._rule(each, pointer, f"{name}-{key}")
            pair = f'{json_literal(key)} ":" " "? {value}'
            optional = key not in required
            # what may follow where a property came before, and where none did
            chosen = f'"," space {pair} {after}'
            begins = f"{pair} {after}" + (f" | {first}" if optional else "")
            if number == 0:
                return f'"{{" space ({begins})'
            after = self._named(f"{name}-{key}-after", chosen + (f" | {after}" if optional else ""))
            first = self._named(f"{name}-{key}-first", begins)
        return f'"{{" space {first}'

    def _other_name(self, names: Schema, path: str, name: str) -> str:
        """Return what a property may be called that is none of those listed."""
        if not names:
            return "string"
        if any(len(each) > LONGEST_NAME for each in names):
            raise words.not_kept("additionalProperties", self._at(path, "additionalProperties"))
        return self._named(f"{name}-name", other_name(names, lambda said: self._named(f"{name}-name", said)))

    def _of_ref(self, ref: object, path: str) -> str:
        if not isinstance(ref, str) or not (ref == "#" or ref.startswith("#/")):
            raise words.other_schema(self._at(path, "$ref"))
        if (name := self._of_refs.get(ref)) is not None:
            return name
        target = self._target(ref)
        if target is None:
            raise words.no_target(ref, self._at(path, "$ref"))
        name = self._named(ref.rpartition("/")[2], "")
        self._of_refs[ref] = name
        self._rules[name] = self._said(target, ref[1:], name)
        return name

    def _target(self, ref: str) -> object:
        target = self._schema
        for key in ref.split("/")[1:]:
            key_said = key.replace("~1", "/").replace("~0", "~")
            target = target.get(key_said) if isinstance(target, dict) else None
        return target

    def _resolved(self, schema: object) -> object:
        """Return what a schema that was read refers to, however often; None where that leads round in a circle."""
        seen: set[str] = set()
        while isinstance(schema, dict) and "$ref" in schema:
            if (ref := schema["$ref"]) in seen:
                return None
            seen.add(ref)
            schema = self._target(ref)
        return schema

    def _bounds(self, schema: Schema, path: str, low: str, high: str) -> tuple[int, int | None]:
        least, most = schema.get(low, 0), schema.get(high)
        for keyword, value in ((low, least), (high, 0 if most is None else most)):
            if type(value) is not int or value < 0:
                raise words.wrong_value(keyword, self._at(path, keyword))
            if value > MOST_REPETITIONS:
                raise words.too_many(keyword, self._at(path, keyword), MOST_REPETITIONS)
        if most is not None and most < least:
            raise words.wrong_value(high, self._at(path, high))
        return least, most

    def _only(self, asks: Schema, path: str, *keywords: str) -> None:
        """Refuse what a grammar cannot keep, or not beside the others."""
        if (other := next((key for key in asks if key not in keywords), None)) is not None:
            raise words.not_kept(other, self._at(path, other))


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")

"""A JSON schema becomes a grammar, or is refused with its place; nothing of it is left out silently."""

from __future__ import annotations

import json
from typing import Any

import pytest

from app.core.grammar import Grammar, Place, WrongGrammar
from app.core.grammar_check import gbnf_of


def grammar_of(schema: Any) -> str:
    return gbnf_of(Grammar("json_schema", json.dumps(schema)))


@pytest.mark.parametrize(
    ("text", "place"),
    [("", Place(1, 1)), ('{\n  "a": }', Place(2, 8)), ("{} {}", Place(1, 4)), ("{'a': 1}", Place(1, 2))],
)
def test_what_is_no_json_is_told_with_its_place(text: str, place: Place) -> None:
    with pytest.raises(WrongGrammar) as refused:
        gbnf_of(Grammar("json_schema", text))
    assert refused.value.place == place


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"properties": {"a": {"type": "integer", "minimum": 3}}}, ("/properties/a", "“minimum”")),
        ({"type": "string", "pattern": "^a$"}, ("(/)", "“pattern”")),
        ({"type": "string", "format": "email"}, ("(/)", "“format”")),
        ({"items": {"not": {}}}, ("/items", "“not”")),
        ({"type": "integer", "minLength": 2}, ("“minLength”",)),
        ({"allOf": [{}, {}]}, ("“allOf”",)),
        ({"anyOf": [{}, {"type": "text"}]}, ("/anyOf/1", "“type”")),
        ({"type": []}, ("“type”",)),
        ({"enum": []}, ("“enum”",)),
        ({"type": "integer", "const": "x"}, ("(/)", "“const”", "“type”")),
        ({"items": {"type": ["string", "null"], "enum": [1, True, 2.5]}}, ("(/items)", "“enum”", "“type”")),
        ({"type": "integer", "enum": [True]}, ("“enum”", "“type”")),
        ({"type": "array", "items": False, "minItems": 1}, ("(/)", "“minItems”", "“items”")),
        ({"format": "date"}, ("“format”",)),
        ({"enum": ["x"], "format": "date"}, ("“format”",)),
        ({"oneOf": [{"type": "integer"}, {"type": "number"}]}, ("two of “oneOf”",)),
        ({"oneOf": [{"enum": [1, 2]}, {"const": 2.0}]}, ("two of “oneOf”",)),
        ({"oneOf": [{"enum": ["a"]}, {"type": "string"}]}, ("two of “oneOf”",)),
        ({"oneOf": [{"properties": {"a": {}}}, {"properties": {"b": {}}}]}, ("two of “oneOf”",)),
        ({"properties": {"x" * 101: {}}, "additionalProperties": True}, ("“additionalProperties”",)),
        ({"const": 1, "minimum": 0}, ("“minimum”",)),
        ({"properties": []}, ("“properties”",)),
        ({"properties": {"a/b": 3}}, ("/properties/a~1b", "no schema")),
        ({"required": "a"}, ("“required”",)),
        ({"properties": {}, "required": ["a"]}, ("“a”", "required")),
        ({"type": "array", "maxItems": -1}, ("“maxItems”",)),
        ({"type": "array", "minItems": 3, "maxItems": 2}, ("“maxItems”",)),
        ({"type": "string", "maxLength": 3000}, ("“maxLength”", "2,000")),
        ({"prefixItems": [{}], "minItems": 1}, ("“prefixItems”",)),
        ({"items": [{}]}, ("“items”",)),
        ({"$ref": "https://example.org/x"}, ("another document",)),
        ({"$ref": "#/$defs/a"}, ("“#/$defs/a”", "not there")),
        ({"$ref": "#", "type": "object"}, ("“type”",)),
        ({"$ref": "#"}, ("round in a circle",)),
        (3, ("(/)", "no schema")),
        (False, ("no schema",)),
    ],
)
def test_what_a_grammar_cannot_keep_is_refused_by_its_path_and_name(schema: Any, words: tuple[str, ...]) -> None:
    with pytest.raises(WrongGrammar) as refused:
        grammar_of(schema)
    said = refused.value.sentence.english()
    assert all(word in said for word in words), said


ONE = {"const": "one"}


@pytest.mark.parametrize(
    "ways",
    [
        [{"type": "integer"}, {"type": ["string", "null"]}, {"items": {}}],
        [{"enum": [1, 2]}, {"enum": [3, "1"]}],
        [{"const": True}, {"const": 1}],
        [{"const": "a"}, {"type": "integer"}],
        [
            {"properties": {"kind": ONE}, "required": ["kind"]},
            {"properties": {"kind": {"const": "two"}}, "required": ["kind"]},
        ],
        [
            {"properties": {"a": {}}, "additionalProperties": False},
            {"properties": {"b": {}}, "required": ["b"]},
        ],
        [{"$ref": "#/$defs/one"}, {"type": "integer"}],
    ],
)
def test_one_of_ways_that_no_value_fits_both_of_is_kept(ways: list[Any]) -> None:
    assert grammar_of({"oneOf": ways, "$defs": {"one": ONE}})
    with pytest.raises(WrongGrammar, match="two of “oneOf”"):
        grammar_of({"oneOf": [*ways, ways[-1]], "$defs": {"one": ONE}})


def test_half_characters_and_numbers_without_end_stand_in_no_grammar() -> None:
    assert r'"\"\\ud800\""' in gbnf_of(Grammar("json_schema", r'{"const": "\ud800"}'))
    with pytest.raises(WrongGrammar, match="“const”"):
        gbnf_of(Grammar("json_schema", '{"const": 1e999}'))


PLACED = """{
  "title": "{\\"minimum\\": 1}, [",
  "properties": {
    "a/b~": {"type": "string"},
    "é\\n": {"anyOf": [{"type": "null"}, {
      "type": "integer", %s
    }]}
  },
  "required": ["a/b~"%s]
}"""


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        (PLACED % ('"minimum": 3', ""), Place(6, 26), "(/properties/é\ufffd/anyOf/1): “minimum”"),
        (PLACED % ('"minLength" : 3', ""), Place(6, 26), "“minLength”"),
        (PLACED % ('"title": ""', ', "x"'), Place(9, 24), "(/): “x” is required"),
        (' {"type":"array",\r\n"items" : 3}', Place(2, 11), "(/items): here stands no schema"),
        ('{"a":1,"type":"array",\n"minItems":2,"maxItems":1}', Place(1, 2), "“a”"),
        ('{"type":"array",\n"minItems":2, "maxItems":1}', Place(2, 15), "“maxItems”"),
        ('{"type":"string",\n"type":"text"}', Place(2, 1), "“type”"),
        ('{"$ref": "#/$defs/a~1b", "$defs": {"a/b": {"😀": 1}}}', Place(1, 44), "(/$defs/a~1b): “😀”"),
        ("\n 3", Place(2, 2), "no schema"),
        ('{"title": "NaN",\n "maxItems": NaN}', Place(2, 14), "such as NaN"),
        ('{"a1": -' + "1" * 5000 + "}", Place(1, 8), "a number"),
        ('{"title": "[[", "items":\n' + "[" * 30_000, Place(2, 100), "too deep"),
    ],
)
def test_what_is_wrong_in_a_schema_is_told_with_line_and_column(text: str, place: Place, words: str) -> None:
    with pytest.raises(WrongGrammar) as refused:
        gbnf_of(Grammar("json_schema", text))
    said = refused.value.sentence.english()
    assert (refused.value.place, said.startswith(f"Line {place.line}, column {place.column}")) == (place, True), said
    assert words in said


def test_a_schema_that_never_ends_and_a_number_of_no_json_are_refused_in_words() -> None:
    deep: Any = {}
    for _ in range(120):
        deep = {"items": deep}
    with pytest.raises(WrongGrammar, match="too deep"):
        grammar_of({"items": deep})
    for text in ("[" * 30_000, '{"maxItems": NaN}', '{"maxItems": ' + "1" * 5000 + "}"):
        with pytest.raises(WrongGrammar, match=r"too deep|NaN"):
            gbnf_of(Grammar("json_schema", text))


def test_texts_of_the_schema_stand_in_the_grammar_as_json_writes_them() -> None:
    grammar = grammar_of({"enum": ['a"b\\c\n', "é", None, 1.5]})
    assert grammar.splitlines()[0] == r'root ::= "\"a\\\"b\\\\c\\n\"" | "\"é\"" | "null" | "1.5"'


def test_names_of_properties_that_are_no_names_of_rules_or_names_twice_are_kept_apart() -> None:
    grammar = grammar_of({"properties": {"ä": {"enum": [1]}, "ö": {"enum": [2]}, "space": {"enum": [3]}}})
    names = [line.split(" ::=")[0] for line in grammar.splitlines()]
    assert len(set(names)) == len(names)
    assert {'"1"', '"2"', '"3"'} <= {line.split("::= ")[1] for line in grammar.splitlines()}

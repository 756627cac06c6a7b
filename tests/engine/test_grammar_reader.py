"""Our reader and llama.cpp agree on what a grammar is; what ours refuses alone is explained."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core import gbnf_rule_words, gbnf_words
from app.core.errors import UserError
from app.core.gbnf import check_gbnf
from app.core.grammar import Grammar, Place, WrongGrammar
from app.core.grammar_check import gbnf_of
from app.engine.grammar import GrammarFit
from app.engine.llama_model import LlamaBackend
from tests.engine.grammars import free, native

_PLACE = Place(1, 1)
_NEVER_ASKED = [
    gbnf_rule_words.left_recursion(_PLACE, ""),  # where llama.cpp misses it, it fills the memory
    gbnf_words.wrong_order(_PLACE, 0, 0),  # llama.cpp counts up to 2^64
]
_AS_LLAMA_CPP = [gbnf_rule_words.left_recursion(_PLACE, ""), gbnf_rule_words.endless(_PLACE)]
_STRICTER = [
    gbnf_words.empty_set(_PLACE),  # says nothing in llama.cpp, silently
    gbnf_words.empty_range(_PLACE, ""),  # matches nothing
    gbnf_rule_words.defined_twice(_PLACE, ""),  # the first one is forgotten
    gbnf_words.too_often(_PLACE, 0),  # a larger second number becomes any number
    gbnf_words.too_deep(_PLACE, 0),
    gbnf_words.too_large(_PLACE),
    gbnf_rule_words.undefined(_PLACE, ""),  # in what is repeated 0 times
]
_SYMBOLS = st.sampled_from(
    [
        *(
            '"x"',
            '"yes"',
            '""',
            '"é"',
            '"\\x41"',
            '"\\q"',
            "[a-z]",
            "[^0-9]",
            "[]",
            "[b-a]",
            "[a-]",
            "[-a]",
            "[\\u0041-\\]]",
        ),
        *("root", "a", "b", "c1", ".", "(", ")", "(", ")", "|", "*", "+", "?", "{2}", "{1,3}", "{0,}", "{,2}", "{0}"),
        *(
            "{40}",
            "{0,60}",
            "{2001}",
            "<[5]>",
            "!<[7]>",
            "<[x]>",
            "\n",
            "\r\n",
            "\n  ",
            " ",
            "\t",
            "# c\n",
            "_",
            "::=",
        ),
        *("\n\na ::= ", "\nb ::= ", '("y" | a)', '"z"*', "b?", '("q"?)', "{", "}", '"', "[", "]", "\\", "-", "0"),
    ]
)
_RULE = st.lists(_SYMBOLS, max_size=9).map("".join) | st.lists(_SYMBOLS, max_size=9).map(" ".join)
_GRAMMARS = st.builds(
    lambda root, rules, end: "root ::= " + root + "".join(f"\n{name} ::= {said}" for name, said in rules) + end,
    _RULE,
    st.lists(st.tuples(st.sampled_from(["a", "b", "c1"]), _RULE), max_size=3),
    st.sampled_from(["", "\n", " \r\n"]),
)


def told_as(error: WrongGrammar, kinds: list[WrongGrammar]) -> bool:
    return any(error.sentence.template == kind.sentence.template for kind in kinds)


@given(text=_GRAMMARS)
def test_the_reader_and_llama_cpp_agree(quick_backend: LlamaBackend, text: str) -> None:
    refusal = None
    try:
        check_gbnf(text)
    except WrongGrammar as error:
        refusal = error
    if refusal is not None and (told_as(refusal, _NEVER_ASKED) or may_hang(text)):
        return
    sampler = native(quick_backend, text)
    if sampler is None:
        assert refusal is not None, text
        return
    free(sampler)
    assert refusal is None or told_as(refusal, _STRICTER), (text, str(refusal))


def may_hang(text: str) -> bool:
    """Whether the text has what a reader that stops at the first fault may not have come to."""
    numbers = [(int(low), int(high)) for low, high in re.findall(r"\{\s*(\d+)\s*,\s*(\d+)", text)]
    return any(high < low for low, high in numbers) or "root ::= root" in text


@pytest.mark.parametrize(
    "text",
    ['root ::= root "a" | "b"', 'root ::= ("a" | )*', 'root ::= a\na ::= b root\nb ::= "x" | ', "root ::= .*+"],
)
def test_what_goes_round_for_ever_is_refused_by_both(quick_backend: LlamaBackend, text: str) -> None:
    with pytest.raises(WrongGrammar) as refused:
        check_gbnf(text)
    assert told_as(refused.value, _AS_LLAMA_CPP)
    assert native(quick_backend, text) is None


@pytest.mark.parametrize(
    ("fits", "too_much"),
    [
        ('"a"{2000}', '"a"{2001}'),
        ('"a"{40}{50}', '"a"{41}{50}'),
        ('("a"{0,39} "b"){50}', '("a"{0,40} "b"){50}'),
        ('((("a"))){500}', '(((("a")))){501}'),
        ("(x){500}", "(x y z w){500}"),
    ],
)
def test_both_count_repetitions_to_the_same_end(quick_backend: LlamaBackend, fits: str, too_much: str) -> None:
    rules = '\nx ::= "x"\ny ::= "y"\nz ::= "z"\nw ::= "w"'
    check_gbnf(f"root ::= {fits}{rules}")
    sampler = native(quick_backend, f"root ::= {fits}{rules}")
    assert sampler is not None
    free(sampler)
    with pytest.raises(WrongGrammar, match="repetitions may be up to"):
        check_gbnf(f"root ::= {too_much}{rules}")
    assert native(quick_backend, f"root ::= {too_much}{rules}") is None


def takes(backend: LlamaBackend, grammar: Grammar, text: str) -> bool:
    """Return whether a text is a whole answer of a grammar."""
    try:
        fit = GrammarFit(backend, grammar, backend.vocabulary.tokenize(text, special=False))
    except UserError:
        return False
    ends = backend.vocabulary.eos is not None and fit.allows(backend.vocabulary.eos)
    fit.close()
    return ends


SCHEMAS: list[tuple[Any, list[Any], list[Any]]] = [
    ({"type": "integer"}, [0, -3, 12345], [1.5, "1", None]),
    ({"type": "number"}, [0, -3.25, 1.5e10], ["x", True]),
    ({"type": ["boolean", "null"]}, [True, False, None], [0, "true"]),
    ({"type": "string"}, ["", 'a "b" \\ é 😀 \n', "{"], [1]),
    ({"type": "string", "minLength": 2, "maxLength": 3}, ["ab", "é😀ü"], ["a", "abcd"]),
    (
        {"type": "string", "format": "date"},
        ["2026-12-01", "2024-02-29", "2000-02-29", "0400-02-29", "2026-04-30"],
        ["2026-13-01", "x", "2024-02-30", "2026-02-29", "1900-02-29", "2026-04-31", "2026-01-32", "0000-01-01"],
    ),
    (
        {"type": "string", "format": "date-time"},
        ["2024-02-29T23:59:59Z", "2026-12-01T00:00:00.000+01:00"],
        ["2024-02-31T00:00:00Z", "2026-12-01T24:00:00Z"],
    ),
    ({"format": "uuid", "type": "string"}, ["123e4567-e89b-12d3-a456-426614174000"], ["123e4567"]),
    ({"enum": ['a"\\', 1, None, [1, {"b": 2}]]}, ['a"\\', 1, None, [1, {"b": 2}]], [2, "a"]),
    ({"const": "yes"}, ["yes"], ["no"]),
    ({"anyOf": [{"type": "integer"}, {"const": "x"}]}, [3, "x"], ["y"]),
    ({"oneOf": [{"items": {"type": "integer"}}, {"type": "null"}]}, [[], [1, 2], None], [["a"], 3]),
    ({"allOf": [{"type": "integer"}]}, [3], ["x"]),
    ({"type": "array"}, [[], [1, "a", {"b": []}]], [{}, 1]),
    ({"items": {"type": "integer"}, "minItems": 1, "maxItems": 3}, [[1], [1, 2, 3]], [[], [1, 2, 3, 4]]),
    ({"items": {"type": "integer"}, "minItems": 2}, [[1, 2], [1, 2, 3]], [[1]]),
    ({"items": {}, "maxItems": 0}, [[]], [[1]]),
    ({"prefixItems": [{"type": "integer"}, {"type": "string"}]}, [[1, "a"]], [[1], ["a", 1]]),
    ({"type": "object"}, [{}, {"a": [1, {"b": None}]}], [[], 1]),
    ({}, [{}, [], 1, "x", None, True], []),
    ({"properties": {}}, [{}], [{"a": 1}]),
    (
        {"properties": {"a": {"type": "integer"}, "b c": {"type": "string"}, "d": {}}, "required": ["b c"]},
        [{"b c": "x"}, {"a": 1, "b c": "x"}, {"b c": "", "d": []}, {"a": 1, "b c": "", "d": 0}],
        [{}, {"a": 1}, {"b c": 1}, {"b c": "x", "a": 1}, {"b c": "x", "e": 1}],
    ),
    (
        {"properties": {"a": {"type": "integer"}}, "additionalProperties": {"type": "null"}},
        [{}, {"a": 1}, {"x": None}, {"a": 1, "x": None, "y": None}],
        [{"x": 1}, {"a": None}],
    ),
    (
        {
            "properties": {
                "ab": {"type": "integer"},
                "a]^-": {"type": "integer"},
                "ü": {},
                "": {"const": 1},
                'q"': {},
            },
            "additionalProperties": True,
            "required": ["ab"],
        },
        [
            {"ab": 1},
            {"ab": 1, "": 1, "a": "x", "abc": [], "ac": 1, "a]^": 0, "a]^-x": 0, "üb": 1, "z": {"ab": "x"}},
            {"ab": 1, "x": []},
        ],
        [{"ab": "x"}, {"ab": 1, "": 2}, {"ab": 1, "x": 1, "a]^-": "x"}, {}, {"ab": 1, "y": 1, "ü": 1}],
    ),
    ({"type": "string", "enum": ["a", None, 3]}, ["a"], [None, 3]),
    ({"type": ["integer", "null"], "enum": [1.0, 1.5, None, True]}, [1.0, None], [1.5, True]),
    ({"type": "array", "items": False}, [[]], [[1]]),
    (
        {
            "$ref": "#/$defs/node",
            "$defs": {"node": {"properties": {"v": {"type": "integer"}, "next": {"$ref": "#/$defs/node"}}}},
        },
        [{}, {"v": 1, "next": {"v": 2, "next": {}}}],
        [{"next": 3}],
    ),
    ({"type": "object", "properties": {"self": {"$ref": "#"}}}, [{}, {"self": {"self": {}}}], [{"self": 1}]),
]


@pytest.mark.parametrize(("schema", "fitting", "others"), SCHEMAS)
def test_the_grammar_of_a_schema_takes_what_fits_and_nothing_else(
    starter_backend: LlamaBackend, schema: Any, fitting: list[Any], others: list[Any]
) -> None:
    grammar = Grammar("json_schema", json.dumps(schema))
    check_gbnf(gbnf_of(grammar))
    for value in fitting:
        assert takes(starter_backend, grammar, json.dumps(value, ensure_ascii=False)), value
    if "enum" not in schema and isinstance(fitting[-1], dict | list):  # what is listed stands as it is
        assert takes(starter_backend, grammar, json.dumps(fitting[-1], separators=(",", ":")))
        assert takes(starter_backend, grammar, json.dumps(fitting[-1], indent=1))
    for value in others:
        assert not takes(starter_backend, grammar, json.dumps(value)), value


@pytest.mark.parametrize(
    ("asks", "fitting", "others"),
    [
        (
            {"minLength": 2},
            [r"\ud83d\ude00\u0041", r"a\uD83D\uDE00", r"\u00e9\n"],
            [r"\ud83d\ude00", r"\ud83d\u0041"],
        ),
        ({"maxLength": 1}, [r"\ud83d\ude00", r"\uDBFF\uDFFF", r"\ud7ff", r"\ue000", "😀"], [r"\ud83d\ude00a"]),
        ({}, [r"\ud83d\ude00", "", r"\\ud83d"], [r"\ud83d", r"\ude00\ud83d", r"\ud83dx", r"\ud83d\ud83d", r"\ude00"]),
    ],
)
def test_a_character_that_is_written_as_two_halves_is_one_and_no_half_stands_alone(
    starter_backend: LlamaBackend, asks: Any, fitting: list[str], others: list[str]
) -> None:
    grammar = Grammar("json_schema", json.dumps({"type": "string", **asks}))
    check_gbnf(gbnf_of(grammar))
    for text in fitting:
        assert takes(starter_backend, grammar, f'"{text}"'), text
    for text in others:
        assert not takes(starter_backend, grammar, f'"{text}"'), text


def test_a_property_can_come_neither_twice_nor_under_another_writing_of_its_name(
    starter_backend: LlamaBackend,
) -> None:
    schema = {"properties": {"a": {"type": "integer"}}, "additionalProperties": True}
    grammar = Grammar("json_schema", json.dumps(schema))
    for text in ('{"a":1,"b":"x"}', '{"ä":"x"}'):
        assert takes(starter_backend, grammar, text), text
    for text in ('{"a":1,"a":"x"}', '{"b":1,"a":"x"}', '{"\\u0061":"x"}', '{"a":"x"}'):
        assert not takes(starter_backend, grammar, text), text

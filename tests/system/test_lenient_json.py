"""JSON of which a part is unreadable: that part is left out, whatever it is, and what stands around it is there."""

from __future__ import annotations

import json

import pytest

from app.system.lenient_json import UNREAD, read

BAD_VALUES = [
    "1e999",
    "-1e400",
    "NaN",
    "Infinity",
    "-Infinity",
    "9" * 5000,
    "-" + "9" * 25,
    "01",
    "+1",
    ".5",
    "1.",
    "True",
    "None",
    "word",
    r'"C:\models"',
    r'"\u12"',
]
NESTS = ["[" * 500 + "]" * 500, '[{"a":' * 100_000 + r'"]}\\"' + "}]" * 100_000]


@pytest.mark.parametrize("bad", BAD_VALUES, ids=lambda bad: bad[:12])
def test_an_unreadable_value_costs_itself(bad: str) -> None:
    document = read(f'{{"a": [1, {bad}, 2], "b": {bad}, "c": {{"d": {bad}, "e": "kept"}}, "f": 3}}'.encode())
    found = document.value
    assert isinstance(found, dict)
    assert (found["a"][0], found["a"][2], found["b"], found["c"]["e"], found["f"]) == (1, 2, UNREAD, "kept", 3)
    assert document.mended == ()


@pytest.mark.parametrize("nest", NESTS, ids=lambda nest: nest[:12])
def test_values_in_one_another_without_end_cost_themselves(nest: str) -> None:
    found = read(f'{{"a": [1, {nest}, 2], "b": {nest}, "c": "kept"}}'.encode()).value
    assert isinstance(found, dict)
    assert (found["a"][0], found["a"][2], found["c"]) == (1, 2, "kept")


@pytest.mark.parametrize(
    "value",
    [{}, [], "", None, True, 0, -5, 1.5e-7, 2**63, 'ü 😀 \\ " \n \0', {"": {"a": [[], {}, [1, "x"]]}}, [[[]]]],
)
@pytest.mark.parametrize("indent", [None, 2])
def test_what_is_sound_is_read_as_it_is(value: object, indent: int | None) -> None:
    for ascii_only in (True, False):
        document = read(json.dumps(value, indent=indent, ensure_ascii=ascii_only).encode())
        assert (document.value, document.mended) == (value, ())


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_byte_order_mark_costs_nothing(encoding: str) -> None:
    assert read('{"a": "ü"}'.encode(encoding)) == ({"a": "ü"}, ())


@pytest.mark.parametrize("bad", [b"\xff", b"\\ud800", b"\xed\xa0\x80"])
def test_bytes_that_are_no_text_cost_their_character(bad: bytes) -> None:
    document = read(b'{"a": {"b": "x' + bad + b'y"}, "k' + bad + b'": 1}')
    found = document.value
    assert isinstance(found, dict)
    assert set(found["a"]["b"]) == {"x", "\ufffd", "y"}
    first, second = document.mended
    assert first == "a.b" and second.startswith("k\ufffd")
    json.dumps(found, ensure_ascii=False).encode()


def test_of_what_stands_there_twice_the_last_readable_one_counts_and_is_named() -> None:
    assert read(b'{"a": 1, "b": {"c": 1, "c": 2}, "a": NaN}') == ({"a": 1, "b": {"c": 2}}, ("b.c", "a"))


def test_a_comma_too_many_and_a_tab_in_a_text_cost_nothing() -> None:
    assert read(b'{"a": [1, 2,], "b": "x\ty",}') == ({"a": [1, 2], "b": "x\ty"}, ())


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b'{"a"',
        b'{"a": "',
        b'{"a": 1',
        b'{"a": 1]',
        b'{"a" 1}',
        b"{1: 2}",
        b"{} {}",
        b"[1 2]",
        b"[" * 200_000,
        b"[,]",
    ],
)
def test_what_cannot_be_taken_apart_is_given_up(content: bytes) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        read(content)

from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core import word_difference as module
from app.core.word_difference import word_difference


def told(first: str, second: str) -> list[tuple[str, str, str]]:
    return [
        (span.kind, first[span.first_start : span.first_end], second[span.second_start : span.second_end])
        for span in word_difference(first, second)
    ]


@pytest.mark.parametrize(
    ("first", "second", "wanted"),
    [
        ("", "", []),
        ("", "a b", [("insert", "", "a b")]),
        ("a b", "", [("delete", "a b", "")]),
        ("same words", "same words", [("equal", "same words", "same words")]),
        (
            "The sky is blue today.",
            "The sky is deep red today.",
            [("equal", "The sky is ", "The sky is "), ("replace", "blue ", "deep red "), ("equal", "today.", "today.")],
        ),
        ("I don't know", "I don't", [("equal", "I don't ", "I don't"), ("delete", "know", "")]),
        ("今天天气好", "今天天空好", [("equal", "今天天", "今天天"), ("replace", "气", "空"), ("equal", "好", "好")]),
        ("नमस्ते दुनिया", "नमस्ते प्यारी दुनिया", [("equal", "नमस्ते ", "नमस्ते "), ("insert", "", "प्यारी "), ("equal", "दुनिया", "दुनिया")]),
        ("สวัสดีครับ", "สวัสดีค่ะ", [("equal", "สวัสดี", "สวัสดี"), ("replace", "ครับ", "ค่ะ")]),
        ("one\ntwo", "one two", [("equal", "one", "one "), ("delete", "\n", ""), ("equal", "two", "two")]),
        ("a  b", "a b", [("equal", "a  b", "a b")]),
    ],
)  # fmt: skip
def test_words_are_told_apart_in_any_script(first: str, second: str, wanted: list[tuple[str, str, str]]) -> None:
    assert told(first, second) == wanted


def test_a_lone_word_between_two_other_sentences_is_no_likeness() -> None:
    assert told("a b c the d e f", "q r s the t u v") == [("replace", "a b c the d e f", "q r s the t u v")]


TEXTS = st.text(st.sampled_from("ab c.\n今天 é"), max_size=40)


@given(TEXTS, TEXTS)
def test_the_stretches_cover_both_texts_in_order(first: str, second: str) -> None:
    spans = told(first, second)
    assert "".join(left for _, left, _ in spans) == first
    assert "".join(right for _, _, right in spans) == second
    equal = [(left, right) for kind, left, right in spans if kind == "equal"]
    assert all("".join(left.split()) == "".join(right.split()) for left, right in equal)
    assert all(one[0] != other[0] or one[0] == "equal" for one, other in itertools.pairwise(spans))
    assert all(
        (left == "") == (kind == "insert") and (right == "") == (kind == "delete") for kind, left, right in spans
    )


WORDS = st.lists(st.sampled_from("abcd"), max_size=30)


@given(WORDS, WORDS)
def test_the_words_in_common_are_as_many_as_can_be(one: list[str], other: list[str]) -> None:
    pairs = module._matches(one, other)
    assert all(one[left] == other[right] for left, right in pairs)
    assert pairs == sorted(pairs) and len({left for left, _ in pairs}) == len({right for _, right in pairs}) == len(
        pairs
    )
    lengths = [[0] * (len(other) + 1) for _ in range(len(one) + 1)]
    for left, word in enumerate(one):
        for right, their in enumerate(other):
            best = max(lengths[left][right + 1], lengths[left + 1][right])
            lengths[left + 1][right + 1] = lengths[left][right] + 1 if word == their else best
    assert len(pairs) == lengths[-1][-1]


def test_texts_that_are_too_long_are_told_as_one_replaced_stretch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_WORDS", 3)
    spans = told("x 1 b 2 c 3 y", "x 4 b 5 c 6 y")
    assert [span[0] for span in spans] == ["equal", "replace", "equal"]


def test_the_hardest_texts_need_only_so_many_steps() -> None:
    chance = random.Random(1)
    for words in (1, 2, 40):
        first, second = (" ".join(str(chance.randrange(words)) for _ in range(2000)) for _ in range(2))
        assert "".join(left for _, left, _ in told(first, second)) == first

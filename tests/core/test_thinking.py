from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from app.core.thinking import Segment, ThinkingReader
from app.core.thinking_tags import DEFAULT_PAIRS, TagPair, tags_of

CHANNEL = tags_of("<|channel|>analysis")
PAIRS = (*DEFAULT_PAIRS, TagPair("[THINK]", "[/THINK]"), *CHANNEL)
PIECES = (
    "<think>",
    "</think>",
    "<th",
    "ink>",
    "[THINK]",
    "[/THINK]",
    "<|channel|>analysis<|message|>",
    "<|end|>",
    "<|start|>assistant<|channel|>final<|message|>",
    "\n",
    "\n\n",
    "\r\n",
    " ",
    "    ",
    "\t",
    "`",
    "``",
    "```",
    "```py\n",
    "~~~",
    "- ",
    "1. ",
    "> ",
    "\\",
    "word",
    "ä😀",
    "<",
    "/",
)
TEXTS = st.lists(st.sampled_from(PIECES), max_size=14).map("".join)


def read(text: str, cuts: list[int] | None = None, *, opened: bool = False) -> ThinkingReader:
    reader = ThinkingReader(PAIRS, opened=opened)
    for start, end in pairwise([0, *sorted(cuts or []), len(text)]):
        reader.feed(text[start:end])
    reader.finish()
    return reader


def told(text: str, *, opened: bool = False) -> list[tuple[str, str]]:
    """Return what is thinking and what is answer, tags left out; unclosed thinking is named so."""
    segments = read(text, opened=opened).segments
    kinds = {True: "thinking", False: "unclosed"}
    return [
        (kinds[each.is_closed] if each.kind == "thinking" else each.kind, text[each.text_start : each.text_end])
        for each in segments
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<think>hm</think>Yes", [("thinking", "hm"), ("answer", "Yes")]),
        (" \n<think>hm</think>Yes", [("answer", " \n"), ("thinking", "hm"), ("answer", "Yes")]),
        ("         <think>hm</think>Yes", [("answer", " " * 9), ("thinking", "hm"), ("answer", "Yes")]),
        ("Wait.\n<think>hm</think>", [("answer", "Wait.\n"), ("thinking", "hm")]),
        ("Wait.\n   <think>hm</think>", [("answer", "Wait.\n   "), ("thinking", "hm")]),
        ("[THINK]hm[/THINK]Yes", [("thinking", "hm"), ("answer", "Yes")]),
        ("<think>a</think>\n<think>b</think>", [("thinking", "a"), ("answer", "\n"), ("thinking", "b")]),
        ("<think>a</think><think>b</think>c", [("thinking", "a"), ("thinking", "b"), ("answer", "c")]),
        ("<think>", [("unclosed", "")]),
        ("<think>hm", [("unclosed", "hm")]),
        ("<think>[/THINK]hm</think>", [("thinking", "[/THINK]hm")]),
        ("<think>a<think>b</think>c", [("thinking", "a<think>b"), ("answer", "c")]),
        (
            "<think>one sentence, then </think> the answer",
            [("thinking", "one sentence, then "), ("answer", " the answer")],
        ),
        ("", []),
        ("Yes", [("answer", "Yes")]),
        ("<thi", [("answer", "<thi")]),
        ("<thinking>x</thinking>", [("answer", "<thinking>x</thinking>")]),
    ],
)
def test_thinking_lies_between_its_tags(text: str, expected: list[tuple[str, str]]) -> None:
    assert told(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "The <think> tag opens it, </think> ends it.",
        "`<think>`",
        "See `x\n<think>` there",
        "\\`x\n`<think>`",
        "``a `\n<think>`` b",
        "```\n<think>\nhm\n</think>\n```",
        "Look:\n\n```html\n<think>hm</think>\n```\n",
        "~~~\n<think>\n```\n</think>\n~~~",
        "````\n```\n<think>\n````",
        "- ```\n<think>\n  ```",
        "1. one\n\n       ```\n<think>x\n",
        "> ```\n<think>\n",
        "```\n<think>",
        "``` ```\n\n```\n<think>",
        "~~~ a `b` c\n<think>",
        "Wait.\n    <think>hm</think>",
        "Wait.\n\t<think>hm</think>",
        "- <think>",
        "a</think>b",
        "a </think>\nb",
        "a\n</think> b",
        "\nword\n     <think>x",
        "```\n</think>\n",
        "` x\n</think>\n",
    ],
)
def test_a_literal_tag_is_text(text: str) -> None:
    assert told(text) == [("answer", text)]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("```\ncode\n```\n", "hm</think>Yes"),
        ("```\ncode\n````  \n", "hm</think>Yes"),
        ("`code`\n", "hm</think>Yes"),
        ("a lone ` here\n\n", "hm</think>Yes"),
        ("``` ``` \n", "hm</think>Yes"),
        ("~~gone~~\n", "hm</think>Yes"),
        ("- ```py\n  x\n\n  y\n  ```\n", "hm</think>Yes"),
        ("\\` x\n", "hm</think>Yes"),
        ("1. `\n- 2. ```x``` \n\n", "hm</think>Yes"),
    ],
)
def test_code_that_has_ended_hides_no_tag(before: str, after: str) -> None:
    assert told(f"{before}<think>{after}") == [("answer", before), ("thinking", "hm"), ("answer", "Yes")]


@pytest.mark.parametrize(
    "thought",
    [
        "it ends with `</think>` as a rule.",
        "like `<think>x</think>` or so",
        "so:\n```\n<think>\nx\n</think>\n```\n",
        "so:\n```\n<think>\nx\n</think>\n```\nand\n~~~\n<think>x</think>\n~~~\n",
    ],
)
def test_thinking_about_the_tags_does_not_end_it(thought: str) -> None:
    assert told(f"<think>{thought}</think>Yes") == [("thinking", thought), ("answer", "Yes")]
    assert told(f"{thought}</think>Yes", opened=True) == [("thinking", thought), ("answer", "Yes")]


@pytest.mark.parametrize(
    "thought", ["a ` lone one ", "```\ncode\n", "`code`", "~~~\nhalf", "so `x ", "a\n```\n<think>\n", "a\n```\n`"]
)
def test_code_that_never_closes_does_not_swallow_the_answer(thought: str) -> None:
    end = "</think>\n</think>" if "<think>" in thought else "</think>"
    assert told(f"<think>{thought}{end}Yes")[-1] == ("answer", "Yes")


def test_where_the_prompt_ended_inside_thinking_no_tag_opens_it() -> None:
    assert told("hm</think>Yes", opened=True) == [("thinking", "hm"), ("answer", "Yes")]
    assert told("hm[/THINK]Yes", opened=True) == [("thinking", "hm"), ("answer", "Yes")]
    assert told("hm", opened=True) == [("unclosed", "hm")]
    assert told("hm\n<think>\nYes", opened=True) == [("unclosed", "hm\n<think>\nYes")]


def test_a_model_that_opens_again_what_the_template_opened_says_it_once() -> None:
    text = "\n<think>\nhm</think>Yes"
    assert told(text, opened=True) == [("thinking", "\nhm"), ("answer", "Yes")]
    assert read(text, opened=True).segments[0].start == 0


@pytest.mark.parametrize("end", ["\n\nYes", "\r\nYes", ""])
def test_a_closing_tag_alone_in_its_line_says_that_the_template_had_opened_it(end: str) -> None:
    text = f"I wonder.\n\nOr not.\n</think>{end}"
    assert told(text)[0] == ("thinking", "I wonder.\n\nOr not.\n")
    assert told(text)[1:] == ([("answer", end)] if end else [])
    assert read(text).is_turned


def test_a_closing_tag_alone_says_nothing_after_thinking() -> None:
    text = "<think>a</think>b\n</think>\nc"
    assert told(text) == [("thinking", "a"), ("answer", "b\n</think>\nc")]
    assert not read(text).is_turned
    assert told("a\n</think>\nb\n</think>\nc") == [("thinking", "a\n"), ("answer", "\nb\n</think>\nc")]
    assert told("a</think>b\n</think>\nc", opened=True) == [("thinking", "a"), ("answer", "b\n</think>\nc")]


def test_what_leads_to_the_answer_is_neither_thinking_nor_answer() -> None:
    text = "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>Yes"
    assert told(text) == [("thinking", "hm"), ("mark", ""), ("answer", "Yes")]
    assert told("<|channel|>final<|message|>Yes") == [("mark", ""), ("answer", "Yes")]
    assert told("<|channel|>final<|message|>hm\n</think>\nYes")[0] == ("thinking", "<|channel|>final<|message|>hm\n")
    late = "Yes\n<|channel|>final<|message|>"
    assert told(late) == [("answer", late)]


@given(TEXTS, st.booleans())
@example("x\n</think>", False)
@example("<think></think>", True)
def test_the_stretches_tile_the_text(text: str, opened: bool) -> None:
    reader = read(text, opened=opened)
    at = 0
    for segment in reader.segments:
        assert segment.start == at < segment.end
        assert segment.start <= segment.text_start <= segment.text_end <= segment.end
        at = segment.end
    assert at == len(text) == reader.decided


@given(TEXTS, st.booleans(), st.data())
@example("```` `\n<think>", False, None)
def test_the_stretches_are_the_same_however_the_text_is_cut(
    text: str, opened: bool, data: st.DataObject | None
) -> None:
    places = st.lists(st.integers(0, len(text)), max_size=len(text))
    cuts = data.draw(places) if data is not None else list(range(len(text)))
    whole = read(text, opened=opened)
    cut = read(text, cuts, opened=opened)
    assert cut.segments == whole.segments
    assert cut.is_turned == whole.is_turned
    assert cut.is_thinking == whole.is_thinking


@given(TEXTS, st.booleans())
def test_at_most_a_tag_is_held_back_and_nothing_that_was_told_is_taken_back(text: str, opened: bool) -> None:
    longest = max(len(tag) for pair in PAIRS for tag in (pair.opening, pair.closing))
    reader = ThinkingReader(PAIRS, opened=opened)
    for at, character in enumerate(text, 1):
        before, turned = list(reader.closed), reader.is_turned
        reader.feed(character)
        assert at - longest <= reader.decided <= at
        if reader.is_turned == turned:
            assert list(reader.closed[: len(before)]) == before


def test_half_a_tag_is_not_shown_until_it_is_decided() -> None:
    reader = ThinkingReader()
    shown = []
    for piece in ("Hi\n", "<", "thi", "s", "\n<thi", "nk>"):
        reader.feed(piece)
        shown.append(reader.segments)
    text = "Hi\n<this\n<think>"
    seen = [[(each.kind, text[each.start : each.end]) for each in segments] for segments in shown]
    assert seen[1] == seen[2] == [("answer", "Hi\n")]
    assert seen[3] == [("answer", "Hi\n<this")]
    assert seen[4] == [("answer", "Hi\n<this\n")]
    assert seen[5] == [("answer", "Hi\n<this\n"), ("thinking", "<think>")]
    assert shown[5][1] == Segment("thinking", 9, 16, 16, 16, is_closed=False, tag="<think>")


def test_each_character_is_looked_at_a_few_times_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    passed = 0
    go = ThinkingReader(PAIRS)._place.__class__.go

    def counted(place: object, text: str) -> None:
        nonlocal passed
        passed += len(text)
        go(place, text)  # type: ignore[arg-type]  # whatever came in

    monkeypatch.setattr("app.core.markdown_place.MarkdownPlace.go", counted)
    text = ("`<think>` <thi </think> ``` " * 40 + "\n<|start|>assistant<|chan\n") * 40
    reader = read(text, list(range(0, len(text), 3)))
    assert len(text) - 100 < passed <= len(text)
    assert reader.segments == (Segment("answer", 0, len(text), 0, len(text)),)


def test_a_pair_whose_tag_begins_another_one_is_left_out() -> None:
    reader = ThinkingReader((TagPair("<a>", "</a>"), TagPair("<a>b", "</b>"), TagPair("x", "x"), TagPair("", "y")))
    reader.feed("<a>bx</b>y</a>")
    assert [each.kind for each in reader.segments] == ["thinking"]
    assert reader.segments[0].is_closed

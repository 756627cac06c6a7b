"""A long document that has everything, seen after each of its characters."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.gui.markdown.document import Document
from app.gui.markdown.values import Block, Code, Formula, Paragraph, Run, Table
from tests.examples import examples
from tests.gui.test_markdown_document import streamed

MIXED = (Path(__file__).parent / "mixed.md").read_text(encoding="utf-8")
TAGS = re.compile(r"</?[a-z]+(?: [^<>\n]*)?/?>|<!-- [^<>]* -->")
TARGET = re.compile(r"(?:https?://|mailto:).+")
FRAGMENTS = (
    *("a", "foo bar", "\n", "\n\n", "- ", "* ", "1. ", "> ", "    ", "  ", "   ", "```", "~~~", "`", "**", "*", "_", "# "),
    *("---", "===", "|", "| a | b |\n", "|---|---|\n", "\t", "\r", "<b>", "&lt;", "&", ";", "\\", "\\\\", "日本", "\0", ":"),
    *("$", "$$", "$$\n", "\n$$\n", "\\(", "\\)", "\\[", "\\]", "\\[\n", "\n\\]\n", "$x$", "$x_1$", "$5", "x^2", "\\$", "$`a`$"),
    *("[^1]", "[^n]", "[^1]: ", "[^2]:\n", "[^", "]", "- [ ] ", "- [x] ", "[ ]", "```math\n", "www.a.org", "me@a.org"),
    *("[x](http://a.b)", "![i](https://c.d)", "[![i](https://c.d)](https://e.f)", "1"),
)  # fmt: skip
MARKDOWN = st.lists(st.sampled_from(FRAGMENTS), min_size=1, max_size=25).map("".join)


def runs(block: Block) -> list[Run]:
    if isinstance(block, Paragraph):
        return list(block.runs)
    return [run for row in block.rows for cell in row for run in cell] if isinstance(block, Table) else []


def test_what_is_closed_is_that_of_the_finished_document_from_then_on() -> None:
    finished = Document(MIXED).blocks
    document, closed = Document(), 0
    for character in MIXED:
        first = document.append(character)
        assert first >= closed
        assert document.blocks[closed : document.closed] == finished[closed : document.closed]
        closed = document.closed
    document.finish()
    assert document.blocks == finished
    assert closed > 60


def test_no_prefix_shows_a_tag_as_anything_but_text() -> None:
    document = Document()
    arrived = ""
    seen: Counter[str] = Counter()
    for character in MIXED:
        arrived += character
        first = document.append(character)
        for run in (run for block in document.blocks[first:] for run in runs(block)):
            assert not run.target or TARGET.fullmatch(run.target)
            assert not run.formula or "<" not in run.formula
        if character == ">":
            there = Counter(TAGS.findall(arrived))
            shown = Counter(TAGS.findall("\n".join(block.text for block in document.blocks)))
            assert not there - shown
            seen |= there
    assert {"<b>", "<script>", "<br/>", "<!-- a comment -->", '<div class="x">', "</td>"} <= set(seen)


def test_each_prefix_that_is_finished_is_the_document_of_that_prefix() -> None:
    for end in range(0, len(MIXED), 149):
        assert streamed(MIXED[:end], list(range(0, end, 23))).blocks == Document(MIXED[:end]).blocks


@pytest.mark.parametrize("size", [1, 3, 8, 40, 333, 2000])
def test_a_mixed_document_in_pieces_is_that_of_the_whole(size: int) -> None:
    assert streamed(MIXED, list(range(0, len(MIXED), size))).blocks == Document(MIXED).blocks


@examples(40)
@given(cuts=st.lists(st.integers(0, len(MIXED)), max_size=60))
def test_a_mixed_document_cut_anywhere_is_that_of_the_whole(cuts: list[int]) -> None:
    assert streamed(MIXED, cuts).blocks == Document(MIXED).blocks


@examples(300)
@given(text=MARKDOWN, size=st.integers(1, 9))
def test_fragments_in_any_order_become_the_blocks_of_the_whole(text: str, size: int) -> None:
    document = Document()
    closed: list[Block] = []
    for start in range(0, len(text), size):
        document.append(text[start : start + size])
        assert document.blocks[: len(closed)] == closed
        closed = document.blocks[: document.closed]
    document.finish()
    assert document.blocks == Document(text).blocks
    assert document.blocks[: len(closed)] == closed


def test_the_mixed_document_has_everything() -> None:
    blocks = Document(MIXED).blocks
    assert len(MIXED) > 6000
    kinds = {type(block) for block in blocks}
    assert {Paragraph, Code, Table, Formula} < kinds
    found = [run for block in blocks for run in runs(block)]
    for style in ("bold", "italic", "struck", "code", "target", "raised", "formula"):
        assert any(getattr(run, style) for run in found)
    assert {"☐", "☑", "1.", "•", "◦"} <= {mark for block in blocks for mark in block.place.marker.split(" ")}

"""Which lines of a text its blocks were read from."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.gui.markdown.document import Document
from app.gui.markdown.sources import Sources
from tests.examples import examples

LINES = (
    "# Head", "words **bold**", "more words", "", "", "- one", "  - two", "1. first", "   more", "> quoted", ">",
    "> - a", "```python", "```", "x = 1", "| a | b |", "|---|---|", "| 1 | 2 |", "---", "===", "    indented",
    "* * *", "- [ ] task", "$$", "~~~", "text | a |", "[^1]: note", "words[^1]",
)  # fmt: skip


def read(source: str, *, is_whole: bool = True) -> Sources:
    made = Sources(source, is_whole=is_whole)
    while made.read_on():
        pass
    return made


@given(st.lists(st.sampled_from(LINES), max_size=14), st.sampled_from(["\n", "\r\n", "\r"]))
@examples(400)
def test_blocks_are_those_of_the_document_and_their_lines_make_up_the_text(lines: list[str], end: str) -> None:
    source = end.join(lines)
    sources = read(source)
    assert sources.blocks == Document(source).blocks
    if not sources.blocks:
        return
    last = len(sources.blocks) - 1
    whole = sources.source_of(0, last)
    assert whole in source
    places = []
    for index in range(last + 1):
        part = sources.source_of(index, index)
        assert part in source
        if sources.alike(index) == range(index, index + 1):
            places.append(part)
    assert all(part in whole for part in places)


@pytest.mark.parametrize(
    "block",
    [
        "# Head", "Setext\n===", "words **bold**\nand more", "```python\nx = 1\n\n- no block\n# none\n```", "    code\n\n    more",
        "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | `4` |", "> quoted\n> lines", "- item", "12. item", "---", "~~~\nopen",
    ],
)  # fmt: skip
def test_each_kind_of_block_has_its_lines_wherever_it_stands(block: str) -> None:
    for before in ("", "A paragraph.\n\n", "# Head\n\n", "```\ncode\n```\n\n", "| x |\n|---|\n| y |\n\n"):
        for behind in ("", "\n\nA paragraph behind."):
            if behind and block.endswith("open"):
                continue
            sources = read(before + block + behind)
            index = len(read(before).blocks)
            last = len(sources.blocks) - 1 - bool(behind)
            assert sources.source_of(index, last) == block


def test_a_table_right_under_a_paragraph_begins_with_its_head() -> None:
    sources = read("words\n| a | b |\n|---|---|\n| 1 | 2 |\n")
    assert [sources.source_of(n, n) for n in (0, 1)] == ["words", "| a | b |\n|---|---|\n| 1 | 2 |"]


def test_a_paragraph_that_is_read_into_several_blocks_has_its_line_once() -> None:
    line = "word " * 2500
    sources = read(f"# Head\n\n{line}")
    assert len(sources.blocks) > 2
    assert sources.alike(1) == range(1, len(sources.blocks))
    assert sources.source_of(1, len(sources.blocks) - 1) == line


@pytest.mark.parametrize("behind", ["", "\n\nEnd", "\n>"])
def test_what_looked_like_a_formula_for_a_while_has_all_of_its_lines(behind: str) -> None:
    text = "$$\n# Head\n- item"
    sources = read(f"words\n\n{text}{behind}")
    assert [block.text for block in sources.blocks][1:4] == ["$$", "Head", "• item"]
    assert {sources.alike(index) for index in (1, 2, 3)} == {range(1, 4)}
    assert sources.source_of(1, 3) == text


def test_code_of_many_lines_is_not_joined_for_each_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    appended: list[str] = []
    append = Document.append

    def note(document: Document, text: str) -> int:
        appended.append(text)
        return append(document, text)

    monkeypatch.setattr(Document, "append", note)
    source = "a\n\n```\n" + "x = 1\n" * 5000 + "```\nb\n"
    assert [block.text[:1] for block in read(source).blocks] == ["a", "x", "b"]
    assert len(appended) < 10

"""Items of lists, quotes and other blocks that are far too long: cut while they grow, and read on where they stand."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from app.gui.markdown import block_rules, cuts, latex, long_parts
from app.gui.markdown import document as document_module
from app.gui.markdown.document import Document
from app.gui.markdown.reader import Part, read
from app.gui.markdown.values import Block, Code, Paragraph, Table
from tests.examples import examples
from tests.gui.test_markdown_document import streamed

SIZE = 30_000
LONG = {
    "a line of an item": "- " + "some **bold** words ",
    "lines of an item": "- start\n" + "  some **bold** words\n",
    "paragraphs of an item": "- start\n\n" + "  some words\n\n",
    "a numbered item": "7. start\n" + "   some words and more\n",
    "an item of an item": "- a\n  - b\n" + "    some words\n",
    "items of an item": "- a\n" + "  - some words\n",
    "a line of a quote": "> " + "some words ",
    "lines of a quote": "> start\n" + "> some words\n",
    "items of a quote": "> start\n" + "> - some words\n",
    "code of a quote": "> ```py\n" + "> x = 1  # words\n",
    "code of an item": "- ```py\n" + "  x = 1  # words\n",
    "rows of an item": "- | a | b |\n  |---|---|\n" + "  | x | some words |\n",
    "rows of a quote": "> | a | b |\n> |---|---|\n" + "> | x | some words |\n",
    "a footnote": "[^1]: start\n" + "    some words\n",
    "a heading": "# " + "some words ",
    "indented lines": "    start\n" + "    some words\n",
    "a cell": "| a |\n|---|\n| " + "some words ",
    "a row": "| a |\n|---|\n" + "| x ",
    "quotes in quotes": "> > > start\n" + "> > > some words\n",
    "a formula that never ends": "$$\nstart\n" + "some words\n",
    "a formula in quotes that never ends": "> > $$\n" + "> > some words\n",
    "quotes too deep": "> " * 100 + "some words\n",
    "items too deep": "",
}
LINES = {name: text.partition("\n")[2] or text[text.rfind("some") :] for name, text in LONG.items()}
PIECES = (
    *("a", "foo bar", "\n", "\n\n", "- ", "1. ", "> ", "    ", "  ", "\n  ", "\n    ", "\n> ", "\n>\n> ", "\n- ", "\n  - "),
    *("```", "\n```\n", "\n  ```\n  ", "`", "**", "*", "# ", "---", "|", "| a | b |\n", "|---|---|\n", "\t", "<b>", "\\"),
    *("$", "$$\n", "[^1]", "- [ ] ", "some words here ", "word "),
)  # fmt: skip
BEGINNINGS = ("", "- ", "> ", "1. ", "> - ", "- > ", "- - ", "- ```\n  ", "> ```\n> ", "[^1]: ", "> # ", "- [ ] ")


def long_text(kind: str, size: int = SIZE) -> str:
    if kind == "items too deep":
        return "".join(f"{'  ' * depth}- some words\n" for depth in range(240))
    head, line = LONG[kind], LINES[kind]
    if kind == "a row":
        line = "| x "
    return head + line * ((size - len(head)) // len(line))


@pytest.mark.parametrize("kind", LONG)
def test_only_the_end_of_what_is_long_is_read_again(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    work = [0]

    def note(source: str, *rest: object, **named: object) -> list[Part]:
        work[-1] += len(source)
        return read(source, *rest, **named)  # type: ignore[arg-type]  # what was given is handed on

    monkeypatch.setattr(document_module, "read", note)
    text = long_text(kind)
    step = 200
    document = Document()
    for start in range(0, len(text), step):
        work.append(0)
        document.append(text[start : start + step])
    assert max(work) <= 5 * long_parts.WINDOW
    assert sum(work[-50:]) <= 50 * 3 * long_parts.WINDOW
    document.finish()
    assert document.blocks == Document(text).blocks


@pytest.mark.parametrize("kind", [kind for kind in LONG if "deep" not in kind])
def test_what_is_cut_stays_what_it_is_and_loses_no_word(kind: str) -> None:
    text = long_text(kind)
    blocks = Document(text).blocks
    assert sum(block.text.count("words") for block in blocks) == text.count("words")
    frames = {block.place.frames for block in blocks[1:]}
    assert len(frames) <= 1
    kinds = {type(block) for block in blocks}
    assert kinds <= {Paragraph, Code} if "code" in kind or "indented" in kind else kinds <= {Paragraph, Table}
    marks = len(re.findall(r"^[ >]*(?:- |\d+\. |\[\^1\]: )", text, re.MULTILINE))
    assert sum(bool(block.place.marker) for block in blocks) == marks


def test_the_numbers_of_a_list_go_on_behind_a_cut_inside_of_an_item() -> None:
    inner = "   some words of it\n" * 700
    text = f"1. first\n2. second\n{inner}3. third\n4. fourth\n"
    marks = [block.place.marker for block in Document(text).blocks if block.place.marker]
    assert marks == ["1.", "2.", "3.", "4."]
    nested = "1. first\n" + "".join(f"   {n}. some words here\n" for n in range(1, 700)) + "2. second\n"
    marks = [block.place.marker for block in Document(nested).blocks]
    assert marks == ["1.", *(f"{n}." for n in range(1, 700)), "2."]


def test_a_formula_is_decided_before_the_block_that_it_begins_is_cut() -> None:
    assert latex.MOST_CHARACTERS + long_parts.LONG_LINE <= long_parts.WINDOW


def test_very_many_blank_lines_are_no_blocks() -> None:
    text = "word" + "\n" * 20_000 + "end"
    assert [(block.text, block.place.gap) for block in Document(text).blocks] == [("word", ""), ("end", "\n\n")]
    assert streamed(text, list(range(0, len(text), 400))).blocks == Document(text).blocks
    blank = Document("\n" * 1000)
    assert (blank.blocks, blank.open_length) == ([], 0)


def test_a_paragraph_before_a_list_too_deep_stays_what_it_is() -> None:
    text = "Some words\n\n" + "".join(f"{'  ' * depth}- {depth} deep\n" for depth in range(120))
    blocks = Document(text).blocks
    shown = "".join(block.text for block in blocks)
    assert all(f"{depth} deep" in shown for depth in range(120))
    assert (blocks[0].text, blocks[1].place.gap) == ("Some words", "\n\n")
    assert streamed(text, list(range(0, len(text), 30))).blocks == blocks


def test_a_paragraph_behind_a_long_quote_is_outside_of_it() -> None:
    text = "> some words\n" * 1500 + "\nEnd\n"
    *quote, end = Document(text).blocks
    assert {block.place.frames for block in quote} == {("quote",)}
    assert (end.text, end.place.frames, end.place.gap) == ("End", (), "\n\n")


@examples(120)
@example(
    begin="$$\n", pieces=["$$\n", "===# \n>\n> \\[<b>\n>\n> * |\n", "word \n>\n" * 30, "  > - [ ] word\n"], size=1
)
@example(begin="# \n", pieces=["  $$[^1]_*\n  > | a | b |\n", "> $some words here " * 13, "> \n> [^1]: ==="], size=1)
@example(begin="| a |\n", pieces=["\\[*\n> 1. |---|\n", "  > a*[^n]\n> ---some words " * 10, ">\n> ==="], size=1)
@given(
    begin=st.sampled_from(BEGINNINGS),
    pieces=st.lists(st.sampled_from(PIECES), min_size=30, max_size=120),
    size=st.integers(1, 40),
)
def test_however_what_is_cut_arrived_its_blocks_are_those_of_the_whole(
    begin: str, pieces: list[str], size: int
) -> None:
    text = begin + "".join(pieces)
    with pytest.MonkeyPatch.context() as patch:
        for module in (block_rules, latex):
            patch.setattr(module, "MOST_CHARACTERS", 120)
        patch.setattr(long_parts, "WINDOW", 240)
        patch.setattr(long_parts, "LONG_LINE", 80)
        patch.setattr(cuts, "MOST_CHARACTERS", 160)
        document, closed = Document(), list[Block]()
        for start in range(0, len(text), size):
            document.append(text[start : start + size])
            assert document.blocks[: len(closed)] == closed
            closed = document.blocks[: document.closed]
        document.finish()
        whole = Document(text).blocks
    assert document.blocks == whole
    shown = "".join(block.text + (block.language if isinstance(block, Code) else "") for block in whole)
    assert shown.count("w") >= text.count("w")
    assert streamed(text, []).source == text


@pytest.mark.parametrize("step", [7, 50, 100_000])
def test_no_part_of_a_long_paragraph_is_a_word_or_two(step: int) -> None:
    text = "one very old and one very old being, and the end of it all. " * 120
    document = Document()
    for start in range(0, len(text), step):
        document.append(text[start : start + step])
    document.finish()
    parts = [block.text for block in document.blocks]
    assert "".join(parts) == text.rstrip()
    assert len(parts) == 2 and min(map(len, parts)) > 3000

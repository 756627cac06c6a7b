"""How much reading Markdown costs, counted in work and never in time."""

from __future__ import annotations

import gc

import pytest
from PySide6.QtGui import QTextCharFormat

from app.gui.chat import rich_text
from app.gui.chat.answer_text import AnswerText
from app.gui.markdown import document as document_module
from app.gui.markdown import inline, parser
from app.gui.markdown.colouring import Lexers
from app.gui.markdown.cuts import MOST_MARKS as MOST_MARKS_OF_A_PARAGRAPH
from app.gui.markdown.document import Document, readable
from app.gui.markdown.inline import MOST_MARKS, pieces, runs_of
from app.gui.markdown.latex import NONE, OPEN, formula_end
from app.gui.markdown.links import bare_links
from app.gui.markdown.reader import Part, read
from app.gui.markdown.values import Paragraph, text_of

SIZE = 100_000
DENSE = {
    "stars": "*",
    "both marks": "_*",
    "brackets": "[",
    "pictures": "![",
    "links that stay open": "[a](",
    "ticks": "`",
    "ticks and words": "a` ",
    "tick runs": "`a``b```c",
    "bold words": "**bold** ",
    "rule of three": "*x**y ",
    "struck": "~~a ",
    "angles": "<",
    "backslashes": "\\",
    "all of them": "*_~~a",
    "dollars": "$",
    "prices": "$5 ",
    "dollars and letters": "$x",
    "open brackets of formulas": "\\(",
    "notes that stay open": "[^",
    "ampersands": "&",
}
NESTED = {"quotes": "> " * 5000 + "x", "bullets": "- " * 5000 + "x", "numbers": "1. " * 5000 + "x"}
UNENDING = {
    "stars": "*a b ",
    "bold": "**bold** and more ",
    "quoted lines": "> a quoted line\n",
    "lazy lines": "> a\nb\n",
    "quoted bullets": "> - a\n",
    "lines with bars": "a | b\n",
    "formulas": "$a_1$ and more ",
    "formulas alone": "$$a_1$$ ",
    "formulas without spaces": "x\\(a\\)",
    "prices": "costs $5 and more ",
    "lines with formulas": "so $a$\n",
    "dollars": "$",
    "blocks that stay open": "$$ a\n",
}

STYLED = {
    "words": "*a* _b_ `c` ",
    "no spaces": "*a*`c`",
    "lines": "*a* _b_ `c` *a* _b_ `c`\n",
    "quoted lines": "> a *a* _b_ `c` *a* _b_ `c`\n",
    "long words": "**two words** and `more code of it` then ~~gone away~~ ",
    "other letters": "**\u7c97\u4f53**\u6587\u5b57`\u7801`\u3002",
    "open stars": "*x `y` ",
}


@pytest.fixture(autouse=True)
def _nothing_known() -> None:
    inline._known.cache_clear()


@pytest.mark.parametrize("kind", DENSE)
def test_a_text_full_of_marks_is_read_in_pieces_that_hold_few(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = DENSE[kind] * (SIZE // len(DENSE[kind]))
    read_pieces: list[str] = []

    def note(piece: str) -> list[object]:
        read_pieces.append(piece)
        return parser.parse_inline(piece)  # type: ignore[return-value]  # tokens

    monkeypatch.setattr(inline, "parse_inline", note)
    runs_of(text)
    marks = [sum(piece.count(mark) for mark in parser.MARKS) for piece in read_pieces]
    # Between two marks of the last few a piece may go on to a space, or to the end of a run of one mark.
    assert max(marks) <= 2 * MOST_MARKS or any(set(piece) == {piece[0]} for piece in read_pieces)
    assert sum(len(piece) for piece in read_pieces) <= len(text)


@pytest.mark.parametrize("kind", DENSE)
def test_a_text_full_of_marks_loses_nothing_but_its_marks(kind: str) -> None:
    text = f"first {DENSE[kind] * 3000} last"
    shown = "".join(block.text for block in Document(text).blocks)
    letters = [each for each in text if each.isalnum()]
    assert [each for each in shown if each.isalnum()] == letters
    assert "".join(text[start:end] for start, end in pieces(text)) == text


@pytest.mark.parametrize("kind", NESTED)
def test_what_is_nested_thousands_deep_is_one_piece_of_text(kind: str) -> None:
    parts = read(NESTED[kind], blank_before=False, number=None)
    assert sum(len(part.blocks) for part in parts) < 20
    assert "x" in parts[-1].blocks[-1].text


@pytest.mark.parametrize("kind", UNENDING)
def test_what_never_ends_is_closed_all_the_same_and_not_read_again(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lengths: list[int] = []

    def note(source: str, *rest: object, **named: object) -> list[Part]:
        lengths.append(len(source))
        return read(source, *rest, **named)  # type: ignore[arg-type]  # what was given is handed on

    monkeypatch.setattr(document_module, "read", note)
    text = UNENDING[kind] * (20_000 // len(UNENDING[kind]))
    document = Document()
    for start in range(0, len(text), 500):
        document.append(text[start : start + 500])
    document.finish()
    # The first line of stars begins like a list for all that is known, so it is the one that stays open.
    assert max(lengths) < 10_000
    assert document.blocks == Document(text).blocks


@pytest.mark.parametrize("kind", STYLED)
def test_a_paragraph_full_of_styles_is_laid_out_in_parts_that_hold_few(kind: str) -> None:
    text = STYLED[kind] * (9000 // len(STYLED[kind]))
    document, most = Document(), 0
    for start in range(0, len(text), 12):
        document.append(text[start : start + 12])
        last = document.blocks[-1]
        most = max(most, len(last.runs) if isinstance(last, Paragraph) else 0)
    document.finish()
    assert most <= MOST_MARKS_OF_A_PARAGRAPH + 200
    assert document.blocks == Document(text).blocks
    if kind != "open stars":
        assert not {"*", "_", "`", "~"} & set("".join(block.text for block in document.blocks))


@pytest.mark.parametrize("begin", ["> ", "- "])
def test_one_line_full_of_styles_in_a_quote_or_a_list_is_laid_out_in_parts_too(begin: str) -> None:
    blocks = Document(begin + STYLED["words"] * 800).blocks
    runs = [len(block.runs) for block in blocks if isinstance(block, Paragraph)]
    assert len(runs) == len(blocks) and max(runs) <= MOST_MARKS_OF_A_PARAGRAPH + 1
    assert "".join(block.text for block in blocks).split() == ["•"] * (begin == "- ") + ["a", "b", "c"] * 800


def test_a_few_dozen_marks_tear_no_paragraph() -> None:
    assert len(Document("Some **bold words**, `code` and *more* of a text. " * 40).blocks) == 1


@pytest.mark.usefixtures("qapp")
def test_each_style_is_made_once_however_often_a_text_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    rich_text._style.cache_clear()
    styles: list[QTextCharFormat] = []

    def note() -> QTextCharFormat:
        styles.append(QTextCharFormat())
        return styles[-1]

    monkeypatch.setattr(rich_text, "QTextCharFormat", note)
    answer = AnswerText(Lexers(), 23)
    answer.set_text("", is_open=True)
    for _ in range(60):
        answer.append("*a* _b_ `c` **d** [link](https://example.org) ")
        answer.lay_out(600)
        answer.reach(0, 1000)
    assert len(styles) == 4


def test_emphasis_in_a_long_paragraph_ends_where_a_piece_does_and_not_within_words() -> None:
    text = "a < b " + "".join(f"**two words {number}** `and code` **b c** ~~gone away~~ " for number in range(400))
    runs = runs_of(text)
    assert [run.text for run in runs if run.bold][::2] == [f"two words {number}" for number in range(400)]
    assert {run.text for run in runs if run.struck} == {"gone away"}
    assert not {"*", "~", "`"} & set(text_of(runs))


def test_no_formula_and_no_number_of_a_footnote_is_torn_where_a_paragraph_is_cut() -> None:
    for begin in ("", "- ", "> ", "**so** "):
        formula = f"${' + '.join(['a_{1} * b'] * 30)}$"
        text = begin + f"some words and {formula} or a note[^name] " * 200
        blocks = Document(text).blocks
        assert len(blocks) > 5
        found = [run for block in blocks if isinstance(block, Paragraph) for run in block.runs]
        assert {run.text for run in found if run.formula} == {formula}
        assert {run.text for run in found if run.raised} == {"1"}
        assert sum(bool(run.formula) for run in found) == sum(run.raised for run in found) == 200


def test_a_formula_is_looked_for_no_further_than_the_longest_goes() -> None:
    assert formula_end("$" + "x" * 3000 + "$", 0) == 3002
    assert formula_end("$" + "x" * 5000 + "$", 0) == NONE
    assert formula_end("$" + "x" * 3000, 0) == OPEN
    assert Document("$$\n" + "x\n" * 2500 + "$$").blocks[0].text.startswith("$$\nx")


def test_an_address_with_thousands_of_brackets_behind_it_ends_before_them() -> None:
    assert bare_links("see http://a.b/c_(d)" + ")" * 20_000) == [(4, 20)]


def test_a_whole_text_is_given_block_by_block_as_it_is_read_at_once() -> None:
    text = "".join(f"# {number}\n\nSome **words**.\n\n```\ncode\n```\n" for number in range(200))
    assert list(readable(text)) == Document(text).blocks
    assert list(readable("short **text**")) == Document("short **text**").blocks


@pytest.mark.usefixtures("qapp")
def test_the_search_for_circles_leaves_a_long_answer_out() -> None:
    answer = AnswerText(Lexers(), 23)
    answer.set_text("- item\n\nWords **and** words.\n\n```\ncode\n```\n\n| a |\n|---|\n| b |\n" * 200, is_open=False)
    answer.lay_out(600)
    while answer.is_unread:
        answer.lay_out(600)
    gc.collect()
    far = answer._laid[-200:]
    assert len(far) == 200
    assert not any(gc.is_tracked(part) for laid in far for part in (laid, laid.value, laid.value.place, laid.leaf))

"""What is shown of marks whose other half has not arrived: their source, and then what they are, once."""

from __future__ import annotations

import pytest

from app.gui.markdown.document import Document
from app.gui.markdown.values import Block, Code, Formula, Paragraph, Run, Table


def steps(text: str) -> list[list[Block]]:
    """Return what is shown after each character."""
    document, shown = Document(), []
    for character in text:
        document.append(character)
        shown.append(list(document.blocks))
    return shown


def the_runs(blocks: list[Block]) -> list[Run]:
    return [run for block in blocks if isinstance(block, Paragraph) for run in block.runs]


@pytest.mark.parametrize(
    ("begin", "before", "formula"),
    [
        ("Say ", "Say ", "$x_1 * y_1 * z_2 _a_$"),
        ("Say ", "Say ", "$\\frac{a}{b} **c** d$"),
        ("", "", "$$a_1 *b* _c_$$"),
        ("Say **bold** and ", "Say bold and ", "\\(a_b *c* `d \\)"),
        ("Say ", "Say ", "\\[ a <b> *c* d_e_f \\]"),
        ("- item ", "item ", "$\\text{if and only if *x* so}$"),
        ("| a |\n|---|\n| ", "", "$x_1 *y* z$"),
    ],
)
def test_a_formula_in_a_line_is_its_source_until_it_is_closed(begin: str, before: str, formula: str) -> None:
    was_formula = False
    for blocks in steps(f"{begin}{formula} behind it")[len(begin) :]:
        last = blocks[-1] if blocks else None
        found = list(last.rows[-1][0]) if isinstance(last, Table) else the_runs(blocks[-1:])
        is_formula = any(run.formula for run in found)
        assert is_formula or not was_formula
        was_formula = is_formula
        assert not any(run.italic or run.code or run.target or (run.bold and run.text != "bold") for run in found)
        assert is_formula or f"{before}{formula} behind it".startswith("".join(run.text for run in found))
    assert was_formula


@pytest.mark.parametrize(
    "formula",
    [
        "$$\nx_1 * y * z\n- 1\n= 2\n# 3\n| 4 | 5 |\n> 6\n    7\n1. *8*\n$$",
        "\\[\n\\begin{aligned}\na &= b \\\\[2pt]\n* c\n---\n\\end{aligned}\n\\]",
        "$$ one_line *a* $$",
    ],
)
@pytest.mark.parametrize("begin", ["", "Before\n", "- item\n  "])
def test_a_formula_with_lines_of_its_own_is_one_paragraph_of_source_until_it_is_closed(
    begin: str, formula: str
) -> None:
    lead = 1 if begin else 0
    source = formula.replace("\n", "\n  ") if begin.startswith("-") else formula
    for blocks in steps(f"{begin}{source}")[len(begin) :]:
        assert len(blocks) <= lead + 1
        for block in blocks[lead:]:
            assert isinstance(block, Paragraph)
            assert block.runs == (Run(block.runs[0].text),)
            assert formula.startswith(block.runs[0].text)
    document = Document()
    document.append(f"{begin}{source}\n")
    assert isinstance(document.blocks[-1], Formula)
    document.append("text")
    assert isinstance(document.blocks[lead], Formula)


def test_a_formula_that_is_never_closed_is_ordinary_markdown_behind_an_empty_line() -> None:
    document = Document()
    document.append("$$\nx **y**\n- z")
    assert [block.text for block in document.blocks] == ["$$\nx **y**\n- z"]
    document.append("\n\nEnd")
    assert [block.text for block in document.blocks] == ["$$\nx y", "• z", "End"]


def test_a_fence_of_mathematics_is_code_until_it_is_closed() -> None:
    kinds = [type(blocks[-1]) for blocks in steps("```math\nx\n```\nend") if blocks]
    changes = [kind for index, kind in enumerate(kinds) if not index or kind is not kinds[index - 1]]
    assert changes == [Code, Formula, Paragraph]
    assert type(Document("```math\nx").blocks[0]) is Code
    assert type(Document("```math\n \n```").blocks[0]) is Code
    assert type(Document("```latex\nx\n```").blocks[0]) is Code


def test_a_price_holds_no_emphasis_back() -> None:
    for text in ("It costs $5 and **bold text", "Set $HOME and then **bold text", "From $1.50, **bold text"):
        document = Document()
        document.append(text)
        assert [run.text for run in the_runs(document.blocks) if run.bold] == ["bold text"]


def test_emphasis_around_a_half_written_formula_is_shown() -> None:
    document = Document()
    document.append("So **bold $x_1")
    assert [(run.text, run.bold) for run in the_runs(document.blocks)] == [("So ", False), ("bold $x_1", True)]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("- [", ""),
        ("- [ ]", ""),
        ("- [ ] ", ""),
        ("- [x] t", "☑ t"),
        ("Text[^no", "Text"),
        ("Text[", "Text"),
        ("[^1]", ""),
        ("[^1]: t", "1. t"),
        ("a &am", "a "),
        ("a &amp;", "a &"),
        ("a\\", "a"),
        ("a\\$", "a$"),
        ("a $", "a $"),
        ("one\n$", "one"),
        ("one\n\\[", "one"),
    ],
)
def test_half_a_mark_is_not_shown(text: str, shown: str) -> None:
    document = Document()
    document.append(text)
    assert "\n".join(block.text for block in document.blocks).rstrip(" ") == shown.rstrip(" ")


@pytest.mark.parametrize("text", ["- [", "Text[^no", "a &am", "a\\", "one\n$", "one\n\\["])
def test_half_a_mark_is_shown_once_the_text_is_whole(text: str) -> None:
    document = Document()
    document.append(text)
    document.finish()
    assert document.blocks == Document(text).blocks
    assert document.blocks[-1].text[-1] == text[-1]


def test_a_dollar_at_the_end_closes_nothing_before_what_follows_is_known() -> None:
    assert not any(run.formula for blocks in steps("a $x$5 and $x$y") for run in the_runs(blocks))
    document = Document()
    document.append("a $x$")
    document.finish()
    assert [run.formula for run in the_runs(document.blocks)] == ["", "x"]


def test_running_text_that_another_block_follows_is_not_open() -> None:
    text = "`a\nend\n~~~x\nend"
    document = Document()
    document.append(text)
    assert document.blocks[: document.closed] == Document(text).blocks[: document.closed]
    assert document.closed == 1


def test_a_label_that_turns_out_to_be_code_has_no_number() -> None:
    assert [run.text for run in the_runs(steps("``x [^a] y`` and [^b] ")[-1]) if run.raised] == ["1"]


def test_labels_in_rows_that_arrived_keep_their_numbers() -> None:
    table = steps("| a |\n|---|\n| x[^a] |\n| x[^b] |\n| x[^c] |\n")[-1][0]
    assert isinstance(table, Table)
    assert [cell[-1].text for (cell,) in table.rows[1:]] == ["1", "2", "3"]


def test_formulas_side_by_side_stay_apart() -> None:
    (block,) = Document("\\(a\\)" * 300).blocks
    assert [run.text for run in the_runs([block])] == ["\\(a\\)"] * 300

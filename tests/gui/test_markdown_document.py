from __future__ import annotations

import re
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.card_text import card_of
from app.gui.markdown import document as document_module
from app.gui.markdown import reader
from app.gui.markdown.document import Document
from app.gui.markdown.reader import Part, read
from app.gui.markdown.values import Block, Code, Paragraph, Rule, Table, text_of
from tests.examples import examples

PIECES = (
    "a", "foo bar", "\n", "\n\n", "- ", "* ", "1. ", "2) ", "> ", "    ", "  ", "```", "~~~", "`", "````", "**", "*", "_",
    "# ", "---", "===", "|", "| a | b |\n", "|---|---|\n", "\t", "py", "[x](http://a.b)", "\r", "\r\n", "<b>", "&lt;", "$", "[^x]",
    "\\", "+ x\n", "\n  ", "~~", "![i](https://c.d)", "日本", "\0",
)  # fmt: skip
WORDS = (
    *(piece for piece in PIECES if "http" not in piece and piece not in ("&lt;", "[^x]")),
    "vector<int>", "<think>", "<!-- x -->", "[x]: ab ", "![", "](", "&x;", "$x$", "\\(",
)  # fmt: skip
MARKDOWN = st.lists(st.sampled_from(PIECES), min_size=1, max_size=30).map("".join)


def streamed(text: str, cuts: list[int]) -> Document:
    document, start = Document(), 0
    for cut in sorted(cut % (len(text) + 1) for cut in cuts):
        document.append(text[start:cut])
        start = max(start, cut)
    document.append(text[start:])
    document.finish()
    return document


def shown(text: str) -> str:
    """Return everything that can be read of a text, and nothing else."""
    return "".join(block.place.gap + block.text for block in Document(text).blocks)


@pytest.mark.parametrize(
    ("written", "seen"),
    [
        ("a &lt;int&gt; &amp; &#60;b&#x3e; &quot;c&quot;", 'a <int> & <b> "c"'),
        ("vector<int> `map<K, V>`", "vector<int> map<K, V>"),
        ("# Title &lt;int&gt; `<b>`", "Title <int> <b>"),
        (
            "| T | &lt;int&gt; |\n|---|---|\n| `set<int>` | <code>list&lt;T&gt;</code> |",
            "T\t<int>\nset<int>\tlist<T>",
        ),
        ("[see &lt;int&gt; and `<b>`](https://x.example)", "see <int> and <b>"),
        ("```cpp\nset<int> &lt;\n```", "set<int> &lt;"),
        ("<b>bold</b> &amp;lt;", "bold &lt;"),
    ],
)
def test_what_a_card_says_in_angle_brackets_is_seen(written: str, seen: str) -> None:
    assert shown(card_of(written)[0]).strip() == seen


@examples(300)
@given(text=MARKDOWN, cuts=st.lists(st.integers(0, 400), max_size=40))
def test_a_text_that_arrived_in_pieces_becomes_the_blocks_of_the_whole(text: str, cuts: list[int]) -> None:
    document = streamed(text, cuts)
    assert document.blocks == Document(text).blocks
    assert document.source == text


@examples(100)
@given(text=MARKDOWN)
def test_a_text_that_arrived_by_characters_becomes_the_blocks_of_the_whole(text: str) -> None:
    assert streamed(text, list(range(len(text)))).blocks == Document(text).blocks


@examples(200)
@given(text=MARKDOWN, rest=MARKDOWN)
def test_a_finished_text_can_go_on(text: str, rest: str) -> None:
    document = Document(text)
    document.append(rest)
    document.finish()
    whole = Document(text + rest)
    # A line's end may be cut in two: its first half was a line's end of its own.
    assert text.endswith("\r") or document.blocks == whole.blocks


@examples(300)
@given(text=st.lists(st.sampled_from(WORDS)).map("".join))
def test_no_letter_is_lost_whatever_the_text(text: str) -> None:
    blocks = Document(text).blocks
    seen = "".join(block.text + (block.language if isinstance(block, Code) else "") for block in blocks)
    for letter in set("abfopyvectorintthinkx<>!&;"):
        assert seen.count(letter) >= text.count(letter) - text.count("> ") * (letter == ">")


@pytest.mark.parametrize(
    "text",
    [
        "Use vector<int> and List<String>, a<b>c, <think>x</think>, <!-- x -->, &nothing; & R&D",
        "<script>alert(1)</script>\n<div>\nblock\n</div>",
        '<img src="file:///etc/passwd"> and <br/>',
        "Hello\nthere,\nyou",
        "one\n\ntwo",
        "e\u0301 👨‍👩‍👧 日本語 العربية",
        "[name]: http://example.org 'a definition of a reference'",
        "\\( x^2 \\) and \\[ y_i \\]",
        "[x](file:///etc/hostname) [y](javascript:alert(1)) [z](relative.md) ![p](file:///etc/passwd) ![q](//host/share)",
        "snake_case_name and 2 * 3 * 4",
        "C:\\Users\\name",
    ],
)
def test_what_is_no_markdown_is_shown_as_it_is(text: str) -> None:
    assert shown(text) == text
    assert all(not run.target for block in Document(text).blocks for run in runs(block) if "example" not in run.text)


def runs(block: Block) -> tuple:  # type: ignore[type-arg]  # of whatever the block holds
    return block.runs if isinstance(block, Paragraph) else ()


def test_styles_are_read() -> None:
    (block,) = Document("a **b** *c* ~~d~~ `e` ***f***").blocks
    assert isinstance(block, Paragraph)
    styles = {run.text: (run.bold, run.italic, run.struck, run.code) for run in block.runs if run.text.strip()}
    assert styles == {
        "a ": (False, False, False, False),
        "b": (True, False, False, False),
        "c": (False, True, False, False),
        "d": (False, False, True, False),
        "e": (False, False, False, True),
        "f": (True, True, False, False),
    }


@pytest.mark.parametrize(
    ("text", "words", "target"),
    [
        ("[x](https://a.b/c)", "x", "https://a.b/c"),
        ("<https://a.b>", "https://a.b", "https://a.b"),
        ("<me@a.org>", "me@a.org", "mailto:me@a.org"),
        ("see https://a.b/c_(d).", "https://a.b/c_(d)", "https://a.b/c_(d)"),
        ("(https://a.b)", "https://a.b", "https://a.b"),
        ("![alt](https://a.b/p.png)", "alt (https://a.b/p.png)", "https://a.b/p.png"),
        ("[M](mailto:me@a.org)", "M", "mailto:me@a.org"),
    ],
)
def test_links_lead_where_they_say(text: str, words: str, target: str) -> None:
    (block,) = Document(text).blocks
    assert [(run.text, run.target) for run in runs(block) if run.target] == [(words, target)]


def test_lists_keep_their_markers_and_their_depth() -> None:
    text = "3. three\n1. four\n   - deep\n     - deeper\n\n     same\n\n- other\n-\n"
    assert shown(text) == "3. three\n4. four\n  • deep\n    ◦ deeper\n\nsame\n\n• other\n• "
    assert [len(block.place.frames) for block in Document(text).blocks] == [1, 1, 2, 3, 2, 1, 1]


def test_numbers_go_on_however_the_list_arrives() -> None:
    text = "1. a\n1. b\n\n1. c\n"
    assert [block.text for block in streamed(text, list(range(len(text)))).blocks] == ["1. a", "2. b", "3. c"]


def test_quotes_rules_and_headings_are_read() -> None:
    blocks = Document("# One\n\nTwo\n===\n\n> a\n> > b\n\n***\n").blocks
    assert [block.level for block in blocks if isinstance(block, Paragraph)] == [1, 1, 0, 0]
    assert [block.place.frames for block in blocks] == [(), (), ("quote",), ("quote", "quote"), ()]
    assert isinstance(blocks[-1], Rule)


def test_a_table_keeps_its_columns_and_the_cells_beyond_them() -> None:
    (table,) = Document("| a | b |\n|:-:|--:|\n| 1 | **2** | three |\n| `x\\|y` |\n").blocks
    assert isinstance(table, Table)
    assert table.aligns == ("centre", "right")
    assert table.text == "a\tb\n1\t2\tthree\nx|y\t"
    assert text_of(table.rows[1][2]) == "three"


@pytest.mark.parametrize(
    ("text", "code", "rest"),
    [
        ("```py\nx = 1\n```\nafter", "x = 1", "after"),
        ("~~~\nx\n```\ny\n~~~\nafter", "x\n```\ny", "after"),
        ("````\n```\nx\n```\n````\nafter", "```\nx\n```", "after"),
        ("```\nnever closed\n\nx", "never closed\n\nx", ""),
        ("```\n\n\n```\nafter", "\n", "after"),
        ("    indented\n\n    more\n\nafter", "indented\n\nmore", "after"),
        ("- item\n\n  ```c\n  int x;\n  ```\n\nafter", "int x;", "after"),
    ],
)
def test_fences_end_where_they_are_closed_however_the_text_arrives(text: str, code: str, rest: str) -> None:
    blocks = streamed(text, list(range(len(text)))).blocks
    assert [block.code for block in blocks if isinstance(block, Code)] == [code]
    assert (blocks[-1].text if rest else "") == rest


def test_a_fence_is_not_seen_before_it_is_one_and_keeps_to_its_code() -> None:
    document = Document()
    seen = []
    for character in "Code:\n```py\nx\n```\nText":
        document.append(character)
        seen.append([block.text for block in document.blocks])
    assert ["Code:", "`"] not in seen
    assert ["Code:", "``"] not in seen
    assert ["Code:", "x\n`"] not in seen
    assert seen[-1] == ["Code:", "x", "Text"]


def test_emphasis_is_shown_before_it_is_closed() -> None:
    document = Document()
    document.append("Some **bold wor")
    (block,) = document.blocks
    assert [(run.text, run.bold) for run in runs(block)] == [("Some ", False), ("bold wor", True)]
    document.finish()
    assert document.blocks[0].text == "Some **bold wor"


@pytest.mark.parametrize("end", ["-", "=", "*", "#", "> ", "|"])
def test_marks_whose_meaning_is_open_change_nothing_yet(end: str) -> None:
    document = Document()
    document.append("A line\n")
    before = list(document.blocks)
    document.append(end)
    assert document.blocks == before


LONG = {
    "code": "```py\n" + "    value = compute(a, b)  # comment\n" * 2000 + "```\n",
    "list": "".join(f"{number}. item **bold** text\n" for number in range(300)),
    "table": "| a | b |\n|---|---|\n" + "".join(f"| {number} | x **y** |\n" for number in range(300)),
    "lines": "".join(f"{number}\n" for number in range(1500)),
    "paragraph": "many words **in** one paragraph without an end " * 400,
    "no spaces": "日本語" * 6000,
    "paragraphs": ("some words here and there. " * 20 + "\n\n") * 30,
}


@pytest.mark.parametrize("kind", LONG)
def test_a_long_text_is_read_once_and_only_its_open_end_again(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    lengths: list[int] = []

    def note(source: str, *rest: object, **named: object) -> list[Part]:
        lengths.append(len(source))
        return read(source, *rest, **named)  # type: ignore[arg-type]  # what was given is handed on

    monkeypatch.setattr(document_module, "read", note)
    text = LONG[kind]
    document = streamed(text, list(range(0, len(text), 40)))
    assert max(lengths) < 10_000
    assert document.closed > 0 or kind in ("table", "code")
    assert sum(lengths[-20:]) < 25 * max(sum(lengths[20:40]), 4000)


@pytest.mark.parametrize(
    "text", ["[" * 20_000, "![" * 9000, "> " * 3000 + "x", "- " * 3000 + "x", "x" + "`" * 9000 + "a"]
)
def test_what_no_person_writes_is_read_without_losing_anything(text: str) -> None:
    marks = [character for character in text if character not in ">- "]
    assert [character for character in shown(text) if character not in ">- •◦▪\n"] == marks


def test_what_lies_too_deep_for_the_parser_is_shown_as_it_is() -> None:
    text = "".join("  " * depth + f"- {depth}\n" for depth in range(120))
    assert "119" in shown(text)
    assert "needle" in shown("> " * 300 + "needle")


def test_the_window_starts_without_what_reads_markdown_and_colours_code() -> None:
    look = "import sys, app.gui.application; print({'markdown_it', 'pygments'} & set(sys.modules))"
    found = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True, timeout=120)
    assert found.stdout.strip() == "set()"


@pytest.mark.parametrize("mark", ["> ", "- ", "1. ", "# "])
def test_a_very_long_line_in_a_quote_or_a_list_is_cut_and_loses_nothing(mark: str) -> None:
    words = "".join(f"word{number} **bold{number}** `code{number}` " for number in range(900))
    document = Document(mark + words)
    assert len(document.blocks) > 5
    assert max(len(block.text) for block in document.blocks) <= 4010
    assert shown(mark + words).removeprefix("• ").removeprefix("1. ") == words.strip().replace("*", "").replace(
        "`", ""
    )
    assert {block.place.frames for block in document.blocks} == {document.blocks[0].place.frames}
    assert streamed(mark + words, list(range(0, len(words), 997))).blocks == document.blocks


def test_a_line_end_of_two_characters_is_one_though_nothing_arrived_between_them() -> None:
    assert streamed("**\r\na1", [3, 3]).blocks == Document("**\r\na1").blocks


def test_what_looked_like_a_table_ends_no_paragraph_until_its_second_line_is_whole() -> None:
    text = "a\n|+ x\n---- |a"
    assert streamed(text, list(range(len(text)))).blocks == Document(text).blocks


@examples(300)
@given(
    text=st.text(
        st.sampled_from("abc XYZ,.;:'\"()-+=0123456789 \n\t\u00a0\u3000éß日/?%$@^{}"), min_size=1, max_size=40
    ),
    blank_before=st.booleans(),
)
def test_a_line_that_needs_no_parser_is_read_as_the_parser_reads_it(text: str, blank_before: bool) -> None:
    quick = reader.read(text, blank_before, None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader, "_PROSE", re.compile("(?!)"))
        assert reader.read(text, blank_before, None) == quick

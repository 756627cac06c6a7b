"""What is read of ordinary Markdown, compared with what markdown-it itself makes of it: the same blocks and styles."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from app.gui.markdown.document import Document
from app.gui.markdown.values import Block, Code, Paragraph, Rule, Run, Table

SAMPLES = (
    "# One\n\n## Two\n\n### Three ###\n\n#### Four\n\n##### Five\n\n###### Six\n\n####### none",
    "#none\n\n#\ttab\n\n\\# none\n\n# *styled* `head`",
    "Setext\n===\n\nSecond\n---\n\ntwo\nlines\n===",
    "one\ntwo\n\nthree  \nhard\\\nbreaks",
    "- a\n- b\n  - c\n    - d\n- e\n\n* other\n+ third",
    "1. a\n2. b\n10. c\n\n7) d\n8) e",
    "- a\n\n- b\n\n  para\n\n      code\n- c",
    "- a\n  > quoted\n  ```py\n  x = 1\n  ```\n- b",
    "1. a\n   - b\n     1. c\n   - d\n2. e",
    "-\n- a\n-\n\n  none",
    "- a\nlazy\n- b\n\nafter",
    "> a\n> b\n>\n> c\n> > d\n\n> e\nlazy",
    "> # head\n> - item\n>   more\n> ```\n> code\n> ```",
    "***\n---\n___\n * * *\n\n- - -\n\n+++",
    "```python\nx = 1\n\n  y = 2\n```\n\n~~~\n```\n~~~",
    "````\n```\n````\n\n```\nopen\n\nto the end",
    "```a b c\nx\n```\n\n``` not ` a fence\n\ntext\n```\ncode\n```",
    "    code\n    more\n\n    still\n\ntext\n    lazy",
    "\tcode\n\n  \ttabs",
    "| a | b |\n|---|:-:|\n| 1 | **2** |\n| `x\\|y` | z |\n\nafter",
    "a | b\n--|--:\n1 | 2\n3\n\ntext\n| c |\n|---|\n| d |\n> quote",
    "| a |\n| - |\n\n| no | table |\n|---|",
    "*a* _b_ **c** __d__ ***e*** **f *g* h** *i **j** k* ~~l~~",
    "snake_case_name 2 * 3 * 4 **not bold ** a*b*c a**b**c _a_b __a__b",
    "`a` ``b ` c`` ` d ` `` ` `` `open",
    "\\*a\\* \\`b\\` \\! \\\\ \\a",
    "&amp; &lt;b&gt; &copy; &#35; &#x22; &none; &",
    "[a](https://a.org) [b *c*](https://b.org 't') [d](<https://d.org/x>) [f]",
    "<https://a.org> <me@a.org> <b>",
    "**[a](https://a.org)** [`b`](https://b.org) *[c](https://c.org)*",
    "a **b\nc** d\n*e\nf*",
    "1986\\. A year\n\n1. a\n\n1986. b",
    "text\n# head\ntext\n- item\ntext\n\n***\ntext\n> quote",
    "* a\n\n  b\n\n\n  c\n* d",
    "- [a](https://a.org)\n- `b`\n- **c**: d",
    "  indented\n   three\n\n 1. one\n 2. two",
    "***a** b* ***c* d** **a*b*c** *a**b**c*",
    "foo\n***\nbar\n\n* foo\n* * *\n* bar",
    "Foo\n    bar\n\n# foo\n    code\nHead\n------\n    code\n----",
    "\u05e9\u05dc\u05d5\u05dd **\u05e2\u05d5\u05dc\u05dd**\n\n- \u0645\u0631\u062d\u0628\u0627",
)


def _theirs() -> MarkdownIt:
    made = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    # A definition of a reference can come long after what it changes, so that an answer would jump: it stays text.
    return made.disable(["reference", "image"])


def _line(kind: str, frames: list[str], text: str) -> str:
    return f"{'/'.join(frames)} {kind}: {text}"


def _wanted(source: str) -> Iterator[str]:
    frames: list[str] = []
    is_empty = False
    tokens = iter(_theirs().parse(source))
    for token in tokens:
        match token.type:
            case "blockquote_open":
                frames.append("quote")
            case "list_item_open":
                frames.append("item")
                is_empty = True
            case "list_item_close" | "blockquote_close":
                if is_empty and frames[-1] == "item":
                    yield _line("text", frames, "")
                is_empty = False
                frames.pop()
            case "heading_open" | "paragraph_open":
                kind = f"head {token.tag[1]}" if token.type == "heading_open" else "text"
                yield _line(kind, frames, _inline(next(tokens)))
                is_empty = False
            case "fence" | "code_block":
                yield _line(f"code {token.info.strip()}", frames, token.content.removesuffix("\n"))
                is_empty = False
            case "hr":
                yield _line("rule", frames, "")
                is_empty = False
            case "table_open":
                yield _line("table", frames, "|".join(_cells(tokens)))


def _cells(tokens: Iterator[Token]) -> Iterator[str]:
    for token in tokens:
        if token.type == "table_close":
            return
        if token.type == "inline":
            yield _inline(token)


def _inline(token: Token) -> str:
    """Return running text with its styles in braces."""
    styles: list[str] = []
    found: list[tuple[str, tuple[str, ...]]] = []
    for child in token.children or []:
        name = {"strong": "bold", "em": "italic", "s": "struck", "a": "link"}.get(child.tag, "")
        if child.nesting == 1:
            styles.append(f"link {child.attrs['href']}" if name == "link" else name)
        elif child.nesting == -1:
            styles.pop()
        else:
            text = "\n" if child.type in ("softbreak", "hardbreak") else child.content
            found.append((text, tuple(sorted({*styles, *(["code"] if child.type == "code_inline" else [])}))))
    return _joined(found)


def _ours(run: Run) -> tuple[str, tuple[str, ...]]:
    flags = {"bold": run.bold, "italic": run.italic, "struck": run.struck, "code": run.code}
    styles = [name for name, is_set in flags.items() if is_set] + ([f"link {run.target}"] if run.target else [])
    return run.text, tuple(sorted(styles))


def _joined(pieces: list[tuple[str, tuple[str, ...]]]) -> str:
    joined: list[tuple[str, tuple[str, ...]]] = []
    for text, styles in pieces:
        if joined and joined[-1][1] == styles:
            joined[-1] = (joined[-1][0] + text, styles)
        elif text:
            joined.append((text, styles))
    return "".join(f"{{{', '.join(styles)}:{text}}}" if styles else text for text, styles in joined)


def _found(blocks: list[Block]) -> Iterator[str]:
    for block in blocks:
        frames: list[str] = list(block.place.frames)
        match block:
            case Paragraph():
                kind = f"head {block.level}" if block.level else "text"
                yield _line(kind, frames, _joined([_ours(run) for run in block.runs]))
            case Code():
                yield _line(f"code {block.language}", frames, block.code)
            case Rule():
                yield _line("rule", frames, "")
            case Table():
                yield _line(
                    "table",
                    frames,
                    "|".join(_joined([_ours(run) for run in cell]) for row in block.rows for cell in row),
                )


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda text: text[:20].replace("\n", " "))
def test_ordinary_markdown_is_read_as_its_parser_reads_it(sample: str) -> None:
    assert list(_found(Document(sample).blocks)) == list(_wanted(sample))

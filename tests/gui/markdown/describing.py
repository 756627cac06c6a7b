"""Blocks as text that people can read and compare; run as a program, it writes down what is read today.

A line is a block: a gap, its kind, the lists and quotes it stands in, its marker, and its text with marks for styles.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from app.gui.markdown.document import Document
from app.gui.markdown.values import Block, Code, Formula, Paragraph, Rule, Run, Runs, Table

EXPECTED = Path(__file__).parent / "expected"
SUFFIX = ".blocks.txt"


def described(blocks: Iterable[Block]) -> str:
    """Return blocks as lines."""
    return "".join(f"{line}\n" for block in blocks for line in _lines(block))


def described_runs(runs: Runs) -> str:
    """Return running text with its styles in braces: `{bold:so}`."""
    return "".join(_run(run) for run in runs)


def _lines(block: Block) -> Iterator[str]:
    if block.place.gap == "\n\n":
        yield ""
    place = "".join(f"{frame} " for frame in block.place.frames)
    marker = f"[{block.place.marker}] " if block.place.marker else ""
    match block:
        case Paragraph():
            kind = f"heading {block.level}" if block.level else "paragraph"
            yield f"{place}{marker}{kind}: {described_runs(block.runs)}"
        case Code():
            yield f"{place}{marker}code ({block.language}):"
            yield from (f"    {line}" for line in block.code.split("\n"))
        case Formula():
            yield f"{place}{marker}formula: {_one_line(block.latex)}  <- {_one_line(block.source)}"
        case Rule():
            yield f"{place}{marker}rule"
        case Table():
            yield f"{place}{marker}table: {', '.join(block.aligns)}"
            yield from ("    " + " | ".join(described_runs(cell) for cell in row) for row in block.rows)


def _run(run: Run) -> str:
    flags = {"bold": run.bold, "italic": run.italic, "struck": run.struck, "code": run.code, "raised": run.raised}
    styles = [name for name, is_set in flags.items() if is_set]
    styles += [f"link {run.target}"] if run.target else []
    styles += [f"formula {_one_line(run.formula)}"] if run.formula else []
    text = _one_line(run.text)
    return f"{{{', '.join(styles)}:{text}}}" if styles else text


def _one_line(text: str) -> str:
    return text.replace("\n", "\u23ce").replace("\u00a0", "\u2423")


def write() -> None:
    """Write down what every stored text is read as."""
    for source in sorted(EXPECTED.glob("*.md")):
        found = described(Document(source.read_text(encoding="utf-8")).blocks)
        source.with_name(source.stem + SUFFIX).write_text(found, encoding="utf-8")


if __name__ == "__main__":
    write()

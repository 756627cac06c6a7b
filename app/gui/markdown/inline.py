"""Running text into runs of one style: what stands in the lines of a paragraph, a heading or a cell.

A text full of marks is read in pieces, because the cost of one grows with the square of its marks; emphasis does not
go from one piece to the next. A piece that is known is not read again while the text behind it grows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from msgspec.structs import replace

from app.gui.markdown.latex import FILLING, half_written, latex_of, masked
from app.gui.markdown.links import address_of, bare_links, may_hold_links
from app.gui.markdown.parser import MARKS, parse_inline
from app.gui.markdown.values import Run, Runs

if TYPE_CHECKING:
    from markdown_it.token import Token

MOST_MARKS = 240
"""A text with more marks is read in pieces of about so many."""
MOST_CHARACTERS = 4000
_KNOWN_PIECES = 128
_LOOK_AHEAD = 160
_MARK = re.compile(f"[{re.escape(MARKS)}]")
_SPACE = re.compile("[ \n]")
_PAIRED = ("*", "_", "~", "`", "**", "__", "~~")
_PUNCTUATION = re.compile(r"[!-/:-@\[-`{-~]")
_CODE = re.compile(r"`[^`]*`")


def growing_runs_of(source: str) -> Runs:
    """Return the runs of text whose end is still written: open emphasis as if it were closed, a formula as its source."""
    start, before = half_written(source)
    literal = _PUNCTUATION.sub(lambda mark: f"&#{ord(mark[0])};", source[start:])
    return runs_of(source[:start] + literal + _closing(before, source))


def _closing(before: str, source: str) -> str:
    """Return the mark that closes what is open in a text up to a place."""
    if before.count("`") % 2:
        return "" if source.endswith("`") else "`"
    return "**" if _CODE.sub("", before).count("**") % 2 and not source.endswith("*") else ""


def runs_of(source: str) -> Runs:
    """Return the runs of some running text, neighbours of one style joined."""
    if not _MARK.search(source) and not may_hold_links(source):
        return (Run(source),) if source else ()
    if len(source) <= MOST_MARKS:
        return _read(source)
    runs: list[Run] = []
    for start, end in pieces(source):
        known = _known(source[start:end])
        if runs and known and _is_one_style(runs[-1], known[0]):
            runs[-1] = replace(known[0], text=runs[-1].text + known[0].text)
            known = known[1:]
        runs += known
    return tuple(runs)


def _is_one_style(first: Run, second: Run) -> bool:
    return not (second.raised or second.formula) and replace(first, text=second.text) == second


def pieces(source: str) -> Iterator[tuple[int, int]]:
    """Return from where to where each piece goes: where one ends depends on nothing far behind its end."""
    start, plain = 0, masked(source)
    while start < len(source):
        end = min(start + MOST_CHARACTERS, len(source))
        for number, mark in enumerate(_MARK.finditer(plain, start, end)):
            if number == MOST_MARKS:
                end = mark.start()
                break
        if end < len(source):
            end = _good_end(plain, start, end)
        yield start, end
        start = end


def _good_end(source: str, start: int, end: int) -> int:
    """Return an end here or a little further on: behind a space where all marks are in pairs, else behind any space."""
    while end < len(source) and source[end] == FILLING:
        end += 1
    spaces = [space.end() for space in _SPACE.finditer(source, end - 1, end + _LOOK_AHEAD)]
    for space in spaces:
        is_paired = all(source.count(mark, start, space) % 2 == 0 for mark in _PAIRED)
        if is_paired and source.count("[", start, space) == source.count("]", start, space):
            return space
    if spaces:
        return spaces[0]
    # A run of the same mark is not torn apart where it is short, nor a backslash from what follows it.
    while end < len(source) and end % MOST_CHARACTERS and source[end] == source[end - 1]:
        end += 1
    return end + (source[end - 1] == "\\")


def _read(source: str) -> Runs:
    return _joined(parse_inline(source))


@lru_cache(_KNOWN_PIECES)
def _known(piece: str) -> Runs:
    return _read(piece)


def _joined(tokens: Sequence[Token]) -> Runs:
    runs = _Joined()
    style = Run("")
    outer: list[Run] = []
    for token in tokens:
        match token.type:
            case "text":
                _add_text(runs, token.content, style)
            case "softbreak" | "hardbreak":
                runs.add("\n", style)
            case "code_inline":
                runs.add(token.content, replace(style, code=True))
            case "formula":
                runs.add_alone(replace(style, text=token.content, formula=latex_of(token.content)))
            case "note":
                runs.add_alone(replace(style, text=token.content, raised=True, target=""))
            case "image":
                _add_image(runs, token, style)
            case "strong_open" | "em_open" | "s_open" | "link_open":
                outer.append(style)
                style = _opened(style, token)
            case "strong_close" | "em_close" | "s_close" | "link_close":
                style = outer.pop()
            case _:
                runs.add(token.content, style)
    return runs.ended()


class _Joined:
    """Runs as they are added, neighbours of one style in one."""

    def __init__(self) -> None:
        self._runs: list[Run] = []
        self._style = Run("")
        self._texts: list[str] = []

    def add(self, text: str, style: Run) -> None:
        if style is not self._style and style != self._style:
            self._end_run()
            self._style = style
        self._texts.append(text)

    def add_alone(self, run: Run) -> None:
        """Add a run that none beside it is joined with."""
        self._end_run()
        self._runs.append(run)

    def ended(self) -> Runs:
        self._end_run()
        return tuple(self._runs)

    def _end_run(self) -> None:
        if text := "".join(self._texts):
            self._runs.append(replace(self._style, text=text))
        self._texts.clear()


def _opened(style: Run, token: Token) -> Run:
    match token.type:
        case "strong_open":
            return replace(style, bold=True)
        case "em_open":
            return replace(style, italic=True)
        case "s_open":
            return replace(style, struck=True)
    return replace(style, target=str(token.attrs.get("href", "")))


def _add_image(runs: _Joined, token: Token, style: Run) -> None:
    """Say what an image would show and where it is; it is never fetched. The words of one in a link are the link."""
    target = str(token.attrs.get("src", ""))
    words = "".join(child.content or "\n" * child.type.endswith("break") for child in token.children or ())
    itself = replace(style, target=target)
    if not words:
        runs.add(target, itself)
    elif style.target:
        runs.add(words, style)
        runs.add(f" ({target})", itself)
    else:
        runs.add(f"{words} ({target})", itself)


def _add_text(runs: _Joined, text: str, style: Run) -> None:
    start = 0
    for first, end in bare_links(text) if not style.target else ():
        runs.add(text[start:first], style)
        runs.add(text[first:end], replace(style, target=address_of(text[first:end])))
        start = end
    runs.add(text[start:], style)

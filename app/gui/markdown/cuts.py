"""Where a text that is still written can be cut, so that what lies before the cut is never read again.

Plain functions of the lines from a block's start on: the same text is cut at the same places however it arrived.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import islice

from app.gui.markdown.block_rules import FORMULA_START
from app.gui.markdown.labels import DEFINITION
from app.gui.markdown.latex import FILLING, NONE, formula_end, masked_for_cuts

MOST_LINES = 64
MOST_CHARACTERS = 4000
MOST_MARKS = 360
"""Text with more marks is cut as well: runs of many styles take far longer to lay out than plain words."""
_MARK = re.compile(r"[*_`~$]")
_PAIRED = ("*", "_", "~", "`", "**", "__", "~~")
_OPENING = 4
"""So many characters show whether a mark opens something."""
_NEAR = 16_000
"""So much of a line is looked at: a cut lies not so far from its start."""
_PATIENCE = 160
"""So far behind the first place for a cut a better one is looked for."""
_BLOCK_START = rf"(?:{FORMULA_START.pattern}|{DEFINITION.pattern})"
_PLAIN = re.compile(
    rf" {{0,3}}(?!\d{{1,9}}[.)](?:[ \t]|$)|{_BLOCK_START})"
    r"(?:[^\s#>\-+*_=`~|:]|(?:[*_]{1,3}|`{1,2}|~{1,2})[^\W_])"
)
_QUOTE = re.compile(r">|(?=[^\W\d_])")
_QUOTE_START = re.compile(r"> ?(?:(?:[*_]{1,3}|`{1,2}|~{1,2})?[^\W\d_]|[-*+] )")
_ONLY_MARKS = re.compile(r"[ \t>]*[-=*+#`~_|:!\\\[<$]*[ \t]*")
_HALF_LINE = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+\[[ xX]?\]?[ \t]*|\[\^[^\s\[\]]*\]?)")
"""What will be a task, or the definition of a footnote."""
_HALF_MARK = re.compile(r"(?:\[(?:\^[^\s\[\]^]{0,100})?|&#?\w{0,8}|\\)$")
_FENCE = re.compile(r"(`{3,}|~{3,})")
_MOST_HELD_BACK = 110
_BETWEEN_WORDS = re.compile(r"(?<=[^\s>]) (?=[^\s>])|\n[ \t>]*(?=\S)")
_LOOK_BACK = 600
_JOINED = "\u200d\ufe0e\ufe0f"
_NO_CUT = re.compile(r"\||`{3}|~{3}|\$\$|\\\[")
"""In a quote: a table, code or a formula, which would be torn apart."""


def stretch_end(source: str) -> int | None:
    """Return where a very long paragraph or quote that begins here is ended, or None where it is neither."""
    if len(source) < MOST_CHARACTERS and source.count("\n") < MOST_LINES and _count_marks(source) < MOST_MARKS:
        return None
    return _quote_end(source) if source.startswith(">") else _paragraph_end(source)


def _paragraph_end(source: str) -> int | None:
    start = lines = marks = 0
    line = ""
    while lines < MOST_LINES and start < MOST_CHARACTERS and marks < MOST_MARKS:
        end = source.find("\n", start)
        line = source[start:] if end < 0 else source[start:end]
        if not _PLAIN.match(line) and (start or not _only_looks_like_formula(source)):
            return None
        cut = _inside_line(line)
        if cut is not None:
            return None if "|" in line[:cut] else start + cut
        if end < 0:
            return None
        start = end + 1
        lines += 1
        marks += _count_marks(line)
    # What follows may make the last line the head of a table: not where it begins with a letter.
    return None if "|" in line and not source[start : start + 1].isalpha() else start


def _quote_end(source: str) -> int | None:
    """Return where a quote is long enough and goes on with a paragraph or a bullet: it looks like one still."""
    start = lines = marks = 0
    while (end := source.find("\n", start)) >= 0:
        is_long = lines >= MOST_LINES or start >= MOST_CHARACTERS or marks >= MOST_MARKS
        if is_long and _QUOTE_START.match(source, start):
            return start
        if not _QUOTE.match(source, start) or _NO_CUT.search(source, start, end):
            return None
        marks += _count_marks(source[start:end])
        start = end + 1
        lines += 1
    return None


def good_place(source: str, start: int) -> tuple[int, int]:
    """Return where running text that begins at a place is ended, and where the rest begins: there is such a place.

    Best is a space or a line's end where all marks are in pairs, then any; else it is between two characters.
    """
    text, known = masked_for_cuts(source[start:])
    most = _enough(text)
    most = min(most, known) if known > _PATIENCE else most
    places = list(_BETWEEN_WORDS.finditer(text, max(most - _LOOK_BACK, 1), min(most, len(text) - 1)))
    place = next(
        (each for each in reversed(places) if _is_paired(text, each.start())), places[-1] if places else None
    )
    if place is None:
        end = place_between(source, start + min(most, len(text) - 1))
        return end, end
    is_line = place[0].startswith("\n")
    return start + (place.start() if is_line else place.end()), start + place.end()


def place_between(text: str, end: int) -> int:
    """Return a place at this one or a little before it where a text can be cut: behind a space, else a character."""
    space = text.rfind(" ", end - _PATIENCE, end) + 1
    if space:
        return space
    first = end - _PATIENCE
    while end > max(first, 1) and (
        unicodedata.combining(text[end]) or text[end] in _JOINED or text[end - 1] in _JOINED or text[end - 1] == "\\"
    ):
        end -= 1
    return end


def _only_looks_like_formula(source: str) -> bool:
    """Return whether a text that begins as a formula with lines of its own does has other text there, for certain."""
    opening = FORMULA_START.match(source)
    if opening is None:
        return False
    end = formula_end(source, 0, is_open=True)
    line_end = source.find("\n")
    return end == NONE or (0 < end <= len(source[:line_end]) and bool(source[end:line_end].strip()))


def _inside_line(line: str) -> int | None:
    """Return where a line that is long or full of marks is cut: where a word begins, and best where no mark is open."""
    line, known = masked_for_cuts(line[:_NEAR])
    first = _enough(line)
    patience = MOST_CHARACTERS if first == MOST_CHARACTERS else 2 * _PATIENCE
    for position in range(first, known):
        character, waited = line[position], position - first
        opens = bool(_MARK.match(character) and _PLAIN.match(line[position : position + _OPENING]))
        is_start = line[position - 1] == " " and (character.isalpha() or opens)
        if is_start and (waited >= _PATIENCE or _is_paired(line, position)):
            return position
        if waited < patience or character.isdigit() or character == FILLING or unicodedata.combining(character):
            continue
        # Nobody puts spaces there: between two characters, and best where no mark is open.
        if (opens or _PLAIN.match(character)) and (waited >= patience + _PATIENCE or _is_paired(line, position)):
            return position
    return None


def _enough(line: str) -> int:
    """Return how much of a line is enough for one paragraph."""
    mark = next(islice(_MARK.finditer(line, 0, MOST_CHARACTERS), MOST_MARKS, None), None)
    return MOST_CHARACTERS if mark is None else mark.start()


def _is_paired(line: str, end: int) -> bool:
    return line.count("[", 0, end) == line.count("]", 0, end) and not any(
        line.count(mark, 0, end) % 2 for mark in _PAIRED
    )


def _count_marks(line: str) -> int:
    return sum(line.count(mark) for mark in "*_`~$")


def settled(source: str) -> str:
    """Return an open text without what is but the beginning of a mark yet at its end.

    What follows decides what a line of nothing but marks is: a fence, a list, a heading, an underline. Showing it would
    only flicker. So would half of a footnote's reference, of the name of a character, or of what a backslash is before.
    """
    last = source.rfind("\n") + 1
    if _ONLY_MARKS.fullmatch(source, last) or _HALF_LINE.fullmatch(source, last):
        return source[:last]
    if source.endswith("\n"):
        return source
    half = _HALF_MARK.search(source, max(last, len(source) - _MOST_HELD_BACK))
    return source if half is None else source[: half.start()]


def fence_opening(line: str) -> str | None:
    """Return the marks of a fence that a line without indentation opens for certain: no head of a table is one."""
    match = _FENCE.match(line)
    if match is None or "|" in line or (match[1][0] == "`" and "`" in line[match.end() :]):
        return None
    return match[1]


def closes_fence(line: str, opening: str) -> bool:
    """Return whether a line ends the code of a fence."""
    mark = re.fullmatch(r" {0,3}(`{3,}|~{3,})[ \t]*", line)
    return mark is not None and mark[1].startswith(opening)


def may_close_fence(line: str, opening: str) -> bool:
    """Return whether a line that is not at its end yet may become one that ends the code of a fence."""
    marks = line.strip(" \t")
    return bool(marks) and not marks.strip(opening[0]) and len(line) - len(line.lstrip(" ")) <= 3

"""Where formulas stand in a text: between dollars as GitHub and pandoc take them, or between the brackets of LaTeX.

Plain functions of the text. What a mark opens is decided by the next mark of its kind, so a text is read once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

MOST_CHARACTERS = 4000
"""No formula is longer: what stands further behind its opening does not decide what that is."""
NONE = 0
"""No formula begins there."""
OPEN = -1
"""What follows will tell whether one begins there."""
FILLING = "\ue000"
"""Stands for a character inside a formula where what lies there is no mark."""
_OPENING = re.compile(r"\$\$(?!\$)|\$(?![\s$\"'”’)\]},.;:!?/])|\\[(\[]")
_DECIDING = {
    "$": re.compile(r"(\$)|\\.|\n[ \t]*\n", re.DOTALL),
    "$$": re.compile(r"(\$\$)|\\.|\n[ \t]*\n", re.DOTALL),
    "\\(": re.compile(r"(\\[()])|\\.|\n[ \t]*\n", re.DOTALL),
    "\\[": re.compile(r"(\\[\[\]])|\\.|\n[ \t]*\n", re.DOTALL),
}
_SPECIAL = re.compile(r"\\.|`+|\$+", re.DOTALL)
_JOINED = re.compile(r"[0-9A-Za-z$]")
_SAYS_SOMETHING = re.compile(r"[^\W_]|\\")
_IN_BRACES = re.compile(r"\{[^{}]*(?:\}|$)")
_PROSE = re.compile(r"(?<![\\A-Za-z])[A-Za-z]{2,}[.,;:]? +[A-Za-z]{2,}")
_COUNTRY = re.compile(r"\b(?:US|AU|CA|NZ|HK|SG|MX)\Z")
"""What stands before the dollar of a country."""
_PRICE = re.compile(r"\$\d[\d.,]*[kKMB%+]?[\s.,;:!?)–-]+(?:[A-Za-z]{2}|[*_`~\"'(\[])")
_WORD_OF_PROSE = re.compile(r"(?<![\\A-Za-z])[A-Za-z]{2,}")


def formula_end(source: str, start: int, *, is_open: bool = False) -> int:
    """Return where the formula ends that begins at a place, or NONE, or OPEN; an open text may go on at its end."""
    opening = _OPENING.match(source, start)
    if opening is None:
        return NONE
    mark, limit = opening[0], min(len(source), start + MOST_CHARACTERS)
    if start and _is_joined(mark, source[start - 1]):
        return NONE
    for found in _DECIDING[mark].finditer(source, opening.end(), limit):
        if found[1] is not None:
            return _closed(source, opening, found, is_open)
        if found[0].startswith("\n"):
            return NONE
    return OPEN if limit == len(source) else NONE


def latex_of(formula: str) -> str:
    """Return what stands between the marks of a formula."""
    length = 1 if formula[1:2] != "$" and formula.startswith("$") else 2
    inside = formula[length:-length].strip()
    if formula.startswith("$`") and inside.endswith("`"):
        inside = inside[1:-1].strip()
    return inside


def formulas(source: str) -> Iterator[tuple[int, int]]:
    """Return from where to where formulas go that stand outside of code."""
    return (each for each in _found(source, is_open=False) if each[1] != OPEN)


def half_written(source: str) -> tuple[int, str]:
    """Return where what looks like a formula begins that may still be closed, and the text up to there as masked.

    Where there is none in this text, which goes on, that is its end.
    """
    if "$" not in source and "\\" not in source:
        return len(source), source
    closed: list[tuple[int, int]] = []
    for start, end in _found(source, is_open=True):
        if end != OPEN:
            closed.append((start, end))
        elif not _is_prose(source, start):
            return start, _masked(source[:start], closed)
    return len(source), _masked(source, closed)


def masked(source: str) -> str:
    """Return a text of the same length in which each formula is a dollar and filling."""
    return _masked(source, formulas(source)) if "$" in source or "\\" in source else source


def masked_for_cuts(source: str) -> tuple[str, int]:
    """Return the same, and up to where this does not depend on what follows; code is not told from other text."""
    if "$" not in source and "\\" not in source:
        return source, len(source)
    found = list(_found(source, is_open=True, skips_code=False))
    known = next((start for start, end in found if end == OPEN), len(source))
    return _masked(source, (each for each in found if each[1] != OPEN)), known


def _masked(source: str, found: Iterable[tuple[int, int]]) -> str:
    parts, position = list[str](), 0
    for start, end in found:
        parts += [source[position:start], "$", FILLING * (end - start - 1)]
        position = end
    return "".join([*parts, source[position:]])


def _found(source: str, *, is_open: bool, skips_code: bool = True) -> Iterator[tuple[int, int]]:
    """Return where formulas go; one that ends with OPEN is none yet."""
    position, code_end = 0, _code_ends(source)
    while (mark := _SPECIAL.search(source, position)) is not None:
        position = mark.end()
        if mark[0].startswith("`"):
            end = code_end(mark.start(), len(mark[0])) if skips_code else position
            if end is None and is_open:
                return
            position = end or position
            continue
        end = formula_end(source, mark.start(), is_open=is_open)
        if end != NONE:
            yield mark.start(), end
            position = max(end, position)


def _is_joined(mark: str, before: str) -> bool:
    return before == "$" if mark == "$$" else mark == "$" and bool(_JOINED.match(before))


def _closed(source: str, opening: re.Match[str], closing: re.Match[str], is_open: bool) -> int:
    """Return the end of what is closed, or NONE where that is no formula."""
    inside, end = source[opening.end() : closing.start()], closing.end()
    if opening[0].startswith("\\"):
        return end if closing[0] != opening[0] and inside.strip() else NONE
    if opening[0] == "$$" and not _SAYS_SOMETHING.search(inside):
        return NONE
    if opening[0] == "$" and (inside[-1].isspace() or inside[-1] in "({" or _is_price(inside)):
        return NONE
    if end == len(source):
        return OPEN if is_open else end
    behind = source[end]
    is_joined = behind == "$" if opening[0] == "$$" else _JOINED.match(behind)
    return NONE if is_joined else end


def _is_prose(source: str, start: int) -> bool:
    """Return whether what follows a dollar reads like words or a price: it is not held back for a formula then."""
    is_dollar = source.startswith("$", start) and not source.startswith("$$", start)
    return is_dollar and bool(_PRICE.match(source, start) or _PROSE.search(_IN_BRACES.sub("", source[start:])))


def _is_price(inside: str) -> bool:
    """Return whether what stands between two dollars is a price and words behind it, up to the next price."""
    if not inside[0].isdigit():
        return False
    return len(_WORD_OF_PROSE.findall(_IN_BRACES.sub("", inside))) > 1 or bool(_COUNTRY.search(inside))


def _code_ends(source: str) -> Callable[[int, int], int | None]:
    """Return what finds the end of code that so many ticks at a place begin; each run of ticks is looked at once."""
    places: dict[int, list[int]] = {}
    if "`" in source:
        for run in reversed(list(re.finditer("`+", source))):
            places.setdefault(len(run[0]), []).append(run.start())

    def end(start: int, length: int) -> int | None:
        found = places.get(length, [])
        while found and found[-1] <= start:
            found.pop()
        return found[-1] + length if found else None

    return end

"""Runs as they are laid out: each formula that is drawn is one sign among the letters. Knows no layout."""

from __future__ import annotations

from bisect import bisect_left
from math import inf
from typing import NamedTuple

from app.gui.formulas.picture import Picture
from app.gui.formulas.shelf import Formulas, Undrawn
from app.gui.markdown.values import Run, Runs
from app.gui.widgets.code_units import units
from app.gui.widgets.direction import runs_right_to_left

SIGN = "¦"
"""Breaks lines as a letter does, has no direction of its own, and every font has it; it is laid out and not seen."""
FORMULA_SHARE = 1.15
"""Size of a formula, as a share of the text around it: its letters look smaller."""


class Piece(NamedTuple):
    """A run with its places, and its picture where it is a formula that is drawn."""

    run: Run
    start: int
    """In the text as it was written."""
    shown_start: int
    unit: int
    """The same place as Qt counts."""
    shown: str
    picture: Picture | None


class ShownRuns:
    """What is laid out of runs, and the way between its characters and those that were written.

    A formula wider than `widest`, in widths of an M, is shown as its source, which goes on in the next line.
    """

    def __init__(self, runs: Runs, formulas: Formulas | None, widest: float = inf) -> None:
        self._widest = widest
        self.is_waiting = False
        """Whether a formula is being drawn whose source is shown as long."""
        self.pieces: list[Piece] = []
        start = shown_start = unit = 0
        for run in runs:
            picture = self._picture(run, formulas)
            shown = run.text if picture is None else SIGN
            self.pieces.append(Piece(run, start, shown_start, unit, shown, picture))
            start += len(run.text)
            shown_start += len(shown)
            unit += units(shown)
        self.text = "".join(piece.shown for piece in self.pieces)
        self.signs = [piece for piece in self.pieces if piece.picture is not None]

    def signs_between(self, first: int, end: int) -> list[Piece]:
        """Return the formulas from one place to another, as Qt counts them."""
        start = bisect_left(self.signs, first, key=lambda sign: sign.unit)
        return self.signs[start : bisect_left(self.signs, end, lo=start, key=lambda sign: sign.unit)]

    def shown_at(self, offset: int) -> int:
        """Return where a written character is shown: one of a formula where that begins."""
        shift = 0
        for sign in self.signs:
            if offset <= sign.start:
                break
            behind = sign.start + len(sign.run.text)
            if offset < behind:
                return sign.shown_start
            shift = sign.shown_start + 1 - behind
        return offset + shift

    def written_at(self, offset: int) -> int:
        """Return the written character that is shown at a place."""
        shift = 0
        for sign in self.signs:
            if offset <= sign.shown_start:
                break
            shift = sign.start + len(sign.run.text) - sign.shown_start - 1
        return offset + shift

    def _picture(self, run: Run, formulas: Formulas | None) -> Picture | None:
        if not run.formula or formulas is None:
            return None
        found = formulas.find(run.formula, display=False)
        self.is_waiting = self.is_waiting or found is Undrawn.WAITS
        return found if isinstance(found, Picture) and found.width <= self._widest else None


def is_right_to_left(runs: Runs) -> bool:
    """Return whether runs go from right to left; formulas have no say in that."""
    return runs_right_to_left("".join(run.text for run in runs if not run.formula))

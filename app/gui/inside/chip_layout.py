"""Where the chips of a prompt's tokens stand: in rows, each token whole, a row ended by a line end.

Pure geometry: rows are all as high, widths are told by whoever knows the fonts.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable

GAP_PX = 4.0
"""Between two chips."""


class ChipLayout:
    """The chips in reading order; it grows at its end."""

    def __init__(self, width: float) -> None:
        """`width` is how wide rows are, in pixels."""
        self.places: list[tuple[float, float]] = []
        """Left and width of each chip."""
        self.starts: list[int] = [0]
        """Of each row: its first chip."""
        self.width = max(width, 1.0)
        self._left = 0.0
        """Where the next chip would begin."""
        self._ends_row = False

    def __len__(self) -> int:
        """Return how many chips have their place."""
        return len(self.places)

    @property
    def rows(self) -> int:
        """How many rows there are; an empty prompt has none."""
        return len(self.starts) if self.places else 0

    def extend(self, chips: Iterable[tuple[float, bool]]) -> None:
        """Add chips: how wide each wants to be, and whether it ends its row."""
        for wanted, ends_row in chips:
            wide = min(wanted, max(self.width - 1.0, 1.0))
            if self._left > 0 and (self._ends_row or self._left + wide > self.width):
                self.starts.append(len(self.places))
                self._left = 0.0
            self.places.append((self._left, wide))
            self._left += wide + GAP_PX
            self._ends_row = ends_row

    def row_of(self, chip: int) -> int:
        """Return the row of a chip."""
        return bisect_right(self.starts, chip) - 1

    def chips(self, first: int, last: int) -> range:
        """Return the chips from a row to another one, as far as there are rows."""
        first = min(max(first, 0), len(self.starts) - 1)
        end = self.starts[last + 1] if last + 1 < len(self.starts) else len(self.places)
        return range(self.starts[first], max(end, self.starts[first]))

    def beside(self, chip: int, rows: int) -> int:
        """Return the chip so many rows further down (up where it is less than 0); the outermost where they end."""
        row = self.row_of(chip) + rows
        if not 0 <= row < len(self.starts):
            return 0 if row < 0 else len(self.places) - 1
        left = self.places[chip][0]
        return min(self.chips(row, row), key=lambda each: abs(self.places[each][0] - left))


class Widths:
    """How wide texts are; each is measured once."""

    def __init__(self, measure: Callable[[str], float]) -> None:
        self._measure = measure
        self._known: dict[str, float] = {}

    def of(self, text: str) -> float:
        """Return the width of a text in one line, in pixels."""
        width = self._known.get(text)
        if width is None:
            width = self._known[text] = self._measure(text)
        return width

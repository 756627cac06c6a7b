"""The rows of an answer, laid out in parts: a long one is not waited for, and it may still grow. Knows no widget."""

from __future__ import annotations

from collections.abc import Callable

from app.gui.inside.token_layout import TokenLayout
from app.services.inspection import InspectedAnswer

LAID_AT_ONCE = 1_500
"""So many tokens fill any screen; they are laid out within a frame."""


class TokenRows(TokenLayout):
    """As many of the tokens as were wanted until now."""

    def __init__(self, answer: InspectedAnswer | None, measure: Callable[[str], float], width: float) -> None:
        super().__init__(measure, width)
        self._answer = answer if answer is not None else InspectedAnswer(0)

    @property
    def is_whole(self) -> bool:
        """Whether all tokens have their place."""
        return len(self.firsts) >= len(self._answer)

    def goes_on_as(self, answer: InspectedAnswer) -> bool:
        """Take an answer that has grown; False where it is another one, or its tokens say something else."""
        before, known = self._answer, len(self._answer)
        is_same = before.message == answer.message
        if not is_same or answer.ids[:known] != before.ids or answer.texts[:known] != before.texts:
            return False
        self._answer = answer
        return True

    def add(self, count: int = LAID_AT_ONCE) -> None:
        """Lay out the next tokens."""
        more = slice(len(self.firsts), len(self.firsts) + count)
        self.extend(list(zip(self._answer.ids[more], self._answer.texts[more], strict=True)))

    def reach(self, token: int) -> bool:
        """Have a token laid out, if it is one; return whether there was something to do."""
        lacks = min(token + 1, len(self._answer)) - len(self.firsts)
        if lacks > 0:
            self.add(lacks)
        return lacks > 0

    def reach_rows(self, token: int, rows: int) -> bool:
        """Have the row of a token laid out and so many behind it, as far as there are any; otherwise as `reach`."""
        is_new = self.reach(token)
        last = self.row_of(token) + rows
        while not self.is_whole and self.rows <= last + 1:  # the last row may not be whole yet
            self.add()
            is_new = True
        return is_new

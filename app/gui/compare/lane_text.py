"""The text of one lane: painted, selected and read aloud as any answer in the chat, in a narrow column of its own."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QRect, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter

from app.core.comparison import LETTERS
from app.gui import theme
from app.gui.chat.text_alone import Background, TextAlone
from app.gui.chat.turn_block import GAP_PX
from app.services.turns import Turn

_STEPS = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}


class LaneText(TextAlone):
    """One turn in a view that scrolls; the margin on its left is the gutter, where marks can stand."""

    neighbour_wanted = Signal(int)
    """Somebody wants the keyboard in the lane so many places further on."""

    def __init__(self, lane: int, themes: theme.Themes, background: Background, *, is_cell: bool = False) -> None:
        super().__init__(themes, background, theme.SPACE_M if is_cell else theme.SPACE_L + theme.SPACE_XS)
        self._is_cell = is_cell
        self.follows_end = True
        """Whether the newest text is shown; a lane that is whole is read from its beginning."""
        self.over: Callable[[QPainter, QRect], None] = lambda _painter, _area: None
        """Paints marks over the text and in the gutter."""
        self.setObjectName(f"lane_text_{LETTERS[lane].lower()}")

    @property
    def whole_px(self) -> int:
        """How high all of the text is."""
        return max(self.turns.total - GAP_PX, 0)

    @property
    def is_whole(self) -> bool:
        """Whether what is in view was read, and looks as it will: formulas and the colours of code come in a moment."""
        is_read = self.turns.unread(0, self.viewport().height()) is None
        return is_read and not any(block.is_unfinished for block in self.turns.blocks)

    def show_lane(self, turn: Turn) -> None:
        """Show the answer of a lane."""
        self.follows_end = turn.state in ("waiting", "writing") and not self._is_cell
        self.show_turns([turn])
        self._go_to_beginning()

    def come_to_rest(self) -> bool:
        """Follow the end no longer, as all is written; False where somebody scrolled, and reads on there."""
        self.follows_end = False
        self._go_to_beginning()
        return not self._is_moved

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Go to the lane beside this one with the arrow keys; everything else is done as in the chat."""
        step = _STEPS.get(Qt.Key(event.key()))
        is_plain = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier == Qt.KeyboardModifier.NoModifier
        if step is not None and is_plain and self._spots.focused is None:
            is_turned = self.layoutDirection() is Qt.LayoutDirection.RightToLeft
            self.neighbour_wanted.emit(-step if is_turned else step)
        else:
            super().keyPressEvent(event)

    def _paint_over(self, painter: QPainter, area: QRect) -> None:
        self.over(painter, area)
        super()._paint_over(painter, area)

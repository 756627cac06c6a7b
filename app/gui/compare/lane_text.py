"""The text of one lane: painted, selected and read aloud as any answer in the chat, in a narrow column of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from PySide6.QtCore import QRect, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QResizeEvent

from app.core.comparison import LETTERS
from app.gui import theme
from app.gui.chat.transcript import Transcript
from app.gui.chat.turn_block import GAP_PX, Shape, TurnBlock
from app.gui.formulas.shelf import Work
from app.gui.markdown.colouring import Lexers
from app.services.turns import Turn

_STEPS = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}


class Background(NamedTuple):
    """What prepares, away from the window's thread, what text is painted with."""

    lexers: Lexers
    formulas: Callable[[Work], None]
    """Runs what draws formulas."""


class LaneBlock(TurnBlock):
    """An answer without its name and its figures: both stand in the lane's header."""

    def _text_top(self) -> float:
        return 0.0

    def _paint_above(self, painter: QPainter, shape: Shape, look: theme.Theme) -> None:
        if self._waits:
            painter.setPen(look.colour("muted"))
            self._paint_waiting(painter, shape)

    def _lay_out_footer(self, width: float) -> None:
        self._footer, self._footer_px = [], 0


class LaneText(Transcript):
    """One turn in a view that scrolls; the margin on its left is the gutter, where marks can stand."""

    neighbour_wanted = Signal(int)
    """Somebody wants the keyboard in the lane so many places further on."""

    def __init__(self, lane: int, themes: theme.Themes, background: Background, *, is_cell: bool = False) -> None:
        self.margin_px = theme.SPACE_M if is_cell else theme.SPACE_L + theme.SPACE_XS
        self._is_cell = is_cell
        super().__init__(themes)
        self.lexers = background.lexers
        self.formulas.use(background.formulas)
        self.follows_end = True
        """Whether the newest text is shown; a lane that is whole is read from its beginning."""
        self.over: Callable[[QPainter, QRect], None] = lambda _painter, _area: None
        """Paints marks over the text and in the gutter."""
        self._is_moved = False
        self.setObjectName(f"lane_text_{LETTERS[lane].lower()}")
        self.setProperty("look", "lane_text")
        self.setMinimumHeight(0)
        self.verticalScrollBar().sliderMoved.connect(self._note_move)
        self.verticalScrollBar().actionTriggered.connect(self._note_move)

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

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Wrap the text anew; what nobody scrolled stays at its beginning."""
        super().resizeEvent(event)
        self._go_to_beginning()

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

    @property
    def _follows(self) -> bool:
        return self.follows_end and super()._follows

    @property
    def _most(self) -> int:
        """Scroll no further than the text goes: the gap under a turn holds nothing here, its buttons stand elsewhere."""
        return max(self.turns.total - GAP_PX - self.viewport().height(), self._held, 0)

    def _block(self, turn: Turn) -> TurnBlock:
        return LaneBlock(turn, self.lexers, formulas=self.formulas)

    def _note_move(self) -> None:
        self._is_moved = True

    def _go_to_beginning(self) -> None:
        if not self.follows_end and not self._is_moved:
            self._scroll_to(0)

"""One text in a view that scrolls, painted, selected and read aloud as any answer in the chat; shown from its beginning."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from PySide6.QtGui import QPainter, QResizeEvent

from app.gui import theme
from app.gui.chat.transcript import Transcript
from app.gui.chat.turn_block import GAP_PX, Shape, TurnBlock
from app.gui.formulas.shelf import Work
from app.gui.markdown.colouring import Lexers
from app.services.turns import Turn


class Background(NamedTuple):
    """What prepares, away from the window's thread, what text is painted with."""

    lexers: Lexers
    formulas: Callable[[Work], None]
    """Runs what draws formulas."""


class BlockAlone(TurnBlock):
    """An answer without its name and its figures: both stand elsewhere."""

    def _text_top(self) -> float:
        return 0.0

    def _paint_above(self, painter: QPainter, shape: Shape, look: theme.Theme) -> None:
        if self._waits:
            painter.setPen(look.colour("muted"))
            self._paint_waiting(painter, shape)

    def _lay_out_footer(self, width: float) -> None:
        self._footer, self._footer_px = [], 0


class TextAlone(Transcript):
    """Stays at its beginning until somebody scrolls, or follows its end while it is written."""

    def __init__(self, themes: theme.Themes, background: Background, margin_px: int) -> None:
        self.margin_px = margin_px
        super().__init__(themes)
        self.lexers = background.lexers
        self.formulas.use(background.formulas)
        self.follows_end = False
        """Whether the newest text is shown."""
        self._is_moved = False
        self.setProperty("look", "lane_text")
        self.setMinimumHeight(0)
        self.verticalScrollBar().sliderMoved.connect(self._note_move)
        self.verticalScrollBar().actionTriggered.connect(self._note_move)

    def show_text(self, turn: Turn) -> None:
        """Show a text from its beginning."""
        self._is_moved = False
        self.show_turns([turn])
        self._go_to_beginning()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Wrap the text anew; what nobody scrolled stays at its beginning."""
        super().resizeEvent(event)
        self._go_to_beginning()

    @property
    def _follows(self) -> bool:
        return self.follows_end and super()._follows

    @property
    def _most(self) -> int:
        """Scroll no further than the text goes: the gap under a turn holds nothing here, its buttons stand elsewhere."""
        return max(self.turns.total - GAP_PX - self.viewport().height(), self._held, 0)

    def _block(self, turn: Turn) -> TurnBlock:
        return BlockAlone(turn, self.lexers, formulas=self.formulas)

    def _note_move(self) -> None:
        self._is_moved = True

    def _go_to_beginning(self) -> None:
        if not self.follows_end and not self._is_moved:
            self._scroll_to(0)

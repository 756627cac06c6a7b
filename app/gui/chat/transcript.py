"""The conversation, painted: only what is visible, and while an answer grows only its open end.

Shows turns and reports what people do with them; asks nobody for anything.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from PySide6.QtCore import QEvent, QPoint, QRect, QRectF, QSignalBlocker, Qt, Signal
from PySide6.QtGui import (
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPixmap,
    QResizeEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QAbstractSlider, QFrame, QWidget

from app.gui import theme
from app.gui.chat.selection import Place, Selection
from app.gui.chat.turn_block import Shape, TurnBlock
from app.gui.chat.turn_list import TurnList
from app.services.turns import Turn

MARGIN_PX = theme.SPACE_XL
END_SLACK_PX = 8
"""The reader counts as being at the end within this distance."""
_ACTIONS: dict[int, QAbstractSlider.SliderAction] = {
    Qt.Key.Key_PageUp: QAbstractSlider.SliderAction.SliderPageStepSub,
    Qt.Key.Key_PageDown: QAbstractSlider.SliderAction.SliderPageStepAdd,
    Qt.Key.Key_Up: QAbstractSlider.SliderAction.SliderSingleStepSub,
    Qt.Key.Key_Down: QAbstractSlider.SliderAction.SliderSingleStepAdd,
    Qt.Key.Key_Home: QAbstractSlider.SliderAction.SliderToMinimum,
    Qt.Key.Key_End: QAbstractSlider.SliderAction.SliderToMaximum,
}


class Transcript(QAbstractScrollArea):
    """A scrolling column of turns that follows the end as long as the reader is there."""

    first_text_painted = Signal(object)
    """The first text of an answer is on the screen: the moment, `perf_counter_ns`."""
    moved = Signal()
    """Something lies elsewhere now: scrolled, grown or resized."""

    def __init__(self, themes: theme.Themes, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("transcript")
        self.setAccessibleName(self.tr("Conversation"))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.verticalScrollBar().setSingleStep(theme.READING_LINE_PX * 2)
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.viewport().setCursor(Qt.CursorShape.IBeamCursor)
        self._themes = themes
        self._turns = TurnList(MARGIN_PX, theme.SPACE_S)
        self._selection = Selection()
        self._unpainted: int | None = None
        themes.changed.connect(self.viewport().update)

    @property
    def is_at_end(self) -> bool:
        """Whether the newest text is in view."""
        bar = self.verticalScrollBar()
        return bar.value() >= bar.maximum() - END_SLACK_PX

    def clear(self) -> None:
        """Show no turns."""
        self._turns.clear()
        self._selection.clear()
        self._settle(follow=True)
        self.viewport().update()

    def show_turns(self, turns: Sequence[Turn]) -> None:
        """Show a whole conversation, its end in view; only what is visible is laid out."""
        self.clear()
        self._turns.set_width(self._shape().width)
        self._turns.extend([TurnBlock(turn) for turn in turns])
        self._settle(follow=True)
        self.viewport().update()

    def add(self, turn: Turn) -> None:
        """Show another turn at the end and go there."""
        self._turns.add(TurnBlock(turn))
        self._settle(follow=True)
        self.viewport().update()

    def remove_last(self) -> None:
        """Take the last turn away."""
        self._turns.remove_last()
        self._selection.clear()
        self._settle(follow=True)
        self.viewport().update()

    def grow(self, turn: Turn, text: str) -> None:
        """Show text that was added to a turn."""
        index = self._turns.index_of(turn.number)
        if index is None:
            return
        block = self._turns.blocks[index]
        if not block.text:
            self._unpainted = turn.number
        open_top, follow = block.open_top, self.is_at_end
        block.grow(text)
        self._turns.update(index)
        self._settle(follow)
        top = self._turns.top(index) + open_top - self._scrolled
        self.viewport().update(QRect(0, top, self.viewport().width(), self.viewport().height() - top))

    def refresh(self, turn: Turn) -> None:
        """Show a turn anew that is another one than it was."""
        index = self._turns.index_of(turn.number)
        if index is None:
            return
        block, follow = self._turns.blocks[index], self.is_at_end
        block.turn = turn
        block.refresh()
        self._turns.update(index)
        self._settle(follow)
        self.viewport().update()

    def go_to_end(self) -> None:
        """Show the newest text."""
        self._settle(follow=True)

    def warm_up(self) -> None:
        """Paint a turn where nobody sees it: the first text that Qt paints costs a tenth of a second."""
        block = TurnBlock(Turn(0, "assistant", "Aa 0 “é” – …"))
        block.lay_out(theme.reading_width())
        picture = QPixmap(int(theme.reading_width()), block.height)
        painter = QPainter(picture)
        block.paint(painter, Shape(0, picture.width()), QRectF(picture.rect()), self._themes.current, None)
        painter.end()

    def footer_place(self) -> QRect | None:
        """Return where the figures of the last turn lie in the viewport, for the buttons beside them."""
        if not self._turns.blocks or self._turns.blocks[-1].is_user:
            return None
        shape = self._shape()
        block = self._turns.blocks[-1]
        top = self._turns.top(len(self._turns.blocks) - 1) + block.footer_top - self._scrolled
        return QRect(round(shape.left), top, round(shape.width), block.height - block.footer_top - theme.SPACE_XL)

    def selected_text(self) -> str:
        """Return what is selected."""
        return self._selection.text([block.text for block in self._turns.blocks])

    def select_all(self) -> None:
        """Select every turn."""
        if self._turns.blocks:
            self._selection.start(Place(0, 0))
            self._selection.extend(Place(len(self._turns.blocks) - 1, len(self._turns.blocks[-1].text)))
            self.viewport().update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the turns that touch what must be painted."""
        look, shape, scrolled = self._themes.current, self._shape(), self._scrolled
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        area = event.rect()
        painter.fillRect(area, look.colour("surface"))
        has_first_text = False
        for index in self._turns.visible(area.top() + scrolled, area.bottom() + scrolled):
            block, top = self._turns.blocks[index], self._turns.top(index) - scrolled
            if not block.is_exact:
                block.lay_out(shape.width)
            painter.save()
            painter.translate(0, top)
            selected = self._selection.range_in(index, len(block.text))
            block.paint(painter, shape, QRectF(area).translated(0, -top), look, selected)
            painter.restore()
            has_first_text = has_first_text or (block.turn.number == self._unpainted and bool(block.text))
        painter.end()
        if has_first_text:
            self._unpainted = None
            self.first_text_painted.emit(time.perf_counter_ns())

    def resizeEvent(self, _event: QResizeEvent) -> None:
        """Wrap the text at the new width."""
        self._settle(self.is_at_end)

    def scrollContentsBy(self, _dx: int, dy: int) -> None:
        """Move what is painted, and paint only what came into view."""
        self._measure_visible()
        self.viewport().scroll(0, dy)
        self.moved.emit()

    def changeEvent(self, event: QEvent) -> None:
        """Paint anew in another look."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self.viewport().update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Scroll and copy by keyboard."""
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
        elif event.matches(QKeySequence.StandardKey.SelectAll):
            self.select_all()
        elif (action := _ACTIONS.get(event.key())) is not None:
            self.verticalScrollBar().triggerAction(action)
        else:
            super().keyPressEvent(event)

    def copy(self) -> None:
        """Put what is selected on the clipboard."""
        if text := self.selected_text():
            QGuiApplication.clipboard().setText(text)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Begin to select."""
        if event.button() is Qt.MouseButton.LeftButton and self._turns.blocks:
            if event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
                self._selection.extend(self._place_at(event.position().toPoint()))
            else:
                self._selection.start(self._place_at(event.position().toPoint()))
            self.viewport().update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Select up to the mouse, and scroll when it leaves the view."""
        if event.buttons() & Qt.MouseButton.LeftButton and self._turns.blocks:
            y = event.position().toPoint().y()
            beyond = min(y, 0) + max(y - self.viewport().height(), 0)
            if beyond:
                bar = self.verticalScrollBar()
                bar.setValue(bar.value() + beyond)
            self._selection.extend(self._place_at(event.position().toPoint()))
            self.viewport().update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Keep what is selected."""
        event.accept()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Select a word."""
        if event.button() is Qt.MouseButton.LeftButton and self._turns.blocks:
            place = self._place_at(event.position().toPoint())
            self._selection.word(place, self._turns.blocks[place.block].text)
            self.viewport().update()

    @property
    def _scrolled(self) -> int:
        return self.verticalScrollBar().value()

    def _shape(self) -> Shape:
        width = min(theme.reading_width(), self.viewport().width() - 2 * MARGIN_PX)
        return Shape(round((self.width() - width) / 2), width)

    def _settle(self, follow: bool) -> None:
        """Measure what is visible and bring the scroll bar to where it belongs."""
        bar = self.verticalScrollBar()
        self._turns.set_width(self._shape().width)
        height = self.viewport().height()
        for _ in range(len(self._turns.blocks) + 1):
            before = self._turns.total
            bar.setPageStep(height)
            bar.setRange(0, max(before - height, 0))
            if follow:
                bar.setValue(bar.maximum())
            self._measure_visible()
            if self._turns.total == before:
                break
        self.moved.emit()

    def _measure_visible(self) -> None:
        bar = self.verticalScrollBar()
        moved = self._turns.measure(bar.value(), bar.value() + self.viewport().height())
        if moved:
            with QSignalBlocker(bar):
                bar.setMaximum(bar.maximum() + max(moved, 0))
                bar.setValue(bar.value() + moved)
            self.viewport().update()

    def _place_at(self, point: QPoint) -> Place:
        y = point.y() + self._scrolled
        index = self._turns.index_at(y)
        block = self._turns.blocks[index]
        if not block.is_exact:
            block.lay_out(self._shape().width)
        return Place(index, block.offset_at(point.x(), y - self._turns.top(index), self._shape()))

"""The turns as people point at them: text is selected with the mouse, links and buttons are pressed, hints appear.

Knows nothing of the keyboard and of menus.
"""

from __future__ import annotations

import html
from collections.abc import Callable

from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication, QHelpEvent, QMouseEvent, QPainter, QWheelEvent
from PySide6.QtWidgets import QToolTip, QWidget

from app.gui import theme
from app.gui.chat import footer
from app.gui.chat.leaf import Range
from app.gui.chat.notches import Notches
from app.gui.chat.plain_text import PlainText
from app.gui.chat.selection import Place, Selection
from app.gui.chat.side_scrolling import SideScrolling
from app.gui.chat.spots import Spots, Spotted, again, distinct, spoken, spot_under, spots_between
from app.gui.chat.turn_block import GAP_PX, rects_of
from app.gui.chat.turn_view import TurnView

COPIED_MS = 1000
_SETTLING = 3
"""What was only estimated above may move what is looked for when it is measured."""
SELECT_ON_MS = 30
"""While the mouse is held beyond an edge the selection goes on this often."""


class PointedView(TurnView):
    """Turns that can be selected and pressed."""

    file_clicked = Signal(object)
    """Somebody wants to read a file of a message (`AttachedFile`)."""
    link_clicked = Signal(str)
    """Somebody wants to open this address; it is one of the web or of mail."""

    def __init__(self, themes: theme.Themes, parent: QWidget | None = None) -> None:
        super().__init__(themes, parent)
        self.viewport().setCursor(Qt.CursorShape.IBeamCursor)
        self.viewport().setMouseTracking(True)
        self._selection = Selection()
        self._spots = Spots()
        self._side = SideScrolling(self._spots_between)
        self._pressed: Spotted | None = None
        self._dragged_to = QPointF()
        self._notches = Notches()
        self.overlays: list[Callable[[QPainter, QRect], None]] = []
        """What others paint over the turns, in a part of the viewport."""
        self._copied = QTimer(self)
        self._copied.setSingleShot(True)
        self._copied.setInterval(COPIED_MS)
        self._copied.timeout.connect(self._forget_copied)
        self._select_on = QTimer(self)
        self._select_on.setInterval(SELECT_ON_MS)
        self._select_on.timeout.connect(self._select_to_mouse)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Begin to select, or to press a link or a button."""
        if event.button() is not Qt.MouseButton.LeftButton or not self.turns.blocks:
            return
        self._pressed = self._spot_at(event.position())
        self._spots.focused = None
        if self._pressed is not None and self._pressed.spot.kind == "scroll":
            self._side.press(self._pressed, event.position())
        elif event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self._selection.extend(self._place_at(event.position().toPoint()))
        else:
            self._selection.start(self._place_at(event.position().toPoint()))
            self._stays = False
        self.viewport().update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Select up to the mouse, and scroll when it leaves the view; else show what is under the mouse."""
        if not event.buttons() & Qt.MouseButton.LeftButton:
            self._hover(self._spot_at(event.position()))
            return
        if self._side.is_held:
            self._side.drag(event.position())
            self.viewport().update()
        elif self.turns.blocks and not (self._pressed is not None and self._pressed.spot.kind == "copy"):
            self._dragged_to = event.position()
            self._select_to_mouse()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Keep what is selected; where nothing is, use what was pressed."""
        event.accept()
        self._select_on.stop()
        self._side.release()
        pressed, self._pressed = self._pressed, None
        released = self._spot_at(event.position())
        if pressed is not None and pressed.is_same(released) and self._selection.is_empty:
            self._use(pressed)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Select a word."""
        if event.button() is Qt.MouseButton.LeftButton and self.turns.blocks:
            place = self._place_at(event.position().toPoint())
            self._selection.word(place, self.turns.blocks[place.block].text)
            self._stays = not self._selection.is_empty
            self.viewport().update()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Change the size of the text with Ctrl; else scroll a wide block sideways, or all turns."""
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            if steps := self._notches.turn(event):
                self._themes.step_text_size(steps)
            event.accept()
        elif self._side.wheel(event):
            event.accept()
            self.viewport().update()
        else:
            super().wheelEvent(event)

    def viewportEvent(self, event: QEvent) -> bool:
        """Say on hover where a link leads, and everything that is known of an answer."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            text = self._hint_at(event.pos())
            # A hint that begins like a tag would be taken for HTML.
            shown = "<qt>" + html.escape(text).replace("\n", "<br>") + "</qt>" if text else ""
            QToolTip.showText(event.globalPos(), shown, self.viewport())
            return True
        if event.type() == QEvent.Type.Leave:
            self._hover(None)
        return super().viewportEvent(event)

    def unfold(self, number: int) -> None:
        """Show what is folded away in a turn."""
        self._selection.clear()  # what was selected lies elsewhere in the text then
        self._toggle_fold(number)

    def rects(self, index: int, start: int, end: int) -> list[QRectF]:
        """Return where characters of a turn are seen, counted from the corner of the viewport."""
        top = self.turns.top(index) - self._scrolled
        return [rect.translated(0, top) for rect in rects_of(self.turns.blocks[index], start, end, self._shape())]

    def file_rects(self, number: int) -> dict[int, QRectF]:
        """Return where the rows of a turn's files are seen, by which file it is."""
        spots = self._spots_between(0, self.viewport().height())
        return {
            each.spot.key[-1]: each.spot.rect for each in spots if each.turn == number and each.spot.kind == "file"
        }

    def seen_in(self, index: int, top: int, bottom: int) -> Range:
        """Return about which characters of a turn lie between two heights of the viewport."""
        block, shape, above = self.turns.blocks[index], self._shape(), self.turns.top(index) - self._scrolled
        return block.offset_at(0, top - above, shape), block.offset_at(self.width(), bottom - above, shape) + 1

    def show_characters(self, index: int, start: int, end: int) -> bool:
        """Bring characters of a turn into view; false where they are not read yet: some more is read then."""
        self._stays = True
        for _ in range(_SETTLING):
            self.turns.update(index)
            rects = self.rects(index, start, end)
            if self.turns.blocks[index].body.bring_into_view(start, end):
                rects = self.rects(index, start, end)
            if not rects:
                self.turns.blocks[index].is_exact = False
                self._scroll_to(self.turns.top(index))
                return False
            height = self.viewport().height()
            if rects[0].top() >= theme.SPACE_L and rects[0].bottom() <= height - theme.SPACE_L:
                break
            self._scroll_to(self._scrolled + int(rects[0].top()) - height // 3)
        self.viewport().update()
        return True

    def _select_to_mouse(self) -> None:
        """Select up to the mouse; where it is held beyond an edge, go on in that direction."""
        point = self._dragged_to
        y = round(point.y())
        beyond = min(y, 0) + max(y - self.viewport().height(), 0)
        bar = self.verticalScrollBar()
        before = bar.value()
        bar.setValue(before + beyond)
        moved = self._side.select_to(point) or bar.value() != before
        self._selection.extend(self._place_at(point.toPoint()))
        self._stays = not self._selection.is_empty
        if not moved:
            self._select_on.stop()
        elif not self._select_on.isActive():
            self._select_on.start()
        self.viewport().update()

    def _selected_in(self, index: int) -> Range | None:
        return None if self._selection.is_empty else self._selection.range_in(index)

    def _paint_over(self, painter: QPainter, area: QRect) -> None:
        for paint in self.overlays:
            paint(painter, area)
        marked = [each for each in (self._spots.hovered, self._spots.focused, self._spots.copied) if each is not None]
        for spotted in self._spots_between(area.top(), area.bottom()) if marked else ():
            if any(spotted.is_same(each) for each in marked):
                self._spots.paint(painter, spotted, self._themes.current, has_focus=self.hasFocus())

    def _forget(self) -> None:
        super()._forget()
        self._selection.clear()
        self._spots.clear()
        self._pressed = None
        self._side.release()
        self._select_on.stop()

    def _say(self, words: str) -> None:
        """Have something read aloud."""

    def _use(self, spotted: Spotted) -> None:
        if spotted.spot.kind == "link":
            self.link_clicked.emit(spotted.spot.value)
            return
        if spotted.spot.kind == "file":
            self._show_file(spotted)
            return
        if spotted.spot.kind in ("fold", "think"):
            self._spots.focused = self._spots.focused if spotted.spot.kind == "think" else None
            self._selection.clear()  # what was selected lies elsewhere in the text then
            self._toggle_fold(spotted.turn)
            self._say(spoken(again(self._spots_in_view(), spotted).spot))
        if spotted.spot.kind != "copy":
            return
        to_clipboard(spotted.spot.value)
        self._spots.copied = spotted
        self._copied.start()
        self.viewport().update()

    def _show_file(self, spotted: Spotted) -> None:
        index = self.turns.index_of(spotted.turn)
        body = self.turns.blocks[index].body if index is not None else None
        if isinstance(body, PlainText):
            self.file_clicked.emit(body.files[spotted.spot.key[-1]])

    def _toggle_fold(self, number: int) -> None:
        """Show all of a very long message, or only its beginning again."""
        index = self.turns.index_of(number)
        if index is None:
            return
        self._stays = True
        self.turns.blocks[index].toggle_fold()
        self.turns.update(index)
        if self.turns.top(index) < self._scrolled:
            self.verticalScrollBar().setValue(self.turns.top(index))
        self._settle(follow=False)
        self.viewport().update()

    def _forget_copied(self) -> None:
        self._spots.copied = None
        self.viewport().update()

    def _hover(self, spotted: Spotted | None) -> None:
        if spotted is None and self._spots.hovered is None:
            return
        hand = Qt.CursorShape.PointingHandCursor
        shape = {None: Qt.CursorShape.IBeamCursor, "link": hand, "fold": hand, "think": hand, "file": hand}
        kind = spotted.spot.kind if spotted is not None else None
        self.viewport().setCursor(shape.get(kind, Qt.CursorShape.ArrowCursor))
        if spotted is None or not spotted.is_same(self._spots.hovered):
            self._spots.hovered = spotted
            self.viewport().update()

    def _hint_at(self, point: QPoint) -> str:
        if not self.turns.blocks:
            return ""
        spotted = self._spot_at(QPointF(point))
        if spotted is not None:
            return spotted.spot.value if spotted.spot.kind == "link" else ""
        index = self.turns.index_at(point.y() + self._scrolled)
        block = self.turns.blocks[index]
        below = point.y() + self._scrolled - self.turns.top(index) - block.footer_top
        is_at_figures = not block.is_user and 0 <= below < block.height - GAP_PX - block.footer_top
        return footer.details(block.turn) if is_at_figures else ""

    def _spot_at(self, point: QPointF) -> Spotted | None:
        return spot_under(self._spots_between(int(point.y()), int(point.y())), point)

    def _spots_in_view(self) -> list[Spotted]:
        """Return one place for each spot of the turns in view: a link over two lines is one stop."""
        return distinct(self._spots_between(0, self.viewport().height()))

    def _spots_between(self, top: int, bottom: int) -> list[Spotted]:
        """Return the spots of the turns that lie between two heights of the view."""
        return spots_between(self.turns, self._shape(), self._scrolled, top, bottom)

    def _place_at(self, point: QPoint) -> Place:
        y = point.y() + self._scrolled
        index = self.turns.index_at(y)
        block = self.turns.blocks[index]
        if not block.is_exact:
            block.lay_out(self._shape().width)
        return Place(index, block.offset_at(point.x(), y - self.turns.top(index), self._shape()))


def to_clipboard(text: str) -> None:
    """Put a text on the clipboard."""
    QGuiApplication.clipboard().setText(text)

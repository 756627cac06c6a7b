"""The conversation as people use it: text is selected and copied, links are opened, code is copied, all of it read aloud.

Shows turns and reports what people do with them; asks nobody for anything and opens nothing itself.
"""

from __future__ import annotations

import html
from collections.abc import Iterator
from copy import copy
from typing import cast

from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, Qt, QTimer, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QFocusEvent,
    QGuiApplication,
    QHelpEvent,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QWheelEvent,
)
from PySide6.QtWidgets import QAbstractSlider, QToolTip, QWidget

from app.gui import theme
from app.gui.chat import accessible, footer
from app.gui.chat.copied_source import source_pieces
from app.gui.chat.copying import Copying
from app.gui.chat.leaf import Range
from app.gui.chat.selection import END, Place, Selection
from app.gui.chat.side_scrolling import SideScrolling
from app.gui.chat.spots import Spots, Spotted, again, distinct, spoken, spot_under, spots_between
from app.gui.chat.transcript_keys import PRESSING, SCROLLING, Notches, copies_plain
from app.gui.chat.transcript_menu import TranscriptMenu
from app.gui.chat.turn_block import GAP_PX
from app.gui.chat.turn_view import TurnView
from app.services.turns import Turn

COPIED_MS = 1000
SELECT_ON_MS = 30
"""While the mouse is held beyond an edge the selection goes on this often."""


class Transcript(TurnView):
    """A scrolling column of turns that follows the end as long as the reader is there."""

    link_clicked = Signal(str)
    """Somebody wants to open this address; it is one of the web or of mail."""

    def __init__(self, themes: theme.Themes, parent: QWidget | None = None) -> None:
        super().__init__(themes, parent)
        self.setObjectName("transcript")
        self.setAccessibleName(self.tr("Conversation"))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.viewport().setCursor(Qt.CursorShape.IBeamCursor)
        self.viewport().setMouseTracking(True)
        self.conversation: accessible.Conversation | None = None
        """What reads it aloud, once somebody has asked for it."""
        self._selection = Selection()
        self._spots = Spots()
        self._side = SideScrolling(self._spots_between)
        self._pressed: Spotted | None = None
        self._dragged_to = QPointF()
        self._writing: int | None = None
        self._notches = Notches()
        self._copying = Copying(self)
        self._copied = QTimer(self)
        self._copied.setSingleShot(True)
        self._copied.setInterval(COPIED_MS)
        self._copied.timeout.connect(self._forget_copied)
        self._select_on = QTimer(self)
        self._select_on.setInterval(SELECT_ON_MS)
        self._select_on.timeout.connect(self._select_to_mouse)
        accessible.install()

    def grow(self, turn: Turn, text: str) -> None:
        """Show text that was added to a turn."""
        super().grow(turn, text)
        self._writing = turn.number
        if self.conversation is not None:
            self.conversation.note_change(turn.number, is_end=False)

    def refresh(self, turn: Turn) -> None:
        """Show a turn anew that is another one than it was."""
        super().refresh(turn)
        is_end = self._writing == turn.number and turn.state in ("done", "interrupted")
        if self.conversation is not None:
            self.conversation.note_change(turn.number, is_end=turn.state not in ("waiting", "writing"))
            if is_end:
                self.conversation.announce_end(turn.number)
        if is_end:
            self._writing = None

    def selected_text(self) -> str:
        """Return what is selected."""
        return "".join(self._selected_pieces())

    def select_all(self) -> None:
        """Select every turn."""
        if self.turns.blocks:
            self._selection.start(Place(0, 0))
            self._selection.extend(Place(len(self.turns.blocks) - 1, END))
            self.viewport().update()

    def copy(self) -> None:
        """Put the Markdown of what is selected on the clipboard, that of a long selection bit by bit."""
        self._copying.start(source_pieces(copy(self._selection), list(self.turns.blocks)))

    def copy_plain(self) -> None:
        """Put what is selected on the clipboard as it is shown."""
        self._copying.start(self._selected_pieces())

    def event(self, event: QEvent) -> bool:
        """Keep the key that copies what is selected from the action of the window that copies the last answer."""
        is_override = isinstance(event, QKeyEvent) and event.type() == QEvent.Type.ShortcutOverride
        if is_override and copies_plain(cast(QKeyEvent, event)) and not self._selection.is_empty:
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Scroll, copy, and use what has the keyboard."""
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
        elif copies_plain(event):
            self.copy_plain()
        elif event.matches(QKeySequence.StandardKey.SelectAll):
            self.select_all()
        elif event.key() in PRESSING and self._spots.focused is not None:
            self._use(self._spots.focused)
        elif self._side.key(self._spots.focused, event.key(), self.viewport().height()):
            self.viewport().update()
        elif (action := SCROLLING.get(event.key())) is not None:
            self.verticalScrollBar().triggerAction(action)
            if action is QAbstractSlider.SliderAction.SliderToMaximum:
                self.go_to_end()
        else:
            super().keyPressEvent(event)

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Go through the links and copy buttons in view before the keyboard goes elsewhere."""
        reached = self._spots.step(self._spots_in_view(), forward=forward)
        self.viewport().update()
        if reached is None:
            return super().focusNextPrevChild(forward)
        if self.conversation is not None:
            self.conversation.announce(spoken(reached.spot))
        rect = reached.spot.rect
        bar = self.verticalScrollBar()
        if rect.top() < 0:
            bar.setValue(bar.value() + int(rect.top()) - theme.SPACE_L)
        elif rect.bottom() > self.viewport().height():
            bar.setValue(bar.value() + int(rect.bottom()) - self.viewport().height() + theme.SPACE_L)
        return True

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Take the ring away."""
        super().focusOutEvent(event)
        if event.reason() is not Qt.FocusReason.PopupFocusReason:
            self._spots.focused = None
        self.viewport().update()

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

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer what can be done here."""
        by_mouse = event.reason() is QContextMenuEvent.Reason.Mouse
        spotted = self._spot_at(QPointF(event.pos())) if by_mouse else self._spots.focused
        menu = TranscriptMenu(self)
        if spotted is not None:
            menu.add_spot(spotted, lambda: self._use(spotted), lambda: _to_clipboard(spotted.spot.value))
        menu.add_copying(self.copy, self.copy_plain, self.select_all, can_copy=not self._selection.is_empty)
        menu.popup(event.globalPos())

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

    def _selected_pieces(self) -> Iterator[str]:
        """Return what is selected now, in pieces: also while it is read other turns may be shown."""
        blocks, selection = list(self.turns.blocks), copy(self._selection)
        return selection.pieces(lambda index: blocks[index].texts())

    def _selected_in(self, index: int) -> Range | None:
        return None if self._selection.is_empty else self._selection.range_in(index)

    def _paint_over(self, painter: QPainter, area: QRect) -> None:
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
        if self.conversation is not None:
            self.conversation.forget()

    def _use(self, spotted: Spotted) -> None:
        if spotted.spot.kind == "link":
            self.link_clicked.emit(spotted.spot.value)
            return
        if spotted.spot.kind in ("fold", "think"):
            self._spots.focused = self._spots.focused if spotted.spot.kind == "think" else None
            self._selection.clear()  # what was selected lies elsewhere in the text then
            self._toggle_fold(spotted.turn)
            if self.conversation is not None:
                self.conversation.announce(spoken(again(self._spots_in_view(), spotted).spot))
        if spotted.spot.kind != "copy":
            return
        _to_clipboard(spotted.spot.value)
        self._spots.copied = spotted
        self._copied.start()
        self.viewport().update()

    def _forget_copied(self) -> None:
        self._spots.copied = None
        self.viewport().update()

    def _hover(self, spotted: Spotted | None) -> None:
        if spotted is None and self._spots.hovered is None:
            return
        hand = Qt.CursorShape.PointingHandCursor
        shape = {None: Qt.CursorShape.IBeamCursor, "link": hand, "fold": hand, "think": hand}
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


def _to_clipboard(text: str) -> None:
    QGuiApplication.clipboard().setText(text)

"""The conversation as people use it: by mouse and keyboard, with a message at hand, its menu, and all of it read aloud.

Shows turns and reports what people do with them; asks nobody for anything and opens nothing itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from itertools import islice

from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QFocusEvent,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPen,
)
from PySide6.QtWidgets import QAbstractSlider, QWidget

from app.gui import theme
from app.gui.chat import accessible
from app.gui.chat.copied_source import source_pieces
from app.gui.chat.copying import Copying
from app.gui.chat.left_out_marks import paint_mark
from app.gui.chat.pointed_view import PointedView, to_clipboard
from app.gui.chat.selection import END, Place
from app.gui.chat.spots import RING_PX, Spotted, spoken
from app.gui.chat.transcript_keys import PRESSING, SCROLLING, wish_of
from app.gui.chat.transcript_menu import TranscriptMenu
from app.gui.chat.turn_block import CARD_PADDING_X
from app.gui.chat.turn_wish import Wish
from app.services.turns import Turn


class Transcript(PointedView):
    """A scrolling column of turns that follows the end as long as the reader is there."""

    turn_wanted = Signal(object, str)
    """A key wants something (`Wish`) of the message at hand."""
    turn_menu_opens = Signal(object, object)
    """A menu opens at a turn: who knows what can be done with it adds that."""
    at_hand_changed = Signal()
    """Another message is at hand, or the keyboard came or went."""

    def __init__(self, themes: theme.Themes, parent: QWidget | None = None) -> None:
        super().__init__(themes, parent)
        self.setObjectName("transcript")
        self.setAccessibleName(self.tr("Conversation"))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.conversation: accessible.Conversation | None = None
        """What reads it aloud, once somebody has asked for it."""
        self.version_of: Callable[[Turn], tuple[int, int]] = lambda _turn: (1, 1)
        """Which version of its message a turn is, from 1, and how many there are; set by who knows."""
        self.left_out: frozenset[int] = frozenset()
        """The turns (their numbers) that are not sent any more, because the context is full."""
        self._at_hand: int | None = None
        self._writing: int | None = None
        self._copying = Copying(self)
        accessible.install()

    @property
    def has_selection(self) -> bool:
        """Whether any text is selected."""
        return not self._selection.is_empty

    @property
    def at_hand(self) -> Turn | None:
        """The message that keys do something with."""
        index = self._index_at_hand()
        return None if index is None else self.turns.blocks[index].turn

    def take(self, number: int | None, *, scrolls: bool = True) -> None:
        """Have a message at hand and in view, or none; it may stay where it is."""
        index = self.turns.index_of(number) if number is not None else None
        self._at_hand = number if index is not None else None
        if index is not None:
            self._spots.focused = None
            self._stays = index < len(self.turns.blocks) - 1
            if scrolls:
                self.show_whole(index)
            if self.conversation is not None:
                self.conversation.tell_at_hand()
        self._hide_outer_ring(self._at_hand is not None)
        self.at_hand_changed.emit()
        self.viewport().update()

    def take_next(self, by: int) -> None:
        """Have the next message further down or up at hand, at first the one in view that is nearest."""
        index, last = self._index_at_hand(), len(self.turns.blocks) - 1
        if last < 0:
            return
        if index is None:
            in_view = self.places.in_view()
            index = in_view[-1] if by < 0 else in_view[0]
        else:
            index = min(max(index + by, 0), last)
        self.setFocus(Qt.FocusReason.OtherFocusReason)
        self.take(self.turns.blocks.turns[index].number)

    def show_whole(self, index: int) -> None:
        """Bring all of a turn into view, or of a high one what fits, from its beginning on."""
        self.turns.update(index)
        above, height = self.turns.top(index) - self._scrolled - self.margin_px, self.viewport().height()
        below = above + self.margin_px + self.turns.blocks[index].height - height
        if above < 0 or below > 0:
            self._scroll_to(self._scrolled + min(above, max(below, 0)))

    def leave_out(self, numbers: frozenset[int]) -> None:
        """Mark the messages that are not sent any more."""
        if numbers != self.left_out:
            self.left_out = numbers
            self.viewport().update()

    def show_from(self, first: int, turns: Sequence[Turn]) -> bool:
        """Show other turns from a place on; what takes the place of the message at hand is at hand then."""
        index = self._index_at_hand()
        is_back = super().show_from(first, turns)
        if index is not None and index >= first and self._index_at_hand() is None and self.turns.blocks:
            number = self.turns.blocks.turns[min(index, len(self.turns.blocks) - 1)].number
            self.take(number, scrolls=not is_back)
        return is_back

    def grow(self, turn: Turn, text: str) -> None:
        """Show text that was added to a turn, and the ring around it where it lies now."""
        super().grow(turn, text)
        index = self._index_at_hand() if turn.number == self._at_hand and self.hasFocus() else None
        if index is not None:
            place = self._ring(index).adjusted(-RING_PX, 0, RING_PX, 0)
            place.setTop(self.turns.top(index) + self.turns.blocks[index].changed_top - self._scrolled)
            place.setBottom(self.viewport().height())  # the lower edge may have been further down
            self.viewport().update(place)
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

    def select_all(self) -> None:
        """Select every turn."""
        if self.turns.blocks:
            self._selection.start(Place(0, 0))
            self._selection.extend(Place(len(self.turns.blocks) - 1, END))
            self.viewport().update()

    def copy(self) -> None:
        """Put the Markdown of what is selected on the clipboard, that of a long selection bit by bit."""
        self._copying.start(source_pieces(copy(self._selection), self.turns.blocks.snapshot()))

    def copy_plain(self) -> None:
        """Put what is selected on the clipboard as it is shown."""
        self._copying.start(self._selected_pieces())

    def event(self, event: QEvent) -> bool:
        """Keep the keys for what is selected and for the message at hand from the actions of the window."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.ShortcutOverride and self._takes(event):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Scroll, copy, use what has the keyboard, and do something with the message at hand."""
        wish = wish_of(event)
        if wish == "copy" and not self._copies_at_hand:
            self.copy()
        elif wish == "copy_plain" and not self._copies_at_hand:
            self.copy_plain()
        elif event.matches(QKeySequence.StandardKey.SelectAll):
            self.select_all()
        elif event.key() in PRESSING and self._spots.focused is not None:
            self._use(self._spots.focused)
        elif self._side.key(self._spots.focused, event.key(), self.viewport().height()):
            self.viewport().update()
        elif wish is not None and self._takes(event):
            self._want(wish)
        elif event.key() == Qt.Key.Key_Escape and self._at_hand is not None:
            self.take(None)
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
        self._say(spoken(reached.spot))
        rect = reached.spot.rect
        bar = self.verticalScrollBar()
        if rect.top() < 0:
            bar.setValue(bar.value() + int(rect.top()) - theme.SPACE_L)
        elif rect.bottom() > self.viewport().height():
            bar.setValue(bar.value() + int(rect.bottom()) - self.viewport().height() + theme.SPACE_L)
        return True

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show which message is at hand."""
        super().focusInEvent(event)
        self.at_hand_changed.emit()
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Take the ring away."""
        super().focusOutEvent(event)
        if event.reason() is not Qt.FocusReason.PopupFocusReason:
            self._spots.focused = None
        self.at_hand_changed.emit()
        self.viewport().update()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Have no message at hand any more: what is pointed at is what matters."""
        if event.button() is Qt.MouseButton.LeftButton and self._at_hand is not None:
            self.take(None)
        super().mousePressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer what can be done here: with what lies there, with what is selected, and with the message."""
        if event.reason() is QContextMenuEvent.Reason.Mouse:
            spotted = self._spot_at(QPointF(event.pos()))
            self._open_menu(spotted, self.places.turn_at(event.pos()), event.globalPos())
        else:
            self._open_menu_by_key()

    def _open_menu_by_key(self) -> None:
        """Open the menu of what has the keyboard; a system may tell one key twice, as a key and as a wish."""
        if any(menu.isVisible() for menu in self.findChildren(TranscriptMenu)):
            return
        spotted, index = self._spots.focused, self._index_at_hand()
        if spotted is not None:
            index = self.turns.index_of(spotted.turn)
        turn = None if index is None else self.turns.blocks[index].turn
        place = self.viewport().rect().center()
        if spotted is not None:
            place = spotted.spot.rect.bottomLeft().toPoint()
        elif index is not None:
            place = self._card(index).intersected(self.viewport().rect()).bottomLeft()
        self._open_menu(spotted, turn, self.viewport().mapToGlobal(place))

    def _open_menu(self, spotted: Spotted | None, turn: Turn | None, place: QPoint) -> None:
        menu = TranscriptMenu(self)
        if spotted is not None:
            menu.add_spot(spotted, lambda: self._use(spotted), lambda: to_clipboard(spotted.spot.value))
        menu.add_copying(self.copy, self.copy_plain, self.select_all, can_copy=not self._selection.is_empty)
        if turn is not None:
            menu.addSeparator()
            self.turn_menu_opens.emit(menu, turn)
        menu.popup(place)

    @property
    def _copies_at_hand(self) -> bool:
        return self._selection.is_empty and self._at_hand is not None

    def _takes(self, event: QKeyEvent) -> bool:
        """Return whether a key does something here that it could do elsewhere in the window, too."""
        wish = wish_of(event)
        if wish in ("copy", "copy_plain"):
            return not self._selection.is_empty or self._at_hand is not None
        # Enter on a button under a message presses that.
        has_keyboard = self.hasFocus() or event.key() not in PRESSING
        return wish is not None and self._at_hand is not None and has_keyboard

    def _want(self, wish: Wish) -> None:
        if wish == "more":
            self._open_menu_by_key()
        elif (turn := self.at_hand) is not None:
            self.turn_wanted.emit(turn, wish)

    def _hide_outer_ring(self, hides: bool) -> None:
        """One ring is enough: the one around the message at hand."""
        if bool(self.property("holds_message")) is not hides:
            self.setProperty("holds_message", hides)
            self.style().unpolish(self)
            self.style().polish(self)

    def _index_at_hand(self) -> int | None:
        return self.turns.index_of(self._at_hand) if self._at_hand is not None else None

    def _selected_pieces(self) -> Iterator[str]:
        """Return what is selected now, in pieces: also while it is read other turns may be shown."""
        blocks, selection = self.turns.blocks.snapshot(), copy(self._selection)
        return selection.pieces(lambda index: blocks[index].texts())

    def _paint_over(self, painter: QPainter, area: QRect) -> None:
        look = self._themes.current
        for index in self.turns.visible(area.top() + self._scrolled, area.bottom() + self._scrolled):
            turn = self.turns.blocks[index].turn
            if turn.number in self.left_out:
                is_last = self._is_last_left_out(index)
                paint_mark(painter, self.places.turn(index), look, is_last=is_last, is_user=turn.role == "user")
            if turn.number == self._at_hand and self.hasFocus():
                self._paint_ring(painter, index)
        super()._paint_over(painter, area)

    def _paint_ring(self, painter: QPainter, index: int) -> None:
        """Paint the ring around the message at hand: around the card of a question, and else around the column."""
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(self._themes.current.colour("accent"), RING_PX))
        painter.drawRoundedRect(self._ring(index), theme.RADIUS_CARD, theme.RADIUS_CARD)

    def _ring(self, index: int) -> QRect:
        """Return the middle of the ring's line: that of an answer stays clear of the buttons under it."""
        place = self._card(index)
        if not self.turns.blocks[index].is_user:
            place.adjust(-theme.SPACE_S, 0, theme.SPACE_S, -theme.SPACE_XS)
        return place.adjusted(-RING_PX, -RING_PX, RING_PX, RING_PX)

    def _card(self, index: int) -> QRect:
        """Return where a message is seen: the card of a question, and else the column."""
        place, block = self.places.turn(index), self.turns.blocks[index]
        if block.is_user:
            place.setLeft(round(place.right() + 1 - block.body.used_width - 2 * CARD_PADDING_X))
        return place

    def _is_last_left_out(self, index: int) -> bool:
        """Return whether the next turn that says anything is sent."""
        after = islice(self.turns.blocks.turns, index + 1, None)
        following = next((turn for turn in after if turn.text), None)
        return following is None or following.number not in self.left_out

    def _forget(self) -> None:
        super()._forget()
        if self.conversation is not None:
            self.conversation.forget()

    def _say(self, words: str) -> None:
        if self.conversation is not None:
            self.conversation.announce(words)

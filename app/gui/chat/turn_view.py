"""Turns under one another in a view that scrolls: painted where somebody looks, and while one grows only its open end.

Follows the end as long as the reader is there. What people do with the turns is the transcript's.
"""

from __future__ import annotations

import time
from collections.abc import Hashable, Sequence
from math import ceil

from PySide6.QtCore import QEvent, QRect, QRectF, QSignalBlocker, Qt, QTimer, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QWidget

from app.gui import theme
from app.gui.chat.anchor import Anchor, anchor_at
from app.gui.chat.leaf import Range
from app.gui.chat.remembered_places import RememberedPlaces
from app.gui.chat.turn_block import GAP_PX, Shape, TurnBlock
from app.gui.chat.turn_list import TurnList
from app.gui.chat.turn_places import MARGIN_PX, TurnPlaces
from app.gui.chat.warm_up import warm_up
from app.gui.formulas.shelf import Formulas
from app.gui.markdown.colouring import Lexers
from app.services.turns import Turn

END_SLACK_PX = 8
"""The reader counts as being at the end within this distance."""
MOST_ESTIMATES = 8
"""So many estimated heights may turn out to be others before what is in view is where it belongs."""
AGAIN_MS = 15
"""After this time what could not be painted whole is painted again."""
NOBODY: tuple[TurnBlock | None, Anchor | None] = (None, None)


class TurnView(QAbstractScrollArea):
    """A scrolling column of turns."""

    first_text_painted = Signal(object, object)
    """The first text of an answer is on the screen: the turn, and the moment, `perf_counter_ns`."""
    moved = Signal()
    """Something lies elsewhere now: scrolled, grown or resized."""
    margin_px = MARGIN_PX
    """Room around the column."""

    def __init__(self, themes: theme.Themes, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.verticalScrollBar().setSingleStep(theme.reading_px(theme.READING_LINE_PX) * 2)
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.turns = TurnList(self.margin_px, theme.SPACE_S, self._block)
        """The turns with their places."""
        self.lexers = Lexers()
        """What loads the colours of code; it can be told to do so in the background."""
        self.places = TurnPlaces(self, self.turns, self.margin_px)
        """Where turns lie in the view."""
        self.formulas = Formulas()
        """What draws formulas; it can be told so, too."""
        self._themes = themes
        self._stays = self._settles = False
        """Whether the reader is busy here, so that the end is not followed; whether the scroll bar is being placed."""
        self._held = self._moved_to = 0
        """So far the view may be scrolled although it ends before; the place of what is painted, which Qt does not know."""
        self._left = NOBODY
        """The answer in whose place another one is waited for, and where its reader was; None: at the end."""
        self._conversation: Hashable = None
        self._remembered, self._unpainted = RememberedPlaces(), set[int]()
        self.places.widest = theme.reading_width()
        self._line_px = theme.reading_px(theme.READING_LINE_PX)
        self._again = QTimer(self, singleShot=True, interval=AGAIN_MS)
        self._again.timeout.connect(self._paint_again)
        self._reading = QTimer(self, singleShot=True)
        self._reading.timeout.connect(self._read_on)
        themes.changed.connect(self.viewport().update)
        themes.text_size_changed.connect(self._use_text_size)
        self.verticalScrollBar().sliderReleased.connect(self._follow_from_end)

    @property
    def is_at_end(self) -> bool:
        """Whether the newest text is in view."""
        bar = self.verticalScrollBar()
        return bar.value() >= bar.maximum() - END_SLACK_PX

    def clear(self) -> None:
        """Show no turns."""
        self._held, self._left = 0, NOBODY
        self._unpainted.clear()
        self.turns.clear()
        self._forget()
        self._settle(follow=True)
        self.viewport().update()

    def show_turns(self, turns: Sequence[Turn], conversation: Hashable = None) -> None:
        """Show a whole conversation: its end, or where its reader was when another one was shown."""
        if not self.is_at_end:
            self._remembered.keep(self._conversation, self.turns, self._scrolled)
        self.clear()
        self._conversation = conversation
        self.turns.set_width(self._shape().width)
        self.turns.extend(turns)
        scrolled = self._remembered.take(conversation, self.turns)
        if scrolled is not None:
            self._scroll_to(scrolled)
        else:
            self._settle(follow=True)
        self.viewport().update()

    def add(self, turn: Turn) -> None:
        """Show another turn at the end and go there."""
        self.show_from(len(self.turns.blocks), [turn])

    def show_from(self, first: int, turns: Sequence[Turn]) -> bool:
        """Show other turns from a place on; go to the end where some came, else what lies above stays where it is.

        Return whether an answer is back in whose place another one was waited for: it is seen as it was before.
        """
        is_longer = first == len(self.turns.blocks) and bool(turns)
        new, follows = turns[0] if turns and not is_longer else None, self._follows
        waits = new is not None and new.state in ("waiting", "writing")
        (left, anchor), left_now = self._left, NOBODY
        is_back = new is not None and left is not None and new.number == left.turn.number and follows
        if waits:
            left_now = self.turns.blocks[first], None if follows else anchor_at(self.turns, self._scrolled)
        self._held = self._scrolled if new and not waits and self.turns.top(first) >= self._scrolled else 0
        if not is_longer:
            self.turns.cut(first)
            self._forget()
        self._stays = self._stays and not is_longer
        self.turns.extend(turns)
        if new is not None:
            self.turns.update(first)  # by its estimate it could seem to end above what is in view
        self._left = left_now
        if is_back and anchor is not None:
            self._scroll_to(anchor.scrolled_in(self.turns))
        else:
            self._settle(follow=is_longer or is_back)
        self.viewport().update()
        return is_back

    def grow(self, turn: Turn, text: str) -> None:
        """Show text that was added to a turn."""
        index = self.turns.index_of(turn.number)
        if index is None:
            return
        block = self.turns.blocks[index]
        is_first = turn.text == text
        follow, height, scrolled = self._follows, block.height, self._scrolled
        block.grow(text)
        self.turns.update(index)
        if block.height != height or block.is_unread:
            self._settle(follow)
        top = max(self.turns.top(index) + block.changed_top - self._scrolled, 0)
        bottom = self.viewport().height()
        if is_first and top < bottom and self.isVisible() and not self.window().isMinimized():
            # Only what can be seen when it comes ends the time to the first token, not what is scrolled to later.
            self._unpainted.add(turn.number)
        if scrolled == self._scrolled and (block.height == height or index == len(self.turns.blocks) - 1):
            ends = max(block.height, height) - GAP_PX
            bottom = min(self.turns.top(index) + ends - self._scrolled, bottom)
        left, width = int(self._shape().left) - theme.SPACE_XS, ceil(self._shape().width) + 2 * theme.SPACE_XS
        self.viewport().update(QRect(left, top, width, bottom - top))

    def refresh(self, turn: Turn) -> None:
        """Show a turn anew that is another one than it was."""
        index = self.turns.index_of(turn.number)
        if index is None:
            return
        block, follow = self.turns.blocks.put(index, turn), self._follows
        block.refresh()
        self.turns.update(index)
        self._settle(follow)
        self.viewport().update()

    def go_to_end(self) -> None:
        """Show the newest text, and follow it from now on."""
        self._stays, self._held = False, 0
        self._settle(follow=True)

    def warm_up(self) -> None:
        """Paint an answer where nobody sees it, so that the first one comes at once."""
        warm_up(self._themes.current)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the turns that touch what must be painted."""
        look, shape, scrolled = self._themes.current, self._shape(), self._scrolled
        painter, area = QPainter(self.viewport()), event.rect()
        painter.fillRect(area, look.colour("surface"))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        is_unfinished, first_seen = False, list[Turn]()
        for index in self.turns.visible(area.top() + scrolled, area.bottom() + scrolled):
            block, top = self.turns.blocks[index], self.turns.top(index) - scrolled
            painter.save()
            painter.translate(0, top)
            painter.setClipRect(0, 0, self.viewport().width(), block.height)  # marks on marks would climb out of it
            selected = self._selected_in(index)
            block.paint(painter, shape, QRectF(area).translated(0, -top), look, selected)
            painter.restore()
            is_unfinished = is_unfinished or block.is_unfinished
            if block.turn.number in self._unpainted and block.turn.text and block.body.height > 0:
                first_seen.append(block.turn)
        self._paint_over(painter, area)
        painter.end()
        if is_unfinished:
            self._again.start()
        for turn in first_seen:
            self._unpainted.discard(turn.number)
            self.first_text_painted.emit(turn, time.perf_counter_ns())

    def resizeEvent(self, _event: QResizeEvent) -> None:
        """Wrap the text at the new width; what was at the top stays there, or the end if the reader was at the end."""
        self._held = 0
        if self._follows or not self.turns.blocks:
            self._settle(follow=True)
            return
        index = self.turns.index_at(self._scrolled)
        block = self.turns.blocks[index]
        share = (self._scrolled - self.turns.top(index)) / max(block.height, 1)
        self.turns.set_width(self._shape().width)
        self.turns.update(index)
        self._scroll_to(self.turns.top(index) + round(share * block.height))
        self.viewport().update()

    def scrollContentsBy(self, _dx: int, _dy: int) -> None:
        """Move what is painted, and paint only what came into view."""
        self._held = min(self._held, self._scrolled)
        dy, self._moved_to = self._moved_to - self._scrolled, self._scrolled
        self.viewport().scroll(0, dy)
        if not self._settles:
            self._measure_visible()
            self.moved.emit()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Follow the end again once the reader has come there."""
        super().wheelEvent(event)
        self._follow_from_end()

    def changeEvent(self, event: QEvent) -> None:
        """Paint anew in another look."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange):
            self.places.widest = theme.reading_width()
            self.viewport().update()

    @property
    def _follows(self) -> bool:
        return self.is_at_end and not self._stays

    @property
    def _scrolled(self) -> int:
        return self.verticalScrollBar().value()

    @property
    def _most(self) -> int:
        """How far the view can be scrolled."""
        return max(self.turns.total - self.viewport().height(), self._held, 0)

    def _follow_from_end(self) -> None:
        if self.is_at_end:
            self._stays = False

    def _selected_in(self, _index: int) -> Range | None:
        """Return which characters of a turn are selected."""
        return None

    def _paint_over(self, painter: QPainter, area: QRect) -> None:
        """Paint what lies over the turns."""

    def _forget(self) -> None:
        """Forget what belongs to turns that are gone."""
        self._stays = False

    def _block(self, turn: Turn) -> TurnBlock:
        if (left := self._left[0]) is not None and left.turn is turn:
            left.refresh()
            return left  # it has been read, which takes a long answer some time
        return TurnBlock(turn, self.lexers, formulas=self.formulas)

    def _shape(self) -> Shape:
        return self.places.shape

    def _use_text_size(self) -> None:
        """Show all text in another size; the first line that begins in view stays there, or the end if it was."""
        anchor = None if self._follows else anchor_at(self.turns, self._scrolled)
        width, self.places.widest = self._shape().width, theme.reading_width()
        line_px, self._line_px = self._line_px, theme.reading_px(theme.READING_LINE_PX)
        factor = self._line_px / line_px
        self.verticalScrollBar().setSingleStep(self._line_px * 2)
        self.turns.set_width(self._shape().width)
        self.turns.use_size(factor * factor * width / self._shape().width)
        if anchor is not None:
            self._scroll_to(anchor.scrolled_in(self.turns))
        else:
            self._settle(follow=True)
        self.viewport().update()

    def _paint_again(self) -> None:
        """Paint once more what could not be painted whole; a formula that came has another size than its source."""
        follow = self._follows
        if self.formulas.take_in():
            self._settle(follow)
        self.viewport().update()

    def _settle(self, follow: bool) -> None:
        """Measure what is visible and bring the scroll bar to where it belongs."""
        bar, height = self.verticalScrollBar(), self.viewport().height()
        self.turns.set_width(self._shape().width)
        self._settles = True
        for _ in range(len(self.turns.blocks) + MOST_ESTIMATES):
            before = self.turns.total
            bar.setPageStep(height)
            bar.setRange(0, self._most)
            if follow:
                bar.setValue(bar.maximum())
            self._measure_visible()
            if self.turns.total == before:
                break
        self._settles = False
        self.moved.emit()

    def _scroll_to(self, value: int) -> None:
        """Show what lies at a height, and measure what comes into view there."""
        bar, self._settles = self.verticalScrollBar(), True
        bar.setRange(0, self._most)  # whose signals also hide a bar that is needed no more
        bar.setValue(value)
        self._settle(follow=False)

    def _measure_visible(self) -> None:
        bar, height = self.verticalScrollBar(), self.viewport().height()
        before, moved = self.turns.total, self.turns.measure(bar.value(), bar.value() + height)
        if moved or self.turns.total != before:
            with QSignalBlocker(bar):
                bar.setMaximum(max(self._most, bar.value() + moved))
                bar.setValue(bar.value() + moved)
            self._moved_to = bar.value()
            self.viewport().update()
        if self.turns.unread(bar.value(), bar.value() + height) is not None:
            self._reading.start()

    def _read_on(self) -> None:
        """Read more of a long answer that is in view."""
        index = self.turns.unread(self._scrolled, self._scrolled + self.viewport().height())
        if index is None:
            return
        follow = self._follows
        self.turns.blocks[index].is_exact = False
        self.turns.update(index)
        self._settle(follow)
        self.viewport().update()

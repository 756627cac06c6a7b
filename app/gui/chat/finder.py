"""Finds a text in the conversation that is shown: marks every match in the transcript, and goes from one to the next.

Reads the turns bit by bit, from what is in view on, and reads anew what grows or changes.
"""

from __future__ import annotations

import time
from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from PySide6.QtCore import QObject, QRect, QTimer, Signal
from PySide6.QtGui import QColor, QPainter, QPen

from app.core.literal_text import Span, needle
from app.gui import theme
from app.gui.chat.found_places import Found, FoundPlaces, must_unfold
from app.gui.chat.transcript import Transcript
from app.services.chat import Chat
from app.services.turns import Turn

READ_S = 0.006
"""Turns are read for so long at a time; then the window has its turn."""
_TINT = 90
"""How much of 255 the mark hides of what is under it."""
_SURROUNDINGS = 400
"""So many characters around what is in view are marked, too: a line of a table is read across."""
_MOST_TRIES = 200


class Finder(QObject):
    """Looks for nothing until somebody types."""

    changed = Signal()
    """More is found, or something else, or another match is the one that is looked at."""

    def __init__(self, transcript: Transcript, chat: Chat, themes: theme.Themes) -> None:
        super().__init__(transcript)
        self._transcript = transcript
        self._themes = themes
        self._places = FoundPlaces()
        self._at: Found | None = None
        self._goes_to_first = False
        """Whether the first match that is read is shown: nobody chose one yet."""
        self._only_in: int | None = None
        """The turn that holds the match that is wanted first."""
        self._tries = 0
        self._reading = QTimer(self, singleShot=True, interval=0)
        self._reading.timeout.connect(self._read_some)
        self._going = QTimer(self, singleShot=True, interval=0)
        self._going.timeout.connect(self._go)
        transcript.overlays.append(self._paint)
        transcript.moved.connect(self._look_at_seen)
        self._disconnect = [
            chat.opened.connect(self._begin_anew),
            chat.rebranched.connect(lambda _first: self._follow()),
            chat.text_added.connect(lambda turn, _text: self._read_again(turn)),
            chat.changed.connect(self._read_again),
        ]

    def disconnect_services(self) -> None:
        """Listen to the chat no longer."""
        for disconnect in self._disconnect:
            disconnect()

    @property
    def count(self) -> int:
        """How many matches are known by now."""
        return self._places.count

    @property
    def number(self) -> int:
        """Which match is looked at, from 1; 0 is none."""
        return self._places.number_of(self._at) if self._at is not None else 0

    @property
    def is_reading(self) -> bool:
        """Whether there may be more."""
        return self._reading.isActive()

    def found_in(self, turn: Turn) -> Sequence[Span]:
        """Return where the text is in what can be selected of a turn."""
        found = self._places.of(turn.number)
        return found.spans if found is not None else ()

    def look_for(self, text: str, turn: int | None = None) -> None:
        """Look for a text as it was typed, or nothing any more; go to the first match in view, or in a turn."""
        self._places.begin(needle(text))
        self._at, self._goes_to_first, self._only_in = None, True, turn
        self._follow()

    def step(self, by: int) -> None:
        """Go to the next match, or to the one before."""
        at = self._places.next(self._at, by, self._first_seen)
        if at is not None:
            self._go_to(at)

    @property
    def _first_seen(self) -> int:
        """The place of the first turn in view, or of the one that is wanted first."""
        if self._only_in is not None and (index := self._transcript.turns.index_of(self._only_in)) is not None:
            return index
        seen = self._transcript.places.in_view() if len(self._transcript.turns.blocks) else ()
        return seen[0] if seen else 0

    def _first(self, index: int) -> Found | None:
        """Return the first match from what is in view on, or in the turn that is wanted; None while it is not known."""
        number = self._transcript.turns.blocks.turns[index].number
        found = self._places.of(number)
        if found is None:
            return None
        start = 0 if self._only_in is not None else self._transcript.seen_in(index, 0, 0)[0]
        above = bisect_right(found.spans, start, key=lambda span: span[1])
        place = found.folded + above if start else 0
        if place < found.count:
            return Found(number, place)
        return self._places.further(number)

    def _begin_anew(self) -> None:
        """Another conversation is shown."""
        self._places.begin(self._places.wanted)
        self._at, self._goes_to_first, self._only_in = None, False, None
        self._follow()

    def _follow(self) -> None:
        """The turns are others."""
        if not self._places.wanted:
            self._places.follow([])
            self._reading.stop()
        else:
            self._places.follow([turn.number for turn in self._transcript.turns.blocks.turns])
            if self._at is not None and self._places.of(self._at.turn) is None:
                self._at = None
            self._reading.start()
        self._transcript.viewport().update()
        self.changed.emit()

    def _read_again(self, turn: Turn) -> None:
        """Read a turn that grew or changed."""
        index = self._transcript.turns.index_of(turn.number)
        if self._places.wanted and index is not None and self._places.of(turn.number) is not None:
            self._read(index)
            self.changed.emit()

    def _look_at_seen(self) -> None:
        """Read anew what is in view where it was folded or unfolded."""
        if not self._places.wanted:
            return
        turns = self._transcript.turns
        for index in self._transcript.places.in_view() if len(turns.blocks) else ():
            block = turns.blocks[index]
            if self._places.of(block.turn.number) is not None and not self._places.is_read(block):
                self._read(index)
                self.changed.emit()

    def _read(self, index: int) -> None:
        block = self._transcript.turns.blocks[index]
        self._places.read(block)
        found = self._places.of(block.turn.number)
        if self._at is not None and found is not None and self._at.turn == block.turn.number:
            self._at = self._at._replace(place=min(self._at.place, found.count - 1)) if found.count else None
        self._transcript.viewport().update()

    def _read_some(self) -> None:
        until = time.monotonic() + READ_S
        first = self._first_seen
        while (index := self._places.unread(first)) is not None:
            self._read(index)
            if self._goes_to_first and (at := self._first(first)) is not None:
                self._go_to(at)
            if time.monotonic() >= until:
                self._reading.start()
                break
        self.changed.emit()

    def _go_to(self, at: Found) -> None:
        self._goes_to_first, self._only_in = False, None
        self._at, self._tries = at, 0
        self._go()
        self.changed.emit()

    def _go(self) -> None:
        """Bring the match into view, unfolding what hides it; of a very long answer it may have to be read first."""
        index = self._transcript.turns.index_of(self._at.turn) if self._at is not None else None
        if self._at is None or index is None:
            return
        block, found = self._transcript.turns.blocks[index], self._places.of(self._at.turn)
        if found is not None and must_unfold(block, found, self._at.place):
            self._transcript.unfold(block.turn.number)
            self._read(index)
            found = self._places.of(block.turn.number)
        if found is not None and self._at.place < len(found.files):
            self._transcript.show_whole(index)  # its files stand at its beginning
            self._transcript.viewport().update()
            return
        if found is None or not found.spans:
            return
        place = min(max(self._at.place - found.folded, 0), len(found.spans) - 1)
        self._tries += 1
        if not self._transcript.show_characters(index, *found.spans[place]) and self._tries < _MOST_TRIES:
            self._going.start()

    def _paint(self, painter: QPainter, area: QRect) -> None:
        """Mark what was found in a part of the view; that which is looked at has a frame."""
        if not self._places.wanted:
            return
        view, look = self._transcript, self._themes.current
        tint, scrolled = QColor(look.colour("amber")), view.verticalScrollBar().value()
        tint.setAlpha(_TINT)
        for index in view.turns.visible(area.top() + scrolled, area.bottom() + scrolled):
            number = view.turns.blocks.turns[index].number
            found = self._places.of(number)
            if found is not None and found.files:
                self._paint_files(painter, number, found.files, tint)
            if found is None or not found.spans:
                continue
            start, end = view.seen_in(index, area.top(), area.bottom())
            first = bisect_left(found.spans, start - _SURROUNDINGS, key=lambda span: span[1])
            last = bisect_right(found.spans, end + _SURROUNDINGS, key=lambda span: span[0])
            for place in range(first, last):
                at = Found(number, found.folded + place)
                for rect in view.rects(index, *found.spans[place]):
                    painter.fillRect(rect, tint)
                    if at == self._at:
                        painter.setPen(QPen(look.colour("accent"), 2))
                        painter.drawRect(rect.adjusted(-1, 0, 1, 0))

    def _paint_files(self, painter: QPainter, number: int, files: Sequence[int], tint: QColor) -> None:
        """Mark the rows of the files of a turn that hold matches."""
        is_here = self._at is not None and self._at.turn == number and self._at.place < len(files)
        at = files[self._at.place] if is_here and self._at is not None else None
        for file, rect in self._transcript.file_rects(number).items():
            if file in files:
                painter.fillRect(rect, tint)
            if file == at:
                painter.setPen(QPen(self._themes.current.colour("accent"), 2))
                painter.drawRect(rect)

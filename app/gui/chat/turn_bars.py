"""The buttons at the turns that are in view: at the last answer, where the mouse or the keyboard is, and at versions.

Puts each bar into the gap under its turn, so that nothing moves when one comes or goes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, Qt, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QApplication, QWidget

from app.gui import theme
from app.gui.chat.transcript import Transcript
from app.gui.chat.turn_bar import TurnBar
from app.gui.icons import Icons
from app.services.branches import Branches
from app.services.chat import Chat
from app.services.turns import Turn


class TurnBars(QObject):
    """The bars over a transcript."""

    wanted = Signal(object, str)
    """Something is wanted (`turn_wish.Wish`) of a turn."""

    def __init__(self, transcript: Transcript, chat: Chat, branches: Branches, icons: Icons) -> None:
        super().__init__(transcript)
        self._transcript = transcript
        self._chat = chat
        self._branches = branches
        self._icons = icons
        self._hovered: int | None = None
        """The number of the turn that the mouse is over."""
        self._at: dict[TurnBar, int] = {}
        """At which turn each bar was last."""
        self._last = self._made("")
        self._others: list[TurnBar] = []
        transcript.moved.connect(self.place)
        transcript.at_hand_changed.connect(self.place)
        transcript.viewport().installEventFilter(self)

    @property
    def last(self) -> TurnBar:
        """The bar of the last turn."""
        return self._last

    def bar_of(self, turn: Turn) -> TurnBar | None:
        """Return the bar that is shown at a turn."""
        shown = (bar for bar in (self._last, *self._others) if not bar.isHidden())
        return next((bar for bar in shown if bar.turn is turn), None)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        """Follow the mouse."""
        if event.type() == QEvent.Type.MouseMove and isinstance(event, QMouseEvent):
            self._hover(event.position().toPoint())
        elif event.type() == QEvent.Type.Leave:
            self._hover(None)
        elif event.type() == QEvent.Type.Resize:
            self.place()
        return False

    def place(self) -> None:
        """Show the bars that are wanted at the turns in view, each at its place."""
        held = next((bar.held for bar in (self._last, *self._others) if bar.held is not None), None)
        self._place_all()
        if held is not None and not (held.isVisible() and held.isEnabled()):
            self._keep_keyboard()

    def _keep_keyboard(self) -> None:
        """Let no other button get the keyboard by chance from one that is gone: it would write or delete."""
        focus = self._transcript.window().focusWidget()
        if not any(focus in bar.arrows for bar in (self._last, *self._others)):
            self._transcript.setFocus()

    def _place_all(self) -> None:
        is_busy, last = self._chat.busy, len(self._chat.turns) - 1
        chosen = {self._hovered, self._number_at_hand()}
        wanted: list[tuple[int, Turn, bool]] = []
        for index, turn in self._in_view():
            is_done_last = index == last and turn.state not in ("waiting", "writing")
            acts = is_done_last or turn.number in chosen
            if acts or self._branches.version(turn).of > 1:
                wanted.append((index, turn, acts))
        bars = self._bars_for([(index, turn) for index, turn, _ in wanted if index != last])
        if last in (index for index, _, _ in wanted):
            bars[last] = self._last
        for index, turn, acts in wanted:
            version, is_last = self._branches.version(turn), index == last
            bars[index].show_turn(turn, version, acts=acts, is_last=is_last, is_busy=is_busy)
            self._put(bars[index], index, is_user=turn.role == "user")
        for bar in (self._last, *self._others):
            if bar not in bars.values():
                bar.hide()

    def _in_view(self) -> Iterator[tuple[int, Turn]]:
        turns = self._chat.turns
        for index in self._transcript.places.in_view():
            if index < len(turns):
                yield index, turns[index]

    def _number_at_hand(self) -> int | None:
        """Return the turn that the keyboard is at, while it is in the transcript or in a bar over it."""
        turn = self._transcript.at_hand
        has_keyboard = self._transcript.hasFocus() or any(bar.has_keyboard for bar in (self._last, *self._others))
        return turn.number if turn is not None and has_keyboard else None

    def _bars_for(self, places: Sequence[tuple[int, Turn]]) -> dict[int, TurnBar]:
        """Return a bar for each of these turns by its index: one that has the keyboard stays where it is."""
        found: dict[int, TurnBar] = {}
        free = sorted(self._others, key=TurnBar.isHidden)
        for index, turn in places:
            self._keep(found, free, index, [bar for bar in free if bar.turn is turn])
        for index, _turn in places:
            self._keep(found, free, index, [bar for bar in free if self._at[bar] == index])
        for index, _turn in places:
            if index not in found:
                self._keep(found, free, index, free or [self._another()])
        return found

    def _keep(self, found: dict[int, TurnBar], free: list[TurnBar], index: int, fitting: Sequence[TurnBar]) -> None:
        if index in found or not fitting:
            return
        found[index] = bar = fitting[0]
        if bar in free:
            free.remove(bar)

    def _another(self) -> TurnBar:
        bar = self._made("other_")
        self._others.append(bar)
        return bar

    def _put(self, bar: TurnBar, index: int, *, is_user: bool) -> None:
        place, size = self._transcript.places.bar(index), bar.sizeHint()
        left = place.right() + 1 - size.width() if is_user else place.left() - theme.SPACE_XS
        bar.setGeometry(QRect(QPoint(left, place.top()), size))
        bar.show()
        self._at[bar] = index

    def _made(self, prefix: str) -> TurnBar:
        bar = TurnBar(self._icons, self._transcript.viewport(), prefix)
        bar.hide()
        bar.wanted.connect(self.wanted)
        bar.left.connect(self.place, Qt.ConnectionType.QueuedConnection)
        self._at[bar] = -1
        return bar

    def _hover(self, point: QPoint | None) -> None:
        if point is None and self._is_over_a_bar():
            return
        turn = self._transcript.places.turn_at(point) if point is not None else None
        number = turn.number if turn is not None else None
        if number != self._hovered:
            self._hovered = number
            self.place()

    def _is_over_a_bar(self) -> bool:
        under = QApplication.widgetAt(self._transcript.cursor().pos())
        return isinstance(under, QWidget) and any(bar.isAncestorOf(under) for bar in (self._last, *self._others))

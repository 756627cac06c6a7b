"""Under a question that was compared: a quiet button that opens the comparison, or a menu of all of them.

Stands in the gap under its question, so that nothing moves. Does nothing but say which one is wanted.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QPaintEvent
from PySide6.QtWidgets import QMenu

from app.core.comparison import Comparison
from app.gui import theme
from app.gui.chat.transcript import Transcript
from app.gui.compare.lane_words import BETWEEN, compared_words, kept_words, moment_words
from app.gui.icons import Icons
from app.gui.widgets.buttons import IconButton
from app.gui.widgets.menu_arrow import ARROW_ROOM_PX, paint_arrow
from app.services.chat import Chat
from app.services.comparing import Comparing
from app.services.lanes_there import lanes_there
from app.services.turns import Turn

ICON_PX = 16
WHAT_PX = 300
"""Of an entry of the menu: what was compared has no more room, as when it was must be seen, too."""


class ComparedLinks(QObject):
    """The buttons over a transcript, one at each question in view that has comparisons."""

    wanted = Signal(object)
    """Somebody wants to see a comparison (its id)."""

    def __init__(self, transcript: Transcript, chat: Chat, comparing: Comparing, icons: Icons) -> None:
        super().__init__(transcript)
        self._transcript = transcript
        self._chat = chat
        self._comparing = comparing
        self._icons = icons
        self._links: dict[int, _Link] = {}
        """By the number of the question."""
        transcript.moved.connect(self.place)
        transcript.installEventFilter(self)
        self._disconnect = [
            comparing.opened.connect(self.place),
            comparing.changed.connect(self.place),
            comparing.busy_changed.connect(self.place),
            chat.rebranched.connect(lambda _first: self.place()),
        ]

    def disconnect_services(self) -> None:
        """Listen to the services no longer."""
        for disconnect in self._disconnect:
            disconnect()

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        """Look again once the conversation is shown."""
        if event.type() == QEvent.Type.Show:
            self.place()
        return False

    def place(self) -> None:
        """Put each button into the gap under its question."""
        if not self._transcript.isVisible():
            return
        shown: set[int] = set()
        turns = self._transcript.turns.blocks.turns
        if self._chat.shown.lanes.comparisons:
            for index in self._transcript.places.in_view():
                if index < len(turns) and turns[index].role == "user":
                    self._put(index, turns[index], shown)
        for number in self._links.keys() - shown:
            self._links.pop(number).deleteLater()

    def _put(self, index: int, question: Turn, shown: set[int]) -> None:
        found = self._comparing.of(question)
        if not found:
            return
        link = self._links.get(question.number)
        if link is None:
            link = self._links[question.number] = _Link(self._icons, self._transcript)
            link.wanted.connect(self.wanted)
        running = self._comparing.running
        is_running = running is not None and any(each.id == running.comparison.id for each in found)
        names = self._names(found)
        link.show_comparisons(found, names, is_running=is_running)
        gap, size = self._transcript.places.bar(index), link.sizeHint()
        link.setGeometry(QRect(QPoint(gap.left() - theme.SPACE_XS, gap.top()), size))
        link.show()
        shown.add(question.number)

    def _names(self, comparisons: tuple[Comparison, ...]) -> tuple[_Name, ...]:
        """Return what comparisons are called; those of one minute are told apart by the second."""
        minutes = Counter(moment_words(each.created_ms) for each in comparisons)
        made: list[_Name] = []
        for each in comparisons:
            lanes = lanes_there(self._chat.shown, each)
            compared = compared_words([lane.settings for lane in lanes], len(each.lanes))
            is_one_of_several = minutes[moment_words(each.created_ms)] > 1
            when = moment_words(each.created_ms, with_seconds=is_one_of_several)
            made.append(_Name(compared, when, kept_words(each, lanes)))
        return tuple(made)


class _Name(NamedTuple):
    """What a comparison compared, when, and which of its lanes are in the chat."""

    compared: str
    when: str
    kept: str

    def within(self, metrics: QFontMetrics, room: int) -> str:
        """Return all of it, what was compared cut in the middle where it needs more room than this."""
        compared = metrics.elidedText(self.compared, Qt.TextElideMode.ElideMiddle, room)
        return BETWEEN.join(part for part in (compared, self.when, self.kept) if part)


class _Link(IconButton):
    """One button."""

    wanted = Signal(object)
    """Somebody wants to see a comparison (its id)."""

    def __init__(self, icons: Icons, transcript: Transcript) -> None:
        super().__init__(
            icons, "compare", "", object_name="compared_link", look="quiet", parent=transcript.viewport()
        )
        self._found: tuple[Comparison, ...] = ()
        self._names: tuple[_Name, ...] = ()
        self.setIconSize(QSize(ICON_PX, ICON_PX))
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.setFont(theme.font(theme.SMALL_PX))
        self.setCursor(Qt.CursorShape.ArrowCursor)
        self.clicked.connect(self._open)

    def show_comparisons(self, found: tuple[Comparison, ...], names: tuple[_Name, ...], *, is_running: bool) -> None:
        """Show other comparisons of the question, what each compared, and whether one of them runs."""
        self._found, self._names = found, names
        said = self.tr("Comparing: {lanes} lanes") if is_running else self.tr("Compared: {lanes} lanes")
        if len(found[-1].lanes) == 1:
            said = self.tr("Comparing: 1 lane") if is_running else self.tr("Compared: 1 lane")
        lanes = said.format(lanes=len(found[-1].lanes))
        is_one = len(found) == 1 or is_running
        words = lanes if is_one else self.tr("Compared {times} times").format(times=len(found))
        if words == self.text():
            return
        self.setText(words)
        self.set_name(words)

    def sizeHint(self) -> QSize:
        """Ask for room for the arrow, too, where a menu opens."""
        size = super().sizeHint()
        return QSize(size.width() + ARROW_ROOM_PX * self._opens_menu, size.height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the arrow that says that a menu opens."""
        super().paintEvent(event)
        if self._opens_menu:
            paint_arrow(self)

    @property
    def _opens_menu(self) -> bool:
        return len(self._found) > 1

    def _open(self) -> None:
        if not self._opens_menu:
            self.wanted.emit(self._found[0].id)
            return
        menu = QMenu(self)
        menu.setObjectName("compared_menu")
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for number, (each, what) in enumerate(zip(self._found, self._names, strict=True), 1):
            said = what.within(QFontMetrics(menu.font()), theme.scaled(WHAT_PX))
            words = self.tr("Comparison {number}: {what}").format(number=number, what=said)
            action = menu.addAction(words)
            action.triggered.connect(lambda _checked=False, wanted=each.id: self.wanted.emit(wanted))
        menu.popup(self.mapToGlobal(QPoint(0, self.height())))

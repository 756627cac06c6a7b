"""Three panes side by side, of which the outer ones become drawers over the middle where the window is narrow.

The right one may be pinned: then it stands beside the middle in a window that is too narrow for both, in fewer pixels,
and only the left one is a drawer. Knows nothing of what the panes show.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from PySide6.QtCore import QEasingCurve, QPoint, QPropertyAnimation, QRect, QSize, Qt, Signal
from PySide6.QtGui import QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QStyle, QWidget

from app.gui import theme
from app.gui.widgets.tab_stops import tab_stops

Side = Literal["left", "right"]
LEFT_WIDTH_PX, RIGHT_WIDTH_PX, PINNED_WIDTH_PX = 232, 320, 288
DOCKED_FROM_PX: dict[Side, int] = {"left": 1000, "right": 1100}
"""The window's width from which a pane stands beside the middle."""
PINNED_FROM_PX = 900
"""From this width on there is room for the right pane where it is pinned."""
MOTION_MS = 140


class Outer(NamedTuple):
    """A pane beside the middle and its width."""

    widget: QWidget
    width: int


class Scrim(QFrame):
    """Covers the middle while a drawer is open."""

    pressed = Signal()
    """Somebody clicked beside the drawer."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("scrim")
        self.setProperty("look", "scrim")
        self.hide()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Say that it was clicked."""
        event.accept()
        self.pressed.emit()


class Panes(QWidget):
    """Lays out a left, a middle and a right pane."""

    shown_changed = Signal()
    """A pane is shown or gone, beside the middle or as a drawer."""

    def __init__(self, left: QWidget, middle: QWidget, right: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("page")
        self._middle = middle
        self._outer: dict[Side, Outer] = {
            "left": Outer(left, theme.scaled(LEFT_WIDTH_PX)),
            "right": Outer(right, theme.scaled(RIGHT_WIDTH_PX)),
        }
        for pane in (left, middle, right):  # the order of Tab
            pane.setParent(self)
        self._wanted: dict[Side, bool] = {"left": True, "right": True}
        self._aside: set[Side] = set()
        self._pinned = False
        self._drawer: Side | None = None
        self._focus_before: QWidget | None = None
        self._motion: QPropertyAnimation | None = None
        self._on_top: QWidget | None = None
        self.moves = True
        """Whether drawers slide in."""
        self._scrim = Scrim(self)
        self._scrim.pressed.connect(self.close_drawer)
        self._lay_out()

    @property
    def drawer(self) -> Side | None:
        """The drawer that is open."""
        return self._drawer

    def wanted(self, side: Side) -> bool:
        """Return whether a pane stands beside the middle where there is room."""
        return self._wanted[side]

    def shows(self, side: Side) -> bool:
        """Return whether a pane is there, beside the middle or as a drawer."""
        is_wanted = self._pinned if side == "right" and self._is_narrow else self._wanted[side]
        stands = is_wanted and side not in self._aside
        return side == self._drawer or (stands and self.docks(side))

    @property
    def pinned(self) -> bool:
        """Whether the right pane stands beside the middle, narrower, where there is no room for both."""
        return self._pinned

    def docks(self, side: Side) -> bool:
        """Return whether there is room for a pane beside the middle."""
        if side == "right":
            return self.width() >= theme.scaled(PINNED_FROM_PX)
        return self.width() >= theme.scaled(DOCKED_FROM_PX["left"]) and not (self._is_narrow and self._pinned)

    def keep_on_top(self, widget: QWidget | None) -> None:
        """Keep a child above everything else, a drawer too; Tab reaches it from there. None is no child."""
        self._on_top = widget

    def uncovered(self) -> QRect:
        """Return where the middle is and no drawer lies over it, in its own coordinates."""
        room = QRect(self._middle.geometry())
        if self._drawer is not None:
            width = min(self._outer[self._drawer].width, self.width())
            if self._drawer == "left":
                room.setLeft(max(room.left(), width))
            else:
                room.setRight(min(room.right(), self.width() - width - 1))
        return room

    def want(self, side: Side, shown: bool) -> None:
        """Show or hide a pane beside the middle, once there is room."""
        self._wanted[side] = shown
        self._lay_out()
        self.shown_changed.emit()

    def lay_aside(self, side: Side, away: bool) -> None:
        """Give the room of a pane to the middle for a while, or no longer; until somebody opens the pane."""
        if away is (side in self._aside):
            return
        self._aside ^= {side}
        self._lay_out()
        self.shown_changed.emit()

    def pin(self, pinned: bool) -> None:
        """Let the right pane stand beside the middle, or not, where there is no room for both."""
        self._pinned = pinned
        self._lay_out()
        self.shown_changed.emit()

    def toggle(self, side: Side) -> None:
        """Show or hide a pane: beside the middle, or as a drawer where there is no room."""
        if self.docks(side):
            self._show_beside(side, not self.shows(side))
            self.close_drawer()
        elif self._drawer == side:
            self.close_drawer()
        else:
            self._open_drawer(side)

    def close_drawer(self) -> None:
        """Close the drawer that is open and give the focus back."""
        if self._drawer is None:
            return
        before, self._focus_before = self._focus_before, None
        self._drawer = None
        if before is not None and before.isVisible() and not self._middle.isAncestorOf(self.window().focusWidget()):
            before.setFocus()
        self._lay_out()
        self.shown_changed.emit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Lay the panes out again; a drawer that has room now stands beside the middle."""
        super().resizeEvent(event)
        opened = self._drawer
        if opened is not None and self.docks(opened):
            self._show_beside(opened, True)
            self.close_drawer()
        self._lay_out()
        self.shown_changed.emit()

    def minimumSizeHint(self) -> QSize:
        """Ask for no less than the middle needs."""
        return self._middle.minimumSizeHint()

    def focusNextPrevChild(self, is_next: bool) -> bool:
        """Keep Tab inside a drawer that is open, and scroll to where it goes."""
        if self._drawer is None:
            has_moved = super().focusNextPrevChild(is_next)
            _reveal(self.window().focusWidget())
            return has_moved
        stops = tab_stops(self._outer[self._drawer].widget, usable=True)
        if self._on_top is not None and self._on_top.isVisible():
            stops += tab_stops(self._on_top, usable=True)
        focus = self.window().focusWidget()
        if not stops:
            return False
        place = stops.index(focus) if focus in stops else -1 if is_next else 0
        reason = Qt.FocusReason.TabFocusReason if is_next else Qt.FocusReason.BacktabFocusReason
        following = stops[(place + (1 if is_next else -1)) % len(stops)]
        following.setFocus(reason)
        _reveal(following)
        return True

    @property
    def _is_narrow(self) -> bool:
        """Whether there is no room for both outer panes."""
        return self.width() < theme.scaled(DOCKED_FROM_PX["right"])

    def _show_beside(self, side: Side, shown: bool) -> None:
        self._aside.discard(side)
        if side == "right" and self._is_narrow:
            self._wanted[side] = self._wanted[side] or shown  # a wider window shows it, too
            self.pin(shown)
        else:
            self.want(side, shown)

    def _open_drawer(self, side: Side) -> None:
        if self._drawer is None:
            self._focus_before = self.window().focusWidget()
        self._drawer = side
        self._lay_out()
        pane = self._outer[side].widget
        stops = tab_stops(pane, usable=True)
        if stops:
            stops[0].setFocus(Qt.FocusReason.TabFocusReason)
        self._slide_in(pane, side)
        self.shown_changed.emit()

    def _slide_in(self, pane: QWidget, side: Side) -> None:
        animates = self.style().styleHint(QStyle.StyleHint.SH_Widget_Animation_Duration, None, self) > 0
        if not (self.moves and animates and self.isVisible()):
            return
        away = pane.width() if side == "right" else -pane.width()
        self._motion = QPropertyAnimation(pane, b"pos", self)
        self._motion.setDuration(MOTION_MS)
        self._motion.setEasingCurve(QEasingCurve.Type.OutCubic)
        self._motion.setStartValue(pane.pos() + QPoint(away, 0))
        self._motion.setEndValue(pane.pos())
        self._motion.start(QPropertyAnimation.DeletionPolicy.KeepWhenStopped)

    def _lay_out(self) -> None:
        if self._motion is not None:
            self._motion.stop()
            self._motion.deleteLater()
            self._motion = None
        room = self.rect()
        for side, outer in self._outer.items():
            width = outer.width
            if side == "right" and self._is_narrow and self._drawer != side:
                width = theme.scaled(PINNED_WIDTH_PX)
            place = QRect(0, 0, min(width, self.width()), self.height())
            if side == "right":
                place.moveRight(self.rect().right())
            if self._drawer != side and self.shows(side):
                if side == "left":
                    room.setLeft(place.right() + 1)
                else:
                    room.setRight(place.left() - 1)
            outer.widget.setGeometry(place)
            outer.widget.setVisible(self.shows(side))
        self._middle.setGeometry(room)
        self._scrim.setGeometry(self.rect())
        self._scrim.setVisible(self._drawer is not None)
        if self._drawer is not None:
            self._scrim.raise_()
            self._outer[self._drawer].widget.raise_()
        if self._on_top is not None:
            self._on_top.raise_()


def _reveal(widget: QWidget) -> None:
    """Scroll every area around a widget so that it is seen; Qt does so only for the area that the focus came from."""
    area = widget.parentWidget()
    while area is not None:
        if isinstance(area, QScrollArea):
            area.ensureWidgetVisible(widget, 0, theme.SPACE_L)
        area = area.parentWidget()

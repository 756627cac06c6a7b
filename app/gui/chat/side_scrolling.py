"""Scrolling wide code and wide tables sideways: with the wheel, by their bar, by keyboard, and while text is selected.

Knows the places of what can be scrolled, and no widget.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QWheelEvent

from app.gui import theme
from app.gui.chat.sideways import Sideways
from app.gui.chat.spots import Spotted

STEP_PX = 60
"""By one notch of the wheel, or one press of a key."""
_EDGE_PX = theme.SPACE_L
"""So near to its edge a block is scrolled while somebody selects."""
_MOST_PX = 40.0
_NOTCH = 120
Find = Callable[[int, int], list[Spotted]]
"""Returns what can be used between two heights of the view."""


class SideScrolling:
    """Scrolls what is too wide for its column."""

    def __init__(self, find: Find) -> None:
        self._find = find
        self._held: tuple[Spotted, float, float] | None = None
        """The bar that is dragged, from where, and how far its block was scrolled then."""

    @property
    def is_held(self) -> bool:
        """Whether a bar is dragged."""
        return self._held is not None

    def wheel(self, event: QWheelEvent) -> bool:
        """Scroll what is under the mouse, if the wheel is turned sideways or with Shift; return whether it was."""
        precise, notches = event.pixelDelta(), event.angleDelta()
        across, down = (precise.x(), precise.y()) if not precise.isNull() else (notches.x(), notches.y())
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier and not across:
            across, down = down, 0
        if abs(across) <= abs(down):
            return False
        found = self._under(event.position())
        if found is None:
            return False
        found.scroll_to(found.offset - (across if not precise.isNull() else across / _NOTCH * STEP_PX))
        return True

    def key(self, focused: Spotted | None, key: int, height: int) -> bool:
        """Scroll the block that has the keyboard; return whether it has one that can be scrolled."""
        steps = {Qt.Key.Key_Left: -STEP_PX, Qt.Key.Key_Right: STEP_PX}
        if focused is None or key not in steps or not focused.spot.key:
            return False
        for spotted in self._find(0, height):
            found = spotted.spot.sideways
            if found is not None and (spotted.turn, spotted.spot.key[0]) == (focused.turn, focused.spot.key[0]):
                found.scroll_to(found.offset + steps[Qt.Key(key)])
                return True
        return False

    def press(self, spotted: Spotted, point: QPointF) -> None:
        """Begin to drag a bar; beside its handle that comes to the mouse at first."""
        found = spotted.spot.sideways
        if found is None:
            return
        handle = found.handle(spotted.spot.rect)
        if not handle.left() <= point.x() <= handle.right():
            per_pixel = found.per_pixel(spotted.spot.rect.width())
            found.scroll_to(found.offset + (point.x() - handle.center().x()) * per_pixel)
        self._held = spotted, point.x(), found.offset

    def drag(self, point: QPointF) -> None:
        """Let the handle follow the mouse."""
        if self._held is None:
            return
        spotted, start, offset = self._held
        if (found := spotted.spot.sideways) is not None:
            found.scroll_to(offset + (point.x() - start) * found.per_pixel(spotted.spot.rect.width()))

    def release(self) -> None:
        """Let the bar go."""
        self._held = None

    def select_to(self, point: QPointF) -> bool:
        """Scroll the block that somebody selects in towards the edge that the mouse is at; return whether it moved."""
        for spotted in self._find(int(point.y()), int(point.y())):
            found, area = spotted.spot.sideways, spotted.spot.area
            if found is None or area is None or not area.top() <= point.y() <= area.bottom():
                continue
            beyond = min(point.x() - area.left() - _EDGE_PX, 0.0) + max(point.x() - area.right() + _EDGE_PX, 0.0)
            return bool(beyond) and found.scroll_to(found.offset + min(max(beyond, -_MOST_PX), _MOST_PX))
        return False

    def _under(self, point: QPointF) -> Sideways | None:
        for spotted in self._find(int(point.y()), int(point.y())):
            if spotted.spot.area is not None and spotted.spot.area.contains(point):
                return spotted.spot.sideways
        return None

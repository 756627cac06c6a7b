"""What Tab reaches inside a widget, in the order it has now."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget


def tab_stops(inside: QWidget, *, usable: bool = False) -> list[QWidget]:
    """Return the widgets inside another one that Tab stops at; only those that can be used now, if `usable`."""
    found: list[QWidget] = []
    widget: QWidget | None = inside.nextInFocusChain()
    while widget is not None and widget is not inside:
        stops = widget.focusPolicy() & Qt.FocusPolicy.TabFocus == Qt.FocusPolicy.TabFocus
        if stops and inside.isAncestorOf(widget) and widget.focusProxy() is None:
            found.append(widget)
        widget = widget.nextInFocusChain()
    return [widget for widget in found if not usable or (widget.isVisible() and widget.isEnabled())]

"""The row over the pages: where one is, which model is loaded, and what is done with the window.

Where it is narrow, the name of the model gives way first, then the words of the pages, of which icons stay.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QWidget

from app.gui import theme
from app.gui.widgets.page_tabs import PageTabs


class Header(QFrame):
    """Lays out what it is given."""

    def __init__(self, before: Sequence[QWidget], tabs: PageTabs, bar: QWidget, behind: Sequence[QWidget]) -> None:
        super().__init__()
        self.setObjectName("header")
        self.setProperty("look", "header")
        self._tabs = tabs
        row = self._row = QHBoxLayout(self)
        row.setContentsMargins(theme.SPACE_M, theme.SPACE_S, theme.SPACE_M, theme.SPACE_S)
        row.setSpacing(theme.SPACE_S)
        for button in before:
            row.addWidget(button)
        row.addWidget(tabs)  # in one place on every page, however wide that is
        row.addWidget(bar, 1)
        for button in behind:
            row.addWidget(button)

    def minimumSizeHint(self) -> QSize:
        """Need no more than with icons for the pages."""
        hint = super().minimumSizeHint()
        return QSize(self._needed(self._tabs.icons_px), hint.height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Let the pages have their words where there is room for them."""
        super().resizeEvent(event)
        self._fit()

    def event(self, event: QEvent) -> bool:
        """Look again when something in the row has another size, comes or goes."""
        is_done = super().event(event)
        if event.type() is QEvent.Type.LayoutRequest:
            self._fit()
        return is_done

    def _fit(self) -> None:
        if self._tabs.show_words(self._needed(self._tabs.words_px) <= self.width()):
            self._row.activate()

    def _needed(self, tabs_px: int) -> int:
        """Return the least width with tabs that are so wide."""
        places = map(self._row.itemAt, range(self._row.count()))
        items = [item for item in places if item is not None and not item.isEmpty()]
        widths = [tabs_px if each.widget() is self._tabs else each.minimumSize().width() for each in items]
        margins = self._row.contentsMargins()
        return sum(widths) + self._row.spacing() * (len(widths) - 1) + margins.left() + margins.right()

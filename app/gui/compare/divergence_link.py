"""A line in the header of a lane: where it leaves the baseline. Pressed, it shows the place and why."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QFontMetrics, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QToolButton

from app.gui import theme
from app.gui.widgets.words import set_hint

_PADDING_PX = 14


class DivergenceLink(QToolButton):
    """Keeps its place from the start, so that nothing moves once something is known."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._words = ""
        self.setObjectName(name)
        self.setProperty("look", "quiet")
        self.setFont(theme.font(theme.SMALL_PX))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.show_words("", "", can_press=False)

    @property
    def words(self) -> str:
        """The whole line."""
        return self._words

    def show_words(self, words: str, hint: str, *, can_press: bool) -> None:
        """Show another line; what cannot be pressed is read alone."""
        self._words = words
        self.setAccessibleName(words or self.tr("Difference from the baseline"))
        self.setEnabled(can_press)
        set_hint(self, hint or words)
        self.updateGeometry()
        self._fit()

    def sizeHint(self) -> QSize:
        """Ask for the whole line."""
        needed = QFontMetrics(self.font()).horizontalAdvance(self._words) + _PADDING_PX
        return QSize(needed, super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        """Be content with the beginning of the line."""
        return QSize(_PADDING_PX, super().sizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show as much as fits."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        room = max(self.width() - _PADDING_PX, 20)
        metrics = QFontMetrics(self.font())
        shown = self._words
        if metrics.horizontalAdvance(shown) > room:  # a text that just fits would be shortened, too
            shown = metrics.elidedText(shown, Qt.TextElideMode.ElideRight, room)
        if shown != self.text():
            self.setText(shown)

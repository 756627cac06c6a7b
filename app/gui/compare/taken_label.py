"""Which token a lane takes, in one line: a long token is shortened inside its quotation marks."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QFontMetrics, QResizeEvent
from PySide6.QtWidgets import QLabel

from app.core.comparison import LETTERS
from app.gui import theme
from app.gui.compare.divergence_words import token_words
from app.gui.widgets.words import set_hint
from app.services.lane_analysis import Contender

_LEAST_PX = 90


class TakenLabel(QLabel):
    """All of it is said on hover, and to those who listen."""

    def __init__(self, lane: int, token: Contender | None) -> None:
        super().__init__()
        self.setObjectName(f"taken_by_{LETTERS[lane].lower()}")
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setFont(theme.font(theme.BASE_PX, bold=True))
        self._letter, self._token = LETTERS[lane], token_words(token)
        self._whole = self._said(self._token)
        self.setAccessibleName(self._whole)
        self.setText(self._whole)

    def sizeHint(self) -> QSize:
        """Ask for all of it."""
        return QSize(QFontMetrics(self.font()).horizontalAdvance(self._whole) + 2, super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        """Be content with the beginning."""
        return QSize(min(theme.scaled(_LEAST_PX), self.sizeHint().width()), super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show as much as fits."""
        super().resizeEvent(event)
        metrics, shown = QFontMetrics(self.font()), self._token
        missing = metrics.horizontalAdvance(self._whole) - self.width()
        if missing > 0:
            opens, closes = ("“", "”") if shown.startswith("“") and shown.endswith("”") else ("", "")
            inside = shown.removeprefix(opens).removesuffix(closes)
            room = max(metrics.horizontalAdvance(inside) - missing - 1, 0)
            shown = f"{opens}{metrics.elidedText(inside, Qt.TextElideMode.ElideRight, room)}{closes}"
        said = self._said(shown)
        set_hint(self, self._whole if said != self._whole else "")
        if said != self.text():
            self.setText(said)

    def _said(self, token: str) -> str:
        return self.tr("{lane} takes {token}").format(lane=self._letter, token=token)

"""One figure with what it means, under the word and the icon of what it is about."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from app.gui import theme
from app.gui.icons import Icons
from app.gui.inside.cache.fact_words import Fact
from app.gui.widgets.kept_label import KeptLabel
from app.gui.widgets.labels import label

_ICON_PX = 16
_LINES = 3


class FactCard(QWidget):
    """Knows no service."""

    def __init__(self, name: str, title: str, icon: str, token: str, themes: theme.Themes, icons: Icons) -> None:
        """`icon` is drawn in the colour `token` of the theme."""
        super().__init__()
        self.setObjectName(name)
        self._icon, self._token, self._themes, self._icons = icon, token, themes, icons
        self._title = title
        self._sign = QLabel()
        self.value = KeptLabel(pixels=theme.FIGURE_PX, name=f"{name}_value")
        self.words = KeptLabel(look="muted", name=f"{name}_words", lines=_LINES)
        self.words.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
        self.words.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        head = QHBoxLayout()
        head.setSpacing(theme.SPACE_XS + 2)
        head.addWidget(self._sign)
        head.addWidget(label(title, bold=True), 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        column.addLayout(head)
        column.addWidget(self.value)
        column.addWidget(self.words)
        column.addStretch(1)
        themes.changed.connect(self._show_theme)
        self._show_theme()

    def show_fact(self, fact: Fact) -> None:
        """Show another figure."""
        if (fact.value, fact.words) == (self.value.text(), self.words.text()):
            return
        self.value.setText(fact.value)
        self.words.setText(fact.words)
        self.setAccessibleName(f"{self._title}: {fact.value}. {fact.words}")

    def _show_theme(self) -> None:
        colour = self._themes.current.colour(self._token)
        ratio = self.devicePixelRatioF()
        pixmap = self._icons.pixmap(self._icon, round(theme.scaled(_ICON_PX) * ratio), colour)
        pixmap.setDevicePixelRatio(ratio)
        self._sign.setPixmap(pixmap)

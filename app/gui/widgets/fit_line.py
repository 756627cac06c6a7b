"""Whether a model fits, in a sentence of its own: the picture, the verdict, and the reason."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QWidget

from app.gui import theme
from app.gui.icons import Icons
from app.gui.widgets.fit_badge import fit_icon, fit_reason, fit_word
from app.gui.widgets.labels import label, wrapped
from app.services.fit_verdict import Fit

_ICON_PX = 16


class FitLine(QWidget):
    """Wraps in whatever room it is given."""

    def __init__(self, name: str, *, look: str = "") -> None:
        super().__init__()
        self._icon = QLabel()
        self._words = wrapped(label(look=look, name=name))
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(theme.SPACE_S)
        row.addWidget(self._icon, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self._words, 1)

    def show_fit(self, fit: Fit | None, icons: Icons, look: theme.Theme) -> None:
        """Show a verdict in the colours in force; None is not known yet."""
        self._icon.setPixmap(fit_icon(fit, icons, look).pixmap(QSize(_ICON_PX, _ICON_PX)))
        word = fit_word(fit)
        self._words.setText(
            f"{word[:1].upper()}{word[1:]}. {fit_reason(fit)}" if fit is not None else fit_reason(fit)
        )

"""The files of a person's own message, each as one quiet row over what was said of it. Painted; knows no turn."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication, QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPen

from app.core.attached_files import AttachedFile
from app.gui import theme
from app.gui.chat.leaf import Spot
from app.gui.widgets.words import isolated
from app.services.units import count

ROW_PX, GAP_PX, PADDING_PX = 28, 4, 10
translate = QCoreApplication.translate


class FileChips:
    """As many rows as there are files."""

    def __init__(self, files: Sequence[AttachedFile] = (), tokens: Sequence[int] = ()) -> None:
        """`tokens` are those of each file; where they are not known, how long it is in characters is said."""
        known = tokens if len(tokens) == len(files) else [None] * len(files)
        self._words = list(map(_words, files, known))
        self.width = 0.0
        """How wide they may be; nothing until they are laid out."""

    @property
    def height(self) -> float:
        """Of all rows, with the gap under them."""
        return rows_px(len(self._words))

    @property
    def used_width(self) -> float:
        """Of the widest row, as far as there is room."""
        metrics = QFontMetricsF(theme.reading_font(theme.SMALL_PX))
        needed = max((metrics.horizontalAdvance(words) + 2 * PADDING_PX for words in self._words), default=0.0)
        return min(needed, self.width)

    def draw(self, painter: QPainter, origin: QPointF, look: theme.Theme) -> None:
        """Draw the rows with their left upper corner at a place."""
        font = theme.reading_font(theme.SMALL_PX)
        metrics = QFontMetricsF(font)
        painter.setFont(font)
        for number, words in enumerate(self._words):
            row = self._row(number).translated(origin)
            painter.setPen(QPen(look.colour("border_strong"), look.line_px))
            painter.setBrush(look.colour("surface"))
            painter.drawRoundedRect(row, theme.RADIUS_CONTROL, theme.RADIUS_CONTROL)
            painter.setPen(look.colour("text"))
            inside = row.adjusted(PADDING_PX, 0, -PADDING_PX, 0)
            shown = metrics.elidedText(words, Qt.TextElideMode.ElideMiddle, inside.width() + 1)
            painter.drawText(inside, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, shown)

    def spots(self) -> list[Spot]:
        """Return the rows as places that open what they stand for; the key is which file it is."""
        return [Spot("file", self._row(number), words, (number,)) for number, words in enumerate(self._words)]

    def _row(self, number: int) -> QRectF:
        each = theme.reading_px(ROW_PX)
        return QRectF(0, number * (each + GAP_PX), self.used_width, each)


def _words(file: AttachedFile, tokens: int | None) -> str:
    name = isolated(file.name)
    if tokens is None:
        told = translate("FileChips", "{name} · {characters} characters")
        return told.format(name=name, characters=count(len(file.text)))
    one, several = translate("FileChips", "{name} · 1 token"), translate("FileChips", "{name} · {tokens} tokens")
    return (one if tokens == 1 else several).format(name=name, tokens=count(tokens))


def rows_px(files: int) -> float:
    """Return how high the rows of so many files are."""
    return files * (theme.reading_px(ROW_PX) + GAP_PX) + (GAP_PX if files else 0)

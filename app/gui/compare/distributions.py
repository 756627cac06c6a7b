"""Two distributions over one another: what the model gave each token, and what the chains of two lanes made of it.

The baseline's bars are filled and the lane's are hatched, so that they are told apart without their colours.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QColor, QFontMetricsF, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.core.comparison import LETTERS
from app.gui import theme
from app.gui.compare.divergence_words import percent, share_words
from app.gui.compare.lane_mark import lane_colour
from app.gui.widgets.stage_words import cutter_words
from app.gui.widgets.token_words import visible
from app.services.lane_analysis import Contender, Share
from app.services.units import UNKNOWN

ROW_PX, HEAD_PX, BAR_PX, RAW_PX = 26, 20, 7, 2
MOST_ROWS = 7
_TEXT_PX, _FIGURE_PX, _LETTERS_PX = 86, 66, 22
_MOST_TEXT = 0.4
"""Of the width, for the longest token; the bars need the rest."""
_LEAST_BAR_PX = 2.0


class _Columns(NamedTuple):
    bars: float
    bars_end: float


class Distributions(QWidget):
    """Painted rows: a token, its bars in both lanes, and the figures."""

    def __init__(self, themes: theme.Themes) -> None:
        super().__init__()
        self._themes = themes
        self._rows: tuple[Contender, ...] = ()
        self._taken: tuple[int | None, int | None] = (None, None)
        self._lanes = (0, 0)
        self.setObjectName("divergence_distributions")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        themes.changed.connect(self.update)

    @property
    def rows(self) -> tuple[Contender, ...]:
        """The tokens that are shown, likeliest first."""
        return self._rows

    @property
    def token_px(self) -> float:
        """How wide a token may be before it is shortened."""
        return self._columns().bars - _LETTERS_PX

    def show_rows(
        self, rows: Sequence[Contender], lanes: tuple[int, int], taken: tuple[Contender | None, Contender | None]
    ) -> None:
        """Show tokens with their shares in two lanes, and mark those that the lanes took."""
        self._lanes = lanes
        self._taken = (taken[0].token if taken[0] else None, taken[1].token if taken[1] else None)
        least = [row for row in rows if row.token in self._taken]
        first = [row for row in rows if row not in least][: MOST_ROWS - len(least)]
        self._rows = tuple(row for row in rows if row in first or row in least)
        self.setAccessibleName(self._spoken())
        self.setVisible(bool(self._rows))
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        """Ask for a row a token, under the letters of the lanes."""
        return QSize(360, theme.scaled(HEAD_PX) + len(self._rows) * theme.scaled(ROW_PX))

    def minimumSizeHint(self) -> QSize:
        """Ask for as much as is shown."""
        return QSize(240, self.sizeHint().height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint the head and the rows."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self.layoutDirection() is Qt.LayoutDirection.RightToLeft:
            painter.translate(self.width(), 0)
            painter.scale(-1, 1)
        look, row_px = self._themes.current, theme.scaled(ROW_PX)
        columns = self._columns()
        self._paint_head(painter, look, columns)
        most = max((_most(row) for row in self._rows), default=1.0) or 1.0
        for number, row in enumerate(self._rows):
            place = QRectF(0, theme.scaled(HEAD_PX) + number * row_px, self.width(), row_px)
            self._paint_row(painter, look, row, place, most)
        painter.end()

    def _columns(self) -> _Columns:
        figures = 2 * theme.scaled(_FIGURE_PX)
        metrics = QFontMetricsF(theme.font(theme.BASE_PX, bold=True))
        longest = max((metrics.horizontalAdvance(_said(row)) for row in self._rows), default=0.0)
        text = min(_LETTERS_PX + longest + theme.SPACE_S, self.width() * _MOST_TEXT)
        return _Columns(max(text, theme.scaled(_TEXT_PX)), self.width() - figures - theme.SPACE_S)

    def _paint_head(self, painter: QPainter, look: theme.Theme, columns: _Columns) -> None:
        """Say which figures are whose, with a piece of each bar."""
        height = theme.scaled(HEAD_PX)
        painter.fillRect(QRectF(columns.bars, (height - RAW_PX) / 2, 22, RAW_PX), look.colour("text"))
        painter.setFont(theme.font(theme.SMALL_PX))
        self._write(painter, look.colour("muted"), QRectF(columns.bars + 28, 0, 80, height), self.tr("Model"))
        painter.setFont(theme.font(theme.SMALL_PX, bold=True))
        for side, lane in enumerate(self._lanes):
            right = self.width() - (1 - side) * theme.scaled(_FIGURE_PX)
            self._write(painter, look.colour("text"), QRectF(right - 40, 0, 40, height), LETTERS[lane], right=True)
            sample = QRectF(right - 40, (height - BAR_PX) / 2, 22, BAR_PX)
            self._paint_bar(painter, sample, side, look)

    def _paint_row(self, painter: QPainter, look: theme.Theme, row: Contender, place: QRectF, most: float) -> None:
        columns, middle = self._columns(), place.center().y()
        is_taken = row.token in self._taken
        painter.setFont(theme.font(theme.BASE_PX, bold=is_taken))
        left, room = _LETTERS_PX, columns.bars - _LETTERS_PX
        shown = QFontMetricsF(painter.font()).elidedText(_said(row), Qt.TextElideMode.ElideRight, room - 2)
        self._write(painter, look.colour("text"), QRectF(left, place.top(), room, place.height()), shown)
        self._paint_taken(painter, look, row, place)
        room = columns.bars_end - columns.bars
        top = middle - BAR_PX - RAW_PX / 2
        for side, share in enumerate((row.baseline, row.lane)):
            bar = QRectF(columns.bars, top + side * (BAR_PX + RAW_PX), room, BAR_PX)
            if share.after:
                bar.setWidth(max(room * share.after / most, _LEAST_BAR_PX))
                self._paint_bar(painter, bar, side, look)
            self._paint_figure(painter, look, share, side, place)
        if row.raw is not None:
            painter.fillRect(
                QRectF(columns.bars, middle - RAW_PX / 2, max(room * row.raw / most, 1.0), RAW_PX),
                look.colour("text"),
            )

    def _paint_taken(self, painter: QPainter, look: theme.Theme, row: Contender, place: QRectF) -> None:
        letters = "".join(
            LETTERS[lane] for lane, token in zip(self._lanes, self._taken, strict=True) if token == row.token
        )
        if letters:
            painter.setFont(theme.font(theme.SMALL_PX, bold=True))
            self._write(painter, look.colour("muted"), QRectF(0, place.top(), 20, place.height()), letters)

    def _paint_figure(self, painter: QPainter, look: theme.Theme, share: Share, side: int, place: QRectF) -> None:
        width = theme.scaled(_FIGURE_PX)
        right = self.width() - (1 - side) * width
        where = QRectF(right - width, place.top(), width, place.height())
        is_cut = share.cut_by is not None
        said = f"✂ {cutter_words(share.cut_by)}" if share.cut_by is not None else percent(share.after)
        painter.setFont(theme.font(theme.SMALL_PX, bold=not is_cut))
        said = QFontMetricsF(painter.font()).elidedText(said, Qt.TextElideMode.ElideRight, width - 4)
        ink = look.colour("muted" if is_cut or said == UNKNOWN else "text")
        self._write(painter, ink, where, f"\N{LEFT-TO-RIGHT MARK}{said}", right=True)

    def _paint_bar(self, painter: QPainter, bar: QRectF, side: int, look: theme.Theme) -> None:
        colour = look.colour(lane_colour(self._lanes[side]))
        if side == 0:
            painter.fillRect(bar, colour)
            return
        painter.fillRect(bar, QBrush(colour, Qt.BrushStyle.BDiagPattern))
        painter.setPen(QPen(colour, 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(bar.adjusted(0.5, 0.5, -0.5, -0.5))

    def _write(self, painter: QPainter, colour: QColor, place: QRectF, text: str, *, right: bool = False) -> None:
        """Write a text; in a picture that is turned round the letters are not."""
        painter.save()
        painter.setPen(colour)
        side = Qt.AlignmentFlag.AlignRight if right else Qt.AlignmentFlag.AlignLeft
        if self.layoutDirection() is Qt.LayoutDirection.RightToLeft:
            painter.translate(place.left() + place.right(), 0)
            painter.scale(-1, 1)
            side = Qt.AlignmentFlag.AlignLeft if right else Qt.AlignmentFlag.AlignRight
        painter.drawText(place, side | Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignAbsolute, text)
        painter.restore()

    def _spoken(self) -> str:
        letters = [LETTERS[lane] for lane in self._lanes]
        said = []
        for row in self._rows:
            words = self.tr("{token}: {raw} by the model, {theirs} in {first}, {own} in {second}")
            values = {"raw": percent(row.raw), "theirs": share_words(row.baseline), "own": share_words(row.lane)}
            token = visible(row.text) if row.text is not None else str(row.token)
            said.append(words.format(token=token, first=letters[0], second=letters[1], **values))
        return "; ".join(said)


def _most(row: Contender) -> float:
    return max(row.raw or 0.0, row.baseline.after or 0.0, row.lane.after or 0.0)


def _said(row: Contender) -> str:
    return visible(row.text) if row.text is not None else f"#{row.token}"

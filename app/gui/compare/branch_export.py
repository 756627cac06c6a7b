"""The branches as a picture that stands alone: what was asked, of which model, and what each letter is, over the tree."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFont, QFontMetrics, QImage, QPainter, QTextLayout, QTextOption

from app.core.comparison import LETTERS
from app.gui import theme
from app.gui.compare.branch_layout import branch_layout
from app.gui.compare.branch_legend import BranchLegend
from app.gui.compare.branch_measure import FontMeasure
from app.gui.compare.branch_picture import BranchPicture
from app.gui.compare.lane_mark import SAMPLE_PX, lane_pen
from app.gui.compare.lane_words import made_words, run_lane_name, seed_words
from app.services.lane_analysis import Analysis
from app.services.lanes_run import LanesRun

LEAST_WIDE_PX, MOST_WIDE_PX = 1100, 3000
MOST_TREE_PX = 8000
"""A tree takes only what its texts need; of longer ones the page to hand out has all."""
MOST_PROMPT_LINES = 12
_LETTER_PX = 18


def branches_picture(analysis: Analysis, run: LanesRun, look: theme.Theme, width: float, scale: float) -> QImage:
    """Return the tree with its heading and its legend, at least about so wide, on the theme's ground."""
    wide = min(max(width, theme.scaled(LEAST_WIDE_PX)), MOST_WIDE_PX)
    measure = FontMeasure()
    laid = branch_layout(analysis.tree, measure, wide, theme.scaled(MOST_TREE_PX))
    wide = max(laid.width, wide)
    inner = wide - 2 * theme.SPACE_XL
    head, legend = BranchHead(run, inner), BranchLegend(analysis.tree, inner)
    top = head.height + 2 * theme.SPACE_L
    bottom = top + laid.height + theme.SPACE_S
    height = bottom + legend.height + theme.SPACE_S
    image = QImage(round(wide * scale), round(height * scale), QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(scale)
    image.fill(look.colour("surface"))
    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.translate(theme.SPACE_XL, theme.SPACE_L)
    head.paint(painter, look)
    painter.resetTransform()
    painter.translate(0, top)
    tree = BranchPicture(analysis, laid, measure)
    tree.paint_ruler(painter, look, 0, wide)
    tree.paint(painter, look)
    painter.translate(theme.SPACE_XL, bottom - top)
    legend.paint(painter, look)
    painter.end()
    return image


class BranchHead:
    """The prompt, the model, what the seeds mean, and the settings of each letter with the pattern of its line."""

    def __init__(self, run: LanesRun, width: float) -> None:
        self._width = width
        self._lanes = [(lane.index, run_lane_name(run, lane)) for lane in run.lanes]
        self._title, self._font, self._small = (
            theme.font(theme.READING_PX),
            theme.font(theme.BASE_PX),
            theme.font(theme.SMALL_PX),
        )
        self._prompt = _lines(run.question.words, self._title, width, MOST_PROMPT_LINES)
        said = (made_words(run), seed_words([lane.settings for lane in run.lanes], short=True))
        self._said = [line for words in said for line in _lines(words, self._small, width, 2)]
        metrics = QFontMetrics(self._font)
        mark_px = _LETTER_PX + SAMPLE_PX + theme.SPACE_S
        widest = max((metrics.horizontalAdvance(name) for _lane, name in self._lanes), default=0)
        self._cell_px = min(mark_px + widest + theme.SPACE_XL, width)
        self._across = max(int(width // self._cell_px), 1)
        self._row_px = metrics.lineSpacing() + theme.SPACE_XS
        rows = -(-len(self._lanes) // self._across)
        named = (f"{LETTERS[lane]} {name}" for lane, name in self._lanes)
        self.words = "\n".join((*self._prompt, *self._said, *named))
        """All that it says."""
        self.height = (
            len(self._prompt) * QFontMetrics(self._title).lineSpacing()
            + len(self._said) * QFontMetrics(self._small).lineSpacing()
            + rows * self._row_px
            + 2 * theme.SPACE_S
        )

    def paint(self, painter: QPainter, look: theme.Theme) -> None:
        """Paint it with its corner at the painter's."""
        top = 0.0
        for lines, font, colour in ((self._prompt, self._title, "text"), (self._said, self._small, "muted")):
            painter.setFont(font)
            painter.setPen(look.colour(colour))
            step = QFontMetrics(font).lineSpacing()
            for line in lines:
                painter.drawText(QRectF(0, top, self._width + 2, step), Qt.AlignmentFlag.AlignVCenter, line)
                top += step
            top += theme.SPACE_S
        for number, (lane, name) in enumerate(self._lanes):
            row, across = divmod(number, self._across)
            self._paint_lane(painter, look, (lane, name), QPointF(across * self._cell_px, top + row * self._row_px))

    def _paint_lane(self, painter: QPainter, look: theme.Theme, lane: tuple[int, str], at: QPointF) -> None:
        index, name = lane
        middle = at.y() + self._row_px / 2
        left = at.x() + _LETTER_PX
        painter.setPen(lane_pen(index, look))
        painter.drawLine(QPointF(left, middle), QPointF(left + SAMPLE_PX, middle))
        painter.setPen(look.colour("text"))
        painter.setFont(theme.font(theme.BASE_PX, bold=True))
        side = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        painter.drawText(QRectF(at.x(), at.y(), _LETTER_PX, self._row_px), side, LETTERS[index])
        painter.setFont(self._font)
        left += SAMPLE_PX + theme.SPACE_S
        room = at.x() + self._cell_px - left
        shown = QFontMetrics(self._font).elidedText(name, Qt.TextElideMode.ElideMiddle, round(room))
        painter.drawText(QRectF(left, at.y(), room, self._row_px), side, shown)


def _lines(text: str, font: QFont, width: float, most: int) -> list[str]:
    """Return a text as at most so many lines, of which the last ends in … where that is not all of it."""
    found: list[str] = []
    for part in text.splitlines():
        layout, units = QTextLayout(part, font), part.encode("utf-16-le", "surrogatepass")
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        layout.setTextOption(option)
        layout.beginLayout()
        while len(found) <= most and (line := layout.createLine()).isValid():
            line.setLineWidth(width)
            first = 2 * line.textStart()
            found.append(units[first : first + 2 * line.textLength()].decode("utf-16-le", "replace").rstrip())
        layout.endLayout()
        if len(found) > most:
            break
    if len(found) > most:
        rest = f"{found[most - 1]} {found[most]}"
        ends = QFontMetrics(font).elidedText(rest, Qt.TextElideMode.ElideRight, int(width))
        found = [*found[: most - 1], ends if ends.endswith("…") else f"{ends}…"]
    return found

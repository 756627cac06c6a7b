"""The page with its lanes as a picture to hand on: whole texts, all figures, nothing to press, selected or scrolled.

It is made of widgets of its own that are never shown, lane by lane, so that the window is not held up.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from PySide6.QtCore import QCoreApplication, QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QImage, QPainter
from PySide6.QtWidgets import QAbstractButton, QFrame, QPushButton, QVBoxLayout, QWidget

from app.gui import theme
from app.gui.chat.text_alone import Background
from app.gui.compare.deleted_cell import DeletedCell, deleted_places
from app.gui.compare.figures_table import FiguresTable
from app.gui.compare.lane_column import LaneColumn
from app.gui.compare.lane_insight import LaneInsight
from app.gui.compare.lane_overlay import LaneOverlay
from app.gui.compare.lane_words import made_words, run_lane_name
from app.gui.compare.marks import Marks
from app.gui.compare.prompt_band import PromptBand
from app.gui.icons import Icons
from app.gui.widgets.buttons import IconButton
from app.gui.widgets.fixed_text import FixedText
from app.gui.widgets.labels import label
from app.services.lane_analysis import Analysis
from app.services.lanes_run import LanesRun

translate = QCoreApplication.translate
SCALE = 2.0
MARGIN_PX, GAP_PX = theme.SPACE_L, theme.SPACE_S
LANE_PX, CELL_PX, LEAST_PX = 320, 260, 1100
"""How wide a lane, a cell of a grid and the whole are at least."""
MOST_HIGH_PX = 3000
"""A text that is longer ends in words that say so."""
MOST_PAGE_PX = 12_000
"""All rows of a grid are no higher: more pixels than that nobody can paint at this scale."""
LEAST_TEXT_PX, STRIP_PX = 48, 200
_TRIES = 400
"""So often formulas and colours of code are waited for, in all lanes together."""


class Shown(NamedTuple):
    """What the picture is to show, as it was when somebody asked."""

    run: LanesRun
    analysis: Analysis | None
    marks: Mapping[int, Marks]
    """By lane."""
    order: tuple[int, Qt.SortOrder]
    """The column that the figures are sorted by."""


class Tools(NamedTuple):
    """What widgets are made with."""

    themes: theme.Themes
    icons: Icons
    background: Background


def page_picture(shown: Shown, tools: Tools) -> Iterator[QImage | None]:
    """Make the picture in small steps: None after each, and the picture at last."""
    made: list[QWidget] = []
    try:
        yield from _steps(shown, tools, made)
    finally:
        for widget in made:
            widget.deleteLater()


def _steps(shown: Shown, tools: Tools, made: list[QWidget]) -> Iterator[QImage | None]:
    run = shown.run
    layout = run.comparison.layout.columns
    table = _figures(shown, tools.themes)
    band = PromptBand(tools.themes, tools.icons)
    made += [table, band]
    yield None
    band.show_run(run, "")
    for text in band.findChildren(
        FixedText, "compare_moment_text"
    ):  # the buttons over it make the room in the window
        text.setMinimumWidth(QFontMetrics(text.font()).horizontalAdvance(str(text.property("text"))) + 2)
    across = layout or max(len(run.lanes), 1)
    least = theme.scaled(CELL_PX if layout else LANE_PX)
    width = max(across * (least + GAP_PX) - GAP_PX, table.minimumWidth(), theme.scaled(LEAST_PX))
    each_px = (width - (across - 1) * GAP_PX) // across
    for part in (band, table):
        _hide_buttons(part)
        _lay_out(part, QSize(width, part.sizeHint().height()))
        _lay_out(part, QSize(width, part.sizeHint().height()))  # a sentence may have found a second line
        yield None
    cells: dict[int, QWidget] = {}
    for place, lane in enumerate(run.lanes):
        column = LaneColumn(run, lane, *tools)
        made.append(column)
        _show(LaneInsight(column, tools.themes), shown)
        cells[lane.index if layout else place] = column
        yield None
    for place in deleted_places(run):
        cells[place] = DeletedCell(run, place, tools.themes)
        made.append(cells[place])
    rows = max(cells, default=0) // across + 1
    most = min(theme.scaled(MOST_HIGH_PX), MOST_PAGE_PX // rows)
    heights = [0] * rows
    waits = iter(range(_TRIES))
    for place, cell in cells.items():
        for _whole in _measured(cell, each_px, most, waits):
            yield None
        heights[place // across] = max(heights[place // across], cell.height())
        yield None
    tops = [MARGIN_PX + band.height() + GAP_PX + sum(heights[:row]) + row * GAP_PX for row in range(rows + 1)]
    image = _new(QSize(width, tops[-1] + table.height() + theme.SPACE_XL))
    for top in range(0, round(image.height() / SCALE), STRIP_PX):
        _fill(image, top, tools.themes.current)
        yield None
    is_turned = band.layoutDirection() is Qt.LayoutDirection.RightToLeft
    for place, cell in cells.items():
        row, beside = divmod(place, across)
        beside = across - 1 - beside if is_turned else beside
        _lay_out(cell, QSize(each_px, heights[row]))
        _paint(image, cell, QPoint(MARGIN_PX + beside * (each_px + GAP_PX), tops[row]))
        yield None
    _paint(image, band, QPoint(MARGIN_PX, MARGIN_PX))
    yield None
    _paint(image, table, QPoint(MARGIN_PX, tops[-1]))
    _sign(image, tops[-1] + table.height(), width, run, tools.themes.current)
    yield image


def _figures(shown: Shown, themes: theme.Themes) -> QFrame:
    """Return the figures of all lanes on a card."""
    frame = QFrame()
    frame.setProperty("look", "lane")
    table = FiguresTable(themes, most_rows=len(shown.run.lanes))
    names = [(lane.index, run_lane_name(shown.run, lane)) for lane in shown.run.lanes]
    table.figures.show_analysis(shown.analysis, names)
    table.sortByColumn(*shown.order)
    table.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    table.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    inside = QVBoxLayout(frame)
    inside.setContentsMargins(theme.SPACE_M, theme.SPACE_XS, theme.SPACE_M, theme.SPACE_XS)
    inside.addWidget(table)
    frame.setMinimumWidth(table.whole_px + 2 * theme.SPACE_M)
    return frame


def _show(insight: LaneInsight, shown: Shown) -> None:
    """Show what is known of a lane; a copy is read from its beginning, without scroll bars or anything to press."""
    column = insight.column
    _hide_buttons(column)
    column.text.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    column.text.come_to_rest()
    insight.show_analysis(shown.analysis)
    if shown.run.is_running:
        insight.show_live(shown.run, shown.analysis, insight.most_entropy)
    insight.overlay.show_marks(shown.marks.get(column.lane.index, Marks()))


def _measured(cell: QWidget, width: int, most: int, waits: Iterator[int]) -> Iterator[None]:
    """Make a lane as high as its text, which may still be read and drawn, or end it in words."""
    if not isinstance(cell, LaneColumn):
        _lay_out(cell, QSize(width, cell.sizeHint().height()))
        return
    _lay_out(cell, QSize(width, most))
    cell.grab()  # formulas are drawn and code is coloured once it is to be painted
    while not cell.text.is_whole and next(waits, None) is not None:
        yield
        cell.grab()
    around = cell.height() - cell.text.viewport().height()
    if around + cell.text.whole_px > most:
        words = translate("Compare", "… The text goes on; the page to hand out (HTML) has all of it.")
        ends = label(words, look="muted", pixels=theme.SMALL_PX, name="lane_goes_on")
        ends.setWordWrap(True)
        ends.setContentsMargins(theme.SPACE_M, theme.SPACE_XS, theme.SPACE_S, 0)
        column = cell.layout()
        assert isinstance(column, QVBoxLayout)
        column.insertWidget(column.indexOf(cell.text) + 1, ends)
        _lay_out(cell, QSize(width, most))
    else:
        _lay_out(cell, QSize(width, around + max(cell.text.whole_px, LEAST_TEXT_PX)))
    for overlay in cell.text.findChildren(LaneOverlay):
        overlay.read_all()


def _hide_buttons(part: QWidget) -> None:
    """Hide what can be pressed and says nothing: menus, wishes and tools, but not a pin that is set."""
    kinds: tuple[type[QAbstractButton], ...] = QPushButton, IconButton
    for button in (each for kind in kinds for each in part.findChildren(kind)):
        if not (button.isCheckable() and button.isChecked()):
            button.hide()


def _lay_out(part: QWidget, size: QSize) -> None:
    """Have a widget that is not shown laid out: Qt does so where it is to be painted."""
    part.resize(size)
    part.grab(QRect(0, 0, 1, 1))


def _new(inner: QSize) -> QImage:
    size = QSize(inner.width() + 2 * MARGIN_PX, inner.height() + MARGIN_PX)
    image = QImage(size * SCALE, QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(SCALE)
    return image


def _fill(image: QImage, top: int, look: theme.Theme) -> None:
    """Fill a strip with the ground: all of a large picture takes a moment."""
    painter = QPainter(image)
    painter.fillRect(QRectF(0, top, image.width(), STRIP_PX), look.colour("window"))
    painter.end()


def _paint(image: QImage, part: QWidget, at: QPoint) -> None:
    painter = QPainter(image)
    part.render(painter, at)
    painter.end()


def _sign(image: QImage, top: int, width: int, run: LanesRun, look: theme.Theme) -> None:
    """Say under everything where the picture comes from."""
    painter = QPainter(image)
    painter.setFont(theme.font(theme.SMALL_PX))
    painter.setPen(look.colour("muted"))
    said = QFontMetrics(painter.font()).elidedText(made_words(run), Qt.TextElideMode.ElideMiddle, width)
    painter.drawText(QRectF(MARGIN_PX, top, width, theme.SPACE_XL), Qt.AlignmentFlag.AlignVCenter, said)
    painter.end()

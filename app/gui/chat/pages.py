"""A conversation on pages: its title, who says what, and every message as it is painted in the window.

Draws on whatever has pages, a little at a time, so that the window is not kept waiting. Knows no file and no printer.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence

from PySide6.QtCore import QCoreApplication, QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPagedPaintDevice, QPainter

from app.gui import theme
from app.gui.chat import footer
from app.gui.chat.page_cuts import cut_below, printed_height
from app.gui.chat.plain_text import PlainText
from app.gui.chat.rich_text import RichText
from app.gui.chat.turn_block import GAP_PX, NAME_PX, Shape, TurnBlock
from app.gui.formulas.shelf import Formulas, Undrawn
from app.gui.markdown.colouring import Lexers
from app.gui.markdown.values import Block, Code, Formula, Paragraph, Run, Runs, Table
from app.services.turns import Turn

TEXT_PT = 10.5
"""Size of the text on paper, whatever size it has on the screen."""
MOST_WAITS = 200
"""So often something that is prepared in the background is waited for; then it is printed without."""
translate = QCoreApplication.translate


class PagesLost(Exception):
    """What the pages were drawn on took no more of them."""


class Pages:
    """Draws some turns on pages; `draw` is gone through step by step."""

    def __init__(
        self, device: QPagedPaintDevice, look: theme.Theme, lexers: Lexers, formulas: Formulas, resolution: int
    ) -> None:
        """`resolution` is that of the device, in dots per inch."""
        self._device = device
        self._look = look
        self._lexers = lexers
        self._formulas = formulas
        self._resolution = resolution
        self._painter = QPainter()
        self._scale = 1.0
        self._y = 0.0
        self.page = 0
        """Which page is being drawn."""
        self.done = 0
        """How many turns are drawn."""

    def draw(self, title: str, turns: Sequence[Turn]) -> Generator[bool, None, None]:
        """Draw everything; each step is short, and true where it waits for something. Raises PagesLost."""
        if not self._painter.begin(self._device):
            raise PagesLost
        try:
            self._use_size()
            self._painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            self._begin_page()
            self._draw_title(title)
            for turn in turns:
                self._use_size()
                yield from self._draw_turn(turn)
                self.done += 1
        finally:
            self._painter.end()

    def _use_size(self) -> None:
        """Draw text in one size on paper, though somebody may change that on the screen meanwhile."""
        scale = TEXT_PT / theme.reading_px(theme.READING_PX) * self._resolution / 72
        rect = self._device.pageLayout().paintRectPixels(self._resolution)
        self._y *= self._scale / scale
        self._scale = scale
        self._number_px = theme.reading_px(NAME_PX) * 2
        self._width = rect.width() / scale
        self._bottom = rect.height() / scale - self._number_px
        self._painter.resetTransform()
        self._painter.scale(scale, scale)

    def _draw_turn(self, turn: Turn) -> Iterator[bool]:
        block = TurnBlock(turn, self._lexers, None, self._formulas, on_paper=True)
        yield from self._read(block)
        body = block.body
        for wait in range(0 if isinstance(body, PlainText) else MOST_WAITS):
            if isinstance(body, PlainText) or all(self._is_ready(each) for each in body.blocks):
                break
            yield True
            self._formulas.take_in()
            if wait == MOST_WAITS - 1 or all(self._is_ready(each) for each in body.blocks):
                block = TurnBlock(turn, self._lexers, None, self._formulas, on_paper=True)
                yield from self._read(block)
        if block.is_user:
            self._draw_name(turn)
        top = 0.0
        while top < printed_height(block):
            block.reach(top, top + self._bottom)
            end = cut_below(block, top, self._bottom - self._y)
            if end is None and self._y > 0:
                self._next_page()
                continue
            end = min(top + self._bottom, printed_height(block)) if end is None else end
            self._draw_part(block, top, end)
            self._y += end - top
            top = end
            if top < printed_height(block):
                self._next_page()
            yield False
        self._y += GAP_PX

    def _read(self, block: TurnBlock) -> Iterator[bool]:
        block.lay_out(self._width)
        yield False
        while block.is_unread:
            block.lay_out(self._width)
            yield False

    def _is_ready(self, value: Block) -> bool:
        match value:
            case Code():
                return self._lexers.is_ready(value.language)
            case Formula():
                return self._formulas.find(value.latex, display=True) is not Undrawn.WAITS
            case Paragraph():
                return self._are_drawn(value.runs)
            case Table():
                return all(self._are_drawn(cell) for row in value.rows for cell in row)
        return True

    def _are_drawn(self, runs: Runs) -> bool:
        waiting = [
            run for run in runs if run.formula and self._formulas.find(run.formula, display=False) is Undrawn.WAITS
        ]
        return not waiting

    def _draw_part(self, block: TurnBlock, top: float, end: float) -> None:
        painter = self._painter
        painter.save()
        painter.setClipRect(QRectF(-theme.SPACE_XS, self._y, self._width + 2 * theme.SPACE_XS, end - top))
        painter.translate(0, self._y - top)
        # What only touches an edge is not drawn twice.
        clip = QRectF(0, top + 1, self._width, max(end - top - 2, 1.0))
        block.paint(painter, Shape(0, self._width), clip, self._look, None)
        painter.restore()

    def _draw_title(self, title: str) -> None:
        text = RichText((Run(title),), theme.reading_font(theme.TITLE_PX, bold=True), theme.reading_px(28))
        text.lay_out(self._width)
        self._painter.setPen(self._look.colour("text"))
        text.draw(self._painter, QPointF(0, 0), QRectF(0, 0, self._width, self._bottom), self._look, None)
        self._y = text.height + theme.SPACE_L

    def _draw_name(self, turn: Turn) -> None:
        """Draw who asks: in the window the card alone says it."""
        line_px = theme.reading_px(NAME_PX)
        if self._y + 3 * line_px > self._bottom:
            self._next_page()
        self._painter.setFont(theme.reading_font(theme.BASE_PX, bold=True))
        self._painter.setPen(self._look.colour("muted"))
        self._painter.drawText(
            QRectF(0, self._y, self._width, line_px),
            Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignTop,
            footer.who(turn),
        )
        self._y += line_px

    def _next_page(self) -> None:
        if not self._device.newPage():
            raise PagesLost
        self._begin_page()

    def _begin_page(self) -> None:
        self.page += 1
        self._y = 0.0
        font = theme.reading_font(theme.SMALL_PX)
        self._painter.setFont(font)
        self._painter.setPen(self._look.colour("muted"))
        height = QFontMetricsF(font).height()
        place = QRectF(0, self._bottom + self._number_px - height, self._width, height)
        words = translate("Pages", "Page {number}").format(number=self.page)
        self._painter.drawText(place, Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignBottom, words)

"""A formula on lines of its own as it is painted: in the middle, or scrolled sideways where it is too wide.

Until it is drawn, and where nobody can draw it, its source stands there.
"""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter

from app.gui import theme
from app.gui.chat.leaf import BAR_KEY, Range, Spot
from app.gui.chat.rich_text import RichText
from app.gui.chat.shown_runs import FORMULA_SHARE
from app.gui.chat.sideways import BAR_PX, Sideways
from app.gui.formulas.picture import Picture
from app.gui.formulas.shelf import Formulas, Undrawn
from app.gui.markdown.values import Formula, Run

PADDING_PX = 4
"""Above it and below; a bar lies in the room below."""
_CLOSINGS = ("$$", "\\]")


class FormulaView:
    """One formula."""

    open_top = 0.0
    __slots__ = (
        "_formulas",
        "_picture",
        "_sideways",
        "_source",
        "_width",
        "height",
        "is_unfinished",
        "length",
        "value",
    )

    def __init__(self, value: Formula, formulas: Formulas, *, is_open: bool) -> None:
        self.value = value
        self.length = len(value.text)
        self.height = 0.0
        self.is_unfinished = False
        """Whether it is being drawn."""
        # One that is still written is not drawn with every word.
        self._formulas = None if is_open and not value.source.rstrip().endswith(_CLOSINGS) else formulas
        self._picture: Picture | None = None
        self._source: RichText | None = None
        self._sideways = Sideways()
        self._width = -1.0

    @property
    def text(self) -> str:
        """The source, behind the marker of a list where it begins an item."""
        return self.value.text

    @property
    def is_closed(self) -> bool:
        """Whether it is drawn: one that is still written is not."""
        return self._formulas is not None

    @property
    def is_scrolled(self) -> bool:
        """Whether somebody scrolled it sideways."""
        return self._sideways.offset > 0

    def lay_out(self, width: float) -> None:
        """Find the room for a width, unless that is done and no picture can have come."""
        if width == self._width and not self.is_unfinished and (self._picture or self._source) is not None:
            return
        self._width = width
        found = Undrawn.REFUSED
        if self._formulas is not None:
            answer = self._formulas.find(self.value.latex, display=True)
            self._picture = answer if isinstance(answer, Picture) else None
            found = answer if isinstance(answer, Undrawn) else found
        self.is_unfinished = self._picture is None and found is Undrawn.WAITS
        if self._picture is None:
            self._lay_out_source()
            return
        self._source = None
        pixels = _pixels()
        self._sideways.fit(self._picture.width * pixels, width)
        content = (self._picture.above + self._picture.below) * pixels
        self.height = PADDING_PX + content + max(PADDING_PX, BAR_PX if self._sideways.is_needed else 0)

    def reach(self, _top: float, _bottom: float) -> float:
        """Have nothing to measure."""
        return 0.0

    def release(self) -> None:
        """Drop the picture and the lines; the height stays, and how far it is scrolled."""
        self._picture = self._source = None

    def draw(
        self, painter: QPainter, origin: QPointF, clip: QRectF, look: theme.Theme, selected: Range | None
    ) -> None:
        """Draw the formula, or its source."""
        self.lay_out(self._width)
        shift = len(self.value.place.prefix)
        chosen = (selected[0] - shift, selected[1] - shift) if selected is not None else None
        if self._source is not None:
            self._source.draw(painter, origin, clip, look, chosen)
        if self._picture is None:
            return
        box = self._box()
        painter.save()
        painter.setClipRect(QRectF(origin, self._seen().size()), Qt.ClipOperation.IntersectClip)
        ink = look.colour("text")
        if chosen is not None and chosen[0] < len(self.value.source) and chosen[1] > 0:
            painter.fillRect(box.translated(origin), look.colour("accent"))
            ink = look.colour("on_accent")
        pixels = _pixels()
        start = QPointF(box.left(), box.top() + self._picture.above * pixels) + origin
        self._picture.draw(painter, start, pixels, ink)
        painter.restore()
        if self._sideways.is_needed:
            self._sideways.draw(painter, self._bar().translated(origin), look)

    def offset_at(self, x: float, y: float) -> int:
        """Return the character at a place: of a formula that is drawn its start or its end."""
        self.lay_out(self._width)
        prefix = len(self.value.place.prefix)
        if self._source is not None:
            return prefix + self._source.offset_at(x, y)
        return prefix if x < self._box().center().x() else self.length

    def spots(self) -> list[Spot]:
        """Return the bar that scrolls it, where there is one."""
        if self._picture is None or not self._sideways.is_needed:
            return []
        area = QRectF(0, 0, self._width, self.height)
        return [Spot("scroll", self._bar(), "", BAR_KEY, area, self._sideways)]

    def _lay_out_source(self) -> None:
        if self._source is None:
            run = Run(self.value.source, formula=self.value.latex)
            line_px = theme.reading_px(theme.READING_LINE_PX)
            self._source = RichText((run,), theme.reading_font(theme.READING_PX), line_px)
        self._source.lay_out(self._width)
        self.height = self._source.height

    def _box(self) -> QRectF:
        """Return where the picture lies, which may be further than can be seen."""
        if self._picture is None:
            return QRectF()
        box = self._picture.box(QPointF(), _pixels())
        left = max((self._width - box.width()) / 2, 0.0) - self._sideways.offset
        return box.translated(left, PADDING_PX - box.top())

    def _seen(self) -> QRectF:
        return QRectF(0, 0, self._width, self.height)

    def _bar(self) -> QRectF:
        return QRectF(0, self.height - BAR_PX, self._width, BAR_PX)


def _pixels() -> float:
    return theme.reading_font(theme.READING_PX).pixelSize() * FORMULA_SHARE

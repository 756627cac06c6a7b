"""One turn of the conversation as it is painted: who, the text, and under an answer its figures.

Knows where things lie inside the turn; where the turn lies is the transcript's.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter

from app.core.attached_files import lifted
from app.gui import theme
from app.gui.chat import footer
from app.gui.chat.answer_text import AnswerText
from app.gui.chat.block_pictures import made
from app.gui.chat.file_chips import rows_px
from app.gui.chat.leaf import Range, Spot, draw_sunken
from app.gui.chat.paper import paper_picture
from app.gui.chat.plain_text import FOLDED_LINES, PlainText, beginning
from app.gui.chat.thoughtful_text import ThoughtfulText
from app.gui.formulas.shelf import Formulas
from app.gui.markdown.colouring import Lexers
from app.services.turns import Turn

CARD_SHARE = 0.82
"""Widest card of a user's turn, as a share of the column."""
CARD_PADDING_X, CARD_PADDING_Y = 14, 9
NAME_PX, DROPPED_PX = 22, 24
FOOTER_PX, FOOTER_LINE_PX = 32, 18
GAP_PX = theme.SPACE_XXL
"""Under a turn, where its buttons appear."""
_CHARACTERS_PER_LINE = 80


class Sizes(NamedTuple):
    """Heights that grow with the text, asked once for many turns."""

    line: int
    name: int
    dropped: int
    footer: int
    footer_line: int


def sizes() -> Sizes:
    """Return the heights for the size of text in force."""
    pixels = (theme.READING_LINE_PX, NAME_PX, DROPPED_PX, FOOTER_PX, FOOTER_LINE_PX)
    return Sizes(*(theme.reading_px(each) for each in pixels))


@dataclass(frozen=True)
class Shape:
    """The column that turns are painted in."""

    left: float
    width: float


class TurnBlock:
    """Lays out and paints one turn."""

    def __init__(
        self,
        turn: Turn,
        lexers: Lexers | None = None,
        shared: Sizes | None = None,
        formulas: Formulas | None = None,
        *,
        on_paper: bool = False,
    ) -> None:
        self.turn = turn
        self.is_user = turn.role == "user"
        """Whether a person wrote it."""
        self.is_unread = False
        """Whether there is more of its text to read before all of it can be shown; laying it out reads some."""
        self._sizes = shared or sizes()
        self.is_unfinished = False
        """Whether what was last painted would look better painted once more, a moment later."""
        self.changed_top = 0
        """From where on the turn looks different since it last grew."""
        self.is_exact = False
        """Whether `height` holds for the width; of a long text it is measured only where somebody looked."""
        self.height = 0
        self.least_height = 0
        """So high it is at least: something lies over it."""
        self.room_below = 0
        """Pixels under the line of figures that somebody else fills; a refresh makes the room."""
        self._footer: list[str] = []
        self._footer_px = self._sizes.footer
        line_px = self._sizes.line
        self._text: PlainText | AnswerText | ThoughtfulText
        if self.is_user:
            self._text = PlainText(line_px, folds=not on_paper)
        else:
            answer = AnswerText(lexers or Lexers(), line_px, formulas, paper_picture if on_paper else made)
            self._text = answer if on_paper else ThoughtfulText(answer)
        self._follow_thoughts()
        self._text.set_text(self._whole_text(), is_open=self._is_open)
        self.refresh()

    @property
    def text(self) -> str:
        """The text that can be selected: an answer's without the marks of Markdown."""
        return "".join(self._text.texts())

    def texts(self, *, at_once: bool = False) -> Iterator[str]:
        """Return `text` in pieces, each quickly found; with `at_once` in one, where the rest may have its marks."""
        return self._text.texts(at_once=at_once)

    @property
    def body(self) -> PlainText | AnswerText | ThoughtfulText:
        """The text as it is painted, counted from its own corner."""
        return self._text

    @property
    def text_top(self) -> int:
        """Where the text begins."""
        return int(self._text_top())

    @property
    def footer_top(self) -> int:
        """Where the line of figures begins."""
        return self.height - GAP_PX - self.room_below - self._footer_px

    def unfold_thinking(self) -> None:
        """Show thinking from its first word on, if an answer is still to be written."""
        if self._is_open and isinstance(self._text, ThoughtfulText):
            self._text.unfold()

    def refresh(self) -> None:
        """Take over the turn's text anew."""
        self._follow_thoughts()
        if self._text.source != self._whole_text():
            self._text.set_text(self._whole_text(), is_open=self._is_open)
        elif not self._is_open:
            self._text.finish()
        if isinstance(self._text, PlainText):
            self._text.use_tokens(self.turn.file_tokens)
        self.is_exact = False
        self.height = self.height or estimate(self.turn, self._sizes)

    def grow(self, text: str) -> None:
        """Take over text that was added at the end."""
        self._follow_thoughts()
        changed = self._text.open_top
        self._text.append(text)
        if not isinstance(self._text, PlainText):
            changed = self._text.changed_top
        self.changed_top = int(self._text_top() + max(changed, 0))  # nothing above the text has changed
        self.is_exact = False

    def lay_out(self, width: float) -> None:
        """Measure the turn in a column of a width."""
        if (now := sizes()) != self._sizes:
            self._sizes = now
            self._text.use_size(now.line)
        inner = width * CARD_SHARE - 2 * CARD_PADDING_X if self.is_user else width
        self._text.lay_out(inner)
        if not self.is_user:
            self._lay_out_footer(width)
        self._measure()
        self.is_exact = True

    def reach(self, top: float, bottom: float) -> tuple[float, float]:
        """Lay out what lies between two heights; return the height, and by how much what was at the first moved."""
        above = self._text_top()
        moved = self._text.reach(top - above, bottom - above)
        self._measure()
        return self.height, moved

    def toggle_fold(self) -> None:
        """Show all of a very long message, or only its beginning again; of an answer, its thinking or not."""
        if not isinstance(self._text, AnswerText):
            self._text.toggle_fold()
            self.is_exact = False

    def release(self) -> None:
        """Give the memory of the lines back; the height stays."""
        self._text.release()
        self.is_exact = False

    def offset_at(self, x: float, y: float, shape: Shape) -> int:
        """Return the character at a place in the turn."""
        return self._text.offset_at(x - self._text_left(shape), y - self._text_top())

    def spots(self, shape: Shape, top: float, bottom: float) -> list[Spot]:
        """Return the places between two heights that do something, in reading order."""
        left, above = self._text_left(shape), self._text_top()
        return [spot.moved(left, above) for spot in self._text.spots(top - above, bottom - above)]

    def paint(
        self,
        painter: QPainter,
        shape: Shape,
        clip: QRectF,
        look: theme.Theme,
        selected: Range | None,
    ) -> None:
        """Paint the turn with its top at 0; `clip` is what must be painted."""
        if self.is_user:
            self._paint_card(painter, shape, look)
        else:
            if clip.top() + 1 < self._text_top() or self._waits:
                self._paint_above(painter, shape, look)
            if clip.bottom() > self.footer_top and self._footer:
                self._paint_below(painter, shape, look)
        origin = QPointF(self._text_left(shape), self._text_top())
        self._text.draw(painter, origin, clip, look, selected)
        self.is_unfinished = self._text.is_unfinished

    @property
    def _is_open(self) -> bool:
        return self.turn.state in ("waiting", "writing")

    @property
    def _waits(self) -> bool:
        return self._is_open and not (self.turn.text and self._text.height > 0)

    def _follow_thoughts(self) -> None:
        if isinstance(self._text, ThoughtfulText):
            self._text.follow(self.turn.thoughts)

    def _whole_text(self) -> str:
        """Return the text to show; on paper there is none but the answer itself."""
        if isinstance(self._text, AnswerText) and (thoughts := self.turn.thoughts) is not None:
            return thoughts.said
        return self.turn.text

    def _measure(self) -> None:
        extra = self._text_top() + (CARD_PADDING_Y if self.is_user else self._footer_px)
        self.is_unread = self._text.is_unread
        is_wordless = not self.turn.text and not self._is_open  # what is said of that stands where the text would
        text = 0 if is_wordless else max(self._text.height if self.turn.text else 0, self._sizes.line)
        self.height = max(int(text + extra + self.room_below), self.least_height) + GAP_PX

    def _paint_card(self, painter: QPainter, shape: Shape, look: theme.Theme) -> None:
        left = self._text_left(shape) - CARD_PADDING_X
        card = QRectF(left, 0, shape.left + shape.width - left, self.height - GAP_PX)
        draw_sunken(painter, card, theme.RADIUS_CARD, look)

    def _paint_above(self, painter: QPainter, shape: Shape, look: theme.Theme) -> None:
        name_font = theme.reading_font(theme.BASE_PX, bold=True)
        painter.setFont(name_font)
        painter.setPen(look.colour("muted"))
        line = QRectF(shape.left, 0, shape.width, self._sizes.name)
        name = QFontMetricsF(name_font).elidedText(footer.who(self.turn), Qt.TextElideMode.ElideRight, shape.width)
        painter.drawText(line, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop, name)
        if self._waits:
            self._paint_waiting(painter, shape)
        if missing := footer.dropped(self.turn):
            small = theme.reading_font(theme.SMALL_PX)
            painter.setFont(small)
            place = QRectF(shape.left, self._sizes.name, shape.width, self._sizes.dropped)
            shown = QFontMetricsF(small).elidedText(missing, Qt.TextElideMode.ElideRight, shape.width)
            painter.drawText(place, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop, shown)

    def _paint_waiting(self, painter: QPainter, shape: Shape) -> None:
        font = theme.reading_font(theme.READING_PX)
        painter.setFont(font)
        place = QRectF(shape.left, self._text_top(), shape.width, self._sizes.line)
        # Of a long name the middle goes: how far it is stands at the end.
        words = QFontMetricsF(font).elidedText(footer.waiting(self.turn), Qt.TextElideMode.ElideMiddle, shape.width)
        painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, words)

    def _paint_below(self, painter: QPainter, shape: Shape, look: theme.Theme) -> None:
        painter.setFont(theme.reading_font(theme.SMALL_PX))
        painter.setPen(look.colour("muted"))
        line_px = self._sizes.footer_line
        top = self.footer_top + (self._footer_px - len(self._footer) * line_px) / 2
        for number, line in enumerate(self._footer):
            place = QRectF(shape.left, top + number * line_px, max(shape.width, 1.0), line_px)
            painter.drawText(place, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, line)

    def _lay_out_footer(self, width: float) -> None:
        if self._is_open and not self.turn.is_held:
            self._footer, self._footer_px = [], self._sizes.footer
            return
        metrics = QFontMetricsF(theme.reading_font(theme.SMALL_PX))
        self._footer = footer.lines(footer.parts(self.turn), max(width, 1.0), metrics)
        self._footer_px = self._sizes.footer + max(len(self._footer) - 1, 0) * self._sizes.footer_line

    def _text_left(self, shape: Shape) -> float:
        return text_left(self, shape)

    def _text_top(self) -> float:
        return (
            CARD_PADDING_Y if self.is_user else self._sizes.name + (self._sizes.dropped if self.turn.dropped else 0)
        )


def text_left(block: TurnBlock, shape: Shape) -> float:
    """Return where the text of a turn begins in its column."""
    return shape.left + shape.width - CARD_PADDING_X - block.body.used_width if block.is_user else shape.left


def rects_of(block: TurnBlock, start: int, end: int, shape: Shape) -> list[QRectF]:
    """Return where characters of what can be selected of a turn are seen in it, a place for each line."""
    left, above = text_left(block, shape), block.text_top
    return [rect.translated(left, above) for rect in block.body.rects(start, end)]


def estimate(turn: Turn, shared: Sizes) -> int:
    """Return about how high a turn is; asked for all turns of a conversation when it is opened."""
    text, files = turn.text, 0
    if turn.role == "user":
        apart = lifted(text)
        text, files = apart.text, len(apart.framed)
    lines = text.count("\n") + len(text) // _CHARACTERS_PER_LINE + 1
    if turn.role == "user":
        if lines > FOLDED_LINES + 2 and beginning(text) is not None:
            lines = FOLDED_LINES + 2
        extra = 2 * CARD_PADDING_Y + int(rows_px(files))
    else:
        extra = shared.name + shared.footer + (shared.dropped if turn.dropped else 0)
    return lines * shared.line + extra + GAP_PX

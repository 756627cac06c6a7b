"""A person's own message as it is painted: its files, and the text as it was typed, every character of it.

A very long one shows its beginning until somebody wants the rest.
"""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QCoreApplication, QPointF, QRectF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter

from app.core.attached_files import AttachedFile, as_markdown, file_of, lifted
from app.gui import theme
from app.gui.chat.file_chips import FileChips
from app.gui.chat.growing_text import WHOLE_CHARACTERS, GrowingText
from app.gui.chat.leaf import Range, Spot
from app.gui.chat.text_cuts import break_before
from app.services.units import count

FOLDED_LINES, FOLDED_CHARACTERS = 40, 2400
"""How much of a very long message is shown at first."""
FOLD_PX = 36
MOST_LINES = 80
"""A message with more lines than this, or too many characters, is folded."""
translate = QCoreApplication.translate


class _Whole:
    """A text of which nothing is held back but what is folded away."""

    def __init__(self, line_px: int) -> None:
        self.source = ""
        """The message as it was sent."""
        self._shown = ""
        """What of it is text."""
        self.files: tuple[AttachedFile, ...] = ()
        self._tokens: tuple[int, ...] = ()
        self._chips = FileChips()
        self._beginning: int | None = None
        """How many characters are shown while it is folded; None where it is too short for that."""
        self.is_folded = False
        """Whether only its beginning is shown."""
        self._lines = GrowingText(theme.reading_font(theme.READING_PX), line_px, is_prose=True)

    @property
    def shown_length(self) -> int:
        """How many characters are shown."""
        return self._beginning if self.is_folded and self._beginning is not None else len(self._shown)

    def rects(self, start: int, end: int) -> list[QRectF]:
        """Return where characters are seen, a place for each line; of what is folded away nothing."""
        return [rect.translated(0, self._chips.height) for rect in self._lines.rects(start, end)]

    def bring_into_view(self, _start: int, _end: int) -> bool:
        """Nothing of it is wider than it."""
        return False

    def finish(self) -> None:
        """Know that the text is whole."""

    def copied(self, start: int, end: int) -> str:
        """Return what is copied of a stretch of the text; with all of it go the files, under their names."""
        return (
            as_markdown(self.source)
            if self.files and start <= 0 and end >= len(self._shown)
            else self._shown[start:end]
        )

    def use_tokens(self, tokens: tuple[int, ...]) -> None:
        """Say how many tokens the files have; empty where that is not known."""
        if tokens != self._tokens:
            self._tokens, width = tokens, self._chips.width
            self._chips = FileChips(self.files, tokens)
            self._chips.width = width


class PlainText(_Whole):
    """Text that is not read as Markdown."""

    is_unfinished = False
    is_unread = False

    def __init__(self, line_px: int, *, folds: bool = True) -> None:
        super().__init__(line_px)
        self._folds = folds
        self._fold_px = 0

    def texts(self, *, at_once: bool = False) -> Iterator[str]:
        """Return what can be read, also where it is folded."""
        return iter([self._shown])

    @property
    def height(self) -> float:
        """Height of all lines."""
        said = self._lines.height if self._shown or not self.files else 0
        return self._chips.height + said + self._fold_px

    @property
    def used_width(self) -> float:
        """Width of the longest line."""
        folds = self._fold_width() if self._beginning is not None else 0.0
        return max(self._lines.used_width, folds, self._chips.used_width)

    @property
    def open_top(self) -> float:
        """Where the part begins that changes when the text grows."""
        return self._chips.height + self._lines.open_top

    def set_text(self, source: str, *, is_open: bool) -> None:
        """Show another text."""
        self.source = source
        apart = lifted(source)
        self._shown = shown = apart.text
        self.files = tuple(filter(None, map(file_of, apart.framed)))
        self._chips = FileChips(self.files, self._tokens)
        self._beginning = beginning(shown) if self._folds else None
        self.is_folded = self._beginning is not None
        self._fold_px = theme.reading_px(FOLD_PX) if self.is_folded else 0
        self._lines.set_text(shown[: self._beginning])

    def use_size(self, line_px: int) -> None:
        """Show the text in the size in force now."""
        self._fold_px = theme.reading_px(FOLD_PX) if self._beginning is not None else 0
        self._lines.use_font(theme.reading_font(theme.READING_PX), line_px)

    def append(self, text: str) -> None:
        """Let the text grow."""
        self.set_text(self.source + text, is_open=True)

    def toggle_fold(self) -> None:
        """Show the whole text, or only its beginning again."""
        if self._beginning is not None:
            self.is_folded = not self.is_folded
            self._lines.set_text(self._shown[: self._beginning] if self.is_folded else self._shown)

    def lay_out(self, width: float) -> None:
        """Make the lines for a width, unless they are there."""
        self._chips.width = width
        self._lines.least_width = self._fold_width() if self._beginning is not None else 0.0
        self._lines.lay_out(width)

    def reach(self, top: float, bottom: float) -> float:
        """Make the lines between two heights; return by how much what was at the first moved down."""
        return self._lines.reach(top - self._chips.height, bottom - self._chips.height)

    def release(self) -> None:
        """Drop the lines; the text stays."""
        self._lines.release()

    def draw(
        self, painter: QPainter, origin: QPointF, clip: QRectF, look: theme.Theme, selected: Range | None
    ) -> None:
        """Draw the lines that touch `clip`."""
        self._chips.draw(painter, origin, look)
        self._lines.draw(painter, origin + QPointF(0, self._chips.height), clip, look, selected)
        if self._beginning is not None:
            font = QFont(theme.reading_font(theme.SMALL_PX))
            font.setUnderline(True)
            painter.setFont(font)
            painter.setPen(look.colour("link"))
            painter.drawText(self._fold_rect().translated(origin), Qt.AlignmentFlag.AlignCenter, self._fold_words())

    def offset_at(self, x: float, y: float) -> int:
        """Return the character at a place; behind the beginning that is shown comes the end."""
        y -= self._chips.height
        if self.is_folded and y > self._lines.height:
            return len(self._shown)
        return self._lines.offset_at(x, y)

    def span_of(self, offset: int) -> tuple[float, float]:
        """Return from which height to which the part goes that a character is in."""
        above = self._chips.height
        top, bottom = self._lines.span_of(offset)
        return top + above, bottom + above

    def spots(self, _top: float, _bottom: float) -> list[Spot]:
        """Return where files are shown, and where the rest is shown or folded away."""
        folds = [Spot("fold", self._fold_rect(), self._fold_words())] if self._beginning is not None else []
        return [*self._chips.spots(), *folds]

    def _fold_words(self) -> str:
        if not self.is_folded:
            return translate("PlainText", "Show less")
        return translate("PlainText", "Show all {count} characters").format(count=count(len(self._shown)))

    def _fold_width(self) -> float:
        return QFontMetricsF(theme.reading_font(theme.SMALL_PX)).horizontalAdvance(self._fold_words())

    def _fold_rect(self) -> QRectF:
        height = self._fold_px - 2 * theme.SPACE_S
        return QRectF(0, self._chips.height + self._lines.height + theme.SPACE_S, self._fold_width(), height)


def beginning(source: str) -> int | None:
    """Return how much of a very long text is shown at first, or None for a text of ordinary length."""
    if len(source) <= WHOLE_CHARACTERS and source.count("\n") <= MOST_LINES:
        return None
    end = 0
    for _ in range(FOLDED_LINES):
        following = source.find("\n", end + 1)
        if not 0 <= following <= FOLDED_CHARACTERS:
            return end if end > FOLDED_CHARACTERS // 2 else break_before(source, 0, FOLDED_CHARACTERS)
        end = following
    return end

"""What every painted part of a turn offers: a height for a width, a picture, and the way from places to characters.

Places are counted from the part's own left upper corner, characters from the start of its own text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPen

from app.gui import theme
from app.gui.chat.sideways import Sideways

Range = tuple[int, int]
BAR_KEY = (-1,)
"""The key of the bar of a block, in the block."""
THINK_KEY = (-2,)
"""The key of the line over the thinking, in the answer."""
FIRST_THOUGHT_KEY = -3
"""Begins the keys of what is in the first block of the thinking, in the answer; those of the others go down from it."""


@dataclass(frozen=True)
class Spot:
    """A place that does something: opens a link, copies code, shows a long message, the thinking or a file, scrolls sideways."""

    kind: Literal["link", "copy", "fold", "scroll", "think", "file"]
    rect: QRectF
    value: str
    """The address of the link, the code, or what is said at the fold."""
    key: tuple[int, ...] = ()
    """Tells it from the others; a link over two lines has two places and one key."""
    area: QRectF | None = None
    """The whole of what is scrolled, of which the place is the bar."""
    sideways: Sideways | None = None
    """What is scrolled."""
    label: str = ""
    """What is read aloud of it with its state, where that is more than the kind and the value say."""

    def moved(self, x: float, y: float, *part: int) -> Spot:
        """Return the spot counted from another corner, as one of a part of what lies there."""
        area = self.area.translated(x, y) if self.area is not None else None
        return Spot(
            self.kind, self.rect.translated(x, y), self.value, (*part, *self.key), area, self.sideways, self.label
        )


def draw_sunken(painter: QPainter, box: QRectF, radius: float, look: theme.Theme) -> None:
    """Draw a sunken box, inside of it a border where the theme has thick ones or does not tell it from what is around."""
    is_alike = look.colour("sunken") == look.colour("surface")
    painter.setBrush(look.colour("sunken"))
    painter.setPen(Qt.PenStyle.NoPen)
    if is_alike or look.line_px > 1:
        painter.setPen(QPen(look.colour("border_strong"), look.line_px))
        half = look.line_px / 2
        box = box.adjusted(half, half, -half, -half)
    painter.drawRoundedRect(box, radius, radius)


class Leaf(Protocol):
    """One block as it is painted."""

    @property
    def text(self) -> str:
        """The text that can be selected."""
        ...

    @property
    def length(self) -> int:
        """How many characters `text` has."""
        ...

    @property
    def height(self) -> float:
        """Height in the width that it was laid out for."""
        ...

    @property
    def open_top(self) -> float:
        """Where the part begins that changes when the text grows."""
        ...

    @property
    def is_unfinished(self) -> bool:
        """Whether it would look better painted once more, a moment later."""
        ...

    def lay_out(self, width: float) -> None:
        """Measure for a width, unless that is done; something long is estimated where nobody looked."""
        ...

    def reach(self, top: float, bottom: float) -> float:
        """Measure what lies between two heights; return by how much what was at the first moved down."""
        ...

    def release(self) -> None:
        """Drop what was measured; the height stays."""
        ...

    def draw(
        self, painter: QPainter, origin: QPointF, clip: QRectF, look: theme.Theme, selected: Range | None
    ) -> None:
        """Draw what touches `clip`, with a range of characters selected."""
        ...

    def offset_at(self, x: float, y: float) -> int:
        """Return the character at a place."""
        ...

    def spots(self) -> list[Spot]:
        """Return the places that do something, in reading order."""
        ...

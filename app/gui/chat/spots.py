"""Which link, button or bar people point at, have reached by keyboard, or have just used. Knows places and no widget."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QCoreApplication, QPointF, Qt
from PySide6.QtGui import QPainter, QPen

from app.gui import theme
from app.gui.chat.leaf import Spot
from app.gui.chat.turn_block import Shape
from app.gui.chat.turn_list import TurnList

translate = QCoreApplication.translate
RING_PX = 2
"""Width of the line around what has the keyboard."""


class Spotted(NamedTuple):
    """A spot of a turn, by the turn's number, where it lies in the view."""

    turn: int
    spot: Spot

    def is_same(self, other: Spotted | None) -> bool:
        """Return whether both are one spot, wherever it was scrolled."""
        return other is not None and (self.turn, self.spot.key) == (other.turn, other.spot.key)


class Spots:
    """What is hovered, focused and copied."""

    def __init__(self) -> None:
        self.hovered: Spotted | None = None
        self.focused: Spotted | None = None
        self.copied: Spotted | None = None
        """The block of code that was copied a moment ago."""

    def clear(self) -> None:
        """Forget all of them."""
        self.hovered = self.focused = self.copied = None

    def step(self, spots: Sequence[Spotted], *, forward: bool) -> Spotted | None:
        """Move the keyboard to the next or previous of these spots; None where there is no further one."""
        ordered = list(spots) if forward else list(reversed(spots))
        current = next((n for n, each in enumerate(ordered) if each.is_same(self.focused)), -1)
        following = current + 1
        self.focused = ordered[following] if following < len(ordered) else None
        return self.focused

    def paint(self, painter: QPainter, spotted: Spotted, look: theme.Theme, *, has_focus: bool) -> None:
        """Paint over a spot what sets it apart now."""
        rect = spotted.spot.rect
        is_copy = spotted.spot.kind == "copy"
        if is_copy and (spotted.is_same(self.hovered) or spotted.is_same(self.copied)):
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(look.colour("hover"))
            painter.drawRoundedRect(rect, theme.RADIUS_CONTROL, theme.RADIUS_CONTROL)
            painter.setFont(theme.reading_font(theme.SMALL_PX))
            painter.setPen(look.colour("text"))
            done = spotted.is_same(self.copied)
            words = translate("CodeView", "Copied") if done else translate("CodeView", "Copy")
            painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, words)
        if spotted.spot.sideways is not None and spotted.is_same(self.hovered):
            spotted.spot.sideways.draw(painter, rect, look, is_held=True)
        if has_focus and spotted.is_same(self.focused):
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(look.colour("accent"), RING_PX))
            grown = rect if spotted.spot.kind in ("copy", "scroll") else rect.adjusted(-RING_PX, 0, RING_PX, 0)
            painter.drawRoundedRect(grown, theme.RADIUS_CONTROL, theme.RADIUS_CONTROL)


def spots_between(turns: TurnList, shape: Shape, scrolled: int, top: int, bottom: int) -> list[Spotted]:
    """Return the spots of the turns that lie between two heights of a view that is scrolled so far."""
    found: list[Spotted] = []
    for index in turns.visible(top + scrolled, bottom + scrolled):
        block, above = turns.blocks[index], turns.top(index) - scrolled
        if block.is_exact:
            spots = block.spots(shape, top - above, bottom - above)
            found += [Spotted(block.turn.number, spot.moved(0, above)) for spot in spots]
    return found


def distinct(spots: Sequence[Spotted]) -> list[Spotted]:
    """Return one place for each spot: a link over two lines has two."""
    return [each for number, each in enumerate(spots) if not (number and each.is_same(spots[number - 1]))]


def again(spots: Sequence[Spotted], spotted: Spotted) -> Spotted:
    """Return a spot as it is now among these, or as it was where it is not among them."""
    return next((each for each in spots if each.is_same(spotted)), spotted)


def spot_under(spots: Sequence[Spotted], point: QPointF) -> Spotted | None:
    """Return the spot at a place."""
    return next((each for each in spots if each.spot.rect.contains(point)), None)


def spoken(spot: Spot) -> str:
    """Return what is read aloud when the keyboard reaches a spot."""
    if spot.label:
        return spot.label
    match spot.kind:
        case "link":
            return translate("Transcript", "Link: {address}").format(address=spot.value)
        case "copy":
            return translate("Transcript", "Button: copy code")
        case "scroll":
            return translate("Transcript", "Wide block: the arrow keys scroll it")
        case _:
            return translate("Transcript", "Button: {words}").format(words=spot.value)

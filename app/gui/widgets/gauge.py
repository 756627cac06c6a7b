"""A bar made of parts, with a track; the number it stands for and what its parts are is written beside it.

Parts too narrow to be seen by themselves are painted as one, in the colour of the largest: slivers are no news.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.gui.ground import paint_ground, stand_alone

HEIGHT_PX = 8
GAP_PX = 1
LEAST_PX = 3
"""The narrowest that is painted, the gap beside it not counted."""
RADIUS_PX = 2.0
LIGHT_HUE = 0.45
_STEPS = (0.9, 0.6, 0.0, 0.45, 0.15, 0.33, -0.25, 0.45)
"""Parts that may lie side by side are far apart, also where one between them is missing."""


class Segment(NamedTuple):
    """One part of the whole: its share, 0 to 1, and its colour."""

    share: float
    colour: QColor


def mixed(colour: QColor, other: QColor, share: float) -> QColor:
    """Return a colour with a share of another one in it."""
    return QColor.fromRgbF(
        colour.redF() + (other.redF() - colour.redF()) * share,
        colour.greenF() + (other.greenF() - colour.greenF()) * share,
        colour.blueF() + (other.blueF() - colour.blueF()) * share,
    )


def lightness_step(hue: QColor, number: int, text: QColor, surface: QColor) -> QColor:
    """Return the colour of the part with this number: a lighter or darker step of a hue, 3:1 on the surface."""
    step = _STEPS[number % len(_STEPS)]
    if hue.lightnessF() > 0.5:  # on a dark surface there is more room towards it than towards the text
        return mixed(hue, surface, LIGHT_HUE * step) if step >= 0 else mixed(hue, text, -2 * step)
    return mixed(hue, text, step) if step >= 0 else mixed(hue, surface, -step)


class Gauge(QWidget):
    """Shows parts of a whole side by side; what they leave is the track."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        stand_alone(self)
        self._segments: tuple[Segment, ...] = ()
        self._track = QColor()
        self.setFixedHeight(HEIGHT_PX)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    @property
    def share(self) -> float:
        """The share that all parts take together."""
        return min(sum(segment.share for segment in self._segments), 1.0)

    @property
    def segments(self) -> tuple[Segment, ...]:
        """The parts that are shown, from the left."""
        return self._segments

    def set_segments(self, segments: Sequence[Segment]) -> None:
        """Show other parts; those that are nothing are left out."""
        shown = tuple(segment for segment in segments if segment.share > 0)
        if shown != self._segments:
            self._segments = shown
            self.update()

    def set_track(self, colour: QColor) -> None:
        """Use another colour for what the parts leave."""
        self._track = colour
        self.update()

    def sizeHint(self) -> QSize:
        """Ask for a thin bar."""
        return QSize(120, HEIGHT_PX)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint the parts."""
        painter = QPainter(self)
        paint_ground(painter, self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        outline = QPainterPath()
        outline.addRoundedRect(QRectF(self.rect()), RADIUS_PX, RADIUS_PX)
        painter.setClipPath(outline)
        painter.fillRect(self.rect(), self._track)
        left = 0.0
        for piece in pieces(self._segments, self.width()):
            right = left + piece.share * self.width()
            begins, ends = round(left), round(right) - GAP_PX  # whole pixels: a blurred edge looks like one more part
            painter.fillRect(QRectF(begins, 0, ends - begins, self.height()), piece.colour)
            left = right
        painter.end()


def pieces(segments: Sequence[Segment], width_px: int) -> tuple[Segment, ...]:
    """Return what is painted of parts in so many pixels: none narrower than can be seen, together within the whole."""
    least = (LEAST_PX + GAP_PX) / max(width_px, 1)
    made: list[Segment] = []
    for is_narrow, run in groupby(segments, lambda segment: segment.share < least):
        neighbours = list(run)
        made += _joined(neighbours, least) if is_narrow else neighbours
    over = sum(piece.share for piece in made) - 1.0
    if over > 0 and made:
        largest = max(made, key=lambda piece: piece.share)
        made[made.index(largest)] = Segment(max(largest.share - over, least), largest.colour)
    return tuple(made)


def _joined(narrow: Sequence[Segment], least: float) -> list[Segment]:
    """Return narrow neighbours as pieces that are wide enough, each in the colour of its largest part."""
    groups: list[list[Segment]] = []
    for segment in narrow:
        if groups and sum(each.share for each in groups[-1]) < least:
            groups[-1].append(segment)
        else:
            groups.append([segment])
    if len(groups) > 1 and sum(each.share for each in groups[-1]) < least:
        groups[-2:] = [groups[-2] + groups[-1]]
    largest = [max(group, key=lambda segment: segment.share) for group in groups]
    return [
        Segment(max(sum(each.share for each in group), least), first.colour)
        for group, first in zip(groups, largest, strict=True)
    ]

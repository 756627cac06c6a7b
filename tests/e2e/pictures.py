"""Tells whether two pictures of the window show the same, in spite of how letters are smoothed here and there."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PySide6.QtGui import QImage

VISIBLE_STEP = 24
"""A pixel is another one where a channel differs by more, of 255."""
MOST_SHARE = 0.005
"""So much of a picture may be other pixels."""
BLOCK_PX = 16
TILE_PX = 2 * BLOCK_PX
"""Squares of this side overlap by half, so that nothing falls between them."""
MOST_SHARE_OF_A_TILE = 0.25
"""So much of one square may be other pixels: a button that is gone is little of a window and much of its place."""


class Difference(NamedTuple):
    """How much of a picture is other pixels, and of the square where it is most."""

    share: float
    worst_tile: float
    marked: QImage
    """The second picture, with the other pixels in red."""

    @property
    def is_small(self) -> bool:
        """Whether people would call it the same picture."""
        return self.share < MOST_SHARE and self.worst_tile < MOST_SHARE_OF_A_TILE


def difference(accepted: QImage, shown: QImage) -> Difference:
    """Compare two pictures; those of different sizes have nothing in common."""
    if accepted.size() != shown.size():
        return Difference(1.0, 1.0, shown)
    one, other = _pixels(accepted), _pixels(shown)
    steps: NDArray[np.int16] = np.abs(one.astype(np.int16) - other.astype(np.int16)).max(axis=2)
    differs: NDArray[np.bool_] = steps > VISIBLE_STEP
    marked = other.copy()
    marked[differs] = (255, 0, 0)
    height, width = differs.shape
    picture = QImage(marked.tobytes(), width, height, width * 3, QImage.Format.Format_RGB888).copy()
    return Difference(float(differs.mean()), _worst_tile(differs), picture)


def _worst_tile(differs: NDArray[np.bool_]) -> float:
    height, width = differs.shape
    padded = np.pad(differs, ((0, TILE_PX + -height % BLOCK_PX), (0, TILE_PX + -width % BLOCK_PX)))
    rows, columns = padded.shape[0] // BLOCK_PX, padded.shape[1] // BLOCK_PX
    blocks = padded.reshape(rows, BLOCK_PX, columns, BLOCK_PX).sum(axis=(1, 3))
    tiles = blocks[:-1, :-1] + blocks[1:, :-1] + blocks[:-1, 1:] + blocks[1:, 1:]
    return float(tiles.max()) / TILE_PX**2


def _pixels(image: QImage) -> NDArray[np.uint8]:
    plain = image.convertToFormat(QImage.Format.Format_RGB888)
    rows = np.frombuffer(plain.constBits(), np.uint8).reshape(plain.height(), plain.bytesPerLine())
    return rows[:, : plain.width() * 3].reshape(plain.height(), plain.width(), 3).copy()

"""The arrow of controls that open something."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QTransform

from app.gui.widgets.arrow import DOWN, LEFT, RIGHT, draw_arrow

pytestmark = pytest.mark.usefixtures("qapp")


def drawn(way: QPointF, arm: float = 4.0) -> QImage:
    image = QImage(25, 25, QImage.Format.Format_ARGB32)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    draw_arrow(painter, QPointF(12.5, 12.5), QColor("black"), way, arm)
    painter.end()
    return image


def inked(image: QImage) -> set[tuple[int, int]]:
    return {(x, y) for x in range(25) for y in range(25) if image.pixelColor(x, y).alpha() > 100}


def test_its_tip_points_the_way_it_should() -> None:
    down = inked(drawn(DOWN))
    bottom, top = max(y for _x, y in down), min(y for _x, y in down)
    assert {x for x, y in down if y == bottom} <= {11, 12, 13}
    assert max(x for x, y in down if y <= top + 1) - min(x for x, y in down if y <= top + 1) >= 7
    assert inked(drawn(RIGHT)) == {(y, x) for x, y in down}
    assert inked(drawn(LEFT)) == inked(drawn(RIGHT).transformed(QTransform().scale(-1, 1)))


def test_a_smaller_one_has_the_same_shape() -> None:
    small, large = inked(drawn(DOWN, 2.5)), inked(drawn(DOWN))
    assert small and len(small) < len(large) and {x for x, _y in small} < {x for x, _y in large}

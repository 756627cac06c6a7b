"""Kinds of operations can be told apart, however many a model has: by a shade, else by the lines over it, and by a number."""

from __future__ import annotations

import json

import pytest
from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtWidgets import QApplication

from app.gui import theme
from app.gui.inside.timing.operations_bar import NumberedPart, paint_part
from app.gui.inside.timing.operations_panel import _HUES, _pattern, _shade
from app.system.resources import find_resources

MOST_KINDS = 28
"""Six types of weights in four places, and what is no weight."""


@pytest.mark.parametrize("name", ["light", "dark", "contrast"])
@pytest.mark.parametrize("hue", _HUES)
def test_no_two_kinds_look_alike(name: str, hue: str, qapp: QApplication) -> None:
    assert qapp is not None, "painting text needs it"
    look = theme.Theme(name, json.loads(find_resources().read_text(f"themes/{name}.json")))
    pictures = []
    for place in range(MOST_KINDS):
        image = QImage(40, 18, QImage.Format.Format_RGB32)
        painter = QPainter(image)
        part = NumberedPart(1.0, 1, _shade(look, hue, place), _pattern(place))
        paint_part(painter, QRectF(0, 0, 40, 18), part, look)
        painter.end()
        pictures.append(bytes(image.constBits()))
    assert len(set(pictures)) == MOST_KINDS, "but for the number, which is the same here"
    shades = {QColor(_shade(look, hue, place)).name() for place in range(MOST_KINDS)}
    assert len(shades) == 7

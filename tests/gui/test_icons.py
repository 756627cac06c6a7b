"""An icon has one shape in every colour: a disabled one is fainter, on the same empty ground."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QSize
from PySide6.QtGui import QColor, QIcon

from app.gui.icons import Icons
from tests.gui.conftest import Stage

SIZE = 20


@pytest.mark.parametrize("name", ["send", "history", "settings"])
def test_a_disabled_icon_is_the_same_drawing_in_another_colour(ready: Stage, name: str) -> None:
    icons = Icons(ready.desk.program.resources)
    icon = icons.icon(name, QColor("#204060"), QColor("#a0a0a0"))
    normal, faint = (
        icon.pixmap(QSize(SIZE, SIZE), 1.0, mode).toImage() for mode in (QIcon.Mode.Normal, QIcon.Mode.Disabled)
    )
    places = [(x, y) for x in range(SIZE) for y in range(SIZE)]
    shape = [normal.pixelColor(x, y).alpha() for x, y in places]
    assert min(shape) == 0
    assert max(shape) > 200
    assert [faint.pixelColor(x, y).alpha() for x, y in places] == shape
    solid = [faint.pixelColor(x, y).name() for x, y in places if faint.pixelColor(x, y).alpha() > 200]
    assert set(solid) <= {"#a0a0a0", "#a1a1a1", "#9f9f9f"}

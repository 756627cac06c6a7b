from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QRegion
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.gui.next_token.candidates import ROW_PX
from app.system.settings_file import Theme
from tests.gui.conftest import Stage
from tests.gui.looker import Looker, looking

UNPAINTED = QColor("#ff00ff")


def stands_alone(widget: QWidget) -> bool:
    return widget.testAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent) and widget.isVisible()


def unpainted(widget: QWidget) -> int:
    """Return how many pixels a widget leaves as they were, each of which would show what stood there before."""
    picture = QImage(widget.size(), QImage.Format.Format_RGB32)
    picture.fill(UNPAINTED)
    painter = QPainter(picture)
    widget.render(painter, QPoint(), QRegion(widget.rect()), QWidget.RenderFlag.DrawChildren)
    painter.end()
    return sum(
        picture.pixelColor(x, y) == UNPAINTED for y in range(picture.height()) for x in range(0, picture.width(), 3)
    )


@pytest.mark.parametrize("theme", ["light", "dark", "contrast"])
def test_what_is_painted_alone_paints_every_pixel_of_itself(ready: Stage, theme: Theme) -> None:
    ready.themes.choose(theme)
    ready.sends("Hi")
    ready.desk.answer("Hello", " there")
    ready.settle()
    alone = [widget for widget in ready.window.findChildren(QWidget) if stands_alone(widget)]
    assert {"kv_value", "kv_gauge", "itl_chart", "composer_status"} <= {widget.objectName() for widget in alone}
    assert [widget.objectName() or type(widget).__name__ for widget in alone if unpainted(widget)] == []


@pytest.mark.parametrize("name", ["kv_value", "itl_chart", "composer_status"])
def test_the_ground_of_what_is_painted_alone_is_that_of_what_it_stands_on(ready: Stage, name: str) -> None:
    for theme in ("light", "dark"):
        ready.themes.choose(theme)
        ready.settle()
        widget = ready.find(name)
        beside = widget.mapTo(ready.window, QPoint(0, 0)) - QPoint(2, 0)
        picture = ready.window.grab(QRect(beside, widget.size())).toImage()
        assert picture.pixelColor(0, 0) == ready.themes.current.colour("surface")
        assert picture.pixelColor(2, widget.height() - 1) in surface_or_track(ready)


def surface_or_track(stage: Stage) -> tuple[QColor, ...]:
    look = stage.themes.current
    return (look.colour("surface"), look.colour("border"))


@pytest.fixture
def looker(qtbot: QtBot, qapp: QApplication, tmp_path: Path) -> Iterator[Looker]:
    yield from looking(qtbot, qapp, tmp_path)


@pytest.mark.parametrize("theme", ["light", "dark", "contrast"])
def test_a_list_of_candidates_paints_its_own_ground(looker: Looker, theme: Theme) -> None:
    looker.themes.choose(theme)
    looker.steps()
    viewport = looker.chart.viewport()
    assert stands_alone(viewport) and viewport.height() >= 6 * ROW_PX
    assert unpainted(viewport) == 0

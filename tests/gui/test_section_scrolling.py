"""The scroll bar of the column has its place whether it is needed or not."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QRect

from app.gui.widgets.section_column import SectionColumn
from tests.gui.conftest import Stage
from tests.gui.test_sections import NAMES, answered, lay_out, scroll_bars, section


def widths(stage: Stage) -> list[int]:
    return [section(stage, name).width() for name in NAMES]


@pytest.mark.parametrize("button", ["live_details_button", "sampling_more_button"])
def test_nothing_is_narrower_for_the_scroll_bar(ready: Stage, button: str) -> None:
    answered(ready)
    before, slider = widths(ready), ready.find("temperature_slider").width()
    assert scroll_bars(ready) == []
    ready.clicks(button)
    lay_out(ready)
    assert scroll_bars(ready) != []
    assert (widths(ready), ready.find("temperature_slider").width()) == (before, slider)


def test_the_place_of_the_scroll_bar_is_empty_while_there_is_nothing_to_scroll(ready: Stage) -> None:
    answered(ready)
    bar = ready.find_as(SectionColumn).verticalScrollBar()

    def drawn() -> set[str]:
        image = ready.window.grab(QRect(bar.mapTo(ready.window, QPoint(0, 0)), bar.size())).toImage()
        return {image.pixelColor(bar.width() // 2, y).name() for y in range(0, image.height(), 4)}

    assert len(drawn()) == 1
    ready.clicks("live_details_button")
    lay_out(ready)
    assert len(drawn()) > 1

"""How tests look at the part “Time” of the page Inside."""

from __future__ import annotations

from PySide6.QtGui import QImage
from PySide6.QtWidgets import QWidget

from app.gui.inside.timing.timeline_view import TimelineView
from tests.gui.inside.conftest import Inspector
from tests.services.timed_answers import whole_answer


def view(looker: Inspector) -> TimelineView:
    return looker.stage.find_as(TimelineView, "timeline")


def shows_time(looker: Inspector) -> None:
    """Go to the part, and wait until it shows what is known."""
    looker.opens()
    looker.stage.clicks("inside_time_tab")
    looker.known()


def timed(looker: Inspector) -> None:
    """Have a question answered whose moments are known, and look at them."""
    whole_answer(looker.stage.desk)
    shows_time(looker)


def colours(widget: QWidget, left: float, top: float, width: float, height: float) -> set[str]:
    image: QImage = widget.grab().toImage()
    scale = image.width() / widget.width()
    return {
        image.pixelColor(round((left + x) * scale), round((top + y) * scale)).name()
        for x in range(1, max(int(width) - 1, 2))
        for y in range(2, int(height) - 2, 4)
    }

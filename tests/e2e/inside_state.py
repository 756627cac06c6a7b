"""An answer token by token on the page Inside: how that comes about, with one token that is looked at."""

from __future__ import annotations

from PySide6.QtCore import QEventLoop, QItemSelectionModel

from app.gui.inside.alternatives import Alternatives
from app.gui.inside.cards_row import CardsRow
from app.gui.inside.page import InsidePage
from app.gui.inside.token_flow import TokenFlow
from tests.e2e.scene import Scene
from tests.e2e.what_if_state import answered

TOKEN = 20


def inside(scene: Scene) -> None:
    """Somebody looks at one token of an answer, and stands on another one that could have come."""
    answered(scene)
    scene.window.page_wanted.emit("inside")
    scene.find(InsidePage, "inside_page").show_part("answer")
    looks = scene.program.inspecting
    scene.desk.until(lambda: not looks.is_busy)
    looks.look_at(TOKEN)
    scene.desk.until(lambda: not looks.is_busy)
    rows = scene.find(Alternatives, "alternatives_list")
    taken = next(row for row, each in enumerate(rows.rows.rows) if each.is_taken)
    other = rows.rows.index(1 if taken != 1 else 2)
    rows.selectionModel().setCurrentIndex(other, QItemSelectionModel.SelectionFlag.ClearAndSelect)
    scene.find(TokenFlow, "token_inspector").setFocus()


def laboratory(scene: Scene) -> None:
    """Somebody tries other settings on that token: fewer tokens, another order, a stage switched off."""
    inside(scene)
    loop = QEventLoop()
    while (row := scene.window.findChild(CardsRow, "lab_cards")) is None or not row.isVisible():
        # it is made behind the first picture of the page, card by card
        loop.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents)
    lab = scene.program.laboratory
    lab.change(top_k=25, temperature=1.2, repeat_penalty=1.1)
    lab.switch_stage("dry", False)
    lab.move_stage("temperature", 2)
    scene.desk.until(lambda: not lab.is_busy)
    page = scene.find(InsidePage, "inside_page")
    page.verticalScrollBar().setValue(page.verticalScrollBar().maximum())
    row.horizontalScrollBar().setValue(row.cards["dry"].x())

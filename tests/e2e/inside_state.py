"""An answer token by token on the page Inside: how that comes about, with one token that is looked at."""

from __future__ import annotations

from PySide6.QtCore import QItemSelectionModel

from app.gui.inside.alternatives import Alternatives
from app.gui.inside.token_flow import TokenFlow
from tests.e2e.scene import Scene
from tests.e2e.what_if_state import answered

TOKEN = 20


def inside(scene: Scene) -> None:
    """Somebody looks at one token of an answer, and stands on another one that could have come."""
    answered(scene)
    scene.window.page_wanted.emit("inside")
    looks = scene.program.inspecting
    scene.desk.until(lambda: not looks.is_busy)
    looks.look_at(TOKEN)
    scene.desk.until(lambda: not looks.is_busy)
    rows = scene.find(Alternatives, "alternatives_list")
    taken = next(row for row, each in enumerate(rows.rows.rows) if each.is_taken)
    other = rows.rows.index(1 if taken != 1 else 2)
    rows.selectionModel().setCurrentIndex(other, QItemSelectionModel.SelectionFlag.ClearAndSelect)
    scene.find(TokenFlow, "token_inspector").setFocus()

"""An answer token by token on the page Inside: how that comes about, with one token that is looked at."""

from __future__ import annotations

from array import array

from PySide6.QtCore import QEventLoop, QItemSelectionModel

from app.core.chat import PromptSpan
from app.core.conversation import AnswerPrompt
from app.core.store_commands import KeepPrompt
from app.gui.inside.alternatives import Alternatives
from app.gui.inside.cards_row import CardsRow
from app.gui.inside.loop.loop_part import LoopPart
from app.gui.inside.loop.stage_box import StageBox
from app.gui.inside.loop.tour_card import TourCard
from app.gui.inside.page import InsidePage
from app.gui.inside.prompt_chips import PromptChips
from app.gui.inside.token_flow import TokenFlow
from tests.e2e.scene import Scene
from tests.e2e.what_if_state import answered

TOKEN = 20
_PARTS = (
    PromptSpan(0, 3, "template", -1),
    PromptSpan(3, 12, "system", 0),
    PromptSpan(12, 15, "template", -1),
    PromptSpan(15, 38, "prompt", 1),
    PromptSpan(38, 40, "template", -1),
)


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


def prompt(scene: Scene) -> None:
    """Somebody looks at the tokens of the whole prompt, and points at one of the question."""
    answered(scene)
    kept = AnswerPrompt(scene.program.chat.turns[-1].message, array("i", range(40)).tobytes(), _PARTS)
    scene.desk.store.send(KeepPrompt(kept))
    scene.window.page_wanted.emit("inside")
    scene.find(InsidePage, "inside_page").show_part("prompt")
    looks = scene.program.inspecting
    scene.desk.until(lambda: not looks.is_busy)
    chips = scene.find(PromptChips, "prompt_chips")
    chips.setFocus()
    chips.look_at(len(chips.prompt.ids) - 6 if chips.prompt is not None else 0)


def loop(scene: Scene) -> None:
    """Somebody who was shown around looks at the whole process of an answer, and at one stage."""
    scene.program.settings.change(loop_tour_seen=True)
    answered(scene)
    scene.window.page_wanted.emit("inside")
    settle_loop(scene)
    scene.find(StageBox, "loop_sampling").click()


def loop_tour(scene: Scene) -> None:
    """Somebody is being shown around, and has come to the cache."""
    answered(scene)
    scene.window.page_wanted.emit("inside")
    settle_loop(scene)
    scene.find(TourCard, "loop_tour").go(4)


def settle_loop(scene: Scene) -> None:
    """Wait until the picture shows all that is known."""
    looks = scene.program.inspecting
    scene.desk.until(lambda: not looks.is_busy)
    part, loop_ = scene.find(LoopPart, "loop_view"), QEventLoop()
    while part.is_behind:
        loop_.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents)

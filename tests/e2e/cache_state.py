"""The cells of the KV cache on the page Inside, behind a chat of two questions, one cell looked at."""

from __future__ import annotations

from array import array

import msgspec
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPlainTextEdit, QToolButton

from app.core.chat import PromptSpan
from app.core.commands import Command, Render, SettingsChange
from app.core.events import Finished, PrefillProgress, PromptReady, Rendered
from app.core.metrics import KVUse
from app.gui.inside.cache.cell_grid import CellGrid
from app.gui.inside.page import InsidePage
from tests.e2e.compare_states import begin, set_up, write
from tests.e2e.scene import Scene, words_of
from tests.e2e.what_if_state import ANSWER, QUESTION
from tests.fake_engine import CONTEXT, MILLISECOND_NS, metrics

SPANS = (
    PromptSpan(3, 148, "system", 0),
    PromptSpan(152, 389, "history", 1),
    PromptSpan(394, 1_121, "history", 2),
    PromptSpan(1_126, 1_213, "prompt", 3),
)
PROMPT, FROM_CACHE, READ_MS = 1_218, 1_122, 700
CELL, NEW = 1_190, 38
DRAFT = "And why is it red in the evening? Say it so that a child understands it, in three short sentences."


def kv_map(scene: Scene) -> None:
    """A second question was answered: most of its prompt was in the cells."""
    scene.load(ANSWER)
    scene.program.chat.send(QUESTION)
    scene.desk.settle()
    engine = scene.desk.engine
    request = engine.question.request
    ids = array("i", (place % len(words_of(ANSWER)) for place in range(PROMPT))).tobytes()
    engine.say(PromptReady(request, ids, SPANS, FROM_CACHE, 0))
    engine.say(PrefillProgress(request, PROMPT, PROMPT, FROM_CACHE, READ_MS * MILLISECOND_NS))
    scene.write(ANSWER)
    used = PROMPT + engine.written
    figures = msgspec.structs.replace(
        metrics(engine.written, PROMPT, FROM_CACHE), kv=KVUse(used, CONTEXT, used * 23_040)
    )
    changes = (SettingsChange(0, engine.question.settings),)
    written = array("i", range(engine.written)).tobytes()
    engine.say(Finished(request, ANSWER, written, "end", figures, 7, changes))
    scene.desk.settle()
    answer_others, sent = engine.on_command, ids + written + array("i", range(NEW)).tobytes()

    def reply(command: Command) -> None:
        if isinstance(command, Render):
            engine.say(Rendered(command.request, "", sent, ()))
        else:
            answer_others(command)

    engine.on_command = reply
    scene.find(QPlainTextEdit, "composer").setPlainText(DRAFT)
    scene.rest()
    look(scene)


def kv_blocks(scene: Scene) -> None:
    """The lanes of a comparison are written, and somebody sees their tokens in blocks."""
    set_up(scene)
    begin(scene)
    write(scene, 0.8)
    look(scene)
    scene.find(QToolButton, "kv_blocks_tab").click()


def look(scene: Scene) -> None:
    """Go to the cells, and to one of them."""
    scene.window.page_wanted.emit("inside")
    scene.find(InsidePage, "inside_page").show_part("cache")
    grid = scene.find(CellGrid, "kv_grid")
    grid.setFocus(Qt.FocusReason.TabFocusReason)
    grid.look_at(CELL)

"""The part Attention of the page Inside: what “it” in the example looked at, in one head."""

from __future__ import annotations

from array import array

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from app.core.commands import ReadAttention, Tokenize
from app.core.events import Tokenized
from app.gui.inside.attention.flow import AttentionFlow
from app.gui.inside.attention.part import AttentionPart
from app.services.attention_text import EXAMPLE
from tests.e2e.scene import Scene
from tests.made_up_attention import attention

LAYERS, HEADS = 30, 9
CHOSEN = (11, 4)
LOOKED_AT = 4
"""The token that somebody points at: “server”."""


def attention_of_it(scene: Scene) -> None:
    """Somebody opened the example, chose a head and looks at one token."""
    scene.program.conversations.start()
    scene.desk.settle()
    scene.load(EXAMPLE)
    scene.window.page_wanted.emit("inside")
    QTest.mouseClick(scene.find(QWidget, "inside_attention_tab"), Qt.MouseButton.LeftButton)
    engine = scene.desk.engine
    assert scene.program.views.attention.show_example()
    ids = array("i", range(EXAMPLE.count(" ") + 1)).tobytes()
    engine.say(Tokenized(engine.all(Tokenize)[-1].request, ids))
    scene.desk.settle()
    asked = engine.all(ReadAttention)[-1]
    engine.say(attention(asked.request, len(asked.ids) // 4, LAYERS, heads=HEADS))
    scene.desk.settle()
    shown = scene.find(AttentionPart, "inside_attention")
    shown.grid.chosen.emit(CHOSEN)
    shown.look_at(LOOKED_AT)
    scene.find(AttentionFlow, "attention_flow").setFocus()

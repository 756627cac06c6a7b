"""An answer under other settings: how that comes about, with a record of what the model would have weighed."""

from __future__ import annotations

from array import array

from PySide6.QtWidgets import QMenu

from app.core.events import Tokens
from app.gui.compare.what_if_dialog import SIZE_PX, WhatIfDialog
from app.gui.widgets.boxes import NumberBox
from tests.e2e.scene import PROMPT_TOKENS, Scene
from tests.e2e.weighing import recorded
from tests.fake_engine import MILLISECOND_NS

QUESTION = "Why is the sky blue?"
ANSWER = """Sunlight is a mixture of all colours, and on its way through the air it meets countless tiny molecules. They \
scatter **short waves** far more than long ones: blue light is bounced about until it comes from everywhere, while red \
light goes nearly straight on.

- At noon the way through the air is short, and the whole sky looks blue.
- In the evening it is long: the blue has been scattered away before the light arrives, and what is left is red.

A torch in fog does something like it, only that drops of water scatter all colours alike, so fog is white."""


def answered(scene: Scene) -> None:
    """A question was answered, and its record kept."""
    scene.program.conversations.start()
    scene.desk.settle()
    scene.load(ANSWER)
    scene.ask(QUESTION)
    count = ANSWER.count(" ") + 1
    engine = scene.desk.engine
    request, at_ns = engine.question.request, engine.question.sent_ns + 120 * MILLISECOND_NS
    engine._text[request], engine._count[request] = ANSWER, count
    ids = array("i", range(count)).tobytes()
    last_ns = at_ns + 13 * count * MILLISECOND_NS
    used = PROMPT_TOKENS + count
    engine.say(Tokens(request, 0, count, ids, ANSWER, recorded(range(count), 1), used, last_ns, at_ns))
    scene.desk.settle()
    scene.finish()


def what_if(scene: Scene) -> None:
    """Somebody looks at the answer under stricter settings."""
    answered(scene)
    menu = QMenu(scene.window)
    scene.window.parts.chat_page.turn_actions.add_to(menu, scene.program.chat.turns[-1])
    next(action for action in menu.actions() if action.objectName() == "answer_what_if_action").trigger()
    menu.deleteLater()
    dialog, replays = scene.find(WhatIfDialog, "what_if_dialog"), scene.program.answer_what_if
    dialog.resize(SIZE_PX)  # whatever screen there is
    scene.desk.until(lambda: not replays.is_busy)
    for name, value in (("top_k", 8), ("temperature", 0.5)):
        box = dialog.findChild(NumberBox, f"what_if_{name}_box")
        assert box is not None
        box.setValue(value)
        scene.desk.until(lambda: not replays.is_busy)

"""What is said under the draft from sending a question to the end of its answer, and whose cells the cache holds."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt

from app.core.commands import Generate
from app.core.events import PrefillProgress, PromptReady
from tests.gui.conftest import Stage
from tests.gui.counting import counts, ids_of, status
from tests.gui.live_panel import PanelStage, live

__all__ = ["live"]

LATER = "Esc stops it · Enter sends after it"


def begins_to_read(stage: Stage, tokens: int, cached: int) -> None:
    stage.engine.say(PromptReady(stage.engine.question.request, ids_of(tokens), (), cached, 0))
    stage.settle()


def test_reading_is_told_from_the_moment_it_begins_without_what_is_known_already(ready: Stage) -> None:
    ready.sends("Hi")
    assert not ready.sees("prefill_progress")
    begins_to_read(ready, 530, 30)
    bar = ready.find("prefill_progress")
    assert ready.sees("prefill_progress")
    assert [bar.property(name) for name in ("minimum", "value", "maximum")] == [0, 0, 500]
    assert status(ready) == "Reading the prompt: 0 of 500 tokens"
    ready.engine.say(PrefillProgress(ready.engine.question.request, 430, 530, 30, 0))
    ready.settle()
    assert (bar.property("value"), status(ready)) == (400, "Reading the prompt: 400 of 500 tokens")


def test_a_chat_that_is_shown_again_while_its_prompt_is_read_says_so_at_once(ready: Stage) -> None:
    ready.sends("Hi")
    first = ready.desk.program.chat.conversation_id
    begins_to_read(ready, 530, 30)
    ready.triggers("new_chat_action")
    assert not ready.sees("prefill_progress") and "Reading" not in status(ready)
    ready.desk.program.conversations.open(first)
    assert ready.sees("prefill_progress") and status(ready) == "Reading the prompt: 0 of 500 tokens"
    ready.engine.write("x")
    ready.settle()
    ready.triggers("new_chat_action")
    ready.desk.program.conversations.open(first)
    assert not ready.sees("prefill_progress")


def test_a_draft_that_cannot_be_sent_yet_says_when_with_its_first_letter(ready: Stage) -> None:
    ready.sends("Hi")
    ready.engine.prompt(40)
    ready.engine.write("Hello", 3)
    ready.settle()
    assert LATER not in status(ready)
    ready.types("A")
    assert status(ready).startswith(f"{LATER} · ") and "left of 4,096" in status(ready)
    assert "left of 4,096. While the answer is written" in ready.find("composer_status").accessibleDescription()
    ready.presses(Qt.Key.Key_Backspace)
    assert LATER not in status(ready)
    ready.sends("And then?")
    assert len(ready.engine.all(Generate)) == 1


def test_a_draft_that_cannot_be_sent_yet_says_so_also_while_the_prompt_is_read(ready: Stage) -> None:
    ready.sends("Hi")
    begins_to_read(ready, 530, 30)
    ready.types("And then?")
    assert status(ready) == f"{LATER} · Reading: 0 of 500"
    assert "Reading the prompt: 0 of 500 tokens" in ready.find("composer_status").accessibleDescription()
    ready.presses(Qt.Key.Key_Escape)
    assert status(ready) == "Stopping…"
    ready.engine.finish("cancelled")
    ready.settle()
    assert LATER not in status(ready)
    ready.presses(Qt.Key.Key_Return)
    assert ready.engine.chat.messages[-1].text == "And then?"


def test_what_is_said_while_a_long_prompt_is_read_fits_beside_all_columns(ready: Stage) -> None:
    for side in ("left", "right"):
        assert ready.window.panes.shows(side)
    ready.sends("Hi")
    begins_to_read(ready, 131_072, 0)
    ready.engine.say(PrefillProgress(ready.engine.question.request, 130_072, 131_072, 0, 0))
    ready.settle()
    ready.types("And then?")
    line = ready.find("composer_status")
    assert "130,072 of 131,072" in status(ready)
    assert line.fontMetrics().horizontalAdvance(status(ready)) <= line.width()


@pytest.mark.parametrize("action", ["new_chat_action", "delete"])
def test_an_empty_page_tells_that_the_cells_in_use_are_not_its_own(ready: Stage, action: str) -> None:
    ready.sends("Hi")
    ready.desk.answer("Hello")
    first = ready.desk.program.chat.conversation_id
    if action == "delete":
        ready.desk.program.conversations.delete(first)
    else:
        ready.triggers(action)
    assert status(ready) == "4,096 left of 4,096"
    if action == "delete":
        ready.desk.program.conversations.undo_delete()
    else:
        ready.desk.program.conversations.open(first)
    counts(ready, draft=0, prompt=45)
    assert status(ready) == "41 already read · 4,055 left of 4,096"


@pytest.mark.parametrize("deletes", [False, True])
def test_cells_of_a_chat_that_is_not_shown_are_told_as_such(live: PanelStage, deletes: bool) -> None:
    program = live.desk.program
    live.finish()
    assert program.chat.send("Blue sky")
    live.prompt(40)
    live.finish(used=77)
    first = program.chat.conversation_id
    assert (live.reads("kv_value"), live.reads("kv_value_beside")) == ("77 / 4,096", "")
    if deletes:
        program.conversations.delete(first)
    else:
        program.conversations.new()
    live.settle()
    assert (live.reads("kv_value"), live.reads("kv_value_beside")) == ("77 / 4,096", "other chat")
    assert "Blue sky" in live.names("kv_gauge")
    if not deletes:
        program.conversations.open(first)
        live.settle()
        assert live.reads("kv_value_beside") == ""

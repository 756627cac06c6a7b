"""The line under the draft: what the next send takes, what it leaves, and why something cannot be sent."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt

from app.core.commands import Generate
from tests.gui.conftest import Stage
from tests.gui.counting import counts, settles, status


def test_the_line_under_the_draft_says_what_the_next_send_takes(ready: Stage) -> None:
    ready.sends("Hi")
    ready.desk.answer("Hello")
    ready.types("And then?")
    counts(ready, draft=38, prompt=1482)
    assert status(ready) == "+1,441 tokens · 41 already read · 2,614 left of 4,096"
    hint = ready.find("composer_status").accessibleDescription()
    assert "1,482 tokens of 4,096" in hint and "your message has 38" in hint


def test_an_empty_draft_leaves_what_the_chat_does_not_take(ready: Stage) -> None:
    assert status(ready) == "4,096 left of 4,096"
    ready.sends("Hi")
    ready.desk.answer("Hello")
    counts(ready, draft=0, prompt=45)
    assert status(ready) == "41 already read · 4,055 left of 4,096"


def test_a_stored_chat_that_the_cache_does_not_hold_is_counted_before_anything_is_written(
    ready: Stage, model: Path
) -> None:
    ready.sends("Hi")
    ready.desk.answer("Hello")
    ready.desk.program.session.unload()
    ready.settle()
    ready.load(model)
    assert status(ready) == "– left of 4,096"
    for draft in ("", "x", ""):
        ready.types(draft)
        counts(ready, draft=0, prompt=821)
        written = "+821 tokens · 0 already read"
        said = written if ready.composer.toPlainText() else "821 tokens to read again"
        assert status(ready) == f"{said} · 3,275 left of 4,096"


def test_while_an_answer_is_written_the_line_counts_along(ready: Stage) -> None:
    ready.sends("Hi")
    ready.engine.prompt(40)
    ready.engine.write("Hello", 3)
    ready.settle()
    ready.bot.waitUntil(lambda: status(ready) == "42 already read · 4,054 left of 4,096", timeout=60_000)
    ready.types("And then?")
    counts(ready, draft=5, prompt=0)
    ready.engine.write(" you", 2)
    ready.settle()
    counted = " · +5 tokens · 4,047 left of 4,096"
    ready.bot.waitUntil(lambda: status(ready).endswith(counted), timeout=60_000)
    assert "exactly once the answer has ended" in ready.find("composer_status").accessibleDescription()


def test_without_a_model_the_count_is_unknown_and_says_why(stage: Stage) -> None:
    assert status(stage) == ""
    stage.types("Hi")
    settles(stage)
    stage.window.parts.chat_page.follow_count(lambda: stage.desk.program.prompt_count.count)
    assert status(stage) == "– tokens"
    assert "counted by the model" in stage.find("composer_status").toolTip()


def test_a_message_that_is_too_long_is_said_before_it_is_sent_and_stays_written(ready: Stage) -> None:
    ready.types("Far too long")
    counts(ready, draft=5000, prompt=5031)
    assert status(ready) == "Too long by 936 tokens: 5,031 + 1 for the answer, of 4,096. Shorten the message."
    assert ready.find("composer_status").property("alarm")
    send = ready.find("send_button")
    assert not send.isEnabled()
    assert send.property("hint") == send.accessibleDescription() == ready.find("composer_status").property("hint")
    assert "5,031 tokens and the context holds 4,096" in send.accessibleDescription()
    assert "larger context" in send.accessibleDescription()
    assert ready.sees("larger_context_button")
    ready.presses(Qt.Key.Key_Return)
    assert ready.engine.all(Generate) == []
    assert ready.composer.toPlainText() == "Far too long"
    ready.composer.clear()
    ready.types("Short")
    counts(ready, draft=1, prompt=20)
    assert status(ready) == "+20 tokens · 0 already read · 4,076 left of 4,096"
    assert send.isEnabled() and send.property("hint") == "Send"
    assert not ready.sees("larger_context_button")
    ready.presses(Qt.Key.Key_Return)
    assert ready.engine.chat.messages[0].text == "Short"


def test_a_text_that_changed_since_it_was_counted_is_sent(ready: Stage) -> None:
    ready.types("Far too long")
    counts(ready, draft=5000, prompt=5031)
    ready.sends(" or not")
    assert ready.engine.chat.messages[0].text == "Far too long or not"


def test_a_chat_that_is_too_long_does_not_blame_the_message(ready: Stage) -> None:
    ready.sends("Hi")
    ready.desk.answer("Hello")
    ready.types("And then?")
    counts(ready, draft=4, prompt=4100)
    assert status(ready) == "Too long by 5: 4,100 + 1 for the answer, of 4,096."
    assert "Let the oldest turns go" in ready.find("composer_status").accessibleDescription()
    assert ready.find("composer_status").property("alarm")
    ready.composer.clear()
    counts(ready, draft=0, prompt=4100)
    assert status(ready) == "Full: 4,100 + 1 for the answer, of 4,096."
    assert not ready.find("composer_status").property("alarm")
    ready.clicks("drop_oldest_button")
    assert ready.desk.program.settings.values.when_full == "drop_oldest"
    counts(ready, draft=0, prompt=40)
    assert not ready.sees("drop_oldest_button") and not ready.sees("larger_context_button")


@pytest.mark.parametrize("rest", [4095, 4096])
def test_where_the_oldest_turns_go_only_what_stays_can_be_too_long(ready: Stage, rest: int) -> None:
    ready.desk.program.settings.change(when_full="drop_oldest")
    ready.sends("Hi")
    ready.desk.answer("Hello")
    ready.types("Long")
    counts(ready, draft=38, prompt=rest, dropped=(0, 1))
    refused = rest == 4096
    assert ready.sees("left_out_button") is not refused
    assert status(ready).startswith("Too long by 1 token: 4,096 + 1 for the answer, of 4,096.") is refused
    assert ready.find("send_button").isEnabled() is not refused
    ready.presses(Qt.Key.Key_Return)
    assert (ready.composer.toPlainText() == "Long") is refused
    assert (ready.engine.chat.messages[-1].text == "Long") is not refused


def test_where_nothing_can_be_left_out_a_long_message_is_refused(ready: Stage) -> None:
    ready.desk.program.settings.change(when_full="drop_oldest")
    ready.types("Long")
    counts(ready, draft=5000, prompt=5031)
    assert status(ready) == "Too long by 936 tokens: 5,031 + 1 for the answer, of 4,096. Shorten the message."
    ready.presses(Qt.Key.Key_Return)
    assert ready.engine.all(Generate) == []

"""What is painted instead of being a label is told to those who cannot see it, and a failed file is told no longer than it matters."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtGui import QAction

from app.gui.live.cache import CacheRows
from app.gui.widgets.fixed_text import FixedText
from app.gui.widgets.legend import Legend
from app.services.wishes import Wish
from tests.gui.conftest import Stage
from tests.gui.test_high_contrast import answers_elsewhere

pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")


def nameless(stage: Stage) -> list[str]:
    texts = [each for each in stage.window.findChildren(FixedText) if each.isVisible() and each.property("text")]
    assert len(texts) > 8
    return [each.objectName() for each in texts if not each.accessibleName()]


def test_every_figure_that_is_seen_has_a_name(ready: Stage) -> None:
    ready.clicks("live_details_button")
    assert nameless(ready) == []
    ready.sends("Hi")
    ready.desk.answer("Hello", " there")
    ready.settle()
    assert nameless(ready) == []
    answers_elsewhere(ready)
    ready.bot.waitUntil(lambda: ready.sees("elsewhere_text"), timeout=60_000)
    assert nameless(ready) == []
    assert ready.find("elsewhere_rate").accessibleName().startswith("Speed in the other chat: ")


def test_a_name_that_says_more_than_is_shown_stays(ready: Stage) -> None:
    text = FixedText()
    text.set_text("12")
    assert text.accessibleName() == "12"
    text.setAccessibleName("Decode: 12")
    text.set_text("13")
    assert text.accessibleName() == "Decode: 12"
    text.deleteLater()


def test_what_was_wrong_with_a_file_is_over_when_a_chat_is_begun(ready: Stage, tmp_path: Path, model: Path) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_text("<html>")
    desk = ready.desk
    for lead in ("new_chat_button", "header_new_chat_button", "load"):
        desk.program.session.use(Wish(broken))
        desk.until(lambda: desk.program.notices.latest)
        assert ready.sees("notice_text") and "broken.gguf" in ready.reads("notice_text")
        if lead == "load":
            desk.begin_load(model)
        else:
            ready.find(lead).click()  # type: ignore[attr-defined]  # a button
        assert desk.program.notices.latest is None and not ready.sees("notice_text")


def test_an_engine_that_is_gone_is_still_told_in_a_new_chat(ready: Stage) -> None:
    ready.engine.die()
    ready.settle()
    ready.triggers("new_chat_action")
    assert ready.sees("notice_action") and ready.reads("notice_action") == "Restart the engine"


def test_the_menu_deletes_the_chat_that_is_shown_and_that_can_be_undone(ready: Stage) -> None:
    delete = ready.find_as(QAction, "delete_chat_action")
    assert not delete.isEnabled(), "there is nothing to delete yet"
    ready.sends("Hi")
    ready.desk.answer("Hello")
    chat = ready.desk.program.chat.conversation_id
    assert delete.isEnabled() and delete in ready.window.actions_by_name.in_order
    delete.trigger()
    ready.settle()
    assert ready.desk.program.conversations.heads == () and not delete.isEnabled()
    ready.triggers("undo_delete_action")
    ready.settle()
    assert ready.desk.program.chat.conversation_id == chat and delete.isEnabled()


def test_two_rows_of_parts_leave_no_empty_line_below(ready: Stage) -> None:
    ready.clicks("live_details_button")
    legend = ready.find_as(CacheRows).findChild(Legend)
    assert legend is not None
    ready.sends("Hi")
    ready.desk.answer("Hello", " there")
    ready.settle()
    assert legend.height() // legend._row_px <= 2

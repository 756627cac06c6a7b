from __future__ import annotations

from typing import get_args

import pytest
from PySide6.QtCore import QEvent, QRect, Qt, QTimer
from PySide6.QtWidgets import QApplication, QWidget

from app.core.words import translate
from app.gui.notices import NoticeBar
from app.services.notices import DELETIONS, Notice, Notices, Remedy
from tests.gui.conftest import Stage

HINT = Notice(translate("Test", "Something small."), level="hint")
ERROR = Notice(translate("Test", "Something broke."))
UNDO = Notice(translate("Test", "“Blue sky” was deleted."), level="hint", remedy="undo_delete", brief=True)


def place(stage: Stage, name: str) -> QRect:
    """Return where something is in the window."""
    widget = stage.find(name)
    return QRect(widget.mapTo(stage.window, widget.rect().topLeft()), widget.size())


def timer(stage: Stage) -> QTimer:
    found = stage.find_as(NoticeBar).findChild(QTimer)
    assert found is not None
    return found


def card(stage: Stage) -> QWidget:
    """Return what holds the words and buttons."""
    frame = stage.find("notice_text").parentWidget()
    found = frame.parentWidget() if frame is not None else None
    assert found is not None
    return found


def test_every_remedy_has_words_of_its_own_on_its_button_unless_it_undoes_what_the_notice_says(stage: Stage) -> None:
    words: dict[Remedy, str] = {}
    for remedy in get_args(Remedy):
        stage.desk.program.notices.post(Notice(translate("Test", "Do something."), remedy=remedy))
        assert stage.sees("notice_action")
        words[remedy] = stage.reads("notice_action")
    undoing = {remedy for remedy, said in words.items() if said == "Undo"}
    others = {"undo_system_prompt", "undo_preset", "restore_preset"}
    assert undoing == others.union(DELETIONS)
    assert len(set(words.values())) == len(words) - len(undoing) + 1


def test_undo_brings_a_deleted_chat_back(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    undone: list[bool] = []
    monkeypatch.setattr(type(stage.desk.program.conversations), "undo_delete", lambda _self: undone.append(True))
    stage.desk.program.notices.post(UNDO)
    assert stage.reads("notice_action") == "Undo"
    stage.clicks("notice_action")
    assert undone == [True]


def test_a_hint_never_hides_an_error() -> None:
    notices = Notices()
    notices.post(ERROR)
    notices.post(HINT)
    assert notices.latest == ERROR


def test_what_can_be_undone_only_now_is_shown_over_an_error_which_comes_back_after_it() -> None:
    notices = Notices()
    notices.post(ERROR)
    notices.post(UNDO)
    assert notices.latest == UNDO
    notices.settle("undo_delete")
    assert notices.latest == ERROR
    notices.dismiss()
    assert notices.latest is None


def test_an_error_that_no_longer_holds_does_not_come_back() -> None:
    notices = Notices()
    notices.post(ERROR)
    notices.post(UNDO)
    notices.withdraw(ERROR)
    notices.withdraw(UNDO)
    assert notices.latest is None


def test_what_is_settled_is_only_what_offers_it() -> None:
    notices = Notices()
    notices.post(ERROR)
    notices.settle("undo_delete")
    assert notices.latest == ERROR


def test_what_somebody_just_did_covers_neither_the_text_nor_the_system_prompt(ready: Stage) -> None:
    ready.sends("Hi")
    ready.desk.answer("Hello")
    before = place(ready, "composer")
    ready.desk.program.notices.post(UNDO)
    QApplication.sendPostedEvents()
    shown = QRect(card(ready).mapTo(ready.window, card(ready).rect().topLeft()), card(ready).size())
    assert ready.sees("notice_text") and place(ready, "chat_surface").contains(shown)
    assert place(ready, "system_prompt_button").bottom() < shown.top()
    assert shown.bottom() < place(ready, "transcript").top() <= shown.bottom() + 2
    assert place(ready, "composer") == before
    assert ready.window.childAt(place(ready, "notice_action").center()) is ready.find("notice_action")


def test_what_holds_for_a_while_makes_room_for_itself(ready: Stage) -> None:
    before = place(ready, "composer")
    ready.desk.program.notices.post(ERROR)
    QApplication.sendPostedEvents()
    page = ready.window.parts.chat_page
    top = page.mapTo(ready.window, page.rect().topLeft()).y()
    assert top >= place(ready, "notice_text").bottom()
    assert place(ready, "composer") == before


def test_a_long_notice_takes_the_lines_that_it_needs(ready: Stage) -> None:
    ready.desk.program.notices.post(Notice(translate("Test", "Something broke. " * 30)))
    QApplication.sendPostedEvents()
    text = ready.find("notice_text")
    assert text.height() >= text.heightForWidth(text.width()) > 3 * text.fontMetrics().height()


def test_what_passes_goes_by_itself_but_not_under_somebody_s_hand(ready: Stage) -> None:
    ready.desk.program.notices.post(UNDO)
    assert timer(ready).isActive()
    ready.find("notice_action").setFocus(Qt.FocusReason.TabFocusReason)
    assert not timer(ready).isActive()
    ready.composer.setFocus()
    assert timer(ready).isActive()
    timer(ready).timeout.emit()
    assert ready.desk.program.notices.latest is None and not ready.sees("notice_text")
    assert not timer(ready).isActive()


def test_the_pointer_over_it_keeps_what_passes(ready: Stage) -> None:
    ready.desk.program.notices.post(UNDO)
    over = card(ready)
    over.setAttribute(Qt.WidgetAttribute.WA_UnderMouse, True)
    QApplication.sendEvent(over, QEvent(QEvent.Type.Enter))
    assert not timer(ready).isActive()
    over.setAttribute(Qt.WidgetAttribute.WA_UnderMouse, False)
    QApplication.sendEvent(over, QEvent(QEvent.Type.Leave))
    assert timer(ready).isActive()


@pytest.mark.parametrize("notice", [ERROR, HINT, Notice(translate("Test", "The disk is full."), lasts=True)])
def test_errors_and_what_lasts_stay_until_they_are_closed(ready: Stage, notice: Notice) -> None:
    ready.desk.program.notices.post(notice)
    assert not timer(ready).isActive()
    timer(ready).timeout.emit()
    assert ready.sees("notice_text")
    ready.clicks("notice_close")
    assert not ready.sees("notice_text")


def test_the_file_stands_before_a_sentence_that_does_not_name_it(stage: Stage) -> None:
    notices = stage.desk.program.notices
    broken = Notice(translate("Test", "This file is damaged."), remedy="open_model", file="m.gguf")
    notices.post(broken)
    assert stage.reads("notice_text") == "“m.gguf”: This file is damaged."
    notices.post(Notice(translate("Test", "This file is damaged.")))
    assert notices.latest == broken
    notices.post(ERROR)
    assert notices.latest == ERROR


def test_each_of_several_things_that_last_has_a_row_of_its_own(ready: Stage) -> None:
    notices = ready.desk.program.notices
    notices.post(Notice(translate("Test", "The settings were unreadable."), lasts=True))
    assert ready.reads("notice_text") == "The settings were unreadable."
    height = card(ready).height()
    notices.post(Notice(translate("Test", "The disk is full."), more=(translate("Test", "So be it."),), lasts=True))
    rows = ["• The settings were unreadable.", "• The disk is full.", "• So be it."]
    assert ready.reads("notice_text").splitlines() == rows
    assert card(ready).height() > height
    notices.post(Notice(translate("Test", "It was loaded."), more=(translate("Test", "All of it."),)))
    assert ready.reads("notice_text") == "It was loaded. All of it.", "sentences that belong together stay together"


@pytest.mark.parametrize("name", ["light", "dark", "contrast"])
def test_the_icon_that_closes_is_seen_in_every_theme(ready: Stage, name: str) -> None:
    ready.desk.program.notices.post(UNDO)
    ready.themes.choose(name)  # type: ignore[arg-type]
    QApplication.sendPostedEvents()
    ready.composer.setFocus()
    image = ready.find("notice_close").grab().toImage()
    middle = image.pixelColor(image.width() // 2, image.height() // 2)
    ground = ready.themes.current.colour("hint_surface")
    assert abs(middle.lightness() - ground.lightness()) > 90


def test_why_a_model_was_not_loaded_does_not_follow_to_a_page_that_needs_none(ready: Stage) -> None:
    ready.desk.program.notices.post(Notice(translate("Test", "It does not load."), of_load=True))
    assert ready.sees("notice_text")
    ready.window.page_wanted.emit("planner")
    assert not ready.sees("notice_text")
    ready.window.page_wanted.emit("chat")
    assert ready.sees("notice_text"), "it still stands where it happened"
    ready.window.page_wanted.emit("planner")
    ready.desk.program.notices.post(Notice(translate("Test", "Another does not load."), of_load=True))
    assert ready.reads("notice_text") == "Another does not load.", "it happened here"
    ready.desk.program.notices.post(ERROR)
    assert ready.reads("notice_text") == "Something broke."

from __future__ import annotations

from typing import get_args

import pytest

from app.core.words import translate
from app.services.notices import Notice, Notices, Remedy
from tests.gui.conftest import Stage

HINT = Notice(translate("Test", "Something small."), level="hint")
ERROR = Notice(translate("Test", "Something broke."))
UNDO = Notice(translate("Test", "“Blue sky” was deleted."), level="hint", remedy="undo_delete")


@pytest.mark.parametrize("remedy", get_args(Remedy))
def test_every_remedy_has_words_of_its_own_on_its_button(stage: Stage, remedy: Remedy) -> None:
    others = set()
    for other in get_args(Remedy):
        stage.desk.program.notices.post(Notice(translate("Test", "Do something."), remedy=other))
        others.add(stage.reads("notice_action"))
    stage.desk.program.notices.post(Notice(translate("Test", "Do something."), remedy=remedy))
    assert stage.sees("notice_action")
    assert len(others) == len(get_args(Remedy))


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

"""What happens between Enter and the moment at which the question is on disk."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from app.core.commands import Generate, Load
from app.core.events import Event
from app.core.store_events import Kept
from app.services.chat import Chat
from app.services.wishes import Wish
from tests.desk import Desk
from tests.services.asking import End, say, texts

UNLOADED = "The model was unloaded before it could answer."


class SlowDisk:
    """A disk on which questions take as long as the test wants."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self.held: list[Kept] = []
        desk.take_from_store = self._take

    def _take(self, event: Event) -> None:
        if isinstance(event, Kept):
            self.held.append(event)
        else:
            self._desk.program.dispatch(event)

    def writes(self) -> None:
        """Let what waits be written."""
        held, self.held = self.held, []
        for event in held:
            self._desk.program.dispatch(event)
        self._desk.settle()


@pytest.fixture
def disk(desk: Desk, chat: Chat) -> SlowDisk:
    return SlowDisk(desk)


def test_nothing_is_asked_before_it_is_kept_and_then_with_the_settings_of_that_moment(
    desk: Desk, chat: Chat, disk: SlowDisk
) -> None:
    chat.send("One")
    desk.program.sampling.change(temperature=0.45)
    desk.settle()
    assert desk.engine.all(Generate) == []
    disk.writes()
    (question,) = desk.engine.all(Generate)
    assert question.settings.temperature == 0.45
    desk.answer("1")
    assert texts(desk.program) == [("user", "One", "done"), ("assistant", "1", "done")]


def test_unloading_leaves_the_question_unanswered_and_the_model_unloaded(
    desk: Desk, chat: Chat, disk: SlowDisk, ends: list[End], again: Callable[[], Desk]
) -> None:
    chat.send("One")
    desk.program.session.unload()
    assert texts(desk.program) == [("user", "One", "done"), ("assistant", "", "interrupted")]
    assert (desk.told, desk.notice.level, desk.notice.remedy) == (UNLOADED, "hint", "load_again")
    disk.writes()
    assert desk.program.session.phase == "no_model"
    assert (len(desk.engine.all(Load)), desk.engine.all(Generate)) == (1, [])
    assert [(end.kind, end.text) for end in ends] == [("cancelled", UNLOADED)]
    later = again()
    assert texts(later.program) == [("user", "One", "done"), ("assistant", "", "interrupted")]
    later.program.chat.answer_again()
    later.answer("1")
    assert texts(later.program)[1] == ("assistant", "1", "done")


def test_the_offer_to_load_goes_when_the_model_is_there(desk: Desk, chat: Chat, disk: SlowDisk) -> None:
    chat.send("One")
    desk.program.session.unload()
    disk.writes()
    desk.program.session.restart()
    desk.until(lambda: len(desk.engine.all(Load)) == 2)
    desk.engine.loaded()
    desk.settle()
    assert desk.program.notices.latest is None
    chat.answer_again()
    disk.writes()
    desk.answer("1")
    assert texts(desk.program)[1] == ("assistant", "1", "done")


def test_an_old_answer_stays_where_the_model_is_unloaded_before_the_new_one_is_asked(
    desk: Desk, chat: Chat, again: Callable[[], Desk]
) -> None:
    say(desk, "One", "old")
    disk = SlowDisk(desk)
    chat.answer_again()
    desk.program.session.unload()
    disk.writes()
    assert (desk.told, desk.program.session.phase) == (UNLOADED, "no_model")
    assert texts(desk.program)[1] == texts(again().program)[1] == ("assistant", "old", "done")


def test_a_load_that_fails_meanwhile_is_told_once_and_not_tried_again(
    desk: Desk, chat: Chat, disk: SlowDisk, tmp_path: Path
) -> None:
    returned: list[str] = []
    chat.draft_returned.connect(returned.append)
    chat.send("One")
    desk.program.session.use(Wish(tmp_path / "gone.gguf"))
    desk.until(lambda: not chat.busy)
    assert desk.notice.remedy == "open_model"
    disk.writes()
    assert (len(desk.engine.all(Load)), desk.engine.all(Generate)) == (1, [])
    assert returned == ["One"]


def test_a_question_that_is_stopped_before_it_is_kept_never_reaches_the_model(
    desk: Desk, chat: Chat, disk: SlowDisk
) -> None:
    chat.send("One")
    chat.stop()
    assert not chat.busy
    disk.writes()
    assert desk.engine.all(Generate) == []
    assert desk.program.notices.latest is None
    assert texts(desk.program) == [("user", "One", "done"), ("assistant", "", "interrupted")]


def test_two_chats_are_answered_in_the_order_in_which_they_asked(desk: Desk, chat: Chat, disk: SlowDisk) -> None:
    chat.send("One")
    desk.program.conversations.new()
    chat.send("Two")
    assert desk.engine.all(Generate) == []
    disk.writes()
    assert desk.engine.chat.messages[-1].text == "One"
    desk.answer("1")
    assert desk.engine.chat.messages[-1].text == "Two"
    desk.answer("2")
    assert texts(desk.program) == [("user", "Two", "done"), ("assistant", "2", "done")]


def test_without_a_model_the_question_goes_back_to_where_it_was_written(desk: Desk) -> None:
    desk.program.conversations.start()
    disk = SlowDisk(desk)
    returned: list[str] = []
    desk.program.chat.draft_returned.connect(returned.append)
    desk.program.chat.send("One")
    disk.writes()
    assert returned == ["One"]
    assert texts(desk.program) == []
    assert desk.notice.remedy == "open_model"

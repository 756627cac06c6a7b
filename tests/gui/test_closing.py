"""Closing the window while something that was written is not on disk, and while it is being written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMessageBox, QPushButton

from app.core.events import Event
from app.core.store_commands import KeepDraft, Settle, StoreCommand
from app.core.store_events import Kept
from app.core.words import Sentence, translate
from app.gui.application import keep_drafts
from app.gui.closing import Closing
from tests.gui.conftest import Stage

# The offscreen platform says this of every dialog.
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")
FULL = translate(
    "Test", "What was written last could not be saved: the disk is full. Close anyway and risk losing it?"
)


class Disk:
    """What the store says of the end, when the test wants it."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.problem: Sentence | None = None
        self.is_slow = False
        self.asked = 0
        self._held: list[Kept] = []
        self._request: int | None = None
        settle = stage.desk.program.answers.settle

        def note() -> bool:
            self.asked += 1
            self._request = None
            return settle()

        stage.desk.program.answers.settle = note  # type: ignore[method-assign]  # to see how often it is asked
        stage.desk.take_from_store = self._take

    def _take(self, event: Event) -> None:
        if isinstance(event, Kept) and self.asked:
            event = msgspec.structs.replace(event, on_disk=self.problem is None, problem=self.problem)
            if self.is_slow:
                self._held.append(event)
                return
        self.stage.desk.program.dispatch(event)

    def answers(self) -> None:
        """Say what was held back."""
        held, self._held = self._held, []
        for event in held:
            self.stage.desk.program.dispatch(msgspec.structs.replace(event, problem=self.problem))


@pytest.fixture
def closing(ready: Stage) -> Closing:
    ready.desk.program.conversations.start()
    return Closing(ready.desk.program.answers, ready.window, lambda: keep_drafts(ready.window))


@pytest.fixture
def disk(ready: Stage, closing: Closing) -> Disk:
    ready.sends("Hi")
    ready.desk.answer("Hello")
    return Disk(ready)


def box_of(stage: Stage) -> QMessageBox | None:
    return next((each for each in stage.window.findChildren(QMessageBox) if each.isVisible()), None)


def shown(stage: Stage) -> QMessageBox:
    box = box_of(stage)
    assert box is not None
    return box


def press(stage: Stage, name: str) -> None:
    button = shown(stage).findChild(QPushButton, name)
    assert button is not None
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)


def test_a_window_in_which_nothing_was_said_closes_without_asking_the_disk(ready: Stage, closing: Closing) -> None:
    disk = Disk(ready)
    disk.is_slow = True
    assert ready.window.close()


def test_a_window_whose_words_are_all_kept_closes_at_once(ready: Stage, disk: Disk) -> None:
    ready.triggers("quit_action")
    assert (disk.asked, ready.window.isVisible()) == (1, False)


def test_a_disk_that_takes_a_moment_closes_the_window_after_it(ready: Stage, disk: Disk) -> None:
    disk.is_slow = True
    assert not ready.window.close()
    assert not ready.window.close()
    assert disk.asked == 1
    disk.answers()
    assert not ready.window.isVisible()
    assert box_of(ready) is None


def keep_open(stage: Stage) -> None:
    press(stage, "keep_open_button")


def enter(stage: Stage) -> None:
    QTest.keyClick(shown(stage), Qt.Key.Key_Return)


def escape(stage: Stage) -> None:
    QTest.keyClick(shown(stage), Qt.Key.Key_Escape)


@pytest.mark.parametrize("stay", [keep_open, enter, escape])
def test_what_would_be_lost_is_asked_about_and_the_window_stays_by_itself(
    ready: Stage, disk: Disk, stay: Callable[[Stage], None]
) -> None:
    disk.problem = FULL
    assert not ready.window.close()
    assert shown(ready).text() == FULL.english()
    assert shown(ready).textFormat() is Qt.TextFormat.PlainText
    stay(ready)
    assert box_of(ready) is None
    assert ready.window.isVisible()
    ready.sends("Still there?")
    ready.desk.answer("Yes")
    assert ready.transcript_text().endswith("Still there?\n\nYes")
    disk.problem = None
    assert ready.window.close()


def test_who_closes_anyway_is_not_asked_twice(ready: Stage, disk: Disk) -> None:
    disk.problem = FULL
    ready.window.close()
    press(ready, "close_anyway_button")
    assert (disk.asked, ready.window.isVisible()) == (1, False)


def test_closing_again_while_the_question_stands_asks_no_second_one(ready: Stage, disk: Disk) -> None:
    disk.problem = FULL
    ready.window.close()
    box = shown(ready)
    assert not ready.window.close()
    assert (disk.asked, shown(ready)) == (1, box)
    assert len(ready.window.findChildren(QMessageBox)) == 1
    keep_open(ready)


def test_a_signal_from_outside_and_a_session_that_ends_ask_nothing(
    ready: Stage, disk: Disk, closing: Closing
) -> None:
    disk.problem = FULL
    ready.window.close()
    closing.at_once()
    assert not ready.window.isVisible()
    assert box_of(ready) is None


def test_a_session_that_ends_after_all_asks_nothing_and_one_that_goes_on_asks_again(
    ready: Stage, disk: Disk, closing: Closing
) -> None:
    disk.problem = FULL
    closing.session_ends()
    closing._session.timeout.emit()
    assert not ready.window.close()
    keep_open(ready)
    closing.session_ends()
    assert ready.window.close()
    assert disk.asked == 1


def test_a_disk_that_never_answers_is_told_and_need_not_be_waited_for(
    ready: Stage, disk: Disk, closing: Closing
) -> None:
    disk.is_slow = True
    ready.window.close()
    closing._limit.timeout.emit()
    assert "the disk does not answer" in shown(ready).text()
    press(ready, "close_anyway_button")
    assert not ready.window.isVisible()


def test_a_disk_that_answers_after_all_closes_the_window_without_a_choice(
    ready: Stage, disk: Disk, closing: Closing
) -> None:
    disk.is_slow = True
    ready.window.close()
    closing._limit.timeout.emit()
    disk.answers()
    assert not ready.window.isVisible()


def test_what_is_written_and_not_sent_is_kept_before_the_disk_is_asked(
    ready: Stage, closing: Closing, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[StoreCommand] = []
    send = ready.desk.store.send

    def note(command: StoreCommand) -> None:
        told.append(command)
        send(command)

    monkeypatch.setattr(ready.desk.store, "send", note)
    ready.types("half a thou")
    assert ready.window.close()
    draft, settle = told
    assert isinstance(draft, KeepDraft) and draft.draft.text == "half a thou"
    assert isinstance(settle, Settle)


def test_what_is_due_before_closing_is_called_for_once_before_the_disk_is_asked(ready: Stage) -> None:
    disk, asked_before = Disk(ready), list[int]()
    disk.is_slow = True
    ready.desk.program.conversations.start()
    Closing(ready.desk.program.answers, ready.window, lambda: asked_before.append(disk.asked))
    ready.sends("Hi")
    ready.desk.answer("Hello")
    assert not ready.window.close()
    assert not ready.window.close()
    assert asked_before == [0]
    disk.answers()
    assert not ready.window.isVisible()


def test_a_full_disk_holds_the_window_until_it_has_room(ready: Stage, closing: Closing, tmp_path: Path) -> None:
    work = ready.desk.store.work
    connection = work.database.connection
    assert connection is not None
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    connection.execute(f"PRAGMA max_page_count = {pages}")
    ready.sends("Hi")
    ready.desk.answer("long " * 20_000)
    assert not ready.window.close()
    assert "the disk is full" in shown(ready).text()
    keep_open(ready)
    connection.execute("PRAGMA max_page_count = 1000000")
    assert ready.window.close()
    assert not work.behind


def test_a_question_that_nobody_need_answer_any_more_goes_with_the_window(
    ready: Stage, disk: Disk, closing: Closing
) -> None:
    disk.problem = FULL
    ready.window.close()
    closing._again.timeout.emit()
    assert shown(ready).isVisible() and closing._again.isActive()
    disk.problem = None
    closing._again.timeout.emit()
    assert not ready.window.isVisible()
    assert box_of(ready) is None


def test_who_stays_is_not_closed_by_a_disk_that_has_room_again(ready: Stage, disk: Disk, closing: Closing) -> None:
    disk.problem = FULL
    ready.window.close()
    keep_open(ready)
    assert not closing._again.isActive()
    assert ready.window.isVisible()

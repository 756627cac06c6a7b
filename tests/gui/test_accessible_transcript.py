from __future__ import annotations

import gc

import pytest
from PySide6.QtCore import QEvent
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QAccessibleEvent, QAccessibleInterface
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from app.core.words import translate
from app.gui import theme
from app.gui.chat import answer_text
from app.gui.chat import laid as laid_module
from app.gui.chat.transcript import Transcript
from app.services.turns import Turn
from tests.gui.conftest import Stage
from tests.gui.transcripts import finish, grow, themes, transcript

__all__ = ["themes", "transcript"]
NAME, VALUE, DESCRIPTION = QAccessible.Text.Name, QAccessible.Text.Value, QAccessible.Text.Description


def read(transcript: Transcript) -> QAccessibleInterface:
    found = QAccessible.queryAccessibleInterface(transcript)
    assert found is not None
    return found


def names(transcript: Transcript) -> list[str]:
    """Return what a screen reader says of each message."""
    whole = read(transcript)
    return [whole.child(index).text(NAME) for index in range(whole.childCount())]


def test_each_message_is_a_child_with_who_says_it_and_its_text(transcript: Transcript) -> None:
    transcript.add(Turn(1, "user", "Why **blue**?"))
    transcript.add(Turn(2, "assistant", "Because of **scattering**:\n\n- air\n- light", author="tiny", dropped=1))
    assert names(transcript) == ["You: Why **blue**?", "tiny: Because of scattering:\n\n• air\n• light"]
    whole = read(transcript)
    assert (whole.text(NAME), whole.role()) == ("Conversation", QAccessible.Role.List)
    answer = whole.child(1)
    assert answer.text(VALUE) == "Because of scattering:\n\n• air\n• light"
    assert answer.text(DESCRIPTION) == "1 earlier message was not sent: the context is full"
    assert answer.role() == QAccessible.Role.ListItem
    assert answer.state().readOnly
    assert answer.parent() == whole
    assert whole.indexOfChild(answer) == 1
    assert whole.child(2) is None


def test_a_message_is_found_where_it_lies_on_the_screen(transcript: Transcript) -> None:
    transcript.add(Turn(1, "user", "Why?"))
    transcript.add(Turn(2, "assistant", "Because", author="tiny"))
    whole = read(transcript)
    place = whole.child(1).rect()
    assert whole.rect().contains(place.center())
    assert whole.childAt(place.center().x(), place.center().y()).text(NAME) == "tiny: Because"
    assert whole.childAt(-5, -5) is None


def test_an_answer_that_is_written_is_said_anew_at_most_once_a_second(
    transcript: Transcript, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0]
    monkeypatch.setattr("app.gui.chat.accessible.time.monotonic", lambda: now[0])
    turn = Turn(1, "assistant", "", state="writing", author="tiny")
    transcript.add(turn)
    grow(transcript, turn, "One")
    assert names(transcript) == ["tiny: One"]
    grow(transcript, turn, " two")
    assert names(transcript) == ["tiny: One"]
    now[0] += 1.5
    grow(transcript, turn, " three")
    assert names(transcript) == ["tiny: One two three"]
    grow(transcript, turn, " four")
    finish(transcript, turn)
    assert names(transcript) == ["tiny: One two three four"]


def test_what_is_said_of_a_growing_answer_is_joined_from_what_was_said_before(
    transcript: Transcript, monkeypatch: pytest.MonkeyPatch
) -> None:
    joined: list[int] = []
    text_of = laid_module.text_of

    def note(laid: list[object]) -> str:
        joined.append(len(laid))
        return text_of(laid)  # type: ignore[arg-type]  # whatever came in

    monkeypatch.setattr(answer_text, "text_of", note)
    turn = Turn(1, "assistant", "", state="writing", author="tiny")
    transcript.add(turn)
    block = transcript.turns.blocks[0]
    for number in range(200):
        grow(transcript, turn, f"Paragraph **{number}**.\n\n")
        said = "".join(block.texts(at_once=True))
    assert said == block.text
    assert said.endswith("Paragraph 199.")
    assert sum(joined) < 3 * 200


def test_a_long_answer_that_is_not_read_yet_is_said_with_the_marks_of_its_rest(transcript: Transcript) -> None:
    transcript.show_turns([Turn(1, "assistant", "**Bold** words.\n\n" * 3000, author="tiny")])
    assert transcript.turns.blocks[0].is_unread
    said = read(transcript).child(0).text(VALUE)
    assert said.startswith("Bold words.")
    assert said.endswith("**Bold** words.\n\n")


def test_what_goes_on_while_an_answer_is_waited_for_is_said_at_most_once_a_second(
    transcript: Transcript, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0]
    monkeypatch.setattr("app.gui.chat.accessible.time.monotonic", lambda: now[0])
    turn = Turn(1, "assistant", "", state="waiting", author="tiny")
    transcript.add(turn)
    for percent in (5, 6, 7):
        turn.doing = translate("Chat", "Loading {model}: {percent} %", model="tiny", percent=percent)
        transcript.refresh(turn)
        assert names(transcript) == ["tiny: Loading tiny: 5 %"]
    now[0] += 1.5
    transcript.refresh(turn)
    assert names(transcript) == ["tiny: Loading tiny: 7 %"]


def announced(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that gets what is read aloud from now on."""
    said: list[str] = []

    def take(event: QAccessibleEvent) -> None:
        if isinstance(event, QAccessibleAnnouncementEvent):
            said.append(event.message())

    monkeypatch.setattr(QAccessible, "updateAccessibility", take)
    return said


def test_what_the_keyboard_reaches_in_a_message_is_announced(
    transcript: Transcript, monkeypatch: pytest.MonkeyPatch
) -> None:
    wide = "x" * 300
    transcript.add(Turn(1, "assistant", f"[here](https://a.org)\n\n```\n{wide}\n```", author="tiny"))
    read(transcript)
    transcript.grab()
    said = announced(monkeypatch)
    while transcript.focusNextPrevChild(True) and len(said) < 3:
        pass
    assert said == ["Link: https://a.org", "Button: copy code", "Wide block: the arrow keys scroll it"]


def test_the_end_of_an_answer_is_announced_once(transcript: Transcript, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []

    def note(event: QAccessibleEvent) -> None:
        if isinstance(event, QAccessibleAnnouncementEvent):
            said.append(event.message())

    monkeypatch.setattr("app.gui.chat.accessible.QAccessible.updateAccessibility", note)
    turn = Turn(1, "assistant", "", state="writing", author="tiny")
    transcript.add(turn)
    read(transcript)
    grow(transcript, turn, "**Done**")
    assert said == []
    finish(transcript, turn)
    transcript.refresh(turn)
    assert said == ["Answer: Done"]


def test_messages_that_are_gone_are_no_longer_there(transcript: Transcript) -> None:
    transcript.add(Turn(1, "user", "One"))
    transcript.add(Turn(2, "user", "Two"))
    whole = read(transcript)
    last = whole.child(1)
    number = QAccessible.uniqueId(last)
    assert QAccessible.accessibleInterface(number).text(NAME) == "You: Two"
    transcript.show_from(1, [])
    assert names(transcript) == ["You: One"]
    assert not isValid(last)
    assert QAccessible.accessibleInterface(number) is None


def test_a_transcript_that_is_gone_takes_its_messages_with_it(themes: theme.Themes, qapp: QApplication) -> None:
    for _ in range(3):
        made = Transcript(themes)
        made.add(Turn(1, "user", "One"))
        message = read(made).child(0)
        QAccessible.uniqueId(message)
        made.deleteLater()
        qapp.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        gc.collect()
        assert not isValid(message)


def test_many_messages_cost_only_those_that_are_asked_for(transcript: Transcript, qtbot: QtBot) -> None:
    transcript.show_turns([Turn(number, "user", f"{number}") for number in range(5000)])
    whole = read(transcript)
    assert whole.childCount() == 5000
    assert whole.child(4321).text(NAME) == "You: 4321"
    assert transcript.conversation is not None
    assert len(transcript.conversation._messages) == 1


def test_the_buttons_over_the_messages_stay_reachable(ready: Stage) -> None:
    ready.sends("Hi")
    ready.desk.answer("Hello")
    whole = read(ready.find_as(Transcript, "transcript"))
    assert [whole.child(index).text(NAME) for index in range(2)] == ["You: Hi", "tiny: Hello"]
    buttons = whole.child(2)
    assert whole.indexOfChild(buttons) == 2
    assert buttons.childCount() > 0
    copy = ready.find("copy_answer_button")
    middle = copy.mapToGlobal(copy.rect().center())
    assert whole.childAt(middle.x(), middle.y()).text(NAME) == "Copy the answer"

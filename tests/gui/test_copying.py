"""What is on the clipboard after people selected something and copied it, as Markdown and as it is shown."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QAction, QContextMenuEvent, QGuiApplication, QKeyEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu

from app.gui.chat.selection import Place
from app.gui.chat.transcript import Transcript
from app.services.turns import Turn
from tests.gui.transcripts import marked_text, themes, transcript

__all__ = ["themes", "transcript"]

# The offscreen platform says this of every menu.
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")
ANSWER = """## Why

Because of **light** and `air`.

- one *apple*
- two
  1. deep

> quoted
> words

```python
x = 1

y = 2
```

| a | b |
|---|--:|
| 1 | `2` |

The [end](https://example.org)."""
SHOWN = """Why

Because of light and air.

• one apple
• two
  1. deep

quoted
words

x = 1

y = 2

a\tb
1\t2

The end."""


def copied(transcript: Transcript, keys: str = "source") -> str:
    QGuiApplication.clipboard().setText("nothing")
    modifiers = Qt.KeyboardModifier.ControlModifier
    if keys == "plain":
        modifiers |= Qt.KeyboardModifier.ShiftModifier
    QTest.keyClick(transcript, Qt.Key.Key_C, modifiers)
    return on_clipboard(transcript)


def on_clipboard(transcript: Transcript) -> str:
    """Return what is on the clipboard once all of it is there."""
    while transcript._copying.is_under_way:
        transcript._copying._next.timeout.emit()
    return QGuiApplication.clipboard().text()


def select(transcript: Transcript, first: str, last: str, turn: int = 0) -> None:
    """Select from one text in a turn up to the end of another, as shown."""
    text = transcript.turns.blocks[turn].text
    start = text.index(first)
    transcript._selection.start(Place(turn, start))
    transcript._selection.extend(Place(turn, text.index(last, start) + len(last)))


@pytest.fixture
def answer(transcript: Transcript) -> Transcript:
    transcript.show_turns([Turn(1, "assistant", ANSWER, author="tiny")])
    return transcript


def test_everything_that_is_selected_is_copied_as_it_was_written(answer: Transcript) -> None:
    answer.select_all()
    assert copied(answer) == ANSWER
    assert copied(answer, "plain") == SHOWN


@pytest.mark.parametrize(
    ("first", "last", "source"),
    [
        ("Why", "air.", "## Why\n\nBecause of **light** and `air`."),
        ("Because", "air.", "Because of **light** and `air`."),
        ("of light", "light", "of light"),
        ("light", "light", "light"),
        ("Why", "Why", "Why"),
        ("apple", "two", "apple\n- two"),
        ("one", "deep", "- one *apple*\n- two\n  1. deep"),
        ("• one", "• two", "- one *apple*\n- two"),
        ("air.", "one", "air.\n\n- one"),
        ("deep", "quoted\nwords", "  1. deep\n\n> quoted\n> words"),
        ("x = 1", "y = 2", "x = 1\n\ny = 2"),
        ("1\n", "y", "1\n\ny"),
        ("words\n\nx", "x", "words\n\nx"),
        ("quoted", "y = 2", "> quoted\n> words\n\n```python\nx = 1\n\ny = 2\n```"),
        ("x = 1", "1\t2", "```python\nx = 1\n\ny = 2\n```\n\n| a | b |\n|---|--:|\n| 1 | `2` |"),
        ("a\tb", "1\t2", "| a | b |\n|---|--:|\n| 1 | `2` |"),
        ("1\t2", "2", "1\t2"),
        ("2\n\nThe", "end.", "2\n\nThe [end](https://example.org)."),
    ],
)
def test_whole_blocks_are_copied_as_they_were_written_and_parts_as_their_words(
    answer: Transcript, first: str, last: str, source: str
) -> None:
    select(answer, first, last)
    assert copied(answer) == source
    assert copied(answer, "plain") == marked_text(answer) != ""


def test_a_selection_with_the_mouse_over_messages_gives_the_source_of_all_of_them(transcript: Transcript) -> None:
    transcript.show_turns(
        [
            Turn(1, "user", "a  **question**\n\twith two lines"),
            Turn(2, "assistant", "Some **bold** words.\n\n- one", author="tiny"),
            Turn(3, "user", "and *more*"),
        ]
    )
    view = transcript.viewport()
    bottom = QPoint(view.width() - 5, view.height() - 5)
    QTest.mousePress(view, Qt.MouseButton.LeftButton, pos=QPoint(5, 5))
    QTest.mouseMove(view, bottom)
    QTest.mouseRelease(view, Qt.MouseButton.LeftButton, pos=bottom)
    assert copied(transcript) == ("a  **question**\n\twith two lines\n\nSome **bold** words.\n\n- one\n\nand *more*")
    assert copied(transcript, "plain") == (
        "a  **question**\n\twith two lines\n\nSome bold words.\n\n• one\n\nand *more*"
    )


def test_a_selection_backwards_that_begins_in_one_answer_and_ends_in_another(transcript: Transcript) -> None:
    transcript.show_turns(
        [Turn(1, "assistant", "# First\n\nSome **bold** words."), Turn(2, "assistant", "- one\n- **two** three")]
    )
    transcript._selection.start(Place(1, len("• one\n• two")))
    transcript._selection.extend(Place(0, len("First\n\nSome ")))
    assert copied(transcript) == "bold words.\n\n- one\n- two"
    transcript._selection.start(Place(1, len("• one\n• two three")))
    transcript._selection.extend(Place(0, 0))
    assert copied(transcript) == "# First\n\nSome **bold** words.\n\n- one\n- **two** three"


def test_an_answer_that_is_still_written_is_copied_as_far_as_it_is_there(transcript: Transcript) -> None:
    transcript.show_turns([Turn(1, "assistant", "# Head\n\n```python\nx = 1\n", state="writing", author="tiny")])
    transcript.select_all()
    assert copied(transcript) == "# Head\n\n```python\nx = 1\n"
    select(transcript, "ead", "x = 1")
    assert copied(transcript) == "ead\n\n```python\nx = 1"


def test_code_that_is_the_whole_answer_is_copied_with_its_fence_only_when_everything_is_selected(
    transcript: Transcript,
) -> None:
    transcript.show_turns([Turn(1, "assistant", "```\n\tx = 1\n```", author="tiny")])
    select(transcript, "\tx", "1")
    assert copied(transcript) == "\tx = 1"
    transcript.select_all()
    assert copied(transcript) == "```\n\tx = 1\n```"


def test_the_menu_offers_both_ways_to_copy(answer: Transcript) -> None:
    def menu() -> dict[str, QAction]:
        place = QPoint(10, 10)
        event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, place, answer.viewport().mapToGlobal(place))
        QApplication.sendEvent(answer.viewport(), event)
        made = answer.findChildren(QMenu)[-1]
        return {action.text(): action for action in made.actions()}

    assert not menu()["Copy"].isEnabled()
    select(answer, "Because", "air.")
    entries = menu()
    assert list(entries)[:3] == ["Copy", "Copy as plain text", "Select all"]
    entries["Copy"].trigger()
    assert on_clipboard(answer) == "Because of **light** and `air`."
    entries["Copy as plain text"].trigger()
    assert on_clipboard(answer) == "Because of light and air."
    for made in answer.findChildren(QMenu):
        made.close()


def test_the_key_for_plain_text_is_left_to_the_window_while_nothing_is_selected(answer: Transcript) -> None:
    def takes() -> bool:
        modifiers = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
        event = QKeyEvent(QEvent.Type.ShortcutOverride, Qt.Key.Key_C, modifiers, "C")
        event.ignore()
        QApplication.sendEvent(answer, event)
        return event.isAccepted()

    assert not takes()
    answer.select_all()
    assert takes()

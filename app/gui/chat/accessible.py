"""The conversation as it is read aloud: each message is a child of the transcript, with who says it and its text.

Knows what a screen reader asks of a view, and nothing of how the view paints.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache
from typing import Protocol, cast

from PySide6.QtCore import QCoreApplication, QObject, QPoint, QRect
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QAccessibleEvent,
    QAccessibleInterface,
    QAccessibleObject,
    QWindow,
)
from PySide6.QtWidgets import QAbstractScrollArea, QWidget
from shiboken6 import isValid

from app.gui.chat import footer
from app.gui.chat.left_out_marks import left_out_words
from app.gui.chat.thoughtful_text import ThoughtfulText
from app.gui.chat.turn_block import TurnBlock
from app.gui.chat.turn_list import TurnList
from app.gui.chat.turn_places import TurnPlaces
from app.services.turns import Turn

UPDATE_S = 1.0
"""What is still written is said anew at most this often."""
VIEW_CLASS = "Transcript"
_NO_CHILD = cast(QAccessibleInterface, None)
_NO_OBJECT = cast(QObject, None)


class View(Protocol):
    """What is asked of a transcript."""

    conversation: Conversation | None
    """What reads it aloud, once somebody has asked for it."""

    version_of: Callable[[Turn], tuple[int, int]]
    """Which version of its message a turn is, from 1, and how many there are."""
    left_out: frozenset[int]
    """The turns (their numbers) that are not sent any more."""

    @property
    def at_hand(self) -> Turn | None:
        """The message that keys do something with."""
        ...

    def hasFocus(self) -> bool:
        """Return whether it has the keyboard."""
        ...

    @property
    def turns(self) -> TurnList:
        """The turns with their places."""
        ...

    @property
    def places(self) -> TurnPlaces:
        """Where turns lie."""
        ...


class Message(QAccessibleInterface):
    """One message."""

    def __init__(self, conversation: Conversation, view: View, number: int) -> None:
        super().__init__()
        self._conversation = conversation
        self._view = view
        self._said = ""
        self._said_at: float | None = None
        self.number = number

    def isValid(self) -> bool:
        """Return whether the message is still there."""
        return self._conversation.index_of(self.number) is not None

    def object(self) -> QObject:
        """Return nothing: a message is painted."""
        return _NO_OBJECT

    def window(self) -> QWindow:
        """Return the window of the conversation."""
        return self._conversation.window()

    def parent(self) -> QAccessibleInterface:
        """Return the conversation."""
        return self._conversation

    def child(self, _index: int) -> QAccessibleInterface:
        """Return nothing."""
        return _NO_CHILD

    def childCount(self) -> int:
        """Return that it has no children."""
        return 0

    def childAt(self, _x: int, _y: int) -> QAccessibleInterface:
        """Return nothing."""
        return _NO_CHILD

    def indexOfChild(self, _child: QAccessibleInterface) -> int:
        """Return that it has no children."""
        return -1

    def text(self, kind: QAccessible.Text) -> str:
        """Return who says what, the text alone, or what stands around it."""
        block = self._conversation.block(self.number)
        if block is None:
            return ""
        match kind:
            case QAccessible.Text.Name:
                return f"{_who(self._view, block.turn)}: {self._read(block)}"
            case QAccessible.Text.Value:
                return self._read(block)
            case QAccessible.Text.Description:
                left_out = left_out_words() if self.number in self._view.left_out else ""
                around = (left_out, footer.dropped(block.turn), _thinking(block), footer.line(block.turn))
                return "\n".join(part for part in around if part)
        return ""

    def setText(self, _kind: QAccessible.Text, _text: str) -> None:
        """Refuse: messages are not changed this way."""

    def rect(self) -> QRect:
        """Return where it lies on the screen."""
        return self._conversation.screen_rect(self.number)

    def role(self) -> QAccessible.Role:
        """Return what it is."""
        return QAccessible.Role.ListItem

    def state(self) -> QAccessible.State:
        """Return that it can be read and not changed, and whether it is at hand."""
        state = QAccessible.State()
        state.readOnly = state.focusable = 1
        turn = self._view.at_hand if self.isValid() else None
        state.focused = int(turn is not None and turn.number == self.number and self._view.hasFocus())
        return state

    def refresh(self, now: float, *, at_once: bool) -> bool:
        """Take over the text as it is now, unless that was done a moment ago; return whether it was done."""
        if not at_once and self._said_at is not None and now - self._said_at < UPDATE_S:
            return False
        block = self._conversation.block(self.number)
        self._said = _said(block) if block is not None else ""
        self._said_at = now
        return True

    def _read(self, block: TurnBlock) -> str:
        if block.turn.state not in ("waiting", "writing"):
            return _said(block)
        if self._said_at is None:
            self.refresh(time.monotonic(), at_once=True)
        return self._said


class Conversation(QAccessibleObject):
    """The whole transcript, as a list of messages, behind them what lies over them: the buttons of the page."""

    def __init__(self, widget: QAbstractScrollArea) -> None:
        super().__init__(widget)
        self._widget = widget
        self._view = cast(View, widget)
        self._messages: dict[int, Message] = {}

    def window(self) -> QWindow:
        """Return the window that the transcript is in."""
        return self._widget.window().windowHandle()

    def parent(self) -> QAccessibleInterface:
        """Return what holds the transcript."""
        above = self._widget.parentWidget()
        return QAccessible.queryAccessibleInterface(above) if above is not None else _NO_CHILD

    def childCount(self) -> int:
        """Return how many messages there are, and one more where something lies over them."""
        return len(self._view.turns.blocks) + self._has_buttons() if isValid(self._widget) else 0

    def child(self, index: int) -> QAccessibleInterface:
        """Return a message, or what holds the buttons."""
        if not 0 <= index < self.childCount():
            return _NO_CHILD
        if index == len(self._view.turns.blocks):
            return QAccessible.queryAccessibleInterface(self._widget.viewport())
        number = self._view.turns.blocks.turns[index].number
        if number not in self._messages:
            self._messages[number] = Message(self, self._view, number)
        return self._messages[number]

    def indexOfChild(self, child: QAccessibleInterface) -> int:
        """Return where a message stands."""
        if not isinstance(child, Message):
            return len(self._view.turns.blocks) if self._has_buttons() else -1
        index = self.index_of(child.number)
        return -1 if index is None else index

    def childAt(self, x: int, y: int) -> QAccessibleInterface:
        """Return the button or the message at a place of the screen."""
        view = self._widget.viewport()
        if (button := view.childAt(view.mapFromGlobal(QPoint(x, y)))) is not None:
            return QAccessible.queryAccessibleInterface(button)
        for index in range(len(self._view.turns.blocks) - 1, -1, -1):
            if self._view.places.on_screen(index).contains(QPoint(x, y)):
                return self.child(index)
        return _NO_CHILD

    def focusChild(self) -> QAccessibleInterface:
        """Return the message at hand; what else the keyboard reaches is announced, and is no object of its own."""
        turn = self._view.at_hand if isValid(self._widget) else None
        index = self.index_of(turn.number) if turn is not None else None
        return _NO_CHILD if index is None else self.child(index)

    def text(self, kind: QAccessible.Text) -> str:
        """Return the name or the description of the transcript."""
        if kind == QAccessible.Text.Name:
            return self._widget.accessibleName()
        return self._widget.accessibleDescription() if kind == QAccessible.Text.Description else ""

    def role(self) -> QAccessible.Role:
        """Return what it is."""
        return QAccessible.Role.List

    def rect(self) -> QRect:
        """Return where it lies on the screen."""
        return QRect(self._widget.mapToGlobal(QPoint()), self._widget.size())

    def state(self) -> QAccessible.State:
        """Return whether it is seen and has the keyboard."""
        state = QAccessible.State()
        state.focusable = state.readOnly = 1
        state.focused = int(self._widget.hasFocus())
        state.invisible = int(not self._widget.isVisible())
        return state

    def index_of(self, number: int) -> int | None:
        """Return where the message of a turn stands."""
        return self._view.turns.index_of(number) if isValid(self._widget) else None

    def block(self, number: int) -> TurnBlock | None:
        """Return a turn as it is painted."""
        index = self.index_of(number)
        return None if index is None else self._view.turns.blocks[index]

    def screen_rect(self, number: int) -> QRect:
        """Return where a turn lies on the screen."""
        index = self.index_of(number)
        return QRect() if index is None else self._view.places.on_screen(index)

    def tell_at_hand(self) -> None:
        """Have the message at hand read aloud."""
        message = self.focusChild()
        if message is not None:
            QAccessible.updateAccessibility(QAccessibleEvent(message, QAccessible.Event.Focus))

    def note_change(self, number: int, *, is_end: bool) -> None:
        """Say that a message has grown, at most once a second, or that it is whole."""
        message = self._messages.get(number)
        if message is not None and message.refresh(time.monotonic(), at_once=is_end):
            QAccessible.updateAccessibility(QAccessibleEvent(message, QAccessible.Event.NameChanged))

    def announce_end(self, number: int) -> None:
        """Have it said that an answer is whole, with its text."""
        block = self.block(number)
        if block is not None:
            self.announce(QCoreApplication.translate("Transcript", "Answer: {text}").format(text=_said(block)))

    def announce(self, words: str) -> None:
        """Have something said."""
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self._widget, words))

    def _has_buttons(self) -> bool:
        return any(isinstance(child, QWidget) for child in self._widget.viewport().children())

    def forget(self) -> None:
        """Give up the messages that are no longer there, all of them where the transcript is gone."""
        kept = {turn.number for turn in self._view.turns.blocks.turns} if isValid(self._widget) else set()
        for number in [number for number in self._messages if number not in kept]:
            # Qt ends what it has a number for; the Python side must outlive that.
            message = self._messages.pop(number)
            if isValid(message):
                QAccessible.deleteAccessibleInterface(QAccessible.uniqueId(message))


def _who(view: View, turn: Turn) -> str:
    """Return who says a message, and which version of it that is where there are others."""
    number, of = view.version_of(turn)
    if of == 1:
        return footer.who(turn)
    words = QCoreApplication.translate("Transcript", "{who}, version {number} of {of}")
    return words.format(who=footer.who(turn), number=number, of=of)


def _thinking(block: TurnBlock) -> str:
    """Return the line over the thinking of an answer, where there is some."""
    thinking = block.body.thinking if isinstance(block.body, ThoughtfulText) else None
    return thinking.line() if thinking is not None else ""


def _said(block: TurnBlock) -> str:
    """Return the text, or while there is none what goes on; it is asked for once a second while an answer grows."""
    turn = block.turn
    if turn.state == "waiting" and turn.doing is not None and not turn.text:
        return footer.waiting(turn)
    if block.is_user:
        return turn.words
    return "".join(block.texts(at_once=True)) or _thinking(block)


@cache
def install() -> None:
    """Let Qt ask here for what reads a transcript aloud."""
    QAccessible.installFactory(_interface)


def _interface(class_name: str, widget: QObject) -> QAccessibleInterface | None:
    if class_name != VIEW_CLASS or not isinstance(widget, QAbstractScrollArea):
        return None
    made = Conversation(widget)
    # Qt owns what it is given here, but keeps no reference to the Python side of it.
    cast(View, widget).conversation = made
    widget.destroyed.connect(lambda _gone: made.forget())
    return made

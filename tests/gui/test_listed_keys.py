"""The list of keys says what keys do, and they do what it says."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import (
    QAction,
    QKeySequence,
    QShortcut,
)
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel

from app.gui.chat.queued_list import queue_keys
from app.gui.chat.transcript_keys import message_keys
from app.gui.chat.writing_keys import PLACES, writing_keys
from app.gui.compare.lane_words import lane_keys
from app.gui.discover.library_keys import library_keys
from app.gui.history.list_keys import list_keys
from app.gui.history.view import HistoryList
from app.gui.next_token.candidates import candidate_keys
from app.gui.preferences.key_button import KeyButton
from app.gui.preferences.keyboard_dialog import KeyboardDialog
from app.gui.widgets.section import SectionHeader, section_keys
from tests.gui.conftest import Stage
from tests.gui.test_message_keys import press, say

pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")


def words_of(dialog: KeyboardDialog) -> set[str]:
    buttons = {button.text() for button in dialog.findChildren(KeyButton)}
    return buttons | {label.text() for label in dialog.findChildren(QLabel)}


def native(keys: Iterable[QKeySequence]) -> str:
    return ", ".join(key.toString(QKeySequence.SequenceFormat.NativeText) for key in keys)


def test_the_keyboard_dialog_lists_every_key_of_the_window_and_of_a_message(ready: Stage) -> None:
    ready.triggers("compare_action")
    ready.clicks("new_chat_button")
    ready.sends("One")
    ready.sends("This one waits")
    ready.find("queued_withdraw_button")
    press(ready, "F1")
    dialog = ready.find_as(KeyboardDialog)
    listed = words_of(dialog)
    for action in ready.window.findChildren(QAction):
        if action.shortcuts():
            assert native(action.shortcuts()) in listed, action.objectName()
    first, last = lane_keys()[0][1]
    lanes = {f"Ctrl+{number}" for number in range(1, 9)}
    assert {native([first]), native([last])} <= lanes
    for shortcut in ready.window.findChildren(QShortcut):
        shown = native(shortcut.keys())
        assert shown in listed or shown in lanes
    known = [(each.words, each.keys) for each in message_keys()]
    known += [(each.words, each.keys) for place in PLACES for each in writing_keys(place)]
    known += [*lane_keys(), *list_keys(), *library_keys(), *queue_keys(), *section_keys(), *candidate_keys()]
    for words, keys in known:
        assert words in listed and native(keys) in listed
    assert "New chat" in listed and "Light or dark theme" in listed
    QTest.mouseClick(ready.find("keyboard_close_button"), Qt.MouseButton.LeftButton)
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    assert ready.window.findChild(KeyboardDialog) is None


def test_the_keys_that_are_listed_for_a_section_and_a_chat_do_what_is_said(ready: Stage) -> None:
    header = ready.find_as(SectionHeader, "sampling_header")
    steps: list[int] = []
    header.step_wanted.connect(steps.append)
    folds: list[bool] = []
    header.toggled.connect(folds.append)
    (_move, moves), (_fold, folding) = section_keys()
    for key in (*moves, *folding):
        header.setFocus()
        QTest.keySequence(header, key)
    assert steps == [-1, 1]
    assert folds == [False, True]
    say(ready, "One", "1")
    chats = ready.find_as(HistoryList)
    done: list[str] = []
    chats.open_wanted.connect(lambda _chat: done.append("Open the chat"))
    chats.delete_wanted.connect(lambda _chat: done.append("Delete the chat"))
    for words, keys in list_keys():
        if words in ("Open the chat", "Delete the chat"):
            chats.setCurrentIndex(chats.model().index(1, 0))
            QTest.keySequence(chats, keys[0])
    assert done == ["Open the chat", "Delete the chat"]

"""Which side people's lines begin at is followed as long as the editor lives."""

from __future__ import annotations

import gc

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtWidgets import QApplication

from tests.gui.conftest import Stage


@pytest.mark.parametrize("change", ["button", "settings"])
def test_the_composer_follows_after_a_list_became_shorter(ready: Stage, change: str) -> None:
    if change == "button":
        ready.clicks("dry_breakers_1_remove")
    else:
        ready.desk.program.sampling.change(dry_sequence_breakers=("a",))
    ready.settle()
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    gc.collect()
    draft = ready.window.parts.chat_page.composer.draft
    for text, side in (
        ("שלום", Qt.AlignmentFlag.AlignRight),
        ("abc", Qt.AlignmentFlag.AlignLeft),
        ("مرحبا", Qt.AlignmentFlag.AlignRight),
    ):
        draft.setPlainText(text)
        assert draft.document().defaultTextOption().alignment() == side

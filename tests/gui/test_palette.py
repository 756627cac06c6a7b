"""The command palette: what it offers, in which order, what keys do in it, and that the focus comes back."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QSignalSpy, QTest

from app.core.fuzzy import folded
from app.core.words import translate
from app.gui.palette.entries import Entry, found
from app.gui.palette.popup import PalettePopup
from app.gui.palette.rows import Role
from app.gui.shortcuts import Shortcuts
from app.gui.widgets.fit_badge import fit_hint, fit_word
from app.services.fit_verdict import Fit
from tests.gui.conftest import Stage
from tests.gui.test_keyboard import in_use, press
from tests.gui.test_message_keys import say

pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")


def open_palette(stage: Stage) -> PalettePopup:
    stage.window.activateWindow()  # a popup that was left may have had the keyboard
    stage.bot.waitUntil(stage.window.isActiveWindow, timeout=60_000)
    press(stage, "Ctrl+K")
    (popup,) = shown(stage)
    return popup


def shown(stage: Stage) -> list[PalettePopup]:
    """Return those that are on the screen; one that was left is deleted a little later."""
    return [popup for popup in stage.window.findChildren(PalettePopup) if popup.isVisible()]


def entries(popup: PalettePopup) -> list[Entry]:
    model = popup.list.model()
    return [model.index(row, 0).data(Role.FOUND).entry for row in range(model.rowCount())]


def ids(popup: PalettePopup) -> list[str]:
    return [entry.id for entry in entries(popup)]


def is_gone(stage: Stage) -> bool:
    return not shown(stage)


def choose(stage: Stage, typed: str) -> None:
    """Type something into the palette and press Enter."""
    popup = open_palette(stage)
    QTest.keyClicks(popup.line, typed)
    taken = QSignalSpy(popup.chosen)
    QTest.keyClick(popup.line, Qt.Key.Key_Return)
    assert taken.count() == 1 and is_gone(stage)
    stage.bot.waitUntil(lambda: remembered(stage) == taken.at(0)[0].key, timeout=60_000)


def remembered(stage: Stage) -> str:
    """Return what was chosen last."""
    return next(iter(stage.desk.program.settings.values.palette_recent), "")


def foot(stage: Stage) -> str:
    return stage.find("palette_foot").accessibleName()


def test_ctrl_k_opens_it_from_the_message_that_is_written_and_esc_gives_the_focus_back(ready: Stage) -> None:
    ready.types("Half a question")
    ready.composer.setFocus()
    popup = open_palette(ready)
    QTest.keyClicks(popup.line, "new")
    QTest.keyClick(popup.line, Qt.Key.Key_Escape)
    assert is_gone(ready)
    assert in_use(ready) is ready.composer and ready.composer.toPlainText() == "Half a question"


def test_it_offers_every_action_every_chat_and_every_model(ready: Stage, model: Path) -> None:
    say(ready, "Why is the sky blue?", "Because.")
    ready.desk.program.models.refresh()
    ready.desk.until(lambda: ready.desk.program.models.has_looked)
    kinds: dict[str, set[str]] = {"action": set(), "chat": set(), "model": set()}
    for entry in entries(open_palette(ready)):
        kinds[entry.kind].add(entry.id)
    actions = {action.objectName() for action in ready.window.actions_by_name.in_order}
    assert kinds["action"] == actions - {"palette_action"}
    assert kinds["chat"] == {str(ready.desk.program.conversations.open_id)}
    assert kinds["model"] == {found.path for found in ready.desk.program.models.found}


def test_typed_letters_leave_what_fits_and_enter_does_it(ready: Stage) -> None:
    assert ready.sees("side_panel")
    popup = open_palette(ready)
    QTest.keyClicks(popup.line, "side pan")
    assert ids(popup)[0] == "panel_action"
    QTest.keyClick(popup.line, Qt.Key.Key_Return)
    ready.bot.waitUntil(lambda: not ready.sees("side_panel"), timeout=60_000)


def test_a_click_does_it_too(ready: Stage) -> None:
    popup = open_palette(ready)
    QTest.keyClicks(popup.line, "side pan")
    place = popup.list.visualRect(popup.list.model().index(0, 0)).center()
    QTest.mouseClick(popup.list.viewport(), Qt.MouseButton.LeftButton, pos=place)
    ready.bot.waitUntil(lambda: not ready.sees("side_panel"), timeout=60_000)


def test_what_was_chosen_last_comes_first_also_the_next_time(ready: Stage) -> None:
    choose(ready, "side pan")
    choose(ready, "chats on the left")
    assert ids(open_palette(ready))[:2] == ["history_action", "panel_action"]
    assert ready.desk.program.settings.values.palette_recent[:2] == ("action history_action", "action panel_action")


def test_a_chat_is_opened_from_another_page(ready: Stage) -> None:
    say(ready, "Why is the sky blue?", "Because.")
    first = ready.desk.program.conversations.open_id
    ready.triggers("new_chat_action")
    ready.triggers("compare_action")
    choose(ready, "sky blue")
    ready.bot.waitUntil(lambda: ready.desk.program.conversations.open_id == first, timeout=60_000)
    assert ready.window.page == "chat"


def test_what_cannot_be_chosen_says_why_and_stays(ready: Stage) -> None:
    popup = open_palette(ready)
    QTest.keyClicks(popup.line, "stop the")
    assert ids(popup)[0] == "stop_action"
    assert foot(ready) == "No answer is being written."
    QTest.keyClick(popup.line, Qt.Key.Key_Return)
    assert popup.isVisible()


def test_every_action_that_can_be_off_says_why(ready: Stage) -> None:
    off: set[str] = set()

    def look() -> None:
        popup = open_palette(ready)
        for entry in entries(popup):
            if entry.kind == "action":
                is_off = not ready.window.actions_by_name[entry.id].isEnabled()
                assert bool(entry.why_not) == is_off, entry.id
                off.update([entry.id] if is_off else [])
        popup.close()
        ready.bot.wait(0)

    look()
    ready.sends("Hi")
    look()
    ready.desk.answer("Hello")
    look()
    assert {"rename_action", "stop_action", "answer_again_action", "go_on_action", "print_action"} <= off


def test_the_keys_that_were_chosen_stand_at_the_right(ready: Stage) -> None:
    shortcuts = ready.window.findChild(Shortcuts)
    assert shortcuts is not None
    shortcuts.choose("new_chat_action", ready.window.actions_by_name["planner_action"].shortcuts()[:0])
    by_id = {entry.id: entry.beside for entry in entries(open_palette(ready))}
    assert by_id["new_chat_action"] == "" and by_id["panel_action"] == "F9"


def test_arrows_go_round_and_nothing_that_fits_is_said(ready: Stage) -> None:
    popup = open_palette(ready)
    QTest.keyClick(popup.line, Qt.Key.Key_Up)
    assert popup.list.currentIndex().row() == popup.list.model().rowCount() - 1
    QTest.keyClick(popup.line, Qt.Key.Key_Down)
    assert popup.list.currentIndex().row() == 0
    QTest.keyClicks(popup.line, "xqzzyq")
    assert "Nothing fits" in foot(ready)
    QTest.keyClick(popup.line, Qt.Key.Key_Return)
    assert popup.isVisible()


def test_those_who_listen_hear_what_each_row_is(ready: Stage) -> None:
    popup = open_palette(ready)
    for widget in (popup, popup.line, popup.list):
        assert widget.accessibleName()
    QTest.keyClicks(popup.line, "stop the")
    heard = popup.list.currentIndex().data(Qt.ItemDataRole.AccessibleTextRole)
    assert heard == "Stop the answer, action, Esc, No answer is being written."
    assert QAccessible.queryAccessibleInterface(popup.line) is not None


def test_a_model_says_whether_it_fits_and_why_and_nobody_asks_once_the_palette_is_gone(
    ready: Stage, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fits, models = ready.desk.program.planner.fits, ready.desk.program.models
    monkeypatch.setattr(models, "_folders", (model.parent,))
    models.refresh()
    ready.desk.until(lambda: str(model) in [found.path for found in models.found if found.is_read])
    popup = open_palette(ready)
    QTest.keyClicks(popup.line, next(found.name for found in models.found if found.path == str(model)))
    assert ids(popup)[0] == str(model)
    ready.desk.until(lambda: fits.get(str(model)) is not None)
    index, told = popup.list.model().index(0, 0), fits.get(str(model))
    assert index.data(Role.BESIDE) == "Model, loaded" and foot(ready) == fit_hint(told), "of it nothing is known here"
    fit = Fit("fits", translate("Test", "There is room."))
    monkeypatch.setattr(fits, "get", lambda _path: fit)
    fits.changed.emit()
    assert index.data(Role.BESIDE).endswith(f" · {fit_word(fit)}") and foot(ready) == fit_hint(fit)
    assert fit_word(fit) in index.data(Qt.ItemDataRole.AccessibleTextRole)
    QTest.keyClick(popup.line, Qt.Key.Key_Escape)
    assert popup not in fits._wanted


def test_what_was_chosen_comes_first_among_equals_only() -> None:
    def made(words: str) -> Entry:
        return Entry("action", words, words, folded(words))

    offered = [made("New chat"), made("New folder"), made("Renew")]
    order = [each.entry.words for each in found(offered, "new", ["action New folder", "action Renew"])]
    assert order == ["New folder", "New chat", "Renew"]
    assert next(each.entry.words for each in found(offered, "", ["action Renew"])) == "Renew"

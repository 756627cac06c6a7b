"""Keys that people choose for actions: taken, refused, kept, told wherever a key is told, and read again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from app.gui.actions import shown_keys
from app.gui.preferences.key_button import KeyButton
from app.gui.preferences.keyboard_dialog import KeyboardDialog
from app.gui.shortcuts import Shortcuts
from app.gui.widgets.clear_line import ClearLine
from tests.gui.conftest import Stage
from tests.gui.test_keyboard import in_use, press

pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")


@pytest.fixture
def opened(ready: Stage) -> Stage:
    """Return the stage with the list of keys open."""
    press(ready, "F1")
    assert ready.find("keyboard_dialog").isVisible()
    return ready


def choose(stage: Stage, action: str, keys: str) -> str:
    """Press the button of an action and then keys; return what the dialog says."""
    button = stage.find_as(KeyButton, f"{action}_keys")
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    button.setFocus()
    QTest.keySequence(button, QKeySequence(keys))
    return stage.reads("keyboard_problem")


def keys_of(stage: Stage, action: str) -> str:
    return shown_keys(stage.window.actions_by_name[action].shortcuts())


def kept(stage: Stage) -> dict[str, tuple[str, ...]]:
    return stage.desk.program.settings.values.shortcuts


def test_another_shortcut_holds_at_once_and_is_kept(opened: Stage) -> None:
    assert choose(opened, "new_chat_action", "Ctrl+T") == ""
    assert opened.reads("new_chat_action_keys") == "Ctrl+T"
    assert kept(opened) == {"new_chat_action": ("Ctrl+T",)}
    opened.clicks("keyboard_close_button")
    opened.window.activateWindow()
    opened.bot.waitUntil(opened.window.isActiveWindow, timeout=60_000)
    opened.sends("Hi")
    opened.desk.answer("Hello")
    press(opened, "Ctrl+N")
    assert len(opened.desk.program.chat.turns) == 2
    press(opened, "Ctrl+T")
    assert not opened.desk.program.chat.turns


@pytest.mark.parametrize(
    ("keys", "named"),
    [
        ("Ctrl+O", "Open a model"),
        ("Ctrl+3", "First to eighth lane"),
        ("Alt+Left", "Earlier version"),
        ("Ctrl+C", "written"),
        ("Ctrl+Z", "Undo the deletion"),
        ("Ctrl+V", "written"),
        ("A", "write"),
        ("Shift+A", "write"),
        ("Down", "write"),
    ],
)
def test_keys_that_mean_something_else_are_refused_and_that_is_named(opened: Stage, keys: str, named: str) -> None:
    said = choose(opened, "new_chat_action", keys)
    assert named in said and shown_keys([QKeySequence(keys)]) in said
    assert keys_of(opened, "new_chat_action") == "Ctrl+N"
    assert kept(opened) == {}


def test_esc_while_keys_are_waited_for_changes_nothing_and_leaves_the_dialog_open(opened: Stage) -> None:
    assert choose(opened, "new_chat_action", "Esc") == ""
    assert opened.find("keyboard_dialog").isVisible()
    assert opened.reads("new_chat_action_keys") == "Ctrl+N"
    assert kept(opened) == {}


def test_delete_takes_keys_away_and_the_button_beside_gives_them_back(opened: Stage) -> None:
    choose(opened, "new_chat_action", "Del")
    assert keys_of(opened, "new_chat_action") == "" and opened.reads("new_chat_action_keys") == "None"
    assert kept(opened) == {"new_chat_action": ()}
    opened.clicks("new_chat_action_reset")
    assert keys_of(opened, "new_chat_action") == "Ctrl+N"
    assert kept(opened) == {}
    assert not opened.find("new_chat_action_reset").isVisible()


def test_usual_keys_that_another_action_has_now_are_not_taken_from_it(opened: Stage) -> None:
    choose(opened, "new_chat_action", "Ctrl+T")
    choose(opened, "trash_action", "Ctrl+N")
    opened.clicks("new_chat_action_reset")
    assert "Trash" in opened.reads("keyboard_problem")
    assert keys_of(opened, "new_chat_action") == "Ctrl+T"
    opened.clicks("keyboard_reset_button")
    assert (keys_of(opened, "new_chat_action"), keys_of(opened, "trash_action")) == ("Ctrl+N", "")
    assert kept(opened) == {}
    assert not opened.find("keyboard_reset_button").isEnabled()


def test_no_hint_names_a_key_that_an_action_had_before(ready: Stage) -> None:
    ready.triggers("compare_action")
    ready.triggers("inside_action")
    ready.triggers("chat_page_action")
    hinted = [each for each in ready.window.findChildren(QWidget) if each.property("hint_action")]
    assert len(hinted) >= 15
    actions = ready.window.actions_by_name
    for each in hinted:
        had = shown_keys(actions[str(each.property("hint_action"))].shortcuts())
        assert had and f"({had})" in each.property("hint"), each.objectName()
    shortcuts = ready.window.findChild(Shortcuts)
    assert shortcuts is not None
    for number, name in enumerate(sorted({str(each.property("hint_action")) for each in hinted})):
        assert shortcuts.choose(name, (QKeySequence(f"Meta+F{number + 1}"),)) == ""
    for each in hinted:
        has = shown_keys(actions[str(each.property("hint_action"))].shortcuts())
        assert each.property("hint").endswith(f"({has})"), each.objectName()
        assert has in (each.accessibleDescription() or each.toolTip())


def test_a_page_that_is_made_later_tells_the_keys_that_were_chosen(ready: Stage) -> None:
    shortcuts = ready.window.findChild(Shortcuts)
    assert shortcuts is not None
    shortcuts.choose("stop_action", (QKeySequence("Ctrl+."),))
    ready.triggers("compare_action")
    assert ready.find("compare_stop_button").property("hint").endswith("(Ctrl+.)")


def test_another_key_than_esc_stops_an_answer_on_the_page_inside_too(ready: Stage) -> None:
    shortcuts = ready.window.findChild(Shortcuts)
    assert shortcuts is not None
    ready.triggers("inside_action")
    assert keys_of(ready, "stop_action") == ""
    shortcuts.choose("stop_action", (QKeySequence("Ctrl+."),))
    assert keys_of(ready, "stop_action") == "Ctrl+."
    shortcuts.reset("stop_action")
    assert keys_of(ready, "stop_action") == ""
    ready.triggers("chat_page_action")
    assert keys_of(ready, "stop_action") == "Esc"


def test_the_list_of_keys_can_be_searched_for_words_and_keys(opened: Stage) -> None:
    line = opened.find_as(ClearLine, "keyboard_search")
    assert in_use(opened).window() is opened.window
    QTest.keyClicks(line, "side panel")
    assert opened.find("panel_action_keys").isVisible()
    assert not opened.find("new_chat_action_keys").isVisible()
    line.clear()
    QTest.keyClicks(line, "ctrl+shift+o")
    assert opened.find("inspect_file_action_keys").isVisible()
    assert not opened.find("panel_action_keys").isVisible()
    line.clear()
    QTest.keyClicks(line, "xyzzy")
    assert not opened.find("inspect_file_action_keys").isVisible()
    line.clear()
    assert opened.find("new_chat_action_keys").isVisible()


@pytest.mark.parametrize(
    ("chosen", "left_out", "used"),
    [
        ({"new_chat_action": ["Ctrl+T"]}, [], {"new_chat_action": "Ctrl+T"}),
        ({"new_chat_action": []}, [], {"new_chat_action": ""}),
        (
            {"new_chat_action": ["Ctrl+O"], "open_model_action": ["Ctrl+N"]},
            [],
            {"new_chat_action": "Ctrl+O", "open_model_action": "Ctrl+N"},
        ),
        ({"no_such_action": ["Ctrl+T"]}, ["no_such_action"], {"new_chat_action": "Ctrl+N"}),
        ({"new_chat_action": ["Nonsense+"]}, ["new_chat_action"], {"new_chat_action": "Ctrl+N"}),
        ({"new_chat_action": ["Ctrl+T, Ctrl+U"]}, ["new_chat_action"], {"new_chat_action": "Ctrl+N"}),
        ({"new_chat_action": ["Ctrl"]}, ["new_chat_action"], {"new_chat_action": "Ctrl+N"}),
        ({"new_chat_action": [""]}, ["new_chat_action"], {"new_chat_action": "Ctrl+N"}),
        ({"new_chat_action": ["A"]}, ["new_chat_action"], {"new_chat_action": "Ctrl+N"}),
        ({"new_chat_action": ["Ctrl+O"]}, ["new_chat_action"], {"new_chat_action": "Ctrl+N"}),
        ({"new_chat_action": ["Ctrl+3"]}, ["new_chat_action"], {"new_chat_action": "Ctrl+N"}),
        ({"new_chat_action": ["Alt+Left"]}, ["new_chat_action"], {"new_chat_action": "Ctrl+N"}),
        ({"new_chat_action": ["F2"]}, ["new_chat_action"], {"new_chat_action": "Ctrl+N"}),
        (
            {"new_chat_action": ["Ctrl+T"], "trash_action": ["Ctrl+T"], "print_action": ["Ctrl+U"]},
            ["new_chat_action", "trash_action"],
            {"new_chat_action": "Ctrl+N", "trash_action": "", "print_action": "Ctrl+U"},
        ),
        (
            {"new_chat_action": ["Ctrl+O"], "open_model_action": ["A"]},
            ["new_chat_action", "open_model_action"],
            {"new_chat_action": "Ctrl+N", "open_model_action": "Ctrl+O"},
        ),
    ],
)
def test_of_the_settings_file_only_what_can_hold_is_used_and_the_rest_is_named(
    chosen: object,
    left_out: list[str],
    used: dict[str, str],
    tmp_path: Path,
    request: pytest.FixtureRequest,
) -> None:
    path = tmp_path / "home" / "settings.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"shortcuts": chosen}))
    stage = request.getfixturevalue("stage")
    assert stage.desk.program.paths.settings_file == path
    assert {name: keys_of(stage, name) for name in used} == used
    latest = stage.desk.program.notices.latest
    said = "" if latest is None else latest.sentence.english()
    assert all(name in said for name in left_out) and bool(said) == bool(left_out)
    assert not set(left_out) & set(kept(stage))


def test_the_dialog_names_every_action_whether_it_has_keys_or_not(opened: Stage) -> None:
    dialog = opened.find_as(KeyboardDialog)
    named = {each.objectName() for each in dialog.findChildren(KeyButton)}
    assert named == {f"{action.objectName()}_keys" for action in opened.window.actions_by_name.in_order}


def test_no_text_of_the_window_has_a_key_of_an_action_written_into_it(stage: Stage) -> None:
    usual = stage.window.actions_by_name.usual_keys.values()
    written = {f"({key.toString()})" for keys in usual for key in keys} - {
        "(Esc)"
    }  # dialogs close with it, whatever stops
    assert len(written) > 20
    gui = Path(__file__).parents[2] / "app" / "gui"
    sources = {file: file.read_text(encoding="utf-8") for file in gui.rglob("*.py")}
    assert [(file.name, keys) for file, text in sources.items() for keys in written if keys in text] == []


def test_the_dialog_keeps_its_height_while_somebody_searches(opened: Stage) -> None:
    dialog = opened.find_as(KeyboardDialog)
    height = dialog.height()
    QTest.keyClicks(opened.find_as(ClearLine, "keyboard_search"), "new chat")
    dialog.fit()  # as with the next layout
    assert dialog.height() == height

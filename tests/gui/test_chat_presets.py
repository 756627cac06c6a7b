"""Presets of whole chats in the window: saved, used, begun with, renamed, deleted and brought back."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QCheckBox, QLabel, QLineEdit, QMenu, QToolButton

from app.core.chat_preset import ChatPreset, PresetModel
from app.core.sampling import SamplingSettings
from app.gui.chat.preset_dialog import NameDialog
from app.gui.chat.system_prompt_dialog import SystemPromptDialog
from app.services.chat_presets import ChatPresets
from tests.gui.conftest import Stage

# The offscreen platform says this of every dialog and menu.
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")
COOL = SamplingSettings(temperature=0.2)
KIND = ChatPreset("Be kind.", COOL)


@pytest.fixture
def presets(ready: Stage) -> ChatPresets:
    ready.desk.program.chat_presets.save("R&D", KIND)
    return ready.desk.program.chat_presets


def menu(stage: Stage) -> QMenu:
    """Open the editor and its menu of presets."""
    if not any(each.isVisible() for each in stage.window.findChildren(SystemPromptDialog)):
        stage.clicks("system_prompt_button")
    made = stage.find_as(QToolButton, "chat_presets_button").menu()
    made.aboutToShow.emit()
    return made


def chooses(stage: Stage, entry: str, preset: int | None = None) -> None:
    """Choose an entry of that menu, or of the menu of a preset in it."""
    there = menu(stage)
    if preset is not None:
        shown = [each.menuAction() for each in there.findChildren(QMenu, "chat_preset_menu")]
        there = QMenu.menuInAction([action for action in there.actions() if action in shown][preset])
    next(action for action in there.actions() if action.objectName() == entry).trigger()


def gone(stage: Stage) -> bool:
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    return not stage.window.findChildren(SystemPromptDialog)


def types_name(stage: Stage, name: str) -> None:
    line = stage.find_as(QLineEdit, "chat_preset_name")
    line.clear()
    QTest.keyClicks(line, name)


def saved(stage: Stage) -> dict[str, ChatPreset]:
    return stage.desk.program.settings.values.chats.presets


def test_a_chat_is_saved_with_the_parts_that_are_ticked(ready: Stage) -> None:
    ready.clicks("system_prompt_button")
    QTest.keyClicks(ready.find("system_prompt_text"), "Be kind.")
    chooses(ready, "save_chat_preset_action")
    boxes = {part: ready.find_as(QCheckBox, f"chat_preset_{part}") for part in ("system_prompt", "sampling", "model")}
    assert {part: box.isChecked() for part, box in boxes.items()} == {
        "system_prompt": True,
        "sampling": True,
        "model": False,
    }
    assert boxes["system_prompt"].accessibleDescription() == "Be kind."
    assert boxes["sampling"].accessibleDescription() == "Temperature 0.80, top-k 40, top-p 0.95, min-p 0.05"
    assert boxes["model"].accessibleDescription() == "tiny"
    QTest.keyClick(boxes["sampling"], Qt.Key.Key_Space)
    QTest.keyClick(boxes["model"], Qt.Key.Key_Space)
    types_name(ready, "Kind")
    QTest.keyClick(ready.find("chat_preset_name"), Qt.Key.Key_Return)
    assert not ready.window.findChildren(NameDialog) or not ready.find("chat_preset_dialog").isVisible()
    preset = saved(ready)["Kind"]
    assert (preset.system_prompt, preset.sampling) == ("Be kind.", None)
    assert preset.model is not None and preset.model.path == ready.desk.loaded_path
    assert ready.desk.program.system_prompt.text == ""  # it is saved as a preset, not for this chat


def test_a_name_or_parts_that_cannot_be_are_refused_where_they_are_typed(ready: Stage) -> None:
    chooses(ready, "save_chat_preset_action")
    ready.clicks("chat_preset_save")
    assert ready.find_as(QLabel, "chat_preset_problem").text() == "Type a name for the chat preset."
    types_name(ready, "Nothing")
    assert not ready.find("chat_preset_problem").isVisible()
    QTest.keyClick(ready.find("chat_preset_sampling"), Qt.Key.Key_Space)
    ready.clicks("chat_preset_save")
    assert ready.find_as(QLabel, "chat_preset_problem").text().startswith("Tick at least one part")
    assert saved(ready) == {}


def test_that_a_preset_is_replaced_is_said_before_it_happens(ready: Stage, presets: ChatPresets) -> None:
    chooses(ready, "save_chat_preset_action")
    types_name(ready, "r&d")
    assert ready.find_as(QLabel, "chat_preset_replaces").text() == "“R&D” exists already and is replaced."
    assert ready.reads("chat_preset_save") == "Replace"
    ready.clicks("chat_preset_save")
    assert presets.all["R&D"] == ChatPreset(sampling=SamplingSettings())


def test_a_preset_is_updated_from_the_chat_with_the_parts_that_it_has(ready: Stage, presets: ChatPresets) -> None:
    presets.save("Prompt alone", ChatPreset("Be kind."))
    ready.clicks("system_prompt_button")
    QTest.keyClicks(ready.find("system_prompt_text"), "Be brief.")
    chooses(ready, "update_chat_preset_action", 1)
    assert ready.find_as(QLineEdit, "chat_preset_name").text() == "Prompt alone"
    ticked = [
        part
        for part in ("system_prompt", "sampling", "model")
        if ready.find_as(QCheckBox, f"chat_preset_{part}").isChecked()
    ]
    assert ticked == ["system_prompt"]
    assert ready.find_as(QLabel, "chat_preset_replaces").text().startswith("“Prompt alone” holds what is ticked")
    assert ready.reads("chat_preset_save") == "Update"
    QTest.keyClick(ready.find("chat_preset_name"), Qt.Key.Key_Return)
    assert presets.all == {"R&D": KIND, "Prompt alone": ChatPreset("Be brief.")}
    chooses(ready, "restore_chat_preset_action")
    assert presets.all["Prompt alone"] == ChatPreset("Be kind.")


def test_an_update_without_a_loaded_model_keeps_the_model_of_the_preset(stage: Stage) -> None:
    model = PresetModel("Other", "/m/other.gguf", "12-ab")
    presets = stage.desk.program.chat_presets
    presets.save("Both", ChatPreset("Be kind.", model=model))
    chooses(stage, "update_chat_preset_action", 0)
    assert stage.find("chat_preset_model").accessibleDescription() == "Other"
    stage.clicks("chat_preset_save")
    assert presets.all["Both"] == ChatPreset("", model=model)


def test_a_preset_is_used_in_the_chat_and_that_is_undone(ready: Stage, presets: ChatPresets) -> None:
    ready.sends("Hi")
    ready.desk.answer("Hello")
    chooses(ready, "use_chat_preset_action", 0)
    assert gone(ready)
    assert ready.find("system_prompt_button").accessibleName() == "System prompt: Be kind."
    assert ready.find("temperature_box").property("value") == 0.2
    head = ready.desk.program.chat.shown.head
    assert (head.system_prompt, head.settings) == ("Be kind.", COOL)
    assert ready.reads("notice_text") == "“R&D” is used in this chat."
    ready.clicks("notice_action")
    assert ready.find("system_prompt_button").accessibleName() == "Add a system prompt"
    assert ready.find("temperature_box").property("value") == 0.8


def test_what_was_typed_and_not_saved_stays_when_a_preset_is_used(ready: Stage, presets: ChatPresets) -> None:
    ready.clicks("system_prompt_button")
    QTest.keyClicks(ready.find("system_prompt_text"), "Be br")
    chooses(ready, "use_chat_preset_action", 0)
    assert ready.desk.program.system_prompt.text == "Be kind."
    assert ready.desk.program.system_prompt.draft == "Be br"


def test_a_new_chat_begins_with_a_preset_from_the_editor(ready: Stage, presets: ChatPresets) -> None:
    ready.sends("Hi")
    ready.desk.answer("Hello")
    chooses(ready, "begin_chat_preset_action", 0)
    assert gone(ready)
    assert ready.desk.program.chat.turns == ()
    assert ready.find("system_prompt_button").accessibleName() == "System prompt: Be kind."
    assert ready.desk.program.conversations.heads[0].system_prompt == ""


def test_beside_new_chat_there_is_a_menu_of_presets_once_there_are_any(ready: Stage) -> None:
    button = ready.find_as(QToolButton, "new_chat_preset_button")
    assert not button.isVisible()
    ready.desk.program.chat_presets.save("R&D", KIND)
    assert button.isVisible()
    assert button.accessibleName() == "New chat with a chat preset"
    ready.sends("Hi")
    ready.desk.answer("Hello")
    (entry,) = button.menu().actions()
    assert entry.text() == "R&&D"
    entry.trigger()
    assert ready.find("system_prompt_button").accessibleName() == "System prompt: Be kind."
    ready.sends("And?")
    assert ready.engine.chat.messages[0].text == "Be kind."
    assert ready.engine.question.settings.temperature == 0.2
    ready.desk.program.chat_presets.delete("R&D")
    assert not button.isVisible()


def test_new_chats_start_with_a_preset_that_is_set_for_them(ready: Stage, presets: ChatPresets) -> None:
    chooses(ready, "start_chat_preset_action", 0)
    assert presets.start == "R&D"
    assert next(action.text() for action in menu(ready).actions()) == "R&&D · for new chats"
    QTest.keyClick(ready.find("system_prompt_dialog"), Qt.Key.Key_Escape)
    ready.sends("Hi")
    ready.desk.answer("Hello")
    ready.clicks("new_chat_button")
    assert ready.find("system_prompt_button").accessibleName() == "System prompt: Be kind."
    chooses(ready, "start_chat_preset_action", 0)
    assert presets.start is None


def test_a_preset_is_renamed(ready: Stage, presets: ChatPresets) -> None:
    presets.save("Other", KIND)
    chooses(ready, "rename_chat_preset_action", 0)
    assert ready.find_as(QLineEdit, "chat_preset_name").text() == "R&D"
    types_name(ready, "other")
    ready.clicks("chat_preset_save")
    assert ready.find_as(QLabel, "chat_preset_problem").text() == "“Other” exists already: use another name."
    types_name(ready, "Research")
    ready.clicks("chat_preset_save")
    assert list(presets.all) == ["Research", "Other"]


@pytest.mark.parametrize("way", ["menu", "notice"])
def test_a_preset_is_deleted_and_brought_back(ready: Stage, presets: ChatPresets, way: str) -> None:
    chooses(ready, "delete_chat_preset_action", 0)
    assert saved(ready) == {}
    assert "No chat presets yet" in [action.text() for action in menu(ready).actions()]
    if way == "menu":
        chooses(ready, "restore_chat_preset_action")
    else:
        QTest.keyClick(ready.find("system_prompt_dialog"), Qt.Key.Key_Escape)
        assert ready.reads("notice_text") == "The chat preset “R&D” was deleted."
        ready.clicks("notice_action")
    assert saved(ready) == {"R&D": KIND}
    assert "restore_chat_preset_action" not in [action.objectName() for action in menu(ready).actions()]


def test_menus_that_were_shown_before_do_not_pile_up(ready: Stage, presets: ChatPresets) -> None:
    for _ in range(5):
        made = menu(ready)
        QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        assert len(made.findChildren(QMenu)) == 1
    assert [action.text() for action in made.findChildren(QMenu)[0].actions()][:2] == [
        "Use in this chat",
        "New chat with it",
    ]


def test_what_a_preset_holds_is_told_on_hover(ready: Stage, presets: ChatPresets) -> None:
    told = menu(ready).actions()[0].toolTip()
    assert told == "System prompt: Be kind.\nTemperature 0.20, top-k 40, top-p 0.95, min-p 0.05"


def test_everything_in_the_dialog_has_a_name(ready: Stage) -> None:
    chooses(ready, "save_chat_preset_action")
    controls = ready.find("chat_preset_dialog").findChildren(QAbstractButton)
    assert len(controls) == 5
    assert [each.objectName() for each in controls if not (each.accessibleName() or each.text())] == []
    assert ready.find("chat_preset_name").accessibleName() == "Name of the chat preset"

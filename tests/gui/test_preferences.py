from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QPoint, QRect, QSize, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QComboBox,
    QDialogButtonBox,
    QPlainTextEdit,
    QScrollArea,
)
from shiboken6 import isValid

from app.core.model import ModelRef
from app.core.model_note import KeptOfModels
from app.core.search import FoundMessage
from app.core.store_commands import MeasureStore, StoreCommand
from app.core.store_events import StoreMeasured
from app.gui.preferences.dialog import PreferencesDialog
from app.gui.preferences.options import groups
from app.services.disk_use import DiskUse
from app.system.settings_file import Settings
from app.system.state_folder import StatesLook
from tests.gui.conftest import Stage

pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")


class Shelf:
    """A store that takes commands down."""

    def __init__(self) -> None:
        self.sent: list[StoreCommand] = []

    def send(self, command: StoreCommand) -> None:
        self.sent.append(command)

    def look(self) -> KeptOfModels:
        return KeptOfModels()

    def find(self, text: str, limit: int) -> tuple[FoundMessage, ...]:
        return ()

    def close(self) -> None:
        pass


@pytest.fixture
def opened(stage: Stage) -> Stage:
    """Return the stage with the preferences open."""
    stage.clicks("preferences_button")
    assert stage.find("preferences").isVisible()
    return stage


def choose(stage: Stage, name: str, words: str) -> None:
    box = stage.find_as(QComboBox, f"{name}_option")
    for _ in range(box.count()):
        if box.currentText() == words:
            return
        QTest.keyClick(box, Qt.Key.Key_Down if box.findText(words) > box.currentIndex() else Qt.Key.Key_Up)
    assert box.currentText() == words


def measured(stage: Stage, total: int, record: int) -> None:
    use = stage.desk.program.disk_use
    use.take(StoreMeasured(use._request or 0, total, record))


def test_the_preferences_open_from_the_menu_and_once_only(stage: Stage) -> None:
    stage.triggers("preferences_action")
    stage.triggers("preferences_action")
    assert [each.isVisible() for each in stage.window.findChildren(PreferencesDialog)] == [True]
    assert not stage.find("preferences").isModal()
    QTest.keyClick(stage.find("preferences"), Qt.Key.Key_Escape)
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    assert stage.window.findChildren(PreferencesDialog) == []
    stage.triggers("preferences_action")
    assert stage.find("preferences").isVisible()


def test_every_option_is_a_setting_with_a_name_for_everybody(opened: Stage) -> None:
    defaults = Settings()
    options = [option for group in groups() for option in group.options]
    assert len(options) >= 4
    for option in options:
        assert hasattr(defaults, option.name)
        assert opened.find(f"{option.name}_option").accessibleName() == option.label


def test_a_theme_is_in_force_and_saved_at_once(opened: Stage) -> None:
    for words, name in (("High contrast", "contrast"), ("Dark", "dark"), ("Light", "light")):
        choose(opened, "theme", words)
        assert opened.themes.current.name == name
        assert opened.desk.program.settings.values.theme == name


def test_a_theme_that_is_changed_elsewhere_is_shown(opened: Stage) -> None:
    choose(opened, "theme", "Light")
    opened.triggers("theme_action")
    assert opened.find_as(QComboBox, "theme_option").currentText() == "Dark"


def test_motion_can_be_reduced(opened: Stage) -> None:
    box = opened.find_as(QCheckBox, "reduce_motion_option")
    QTest.keyClick(box, Qt.Key.Key_Space)
    assert opened.desk.program.settings.values.reduce_motion is True
    assert opened.window.panes.moves is False
    QTest.keyClick(box, Qt.Key.Key_Space)
    assert opened.window.panes.moves is True


@pytest.mark.parametrize(
    ("words", "kept"), [("All likely candidates", "all"), ("The chosen token only", "chosen"), ("Nothing", "off")]
)
def test_what_is_kept_of_every_token_is_chosen(opened: Stage, words: str, kept: str) -> None:
    choose(opened, "keep_record", "Nothing" if kept != "off" else "The chosen token only")
    choose(opened, "keep_record", words)
    assert opened.desk.program.settings.values.keep_record == kept


def test_the_system_prompt_of_new_chats_is_saved_as_it_is_typed(opened: Stage) -> None:
    edit = opened.find_as(QPlainTextEdit, "system_prompt_option")
    QTest.keyClicks(edit, "Be brief.")
    assert opened.desk.program.settings.values.system_prompt == "Be brief."


def test_everything_can_go_back_to_its_default(opened: Stage) -> None:
    choose(opened, "theme", "Dark")
    choose(opened, "keep_record", "Nothing")
    QTest.keyClicks(opened.find("system_prompt_option"), "Be brief.")
    opened.clicks("defaults_button")
    values, defaults = opened.desk.program.settings.values, Settings()
    for group in groups():
        for option in group.options:
            assert getattr(values, option.name) == getattr(defaults, option.name), option.name
    assert opened.find_as(QComboBox, "keep_record_option").currentText() == "All likely candidates"
    assert opened.find_as(QPlainTextEdit, "system_prompt_option").toPlainText() == ""


@pytest.mark.parametrize("size", [QSize(960, 540), QSize(900, 600), QSize(800, 400)])
def test_on_a_small_screen_the_preferences_scroll_and_the_buttons_stay(
    stage: Stage, size: QSize, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = QRect(QPoint(0, 0), size)
    monkeypatch.setattr(PreferencesDialog, "room", lambda _self: room)
    stage.clicks("preferences_button")
    dialog, area = stage.find_as(PreferencesDialog), stage.find_as(PreferencesDialog).findChild(QScrollArea)
    assert area is not None
    assert room.contains(dialog.geometry())
    for name in ("defaults_button", "preferences_close"):
        button = stage.find(name)
        assert dialog.rect().contains(button.mapTo(dialog, button.rect().bottomRight()))
        assert not area.isAncestorOf(button)
    shown = [stage.find(f"{option.name}_option") for group in groups() for option in group.options]
    contents = area.widget()
    assert contents is not None
    places = [field.rect().translated(field.mapTo(contents, QPoint(0, 0))) for field in shown]
    assert not any(one.intersects(other) for one in places for other in places if one is not other)
    assert contents.height() >= contents.heightForWidth(contents.width())


def test_no_button_has_an_icon_that_the_theme_does_not_know(opened: Stage) -> None:
    for box in opened.find("preferences").findChildren(QDialogButtonBox):
        assert [each.text() for each in box.buttons() if not each.icon().isNull()] == []


def test_a_measurement_that_comes_after_the_closing_reaches_nobody(opened: Stage) -> None:
    dialog = opened.find("preferences")
    dialog.close()
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    assert not isValid(dialog)
    measured(opened, 1, 1)


def test_the_preferences_go_with_the_window(opened: Stage) -> None:
    opened.window.close()
    measured(opened, 1, 1)
    assert not opened.find("preferences").isVisible()


def test_only_the_answer_to_the_last_question_counts(stage: Stage) -> None:
    shelf = Shelf()
    use = DiskUse(shelf, stage.engine)
    use.refresh()
    use.refresh()
    first, second = (command.request for command in shelf.sent if isinstance(command, MeasureStore))
    use.take(StoreMeasured(first, 1, 1))
    assert (use.total_bytes, use.record_bytes) == (None, None)
    use.take(StoreMeasured(second, 20, 10))
    assert (use.total_bytes, use.record_bytes) == (20, 10)


def test_how_much_disk_the_chats_take_is_told_once_it_is_known(stage: Stage) -> None:
    shelf = Shelf()
    program, use = stage.desk.program, DiskUse(shelf, stage.engine)
    dialog = PreferencesDialog(
        program.settings, stage.themes, use, program.kept_states, program.offline, stage.window
    )
    assert stage.reads("disk_use") == "Your chats take – on disk, – of it for the tokens."
    assert stage.find("disk_use").toolTip()
    (asked,) = shelf.sent
    assert isinstance(asked, MeasureStore)
    use.take(StoreMeasured(asked.request, 3 << 20, 2 << 20))
    assert stage.reads("disk_use") == "Your chats take 3.0 MiB on disk, 2.0 MiB of it for the tokens."
    assert not stage.find("disk_use").toolTip()
    dialog.close()


def test_keeping_chats_read_is_said_with_what_it_takes_and_can_be_undone(opened: Stage) -> None:
    program = opened.desk.program
    line = opened.find("kept_states_use").parentWidget()
    assert line is not None
    opened.desk.until(lambda: program.kept_states.look is not None)
    assert not line.isVisible()
    box = opened.find("kept_states_gb_option")
    QTest.keyClick(box, Qt.Key.Key_Up)
    assert program.settings.values.kept_states_gb == 1
    state = Path(program.kept_states.place(7, ModelRef(1, "x")).path)  # type: ignore[union-attr]
    state.parent.mkdir(parents=True)
    state.write_bytes(bytes(3 << 20))
    program.kept_states.refresh()
    opened.desk.until(lambda: program.kept_states.look == StatesLook(1, 3 << 20))
    assert line.isVisible()
    assert opened.reads("kept_states_use") == "What models have read of chats takes 3.0 MiB on disk."
    opened.clicks("remove_kept_states")
    opened.desk.until(lambda: program.kept_states.look == StatesLook(0, 0))
    assert not state.exists()
    QTest.keyClick(box, Qt.Key.Key_Down)
    opened.desk.until(lambda: not line.isVisible())
    assert program.settings.values.kept_states_gb == 0

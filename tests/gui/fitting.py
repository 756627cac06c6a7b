"""Opens the window in a process of its own, on the screen and with the font that it is told, and prints what is cut off.

Started by `test_fitting`, because the scale of a screen is read once when Qt starts.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

import pytest
from PySide6.QtCore import QEventLoop, QTimer
from PySide6.QtWidgets import QAbstractButton, QAbstractScrollArea, QApplication, QComboBox, QLabel, QWidget

from app.gui.application import make_window
from app.gui.chat.preset_dialog import PresetDialog
from app.gui.chat.system_prompt_dialog import SystemPromptDialog
from app.gui.icons import Icons
from app.gui.main_window import MainWindow
from app.gui.preferences.dialog import PreferencesDialog
from app.gui.theme import Themes
from app.gui.widgets.fit_badge import FitLook
from app.services.disk_use import DiskUse
from tests.desk import Desk
from tests.ggufs import write_tiny_llama

SLACK_PX = 1
BUTTON_SLACK_PX = 4
"""A button's hint holds the wider frame that it has with the focus."""


def cut_off(root: QWidget) -> list[str]:
    """Return the visible labels and buttons that are smaller than what they say, or stick out of their parents."""
    found = []
    for kind in (QLabel, QAbstractButton, QComboBox):
        for widget in root.findChildren(kind):
            if not widget.isVisible() or widget.objectName().startswith("qt_"):
                continue
            found += [f"{name(widget)} {problem}" for problem in problems(widget)]
    return found


def problems(widget: QWidget) -> list[str]:
    found = []
    needed = widget.sizeHint()
    if widget.hasHeightForWidth():
        needed.setWidth(0)
        needed.setHeight(widget.heightForWidth(widget.width()))
    slack = SLACK_PX if isinstance(widget, QLabel) else BUTTON_SLACK_PX
    if widget.width() + SLACK_PX < needed.width() or widget.height() + slack < needed.height():
        found.append(f"is {widget.width()}x{widget.height()} and needs {needed.width()}x{needed.height()}")
    parent = widget.parentWidget()
    while parent is not None and not isinstance(parent.parentWidget(), QAbstractScrollArea) and not parent.isWindow():
        place = widget.rect().translated(widget.mapTo(parent, widget.rect().topLeft()))
        if not parent.rect().adjusted(-SLACK_PX, -SLACK_PX, SLACK_PX, SLACK_PX).contains(place):
            found.append(f"sticks out of {name(parent)}")
            break
        parent = parent.parentWidget()
    return found


def name(widget: QWidget) -> str:
    text = widget.property("text") or widget.accessibleName()
    return f"{type(widget).__name__} {widget.objectName()} “{text}”"


def settle(desk: Desk) -> None:
    """Let what is laid out later be laid out."""
    desk.settle()
    loop = QEventLoop()
    QTimer.singleShot(200, loop.quit)
    loop.exec()


def look(window: MainWindow, desk: Desk, themes: Themes) -> dict[str, object]:
    said: dict[str, object] = {}
    settle(desk)
    said["welcome"] = cut_off(window)
    desk.program.chat.send("Explain why the sky is blue.")
    settle(desk)
    desk.answer("Sunlight is a mixture of all colours.")
    settle(desk)
    said["answer"] = cut_off(window)
    window.panes.moves = False
    for side in ("left", "right"):
        if not window.panes.shows(side):
            window.panes.toggle(side)
            settle(desk)
            said[side] = cut_off(window)
            window.panes.close_drawer()
    said["system prompt"] = look_at_presets(window, desk, themes)
    dialog = PreferencesDialog(
        desk.program.settings,
        themes,
        DiskUse(desk.program.store, desk.program.engine),
        desk.program.kept_states,
        desk.program.offline,
        window,
    )
    dialog.show()
    settle(desk)
    said["preferences"] = cut_off(dialog)
    free = window.screen().availableGeometry()
    said["size"] = [window.width(), window.height()]
    said["on the screen"] = free.width() >= window.width() and free.height() >= window.height()
    dialog.close()
    return said


def look_at_presets(window: MainWindow, desk: Desk, themes: Themes) -> list[str]:
    """Open the editor of the system prompt, and over it what keeps the chat as a preset."""
    program = desk.program
    program.system_prompt.write("You are a patient teacher. " * 20)
    look = FitLook(program.planner.fits, Icons(program.resources), themes)
    editor = SystemPromptDialog(program.system_prompt, program.prompt_costs, program.preset_use, look, window)
    editor.open()
    preset = PresetDialog(
        program.chat_presets, program.preset_use.current("You are a patient teacher. " * 20), editor
    )
    preset.open()
    settle(desk)
    found = [*cut_off(editor), *cut_off(preset)]
    preset.close()
    editor.close()
    return found


def main(font_px: int) -> None:
    application = QApplication([sys.argv[0]])
    if font_px:
        font = application.font()
        font.setPixelSize(font_px)
        application.setFont(font)
    patch = pytest.MonkeyPatch()
    with tempfile.TemporaryDirectory() as folder:
        desk = Desk(Path(folder) / "home", patch)
        themes = Themes(application, desk.program.resources, desk.program.settings)
        window = make_window(desk.program, themes)
        window.show()
        desk.load(write_tiny_llama(Path(folder) / "tiny.F16.gguf"))
        said = look(window, desk, themes)
        window.close()
        desk.program.stop()
        print(json.dumps(said))


if __name__ == "__main__":
    main(int(sys.argv[1]))

"""Qt's own file chooser, where the system has none: what is in it can be seen and is shown whole."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QComboBox, QFileDialog, QLabel, QToolButton, QTreeView

from app.system.settings_file import Theme
from tests.gui.conftest import Stage
from tests.gui.test_themes import contrast

pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")
BUTTONS = ("backButton", "forwardButton", "toParentButton", "newFolderButton", "listModeButton", "detailModeButton")


def inks(picture: QImage) -> list[QColor]:
    """Return the colours of a picture that are not see-through."""
    pixels = (picture.pixelColor(x, y) for x in range(picture.width()) for y in range(picture.height()))
    return [pixel for pixel in pixels if pixel.alpha() > 200]


@pytest.mark.parametrize("theme", ["light", "dark", "contrast"])
def test_the_buttons_and_arrows_of_the_chooser_can_be_seen(stage: Stage, theme: Theme) -> None:
    stage.themes.choose(theme)
    stage.triggers("open_model_action")
    dialog = stage.find_as(QFileDialog)
    ground = stage.themes.current.colour("window")
    for name in BUTTONS:
        button = dialog.findChild(QToolButton, name)
        assert button is not None and button.iconSize().width() >= 20 and button.accessibleName()
        drawn = inks(button.icon().pixmap(button.iconSize()).toImage())
        assert len(drawn) > 10 and min(contrast(each, ground) for each in drawn) >= 4.5
        assert button.height() >= 28 and button.width() >= 28
        around = button.grab().toImage()
        assert around.width() >= button.iconSize().width() + 8
    for box in dialog.findChildren(QComboBox):
        arrow = box.findChild(QLabel)
        assert arrow is not None and inks(arrow.pixmap().toImage())
        assert box.width() - arrow.geometry().right() < 24
    dialog.close()


def test_sizes_and_dates_are_whole_and_names_have_the_rest(stage: Stage, tmp_path: Path) -> None:
    folder = tmp_path / "models"
    folder.mkdir()
    for name in ("SmolLM2-135M-Instruct-with-a-very-long-name.Q4_1.gguf", "b.gguf"):
        (folder / name).write_bytes(b"x" * 123_456)
    stage.triggers("open_model_action")
    dialog = stage.find_as(QFileDialog)
    dialog.setDirectory(str(folder))
    dialog.resize(640, 430)
    tree = dialog.findChild(QTreeView, "treeView")
    assert tree is not None
    stage.bot.waitUntil(lambda: tree.model().rowCount(tree.rootIndex()) == 2, timeout=20_000)
    header = tree.header()
    stage.bot.waitUntil(lambda: header.sectionSize(1) >= tree.sizeHintForColumn(1), timeout=60_000)
    assert header.sectionSize(3) >= tree.sizeHintForColumn(3)
    assert header.isSectionHidden(2), "all of them are of one kind"
    assert header.length() <= tree.viewport().width() and header.sectionSize(0) > 220
    dialog.close()

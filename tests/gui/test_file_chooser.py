"""Qt's own choosers of files and printers, where the system has none: what is in it can be seen and is shown whole."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QCheckBox,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QLabel,
    QLineEdit,
    QPushButton,
    QRadioButton,
    QStyle,
    QStyleOptionButton,
    QToolButton,
    QTreeView,
)

from app.system.settings_file import Theme
from tests.gui.conftest import Stage
from tests.gui.test_themes import contrast

pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")
BUTTONS = ("backButton", "forwardButton", "toParentButton", "newFolderButton", "listModeButton", "detailModeButton")


def inks(picture: QImage) -> list[QColor]:
    """Return the colours of a picture that are not see-through."""
    pixels = (picture.pixelColor(x, y) for x in range(picture.width()) for y in range(picture.height()))
    return [pixel for pixel in pixels if pixel.alpha() > 200]


def has_arrows(dialog: QDialog) -> None:
    for box in dialog.findChildren(QComboBox):
        arrow = box.findChild(QLabel)
        assert arrow is not None and inks(arrow.pixmap().toImage())
        assert not box.isVisible() or box.width() - arrow.geometry().right() < 24


def has_what_can_be_seen(dialog: QFileDialog, ground: QColor) -> None:
    for name in BUTTONS:
        button = dialog.findChild(QToolButton, name)
        assert button is not None and button.iconSize().width() >= 20 and button.accessibleName()
        drawn = inks(button.icon().pixmap(button.iconSize()).toImage())
        assert len(drawn) > 10 and min(contrast(each, ground) for each in drawn) >= 4.5
        assert button.height() >= 28 and button.width() >= 28
        around = button.grab().toImage()
        assert around.width() >= button.iconSize().width() + 8
    has_arrows(dialog)


@pytest.mark.parametrize("theme", ["light", "dark", "contrast"])
def test_the_buttons_and_arrows_of_the_chooser_can_be_seen(stage: Stage, theme: Theme) -> None:
    stage.themes.choose(theme)
    stage.triggers("open_model_action")
    dialog = stage.find_as(QFileDialog)
    has_what_can_be_seen(dialog, stage.themes.current.colour("window"))
    dialog.close()


@pytest.mark.parametrize("theme", ["light", "dark", "contrast"])
def test_where_a_pdf_goes_is_chosen_in_the_same_chooser(ready: Stage, theme: Theme) -> None:
    ready.themes.choose(theme)
    ready.sends("Hello")
    ready.settle()
    ready.triggers("save_pdf_action")
    dialog = ready.find_as(QFileDialog, "pdf_dialog")
    has_what_can_be_seen(dialog, ready.themes.current.colour("window"))
    buttons = dialog.findChild(QDialogButtonBox)
    assert buttons is not None
    assert buttons.button(QDialogButtonBox.StandardButton.Save).property("look") == "primary"
    dialog.close()


@pytest.mark.parametrize("theme", ["light", "dark", "contrast"])
def test_what_is_chosen_for_a_printer_can_be_seen(ready: Stage, theme: Theme) -> None:
    ready.themes.choose(theme)
    ready.sends("Hello")
    ready.settle()
    ready.triggers("print_action")
    dialog = ready.find_as(QDialog, "print_dialog")
    more = next(each for each in dialog.findChildren(QPushButton) if "Options" in each.text())
    more.click()
    has_arrows(dialog)
    collate = dialog.findChild(QCheckBox, "collate")
    assert collate is not None and collate.isVisible()
    for is_on in (True, False):
        collate.setChecked(is_on)
        tick = collate.findChild(QLabel)
        assert tick is not None and tick.isVisible() is is_on
        drawn = inks(tick.pixmap().toImage())
        assert drawn and min(contrast(each, ready.themes.current.colour("accent")) for each in drawn) >= 4.5
    fields = [each for each in dialog.findChildren(QLineEdit) if not isinstance(each.parent(), QAbstractSpinBox)]
    assert {each.property("look") for each in fields} == {"field"}
    does_it = [each.text() for each in dialog.findChildren(QPushButton) if each.property("look") == "primary"]
    assert does_it == ["&Print"]
    dialog.close()


@pytest.mark.parametrize("theme", ["light", "dark", "contrast"])
def test_which_of_several_is_chosen_can_be_seen(stage: Stage, theme: Theme) -> None:
    stage.themes.choose(theme)
    ground, accent = (stage.themes.current.colour(name) for name in ("surface", "accent"))
    button = QRadioButton("One", stage.window)
    button.setAutoExclusive(False)
    button.show()
    option = QStyleOptionButton()
    button.initStyleOption(option)
    place = button.style().subElementRect(QStyle.SubElement.SE_RadioButtonIndicator, option, button)
    for is_on, middle in ((True, accent), (False, ground)):
        button.setChecked(is_on)
        picture = button.grab(place).toImage()
        assert picture.pixelColor(picture.rect().center()).name() == middle.name()
        assert any(contrast(each, ground) >= 3 for each in inks(picture))


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

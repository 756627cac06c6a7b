"""Makes Qt's own choosers look like the rest of the window; where the system has one, that is used and left alone.

Knows nothing of what is chosen. No class of its own: Qt shows no system's chooser for a class that is derived.
"""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QCheckBox,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QLineEdit,
    QSplitter,
    QStyle,
    QStyleOptionButton,
    QToolButton,
    QTreeView,
    QWidget,
)

from app.gui import theme
from app.gui.icons import Icons

ICON_PX, ARROW_PX, TICK_PX, BUTTON_PX = 20, 16, 16, 30
CHOOSER_SIZE, SIDEBAR_PX = QSize(760, 480), 140
_BUTTONS = {
    "backButton": "back",
    "forwardButton": "forward",
    "toParentButton": "up",
    "newFolderButton": "new_folder",
    "listModeButton": "list",
    "detailModeButton": "details",
}
"""Qt's names of the buttons, and our icons for them."""
_NAME, _SIZE, _KIND, _CHANGED = range(4)
"""Columns of the details."""


def dress(dialog: QFileDialog, icons: Icons) -> None:
    """Give a chooser our icons, arrows and room for its columns, in the colours of the theme in force."""
    tree = dialog.findChild(QTreeView, "treeView")
    if tree is None:
        return  # the system's own
    dialog.setSizeGripEnabled(False)
    dialog.resize(CHOOSER_SIZE.boundedTo(dialog.screen().availableGeometry().size()))
    for name, icon in _BUTTONS.items():
        _dress_button(dialog.findChild(QToolButton, name), icons, icon)
    _add_arrows(dialog, icons)
    for line in dialog.findChildren(QLineEdit):
        _look(line, "field")
    buttons = dialog.findChild(QDialogButtonBox)
    for does_it in (QDialogButtonBox.StandardButton.Open, QDialogButtonBox.StandardButton.Save):
        button = buttons.button(does_it) if buttons is not None else None
        if button is not None:
            _look(button, "primary")
    splitter = dialog.findChild(QSplitter)
    if splitter is not None:
        splitter.setSizes([SIDEBAR_PX, CHOOSER_SIZE.width() - SIDEBAR_PX])
    _share_width(tree.header())


def dress_printing(dialog: QDialog, icons: Icons) -> None:
    """Do to Qt's chooser of a printer what the style sheet cannot do; with its options it has all kinds of fields."""
    _add_arrows(dialog, icons)
    for tick in dialog.findChildren(QCheckBox):
        _add_tick(tick, icons)
    for line in dialog.findChildren(QLineEdit):
        if not isinstance(line.parent(), QAbstractSpinBox):
            _look(line, "field")
    for browse in dialog.findChildren(QToolButton, "fileBrowser"):
        _look(browse, "outlined")
    buttons = dialog.findChild(QDialogButtonBox)
    if buttons is None:
        return
    for button in buttons.buttons():
        if buttons.buttonRole(button) is QDialogButtonBox.ButtonRole.AcceptRole:
            _look(button, "primary")


def _add_arrows(dialog: QDialog, icons: Icons) -> None:
    """Give the boxes the arrows that the style sheet's boxes have not."""
    for box in dialog.findChildren(QComboBox):
        _add_arrow(box, icons)


def _look(widget: QWidget, look: str) -> None:
    """Give a widget one of the style sheet's looks; Qt has styled it already."""
    widget.setProperty("look", look)
    widget.style().unpolish(widget)
    widget.style().polish(widget)


def _dress_button(button: QToolButton | None, icons: Icons, icon: str) -> None:
    if button is None:
        return
    palette, role = button.palette(), QPalette.ColorRole.WindowText
    usual, faint = (
        palette.color(group, role) for group in (QPalette.ColorGroup.Active, QPalette.ColorGroup.Disabled)
    )
    button.setIcon(icons.icon(icon, usual, faint))
    button.setIconSize(QSize(ICON_PX, ICON_PX))
    _look(button, "icon")
    button.setFixedSize(theme.scaled(BUTTON_PX), theme.scaled(BUTTON_PX))


def _add_arrow(box: QComboBox, icons: Icons) -> None:
    """Lay an arrow over the end of a box."""
    arrow = QLabel()
    arrow.setPixmap(icons.icon("down", box.palette().buttonText().color()).pixmap(ARROW_PX, ARROW_PX))
    arrow.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
    row = QHBoxLayout(box)
    row.setContentsMargins(0, 0, theme.SPACE_XS, 0)
    row.addStretch(1)
    row.addWidget(arrow)


def _add_tick(box: QCheckBox, icons: Icons) -> None:
    """Lay a tick over the indicator of a box while it is on."""
    option = QStyleOptionButton()
    box.initStyleOption(option)
    place = box.style().subElementRect(QStyle.SubElement.SE_CheckBoxIndicator, option, box)
    tick = QLabel()
    colour = box.palette().color(QPalette.ColorRole.HighlightedText)
    tick.setPixmap(icons.icon("done", colour).pixmap(TICK_PX, TICK_PX))
    tick.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
    row = QHBoxLayout(box)
    row.setContentsMargins(place.left() + (place.width() - TICK_PX) // 2, 0, 0, 0)
    row.addWidget(tick)
    row.addStretch(1)
    box.toggled.connect(tick.setVisible)
    tick.setVisible(box.isChecked())


def _share_width(header: QHeaderView) -> None:
    """Show sizes and dates whole, and names in what is left; all of them are files of one kind."""
    header.setStretchLastSection(False)
    header.setSectionHidden(_KIND, True)
    header.setSectionResizeMode(_NAME, QHeaderView.ResizeMode.Stretch)
    for column in (_SIZE, _CHANGED):
        header.setSectionResizeMode(column, QHeaderView.ResizeMode.ResizeToContents)

"""All that can be done with the model that is chosen, as a menu: what its buttons do, with the keys that do it in the list."""

from __future__ import annotations

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QAbstractButton, QMenu, QWidget

from app.gui.discover.library_keys import Does, shown_key
from app.gui.discover.library_pane import LibraryPane
from app.gui.widgets.words import hint_of, hint_under


def library_menu(pane: LibraryPane, parent: QWidget) -> QMenu:
    """Return the menu of the model that a pane shows; it goes when it is closed."""
    menu = QMenu(parent)
    menu.setObjectName("library_menu")
    menu.setToolTipsVisible(True)
    menu.aboutToHide.connect(menu.deleteLater)
    own, files = pane.own, pane.file_buttons
    _add(menu, pane.load, "load")
    for button in (pane.options, pane.plan, pane.inspect, pane.folder):
        _add(menu, button)
    menu.addSeparator()
    _add(menu, own.star)
    menu.addSeparator()
    _add(menu, files.rename, "rename")
    _add(menu, files.trash, "trash")
    return menu


def _add(menu: QMenu, button: QAbstractButton, does: Does | None = None) -> None:
    """Add what a button does; one that cannot be pressed says why in its hint, here too."""
    words = (button.text() or button.accessibleName()).replace("&", "&&")
    action = QAction(words if does is None else f"{words}\t{shown_key(does)}", menu)
    action.setObjectName(button.objectName().replace("_button", "_entry"))
    action.setEnabled(button.isEnabled())
    action.setToolTip(hint_of(hint_under(button)))
    action.triggered.connect(lambda _checked=False: button.click())
    menu.addAction(action)

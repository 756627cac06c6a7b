"""What somebody before a part of the window sees of it, by the names that its widgets carry."""

from __future__ import annotations

from typing import TypeVar

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QApplication, QWidget

_Found = TypeVar("_Found", bound=QObject)


class Looking:
    """Finds widgets inside of one, and reads them."""

    looked_at: QWidget

    def find(self, name: str) -> QWidget:
        """Return the widget that carries a name."""
        return self.find_as(QWidget, name)

    def find_as(self, kind: type[_Found], name: str = "") -> _Found:
        """Return the one of a kind that carries a name, or the first."""
        found = self.looked_at.findChild(kind, name) if name else self.looked_at.findChild(kind)
        assert found is not None, name
        return found


def take_away(window: QWidget, application: QApplication) -> None:
    """End what was shown, and leave the application as it was."""
    window.close()
    window.deleteLater()
    application.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    application.setStyleSheet("")

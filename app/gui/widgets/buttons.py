"""Buttons with an icon that keeps to the theme, an accessible name and a hint."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QSize, Qt, QTimer
from PySide6.QtGui import QEnterEvent, QPalette
from PySide6.QtWidgets import QApplication, QMenu, QPushButton, QToolButton, QWidget

from app.gui.icons import Icons
from app.gui.widgets.words import set_hint

ICON_PX = 20
TICK_MS = 1000


def text_button(words: str, name: str) -> QPushButton:
    """Return a button that is called what it says."""
    button = QPushButton(words)
    button.setObjectName(name)
    button.setAccessibleName(words)
    return button


class PointedButton(QToolButton):
    """A tool button that looks pointed at only while the mouse is its own."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.clicked.connect(lambda: QTimer.singleShot(0, self, self._yield_hover))

    def setMenu(self, menu: QMenu) -> None:
        """Open a menu when it is pressed; while that is open, and after it, the button looks pointed at no more."""
        super().setMenu(menu)
        menu.aboutToShow.connect(self.end_hover)
        menu.aboutToHide.connect(lambda: QTimer.singleShot(0, self, self.end_hover))

    def end_hover(self) -> None:
        """Look as if the pointer were gone: Qt tells a button nothing of that while something else takes the mouse."""
        if self.underMouse():
            QApplication.sendEvent(self, QEvent(QEvent.Type.Leave))
            self.setAttribute(Qt.WidgetAttribute.WA_UnderMouse, False)
            self.update()

    def enterEvent(self, event: QEnterEvent) -> None:
        """Notice from now on that a dialog takes over."""
        super().enterEvent(event)
        self.window().installEventFilter(self)

    def leaveEvent(self, event: QEvent) -> None:
        """Be like any other button."""
        super().leaveEvent(event)
        self.window().removeEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Notice that a dialog takes over; only while the pointer is here, as Python at every event costs time."""
        if event.type() in (QEvent.Type.WindowBlocked, QEvent.Type.WindowDeactivate):
            self.end_hover()
        return super().eventFilter(watched, event)

    def _yield_hover(self) -> None:
        if QApplication.activePopupWidget() is not None or QApplication.activeModalWidget() is not None:
            self.end_hover()


class IconButton(PointedButton):
    """A tool button whose icon is drawn again in the colour of its text when the theme changes."""

    def __init__(
        self,
        icons: Icons,
        icon: str,
        name: str,
        *,
        object_name: str = "",
        look: str = "icon",
        action: str | None = None,
        parent: QWidget | None = None,
    ) -> None:
        """`action` names the action of the window that it does: its keys are told on hover."""
        super().__init__(parent)
        self._icons = icons
        self._icon = icon
        self._primary = look == "primary"
        self.setObjectName(object_name)
        self.setProperty("look", look)
        self.setAccessibleName(name)
        set_hint(self, name, action)
        self.setIconSize(QSize(ICON_PX, ICON_PX))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._draw()

    def set_icon(self, icon: str) -> None:
        """Show another icon."""
        if icon != self._icon:
            self._icon = icon
            self._draw()

    def set_name(self, name: str) -> None:
        """Say something else to people who cannot see the icon, and on hover."""
        self.setAccessibleName(name)
        set_hint(self, name)

    @property
    def icon_name(self) -> str:
        """The icon that is shown."""
        return self._icon

    def changeEvent(self, event: QEvent) -> None:
        """Draw the icon again in the colours of another theme."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._draw()

    def _draw(self) -> None:
        palette = self.palette()
        role = QPalette.ColorRole.BrightText if self._primary else QPalette.ColorRole.WindowText
        colour = palette.color(QPalette.ColorGroup.Active, role)
        disabled = palette.color(QPalette.ColorGroup.Disabled, QPalette.ColorRole.WindowText)
        self.setIcon(self._icons.icon(self._icon, colour, disabled))


class TickButton(IconButton):
    """A button that can show for a second that what it does is done."""

    def __init__(self, icons: Icons, icon: str, name: str, *, object_name: str) -> None:
        super().__init__(icons, icon, name, object_name=object_name)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(TICK_MS)
        self._timer.timeout.connect(lambda: self.set_icon(icon))

    def tick(self) -> None:
        """Show a tick for a second."""
        self.set_icon("done")
        self._timer.start()

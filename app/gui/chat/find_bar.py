"""The bar over the conversation in which people type what they look for in it: how many, which one, next and previous."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.gui import theme
from app.gui.chat.finder import Finder
from app.gui.icons import Icons
from app.gui.widgets.buttons import IconButton
from app.gui.widgets.clear_line import ClearLine
from app.gui.widgets.labels import label
from app.services.units import count

LINE_PX = 320


class FindBar(QWidget):
    """Away until somebody wants it; closed, nothing is marked any more."""

    left = Signal()
    """Somebody has done with it: the keyboard goes elsewhere."""

    def __init__(self, finder: Finder, icons: Icons) -> None:
        super().__init__()
        self.setObjectName("find_bar")
        self._finder = finder
        self._turn: int | None = None
        self.line = ClearLine()
        self.line.setObjectName("find_line")
        self.line.setProperty("look", "field")
        self.line.setPlaceholderText(self.tr("Find in this chat"))
        self.line.setAccessibleName(self.tr("Find in this chat"))
        self.line.setMaximumWidth(theme.scaled(LINE_PX))
        self._count = label(look="muted", pixels=theme.SMALL_PX, name="find_count")
        previous = self._button(icons, "left", self.tr("Previous match"), "find_previous", -1)
        following = self._button(icons, "right", self.tr("Next match"), "find_next", 1)
        close = IconButton(icons, "close", self.tr("Close (Esc)"), object_name="find_close_button")
        close.clicked.connect(self.end)
        row = QHBoxLayout(self)
        row.setContentsMargins(theme.SPACE_XL, theme.SPACE_S, theme.SPACE_XL, theme.SPACE_S)
        row.setSpacing(theme.SPACE_S)
        row.addWidget(self.line, 1)
        row.addWidget(self._count)
        row.addWidget(previous)
        row.addWidget(following)
        row.addStretch(1)
        row.addWidget(close)
        self.hide()
        self.line.textChanged.connect(self._type)
        self.line.installEventFilter(self)
        finder.changed.connect(self._show)

    def disconnect_services(self) -> None:
        """Listen to the chat no longer."""
        self._finder.disconnect_services()

    def begin(self) -> None:
        """Let somebody type, in place of what they typed before."""
        is_new = self.isHidden()
        self.show()
        self.line.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.line.selectAll()
        if is_new:
            self._type(self.line.text())

    def look_for(self, text: str, turn: int) -> None:
        """Find a text that was looked for elsewhere, in a turn at first."""
        self.show()
        self._turn = turn
        if text == self.line.text():
            self._type(text)
        else:
            self.line.setText(text)

    def step(self, by: int) -> None:
        """Go to the next match or the one before; where nothing is looked for, let somebody type."""
        if not self.isHidden() and self.line.text():
            self._finder.step(by)
        else:
            self.begin()

    def end(self) -> None:
        """Find nothing any more, and be away."""
        self.hide()
        self._finder.look_for("")
        self.left.emit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Step with Enter and close with Esc while the line has the keyboard."""
        if watched is self.line and isinstance(event, QKeyEvent):
            is_escape = event.key() == Qt.Key.Key_Escape
            if event.type() == QEvent.Type.ShortcutOverride and is_escape:
                event.accept()  # it stops no answer here
                return True
            if event.type() == QEvent.Type.KeyPress and is_escape:
                self.end()
                return True
            if event.type() == QEvent.Type.KeyPress and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self._finder.step(-1 if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1)
                return True
        return super().eventFilter(watched, event)

    def _button(self, icons: Icons, icon: str, words: str, name: str, by: int) -> IconButton:
        button = IconButton(icons, icon, words, object_name=f"{name}_button", action=f"{name}_action")
        button.clicked.connect(lambda _checked=False: self._finder.step(by))
        return button

    def _type(self, text: str) -> None:
        turn, self._turn = self._turn, None
        self._finder.look_for(text, turn)

    def _show(self) -> None:
        finder = self._finder
        words = ""
        if finder.count:
            words = self.tr("{number} of {count}").format(number=count(finder.number), count=count(finder.count))
        elif self.line.text().strip():
            words = self.tr("Searching …") if finder.is_reading else self.tr("Nothing found")
        self._count.setText(words)

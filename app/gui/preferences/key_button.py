"""A button that shows the keys of an action and takes others: those that are pressed next."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QPushButton, QWidget

from app.gui import theme
from app.gui.actions import shown_keys
from app.gui.widgets.words import set_hint

WIDTH_PX = 132
_MODIFIERS = (
    Qt.Key.Key_Shift,
    Qt.Key.Key_Control,
    Qt.Key.Key_Alt,
    Qt.Key.Key_AltGr,
    Qt.Key.Key_Meta,
    Qt.Key.Key_CapsLock,
    Qt.Key.Key_NumLock,
    Qt.Key.Key_unknown,
)
_ENDS = (Qt.Key.Key_Escape, Qt.Key.Key_Tab, Qt.Key.Key_Backtab)
_REMOVES = (Qt.Key.Key_Backspace, Qt.Key.Key_Delete)


class KeyButton(QPushButton):
    """Waits for keys once it is pressed: Esc leaves them as they are, Delete takes them away."""

    taken = Signal(tuple)
    """Somebody wants these keys: a tuple of QKeySequence, empty for none."""
    listens = Signal(bool)
    """It waits for keys, or no longer."""

    def __init__(self, action: str, words: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(f"{action}_keys")
        self.setAutoDefault(False)
        self.setMinimumWidth(theme.scaled(WIDTH_PX))
        self._words = words
        self._keys: tuple[QKeySequence, ...] = ()
        self._is_listening = False
        set_hint(self, self.tr("Press it, then the keys that “{action}” should have").format(action=words))
        self.clicked.connect(lambda _checked=False: self._listen(True))

    def show_keys(self, keys: tuple[QKeySequence, ...]) -> None:
        """Show the keys that hold."""
        self._keys = keys
        self._show()

    def event(self, event: QEvent) -> bool:
        """Take every key while it waits, those too that mean something in the window or move the focus."""
        if not self._is_listening or not isinstance(event, QKeyEvent):
            return super().event(event)
        if event.type() == QEvent.Type.ShortcutOverride:
            event.accept()
            return True
        if event.type() == QEvent.Type.KeyRelease:
            return True  # of the key that pressed it
        return self._take(event) or super().event(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Wait no longer."""
        super().focusOutEvent(event)
        self._listen(False)

    def _take(self, event: QKeyEvent) -> bool:
        """Take a key; whether it goes no further."""
        key, modifiers = Qt.Key(event.key()), event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if key in _MODIFIERS or event.isAutoRepeat():
            return True
        self._listen(False)
        if key in _ENDS and modifiers in (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ShiftModifier):
            return key == Qt.Key.Key_Escape
        is_removed = key in _REMOVES and modifiers == Qt.KeyboardModifier.NoModifier
        self.taken.emit(() if is_removed else (QKeySequence(key | modifiers.value),))
        return True

    def _listen(self, listens: bool) -> None:
        if listens != self._is_listening:
            self._is_listening = listens
            self._show()
            self.listens.emit(listens)

    def _show(self) -> None:
        shown = shown_keys(self._keys) or self.tr("None")
        if self._is_listening:
            shown = self.tr("Press the keys…")
        self.setText(shown.replace("&", "&&"))
        self.setAccessibleName(self.tr("{action}: {keys}").format(action=self._words, keys=shown))

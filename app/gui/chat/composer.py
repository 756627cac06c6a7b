"""Where questions are written: Enter sends, Shift+Enter breaks the line, Enter inside an input method does neither.

Says what people want and decides nothing.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QMimeData, Qt, Signal
from PySide6.QtGui import QFocusEvent, QInputMethodEvent, QKeyEvent, QTextOption
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPlainTextEdit, QStackedWidget, QVBoxLayout, QWidget

from app.gui import theme
from app.gui.icons import Icons
from app.gui.widgets.buttons import IconButton
from app.gui.widgets.labels import ElidedLabel

MIN_LINES, MAX_LINES = 2, 9
MAX_CHARACTERS = 1_000_000
_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class Draft(QPlainTextEdit):
    """The text that is being written."""

    submitted = Signal()
    """Enter was pressed outside an input method."""
    too_long = Signal(int)
    """A text of so many characters was not inserted."""
    focus_changed = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("composer")
        self.setAccessibleName(self.tr("Message"))
        self.setAccessibleDescription(self.tr("Enter sends, Shift+Enter begins a new line."))
        self.setPlaceholderText(self.tr("Ask anything …"))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFont(theme.font(theme.READING_PX))
        self.setTabChangesFocus(True)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.document().setDocumentMargin(0)
        self._composing = False
        self.document().documentLayout().documentSizeChanged.connect(lambda _size: self._fit())
        self._fit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Send on Enter, unless an input method is composing or a new line is asked for."""
        is_enter = event.key() in _ENTER
        new_line = event.modifiers() & (Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.AltModifier)
        if is_enter and self._composing:
            event.ignore()
        elif is_enter and new_line:
            self.insertPlainText("\n")
            self.ensureCursorVisible()
        elif is_enter:
            self.submitted.emit()
        else:
            super().keyPressEvent(event)

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        """Notice whether an input method is composing."""
        self._composing = bool(event.preeditString())
        super().inputMethodEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Say that writing can begin."""
        super().focusInEvent(event)
        self.focus_changed.emit(True)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Say that writing is over."""
        self._composing = False
        super().focusOutEvent(event)
        self.focus_changed.emit(False)

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        """Leave files to the window."""
        return not source.hasUrls() and super().canInsertFromMimeData(source)

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Insert plain text, unless it is too long to work with."""
        text = source.text()
        if len(text) + len(self.toPlainText()) > MAX_CHARACTERS:
            self.too_long.emit(len(text))
        else:
            self.insertPlainText(text)

    def changeEvent(self, event: QEvent) -> None:
        """Keep the height when the font changes."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._fit()

    def _fit(self) -> None:
        line = self.fontMetrics().lineSpacing()
        lines = min(max(int(self.document().size().height()), MIN_LINES), MAX_LINES)
        self.setFixedHeight(lines * line + 2 * self.frameWidth() + 2)


class Composer(QFrame):
    """The draft, the buttons that send and stop, and a line that says what is going on."""

    sent = Signal(str)
    """Somebody wants to send this text."""
    stopped = Signal()
    """Somebody wants the answer to end."""

    def __init__(self, icons: Icons, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("look", "composer")
        self.draft = Draft()
        self._busy = False
        self._status = ElidedLabel(theme.SMALL_PX)
        self._send = IconButton(icons, "send", self.tr("Send"), object_name="send_button", look="primary")
        self._stop = IconButton(
            icons, "stop", self.tr("Stop the answer (Esc)"), object_name="stop_button", look="primary"
        )
        self._buttons = QStackedWidget()
        self._buttons.addWidget(self._send)
        self._buttons.addWidget(self._stop)
        self._buttons.setFixedSize(self._send.sizeHint())
        row = QHBoxLayout()
        row.setSpacing(theme.SPACE_S)
        row.addWidget(self._status, 1)
        row.addWidget(self._buttons)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.SPACE_L, theme.SPACE_M, theme.SPACE_S, theme.SPACE_S)
        layout.setSpacing(theme.SPACE_XS)
        layout.addWidget(self.draft)
        layout.addLayout(row)
        self.setFocusProxy(self.draft)
        self.draft.submitted.connect(self._submit)
        self.draft.textChanged.connect(self._refresh)
        self.draft.focus_changed.connect(self._show_focus)
        self._send.clicked.connect(self._submit)
        self._stop.clicked.connect(self.stopped)
        self._refresh()

    def set_busy(self, busy: bool) -> None:
        """Offer to stop instead of to send."""
        self._busy = busy
        had_focus = self._send.hasFocus() or self._stop.hasFocus()
        self._buttons.setCurrentWidget(self._stop if busy else self._send)
        if had_focus:
            self.draft.setFocus()
        self._refresh()

    def set_status(self, text: str) -> None:
        """Say something in the line under the draft."""
        self._status.set_text(text)

    def give_back(self, text: str) -> None:
        """Put a text that came to nothing back in front of what is written."""
        written = self.draft.toPlainText()
        self.draft.setPlainText(f"{text}\n\n{written}" if written.strip() else text)
        self.draft.moveCursor(self.draft.textCursor().MoveOperation.End)
        self.draft.setFocus()

    def take_text(self) -> None:
        """Forget the draft: it was sent."""
        self.draft.clear()

    def _submit(self) -> None:
        text = self.draft.toPlainText()
        if text.strip() and not self._busy:
            self.sent.emit(text)

    def _refresh(self) -> None:
        self._send.setEnabled(not self._busy and not self.draft.document().isEmpty())

    def _show_focus(self, focused: bool) -> None:
        self.setProperty("focused", focused)
        self.style().unpolish(self)
        self.style().polish(self)

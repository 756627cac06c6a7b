"""The text field of the composer: Enter sends, Shift+Enter breaks the line, an input method keeps its keys.

A text that is too long to be laid out while people type is not inserted; it is told instead.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QMimeData, Qt, Signal
from PySide6.QtGui import QFocusEvent, QInputMethodEvent, QKeyEvent, QKeySequence, QTextOption
from PySide6.QtWidgets import QFrame, QWidget

from app.gui import theme
from app.gui.chat.file_field import FileField
from app.gui.chat.given_files import files_in, is_picture
from app.gui.chat.writing_keys import key_named, wanted_by
from app.gui.widgets.direction import follow_direction
from app.gui.widgets.wrapped_text import keep_line_starts

MIN_LINES, MAX_LINES = 2, 8
MARGIN_PX = 3
"""Around the text: some letters reach out of their lines."""
LONG_TEXT, LONG_LINE = 20_000, 5_000
"""Characters of a draft, and of one line of it, that can be laid out at every key without anybody noticing."""
_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
_KEYS_OF_INPUT_METHODS = (
    *_ENTER,
    Qt.Key.Key_Escape,
    Qt.Key.Key_Up,
    Qt.Key.Key_Down,
    Qt.Key.Key_Left,
    Qt.Key.Key_Right,
)


class Draft(FileField):
    """The text that is being written."""

    submitted = Signal()
    """Enter was pressed outside an input method."""
    long_pasted = Signal(str)
    """A text was pasted or dropped that is too long to stand among what is written."""
    too_long = Signal(int)
    """A message of so many characters was not taken: nothing of it was inserted."""
    nothing_to_undo = Signal()
    """Somebody asked to undo, and nothing written here can be undone, or something else comes first."""
    focus_changed = Signal(bool)
    """Writing can begin, or is over."""

    takes_files = True
    _most_lines = MAX_LINES

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("composer")
        self.setAccessibleName(self.tr("Message"))
        send, line = key_named("composer", "send"), key_named("composer", "new_line")
        self.setAccessibleDescription(self.tr("{send} sends, {line} begins a new line.").format(send=send, line=line))
        self.setPlaceholderText(self.tr("Ask anything …"))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.use_text_size()
        self.setTabChangesFocus(True)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)  # every line is wrapped
        self.document().setDocumentMargin(MARGIN_PX)
        follow_direction(self)
        keep_line_starts(self)
        self._composing = False
        self.document().documentLayout().documentSizeChanged.connect(lambda _size: self._fit())
        self.textChanged.connect(self._fit)  # the layout is silent where one paragraph takes the place of another
        self._fit()

    def use_text_size(self) -> None:
        """Write in the size of reading text that is in force now, the placeholder too."""
        self.setFont(theme.reading_font(theme.READING_PX))
        self.viewport().setFont(self.font())  # it paints the placeholder, and a style sheet keeps fonts from it

    def use_room(self, pixels: int) -> None:
        """Be no higher than so many pixels, where more than the fewest lines fit."""
        most = min(max(pixels // self.fontMetrics().lineSpacing(), MIN_LINES), MAX_LINES)
        if most != self._most_lines:
            self._most_lines = most
            self._fit()
            self.ensureCursorVisible()

    def event(self, event: QEvent) -> bool:
        """Keep the keys of an input method from the window's shortcuts."""
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and self._is_its(event):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Send on Enter, unless an input method is composing or a new line is asked for."""
        wanted = wanted_by(event, "composer")
        if self._is_its(event):
            event.accept()
        elif wanted == "new_line":
            self.insertPlainText("\n")
            self.ensureCursorVisible()
        elif wanted == "send":
            self.submitted.emit()
        elif event.matches(QKeySequence.StandardKey.Undo) and not self.document().isUndoAvailable():
            self.nothing_to_undo.emit()
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

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Insert plain text, unless it is too long to be laid out at every key; tell of files."""
        text = source.text()
        if files_in(source) or is_picture(source):
            super().insertFromMimeData(source)
        elif is_long(text) or len(text) + self.document().characterCount() > LONG_TEXT:
            self.long_pasted.emit(text)
        else:
            self.insertPlainText(text)

    def changeEvent(self, event: QEvent) -> None:
        """Keep the height when the font changes."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._fit()

    def _is_its(self, event: QKeyEvent) -> bool:
        """Return whether a key belongs to the input method that is composing."""
        return self._composing and event.key() in _KEYS_OF_INPUT_METHODS

    def _fit(self) -> None:
        line = self.fontMetrics().lineSpacing()
        lines = min(max(int(self.document().size().height()), MIN_LINES), self._most_lines)
        self.setFixedHeight(lines * line + 2 * (self.frameWidth() + MARGIN_PX) + 2)


def is_long(text: str) -> bool:
    """Return whether a text, or a line of it, is too long to be laid out at every key."""
    return len(text) > LONG_TEXT or any(len(line) > LONG_LINE for line in text.split("\n"))

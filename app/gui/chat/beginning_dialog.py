"""Where people write how another answer to the same question begins."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from app.gui import theme
from app.gui.chat.text_editor import TextEditor, hint_for
from app.gui.widgets.labels import label
from app.gui.widgets.tall_dialog import TallDialog

WIDTH_PX = 520
TEXT_LINES = 4


class BeginningDialog(TallDialog):
    """One field; it opens with what was written in it and not used."""

    used = Signal(str)
    """An answer is to begin so."""
    written = Signal(str)
    """What stands there now."""

    def __init__(self, begun: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("beginning_dialog")
        self.setWindowTitle(self.tr("Answer again"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setMinimumWidth(theme.scaled(WIDTH_PX))
        self._text = TextEditor("beginning_text")
        self._text.setAccessibleName(self.tr("How the answer begins"))
        self._text.setPlaceholderText(self.tr("Such as: In one sentence:"))
        self._text.setFixedHeight(self._text.fontMetrics().lineSpacing() * TEXT_LINES + theme.SPACE_XL)
        self._use = QPushButton(self.tr("Answer again"))
        self._use.setObjectName("beginning_use")
        self._use.setProperty("look", "primary")
        cancel = QPushButton(self.tr("Cancel"))
        cancel.setObjectName("beginning_cancel")
        for button in (cancel, self._use):
            button.setAutoDefault(False)
        contents = QWidget()
        column = QVBoxLayout(contents)
        column.setSpacing(theme.SPACE_S)
        column.addWidget(label(self.tr("Answer again, beginning with"), pixels=theme.HEADING_PX, bold=True))
        column.addWidget(self._small(self.tr("The model goes on from these words as if it had written them.")))
        column.addWidget(self._text)
        keys = self._small(hint_for(self._use.text()))
        column.addWidget(keys)
        self._text.setAccessibleDescription(keys.text())
        row = QHBoxLayout()
        row.setSpacing(theme.SPACE_S)
        row.addStretch(1)
        row.addWidget(cancel)
        row.addWidget(self._use)
        self.hold(contents, row)
        self._text.setPlainText(begun)
        self._text.moveCursor(self._text.textCursor().MoveOperation.End)
        self._text.textChanged.connect(self._tell)
        self._text.used.connect(self._take)
        self._text.left.connect(self.reject)
        self._use.clicked.connect(self._take)
        cancel.clicked.connect(self.reject)
        self._tell()
        self._text.setFocus()

    def _small(self, words: str) -> QLabel:
        made = label(words, look="muted", pixels=theme.SMALL_PX)
        made.setWordWrap(True)
        return made

    def _tell(self) -> None:
        text = self._text.toPlainText()
        self._use.setEnabled(bool(text.strip()))
        self.written.emit(text)

    def _take(self) -> None:
        if self._use.isEnabled():
            self.accept()
            self.used.emit(self._text.toPlainText())

"""A message that is being changed, in its place over the transcript.

What was typed and not used stays for the next time that message is edited; says what is wanted, changes nothing itself.
"""

from __future__ import annotations

from PySide6.QtCore import QRect, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app.gui import theme
from app.gui.chat.text_editor import TextEditor, hint_for
from app.gui.widgets.labels import ElidedLabel
from app.services.turns import Turn

FEWEST_LINES = 3
MOST_SHARE = 0.7
"""Of the height of the view."""


class _Text(TextEditor):
    """The words, which know how high they are."""

    def words_px(self, most: int) -> int:
        """Return how high the words are, wrapped as they are now; of what is higher than `most` only that it is."""
        height, block = 0.0, self.document().firstBlock()
        while block.isValid() and height <= most:
            height += self.blockBoundingRect(block).height()
            block = block.next()
        return int(height)


class TurnEditor(QFrame):
    """One editor; it is there while a message is edited."""

    used = Signal(object, str)
    """A turn is to say another text."""
    closed = Signal()
    changed = Signal()
    """Other words stand there: it may need another height."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("turn_editor")
        self.setProperty("look", "card")
        self.turn: Turn | None = None
        self._kept: dict[int, str] = {}
        """By message: what was typed and not used."""
        self._text = _Text("turn_editor_text")
        self._keys = ElidedLabel(theme.SMALL_PX)
        self._keys.setObjectName("turn_editor_keys")
        self._cancel = QPushButton(self.tr("Cancel"))
        self._cancel.setObjectName("turn_editor_cancel")
        self._use = QPushButton(self.tr("Ask"))
        self._use.setObjectName("turn_editor_use")
        self._use.setProperty("look", "primary")
        row = QHBoxLayout()
        row.setSpacing(theme.SPACE_S)
        row.addWidget(self._keys, 1)
        row.addWidget(self._cancel)
        row.addWidget(self._use)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.SPACE_S, theme.SPACE_S, theme.SPACE_S, theme.SPACE_S)
        layout.setSpacing(theme.SPACE_S)
        layout.addWidget(self._text, 1)
        layout.addLayout(row)
        self._text.textChanged.connect(self._changed)
        self._text.used.connect(self._take)
        self._text.left.connect(self.leave)
        self._use.clicked.connect(self._take)
        self._cancel.clicked.connect(self.leave)
        self.hide()

    def edit(self, turn: Turn) -> None:
        """Show a turn's words, or what was typed the last time."""
        self.turn = turn
        is_user = turn.role == "user"
        self._text.setAccessibleName(self.tr("Edit the question") if is_user else self.tr("Edit the answer"))
        self._use.setText(self.tr("Ask") if is_user else self.tr("Save as a version"))
        self._text.setFont(theme.reading_font(theme.READING_PX))
        self._keys.set_text(hint_for(self.tr("Ask") if is_user else self.tr("Save"), is_short=True))
        self._text.setAccessibleDescription(hint_for(self._use.text()))
        self._text.setPlainText(self._kept.get(turn.message, turn.text))
        self._text.moveCursor(self._text.textCursor().MoveOperation.End)
        self._changed()
        self.show()
        self.raise_()
        self._text.setFocus()

    def leave(self) -> None:
        """Put the words away; they are there again the next time."""
        self.turn = None
        self.hide()
        self.closed.emit()

    def needed(self, width: int, view: QRect) -> int:
        """Return how high it must be for its words, as far as there is room in a view."""
        self.resize(width, self.height())
        most, line = int(view.height() * MOST_SHARE), self._text.fontMetrics().lineSpacing()
        words = max(self._text.words_px(most), FEWEST_LINES * line)
        return min(words + line + self._use.sizeHint().height() + 4 * theme.SPACE_S, most)

    def put(self, place: QRect, view: QRect) -> None:
        """Lie over a place, as far as it is in view."""
        height = min(max(self.needed(place.width(), view), place.height()), int(view.height() * MOST_SHARE))
        top = max(min(place.top(), view.bottom() - height), view.top())
        self.setGeometry(QRect(place.left(), top, place.width(), height))

    def _changed(self) -> None:
        if self.turn is None:
            return
        text = self._text.toPlainText()
        self._use.setEnabled(bool(text.strip()) and _used(self.turn, text) != self.turn.text)
        if text == self.turn.text:
            self._kept.pop(self.turn.message, None)
        else:
            self._kept[self.turn.message] = text
        self.changed.emit()

    def _take(self) -> None:
        turn, text = self.turn, self._text.toPlainText()
        if turn is not None and self._use.isEnabled():
            self._kept.pop(turn.message, None)
            self.leave()
            self.used.emit(turn, _used(turn, text))


def _used(turn: Turn, text: str) -> str:
    """Return what a turn is to say: a question never ends with empty lines; an answer may go on after some."""
    return text.rstrip("\n") if turn.role == "user" else text

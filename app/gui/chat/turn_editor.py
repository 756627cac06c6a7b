"""A message that is being changed, in its place over the transcript.

What was typed and not used stays for the next time that message is edited; says what is wanted, changes nothing itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QRect, QTimer, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app.core.attached_files import Attachment, joined, lifted
from app.core.draft import MAX_CHARACTERS
from app.gui import theme
from app.gui.chat.composer import StatusLine
from app.gui.chat.count_words import count_words
from app.gui.chat.paste_viewer import PasteViewer
from app.gui.chat.pasted import Pasted, PastedList
from app.gui.chat.reading_list import ReadingList
from app.gui.chat.text_editor import TextEditor, hint_for
from app.gui.icons import Icons
from app.gui.widgets.buttons import IconButton
from app.gui.widgets.labels import ElidedLabel
from app.gui.widgets.words import set_hint
from app.services.attaching import Reading
from app.services.next_send import Count
from app.services.turns import Turn

FEWEST_LINES = 3
SETTLED_MS = 120
"""After so long without a key a message is counted."""
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


class _Words(NamedTuple):
    """What a message says: its files, each in its frame, apart."""

    text: str
    files: tuple[str, ...] = ()
    is_question: bool = False

    @classmethod
    def of(cls, turn: Turn) -> _Words:
        """Return what a turn says now; an answer has no files."""
        if turn.role != "user":
            return cls(turn.text)
        apart = lifted(turn.text)
        return cls(apart.text, apart.framed, is_question=True)

    @property
    def message(self) -> str:
        """The whole: a question never ends with empty lines; an answer may go on after some."""
        return joined((*self.files, self.text.rstrip("\n"))) if self.is_question else self.text


class TurnEditor(QFrame):
    """One editor; it is there while a message is edited."""

    used = Signal(object, str)
    """A turn is to say another text."""
    closed = Signal()
    changed = Signal()
    """Other words stand there: it may need another height."""

    files_wanted = Signal()
    """Somebody wants to choose files for the message."""
    files_pasted = Signal(list)
    """Files were pasted: their paths."""
    picture_pasted = Signal()
    """A picture was pasted, which nothing can be made of."""
    file_left = Signal(int)
    """Somebody does not want a file any more that is being read: its number."""
    settled = Signal(object, str, object)
    """A question says something else for a moment now: its turn, the message, and the files in it, each in its frame."""
    opened = Signal()
    """A message is being changed now, maybe another one than before."""

    def __init__(self, icons: Icons, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("turn_editor")
        self.setProperty("look", "card")
        self.turn: Turn | None = None
        self._kept: dict[int, _Words] = {}
        """By message: what was written and not used."""
        self._is_reading = False
        self._is_refused = False
        """Whether what was counted last is too long to be asked."""
        self._settles = QTimer(self)
        self._settles.setSingleShot(True)
        self._settles.setInterval(SETTLED_MS)
        self._settles.timeout.connect(self._tell_settled)
        self._status = StatusLine()
        self._status.setObjectName("turn_editor_status")
        self._files = PastedList(icons)
        self._read = ReadingList(icons)
        self._attach = IconButton(
            icons, "attach", self.tr("Attach files"), object_name="turn_editor_attach", action="attach_action"
        )
        self._text = _Text("turn_editor_text")
        self._keys = ElidedLabel(theme.SMALL_PX)
        self._keys.setObjectName("turn_editor_keys")
        self._cancel = QPushButton(self.tr("Cancel"))
        self._cancel.setObjectName("turn_editor_cancel")
        self._use = QPushButton(self.tr("Ask"))
        self._use.setObjectName("turn_editor_use")
        self._use.setProperty("look", "primary")
        self._lay_out()
        self._text.textChanged.connect(self._changed)
        self._text.used.connect(self._take)
        self._text.left.connect(self.leave)
        self._text.files_pasted.connect(self.files_pasted)
        self._text.picture_pasted.connect(self.picture_pasted)
        self._files.changed.connect(self._changed)
        self._files.show_wanted.connect(self._show_file)
        self._read.left.connect(self.file_left)
        for rows in (self._files, self._read):
            rows.keyboard_left.connect(self._text.setFocus)
        self._attach.clicked.connect(self.files_wanted)
        self._use.clicked.connect(self._take)
        self._cancel.clicked.connect(self.leave)
        self.hide()

    @property
    def has_keyboard(self) -> bool:
        """Whether somebody changes a message that can have files, and writes there now."""
        focus: QWidget | None = self.window().focusWidget()
        takes = self.turn is not None and self.turn.role == "user" and self.isVisible()
        return takes and focus is not None and self.isAncestorOf(focus)

    def attach(self, message: int, framed: str) -> Attachment:
        """Put a file, in its frame, into a message that is being changed, where there is room for it."""
        if self.turn is None or self.turn.message != message:
            return "unwanted"
        if any(each.text == framed for each in self._files.all):
            return "known"
        if len(self._words.message) + len(framed) > MAX_CHARACTERS:
            return "no_room"
        self._files.add(Pasted(framed))
        return "added"

    def show_reading(self, files: Sequence[Reading]) -> None:
        """Show which files are being read for the message; it is not used without them."""
        self._is_reading = bool(files)
        self._read.show_files(files)
        self._changed()

    def show_count(self, counted: Count) -> None:
        """Show how many tokens the files and the question have; what is too long is not asked."""
        if self.turn is None or self.turn.role != "user":
            return
        files = self._files.all
        if len(counted.pasted) == len(files):
            self._files.show_tokens(
                tuple(new if new is not None else had.tokens for new, had in zip(counted.pasted, files, strict=True))
            )
        words = count_words(counted, has_text=True)
        self._status.show_text(words.text, words.hint, alarm=words.alarm)
        self._refuse(words.hint if words.is_refused else "")

    def _refuse(self, reason: str) -> None:
        self._is_refused = bool(reason)
        set_hint(self._use, reason or self._use.text())
        self._use.setAccessibleDescription(reason)
        self._show_can_use()

    def _tell_settled(self) -> None:
        if self.turn is not None and self.turn.role == "user":
            words = self._words
            self.settled.emit(self.turn, words.message, words.files)

    def _lay_out(self) -> None:
        row = QHBoxLayout()
        row.setSpacing(theme.SPACE_S)
        row.addWidget(self._attach)
        row.addWidget(self._keys, 1)
        row.addWidget(self._cancel)
        row.addWidget(self._use)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.SPACE_S, theme.SPACE_S, theme.SPACE_S, theme.SPACE_S)
        layout.setSpacing(theme.SPACE_S)
        layout.addWidget(self._read)
        layout.addWidget(self._files)
        layout.addWidget(self._text, 1)
        layout.addWidget(self._status)
        layout.addLayout(row)

    def edit(self, turn: Turn) -> None:
        """Show a turn's words, or what was typed the last time."""
        self.turn = None  # what is put into the fields now is nobody's change
        is_user = turn.role == "user"
        self._attach.setVisible(is_user)
        self._status.setVisible(is_user)
        self._status.show_text("")
        self._text.takes_files = is_user
        self._text.setAccessibleName(self.tr("Edit the question") if is_user else self.tr("Edit the answer"))
        self._use.setText(self.tr("Ask") if is_user else self.tr("Save as a version"))
        self._text.setFont(theme.reading_font(theme.READING_PX))
        self._keys.set_text(hint_for(self.tr("Ask") if is_user else self.tr("Save"), is_short=True))
        self._text.setAccessibleDescription(hint_for(self._use.text()))
        words = self._kept.get(turn.message, _Words.of(turn))
        tokens = dict(zip(_Words.of(turn).files, turn.file_tokens, strict=False))
        self._files.use(tuple(Pasted(each, tokens.get(each)) for each in words.files))
        self._text.setPlainText(words.text)
        self._text.moveCursor(self._text.textCursor().MoveOperation.End)
        self.turn = turn
        self._refuse("")
        self._changed()
        self._tell_settled()
        self.opened.emit()
        self.show()
        self.raise_()
        self._text.setFocus()

    def leave(self) -> None:
        """Put the words away; they are there again the next time."""
        self.turn = None
        self._settles.stop()
        self.hide()
        self.closed.emit()

    def needed(self, width: int, view: QRect) -> int:
        """Return how high it must be for its words, as far as there is room in a view."""
        self.resize(width, self.height())
        most, line = int(view.height() * MOST_SHARE), self._text.fontMetrics().lineSpacing()
        words = max(self._text.words_px(most), FEWEST_LINES * line)
        words += sum(
            each.height() + theme.SPACE_S for each in (self._read, self._files, self._status) if not each.isHidden()
        )
        return min(words + line + self._use.sizeHint().height() + 4 * theme.SPACE_S, most)

    def put(self, place: QRect, view: QRect) -> None:
        """Lie over a place, as far as it is in view."""
        height = min(max(self.needed(place.width(), view), place.height()), int(view.height() * MOST_SHARE))
        top = max(min(place.top(), view.bottom() - height), view.top())
        self.setGeometry(QRect(place.left(), top, place.width(), height))

    def _changed(self) -> None:
        if self.turn is None:
            return
        words, before = self._words, _Words.of(self.turn)
        self._show_can_use()
        self._settles.start()
        if words == before:
            self._kept.pop(self.turn.message, None)
        else:
            self._kept[self.turn.message] = words
        self.changed.emit()

    def _show_can_use(self) -> None:
        if self.turn is not None:
            message = self._words.message
            is_other = bool(message.strip()) and message != _Words.of(self.turn).message
            self._use.setEnabled(is_other and not self._is_reading and not self._is_refused)

    @property
    def _words(self) -> _Words:
        is_question = self.turn is not None and self.turn.role == "user"
        return _Words(self._text.toPlainText(), tuple(each.text for each in self._files.all), is_question)

    def _show_file(self, pasted: Pasted) -> None:
        if pasted.file is not None:
            PasteViewer(pasted.file.text, self, title=pasted.file.name).open()

    def _take(self) -> None:
        turn, message = self.turn, self._words.message
        if turn is not None and self._use.isEnabled():
            self._kept.pop(turn.message, None)
            self.leave()
            self.used.emit(turn, message)

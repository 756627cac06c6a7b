"""Where questions are written: the draft, long pasted texts above it, what goes on, and the buttons that send and stop.

Says what people want and decides nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QMoveEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QSizePolicy, QStackedWidget, QVBoxLayout, QWidget

from app.core.attached_files import Attachment, joined, lifted
from app.core.chat import clean_text
from app.core.draft import MAX_CHARACTERS
from app.gui import theme
from app.gui.chat.draft import MARGIN_PX, Draft, is_long
from app.gui.chat.left_out_button import LeftOutButton
from app.gui.chat.paste_history import PasteHistory
from app.gui.chat.paste_viewer import PasteViewer
from app.gui.chat.pasted import Pasted, PastedList
from app.gui.chat.reading_list import ReadingList
from app.gui.ground import paint_ground, stand_alone
from app.gui.icons import Icons
from app.gui.widgets.buttons import IconButton
from app.gui.widgets.labels import ElidedLabel
from app.gui.widgets.words import set_hint
from app.services.attaching import Reading
from app.services.turns import Turn

_MOST_SHARE = 0.4
"""Of the height of the window, for what is written."""


@dataclass(frozen=True)
class Written:
    """What stands in a composer."""

    text: str = ""
    pasted: tuple[Pasted, ...] = ()

    @property
    def message(self) -> str:
        """The message that it makes: what was pasted comes before what is said of it."""
        text = self.text.rstrip("\n")  # nobody asks for empty lines at the end
        return joined((*(each.text for each in self.pasted), text))

    @classmethod
    def of(cls, message: str) -> Written:
        """Return a message as it stands in a composer: its files apart, and a text apart that is too long to be typed in."""
        apart = lifted(message)
        pasted = tuple(map(Pasted, apart.framed))
        return cls("", (*pasted, Pasted(apart.text))) if is_long(apart.text) else cls(apart.text, pasted)

    def followed_by(self, later: Written) -> Written:
        """Return both in one."""
        return Written(joined((self.text, later.text)), (*self.pasted, *later.pasted))


class StatusLine(ElidedLabel):
    """The line under the draft; an alarm stands in the colour of danger, which the style sheet knows."""

    def __init__(self) -> None:
        super().__init__(theme.SMALL_PX)
        self.setObjectName("composer_status")
        stand_alone(self)

    def show_text(self, text: str, hint: str = "", *, alarm: bool = False) -> None:
        """Show a text, and on hover what it means."""
        self.set_text(text)
        set_hint(self, hint)
        self.setAccessibleDescription(hint)
        if bool(self.property("alarm")) is not alarm:
            self.setProperty("alarm", alarm)
            self.style().unpolish(self)
            self.style().polish(self)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint an alarm in its colour, and anything else in the quiet one."""
        painter = QPainter(self)
        paint_ground(painter, self)
        palette = self.palette()
        painter.setPen((palette.windowText() if self.property("alarm") else palette.placeholderText()).color())
        shown = self.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideRight, self.width())
        painter.drawText(self.rect(), Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, shown)
        painter.end()


class Composer(QFrame):
    """The draft, the buttons that send and stop, and a line that says what is going on."""

    sent = Signal(str)
    """Somebody wants to send this message."""
    stopped = Signal()
    """Somebody wants the answer to end."""
    edited = Signal()
    """What is written is another text."""
    left_out_wanted = Signal(int)
    """Somebody wants to see a message that is left out (its turn's number)."""
    larger_context_wanted = Signal()
    """Somebody wants to load the model with a larger context."""
    larger_context_offered = Signal(bool)
    """Whether a button here offers a larger context; said again whenever it may have changed."""
    dropping_wanted = Signal()
    """Somebody wants the oldest turns to go where the context is full."""
    files_wanted = Signal()
    """Somebody wants to choose files."""
    file_left = Signal(int)
    """Somebody does not want a file any more that is being read: its number."""

    def __init__(self, icons: Icons, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("look", "composer")
        self.draft = Draft()
        self.status = StatusLine()
        self._pasted = PastedList(icons)
        self._reading = ReadingList(icons)
        self._is_reading = False
        self._history = PasteHistory(self._pasted, self.draft)
        self._busy = False
        self._offers_pause = True
        self._refusal = ""
        self.undoes_elsewhere = False
        """Whether something was deleted after what is written here was changed: that is undone first."""
        self._sent: Written | None = None
        self._attach = IconButton(
            icons, "attach", self.tr("Attach files"), object_name="attach_button", action="attach_action"
        )
        self._send = IconButton(icons, "send", self.tr("Send"), object_name="send_button", look="primary")
        self._stop = IconButton(
            icons,
            "stop",
            self.tr("Stop the answer"),
            object_name="stop_button",
            look="primary",
            action="stop_action",
        )
        self.pause = _hidden_button(self.tr("Pause"), "pause_button")
        set_hint(self.pause, self.tr("Hold the answer, or let it run on"), "pause_action")
        self.left_out = LeftOutButton(icons)
        self._drop = _hidden_button(self.tr("Drop the oldest turns"), "drop_oldest_button")
        self._larger = _hidden_button(self.tr("Larger context…"), "larger_context_button")
        self._buttons = QStackedWidget()
        self._buttons.addWidget(self._send)
        self._buttons.addWidget(self._stop)
        self._buttons.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self._lay_out()
        self.setFocusProxy(self.draft)
        self.draft.submitted.connect(self._submit)
        self.draft.textChanged.connect(self._refresh)
        self.draft.focus_changed.connect(self._show_focus)
        self.draft.long_pasted.connect(self._paste)
        self.draft.installEventFilter(self)
        self._pasted.changed.connect(self._refresh)
        self._pasted.show_wanted.connect(self._show)
        self._reading.left.connect(self.file_left)
        for rows in (self._pasted, self._reading):
            rows.keyboard_left.connect(self.draft.setFocus)
        self._attach.clicked.connect(self.files_wanted)
        self._send.clicked.connect(self._submit)
        self._stop.clicked.connect(self.stopped)
        self._larger.clicked.connect(self.larger_context_wanted)
        self._drop.clicked.connect(self.dropping_wanted)
        self.left_out.wanted.connect(self.left_out_wanted)
        self._refresh()

    @property
    def written(self) -> Written:
        """What is written now."""
        return Written(self.draft.toPlainText(), self._pasted.all)

    @property
    def has_text(self) -> bool:
        """Whether anything is written."""
        return bool(self._pasted.all) or not self.draft.document().isEmpty()

    def write(self, written: Written) -> None:
        """Show another draft, with nothing to undo."""
        self._history.forget()
        self._pasted.use(written.pasted)
        self.draft.setPlainText(written.text)
        self.draft.moveCursor(self.draft.textCursor().MoveOperation.End)

    def set_busy(self, busy: bool, *, stopping: bool = False) -> None:
        """Offer to stop instead of to send; `stopping` says that this was heard."""
        self._busy = busy
        had_focus = self._send.hasFocus() or self._stop.hasFocus() or (self.pause.hasFocus() and not busy)
        self._stop.setEnabled(not stopping)
        self.pause.setVisible(busy and self._offers_pause)
        self._buttons.setCurrentWidget(self._stop if busy else self._send)
        if had_focus:
            self.draft.setFocus()
        self._refresh_send()

    def offer_pause(self, offered: bool) -> None:
        """Offer to hold an answer, unless a button elsewhere does."""
        self._offers_pause = offered
        if self.pause.hasFocus():
            self.draft.setFocus()
        self.pause.setVisible(self._busy and offered)

    def refuse(self, reason: str) -> None:
        """Offer no sending for a reason that the button tells on hover; an empty one is none."""
        if reason != self._refusal:
            self._refusal = reason
            set_hint(self._send, reason or self._send.accessibleName())
            self._send.setAccessibleDescription(reason)
            self._refresh_send()

    def offer_room(self, *, larger_context: bool, dropping: bool) -> None:
        """Offer to load the model with a larger context and to let the oldest turns go, or do not."""
        self.larger_context_offered.emit(larger_context)
        for button, offered in ((self._larger, larger_context), (self._drop, dropping)):
            if not offered and button.hasFocus():
                self.draft.setFocus()
            button.setVisible(offered)

    def show_left_out(self, words: str, turns: Sequence[Turn]) -> None:
        """Say what the next send goes without, or nothing where there are no words."""
        if not words and self.left_out.hasFocus():
            self.draft.setFocus()
        self.left_out.show_messages(words, turns)

    def show_pasted_tokens(self, tokens: tuple[int | None, ...]) -> None:
        """Show how many tokens each pasted text has; counts of other texts than these are too early or too late."""
        if len(tokens) == len(self._pasted.all):
            self._pasted.show_tokens(tokens)

    def give_back(self, text: str) -> None:
        """Put a message that came to nothing back before what is written, as it was written."""
        is_sent = self._sent is not None and clean_text(self._sent.message) == text
        back = self._sent if self._sent is not None and is_sent else Written.of(text)
        self.write(back.followed_by(self.written))
        self.draft.setFocus()

    def attach(self, framed: str) -> Attachment:
        """Put a file into the message, in its frame, where there is room for it."""
        if any(each.text == framed for each in self._pasted.all):
            return "known"
        return "added" if self._add(framed) else "no_room"

    def show_reading(self, files: Sequence[Reading]) -> None:
        """Show which files are being read; what is written waits for them."""
        self._is_reading = bool(files)
        self._reading.show_files(files)
        self._refresh_send()

    def take_text(self) -> None:
        """Forget the draft: it was sent."""
        self._sent = self.written
        self._history.forget()
        self._pasted.use(())
        self.draft.clear()

    def moveEvent(self, event: QMoveEvent) -> None:
        """Leave a part of a low window to the conversation: the composer moves when the window's height changes."""
        super().moveEvent(event)
        around = self.minimumSizeHint().height() - self.draft.minimumHeight()
        self.draft.use_room(round(self.window().height() * _MOST_SHARE) - around)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Undo and redo reach pasted texts too, and what was deleted later than anything here was changed."""
        if watched is self.draft and event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            if event.matches(QKeySequence.StandardKey.Undo) and self.undoes_elsewhere:
                self.draft.nothing_to_undo.emit()
                return True
            if event.matches(QKeySequence.StandardKey.Undo):
                return self._history.undo()
            if event.matches(QKeySequence.StandardKey.Redo):
                return self._history.redo()
        return super().eventFilter(watched, event)

    def _lay_out(self) -> None:
        row = QHBoxLayout()
        row.setSpacing(theme.SPACE_S)
        left = QHBoxLayout()
        left.setSpacing(theme.SPACE_XS)
        left.addWidget(self._attach)
        left.addWidget(self.status, 1)
        row.addLayout(left, 1)
        row.addWidget(self.left_out)
        row.addWidget(self._drop)
        row.addWidget(self._larger)
        row.addWidget(self.pause)
        row.addWidget(self._buttons)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.SPACE_L - MARGIN_PX, theme.SPACE_M - MARGIN_PX, theme.SPACE_S, theme.SPACE_S)
        layout.setSpacing(theme.SPACE_XS - MARGIN_PX)
        layout.addWidget(self._reading)
        layout.addWidget(self._pasted)
        layout.addWidget(self.draft)
        layout.addLayout(row)

    def _paste(self, text: str) -> None:
        if not self._add(text):
            self.draft.too_long.emit(len(self.written.message) + len(text))

    def _add(self, text: str) -> bool:
        """Put a text beside the words; False where there is no room for it."""
        if len(self.written.message) + len(text) > MAX_CHARACTERS:
            return False
        self._history.add(Pasted(text))
        self.draft.setFocus()
        return True

    def _show(self, pasted: Pasted) -> None:
        file = pasted.file
        PasteViewer(file.text if file else pasted.text, self, title=file.name if file else "").open()

    def _submit(self) -> None:
        message = self.written.message
        if message and not self._is_reading:
            self.sent.emit(message)

    def _refresh(self) -> None:
        self.undoes_elsewhere = False
        self._refresh_send()
        self.edited.emit()

    def _refresh_send(self) -> None:
        self._send.setEnabled(not self._busy and self.has_text and not self._refusal and not self._is_reading)

    def _show_focus(self, focused: bool) -> None:
        self.setProperty("focused", focused)
        self.style().unpolish(self)
        self.style().polish(self)


def _hidden_button(words: str, name: str) -> QPushButton:
    """Return a button that is shown only where it helps."""
    button = QPushButton(words)
    button.setObjectName(name)
    button.hide()
    return button

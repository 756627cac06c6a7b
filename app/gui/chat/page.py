"""The chat page: the conversation or a welcome, the buttons at the last answer, and the composer.

Listens to the chat service and says to it what people want; knows no other part of the window.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QRect, Qt, QTimer, Signal
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QStackedWidget, QVBoxLayout, QWidget

from app.core.attached_files import AttachedFile
from app.core.chat import clean_text
from app.core.events import PrefillProgress
from app.gui import theme
from app.gui.chat import footer
from app.gui.chat.composer import Composer
from app.gui.chat.count_line import CountLine
from app.gui.chat.draft_keeper import DraftKeeper
from app.gui.chat.paste_viewer import PasteViewer
from app.gui.chat.queued_list import QueuedList
from app.gui.chat.step_bar import StepBar
from app.gui.chat.transcript import Transcript
from app.gui.chat.turn_actions import TurnActions
from app.gui.chat.welcome import Opening, Welcome
from app.gui.icons import Icons
from app.gui.widgets.buttons import IconButton
from app.services.branches import Branches
from app.services.chat import Chat
from app.services.drafts import place_of
from app.services.next_send import Count
from app.services.queue import Queue
from app.services.turns import Turn

SETTLED_MS = 120
"""After so long without a key a draft is counted."""


class ChatPage(QWidget):
    """The middle of the window."""

    copied = Signal(str)
    """Somebody wants a text on the clipboard."""
    draft_settled = Signal(object, object)
    """The draft is another one: its whole message (str), and the pasted texts in it (tuple of str)."""
    larger_context_wanted = Signal()
    """Somebody wants to load the model with a larger context."""
    dropping_wanted = Signal()
    """Somebody wants the oldest turns to go where the context is full."""

    def __init__(
        self,
        chat: Chat,
        branches: Branches,
        queue: Queue,
        themes: theme.Themes,
        icons: Icons,
        prompts: list[str],
    ) -> None:
        super().__init__()
        self._chat = chat
        self._branches = branches
        self._queue = queue
        self.transcript = Transcript(themes)
        self.welcome = Welcome(prompts)
        self.composer = Composer(icons)
        self._queued = QueuedList(icons)
        self._drafts = DraftKeeper(chat, self.composer, self)
        self._opening = Opening()
        self._is_opening = False
        self._pages = QStackedWidget()
        for page in (self.welcome, self.transcript, self._opening):
            self._pages.addWidget(page)
        self._prefill = self._bar_of_prefill()
        self._settled = QTimer(self)
        self._settled.setSingleShot(True)
        self._settled.setInterval(SETTLED_MS)
        self._settled.timeout.connect(self._tell_draft)
        self._line = CountLine(chat, self.composer, self.transcript, self)
        self._make_overlays(icons)
        self._lay_out()
        self._use_text_size()
        themes.text_size_changed.connect(self._use_text_size)
        self._disconnect += [
            chat.opened.connect(self._show_opened),
            chat.rebranched.connect(self._show_branch),
            chat.head_changed.connect(self._drafts.move),
            chat.changed.connect(self._show_changed),
            chat.text_added.connect(self._show_text),
            chat.busy_changed.connect(self._show_busy),
            chat.prefilled.connect(self._show_prefill),
            chat.draft_returned.connect(self._give_back),
            queue.changed.connect(self._show_queue),
        ]
        self.composer.sent.connect(self._send)
        self.composer.stopped.connect(self.stop)
        self._queued.send_wanted.connect(self._send_first)
        self._queued.taken_back.connect(self._take_back)
        self._queued.withdrawn.connect(queue.withdraw)
        self.composer.edited.connect(self._take_edit)
        self.composer.larger_context_wanted.connect(self.larger_context_wanted)
        self.composer.dropping_wanted.connect(self.dropping_wanted)
        self.composer.left_out_wanted.connect(self._show_message)
        self.welcome.chosen.connect(self._send_starter)
        self.transcript.file_clicked.connect(self._show_file)
        self.transcript.moved.connect(self._place_overlays)
        if chat.turns:
            self.transcript.show_turns(chat.turns)
        for show in (self._show_page, self._show_busy, self._show_reading):
            show()

    def disconnect_services(self) -> None:
        """Listen to the chat no longer; what is written is kept."""
        self._drafts.keep()
        for disconnect in self._disconnect:
            disconnect()
        self._settled.stop()
        self._line.stop()

    def copy_answer(self) -> None:
        """Ask for the last answer's text on the clipboard."""
        if self._answer_text:
            self.turn_actions.copy(self._chat.turns[-1])

    @property
    def can_copy_answer(self) -> bool:
        """Whether there is an answer to copy, or one is being written."""
        return bool(self._answer_text) or self._chat.busy

    def stop(self) -> None:
        """End the answer, and show at once that this was heard."""
        if self._chat.busy:
            self._line.is_stopping = True
            self._show_busy()
            self._chat.stop()

    def wait_for_chats(self, waits: bool) -> None:
        """Show nothing that a chat of earlier would take the place of, until it is known whether there is one."""
        if waits != self._is_opening:
            self._is_opening = waits
            self._drafts.wait(waits)
            self._show_page()

    def show_above_composer(self, bar: StepBar) -> None:
        """Give the bar of step mode its place between what waits and the composer."""
        self._column.insertWidget(self._column.indexOf(self.composer), bar)
        bar.keyboard_left.connect(self.composer.draft.setFocus)
        bar.shown.connect(lambda shown: self.composer.offer_pause(not shown))

    def show_find(self, bar: QWidget) -> None:
        """Give the bar that finds a text its place over the conversation."""
        self._layout.insertWidget(0, bar)

    def follow_count(self, read: Callable[[], Count]) -> None:
        """Show what is known of the next send, which `read` returns; it has changed."""
        self._line.follow(read)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keep the buttons over the transcript where they belong."""
        if watched is self.transcript.viewport() and event.type() == QEvent.Type.Resize:
            self._place_overlays()
        return super().eventFilter(watched, event)

    @property
    def _answer_text(self) -> str:
        """The last answer's text; empty while there is none to copy."""
        last = self._chat.turns[-1] if self._chat.turns else None
        return last.text if last is not None and last.role == "assistant" else ""

    def _bar_of_prefill(self) -> QProgressBar:
        bar = QProgressBar()
        bar.setObjectName("prefill_progress")
        bar.setAccessibleName(self.tr("Reading the prompt"))
        bar.setTextVisible(False)
        return bar

    def _make_overlays(self, icons: Icons) -> None:
        self._latest = IconButton(
            icons,
            "latest",
            self.tr("Go to the latest text"),
            look="outlined",
            parent=self.transcript.viewport(),
        )
        self._latest.setCursor(Qt.CursorShape.ArrowCursor)
        self._latest.clicked.connect(self.transcript.go_to_end)
        self.turn_actions = TurnActions(self.transcript, self._chat, self._branches, icons)
        self._disconnect = [self._branches.unused.connect(self.turn_actions.keep_words)]
        self.turn_actions.copied.connect(self.copied)
        self.turn_actions.editor.closed.connect(self._give_keyboard_back)
        self._queued.copied.connect(self.copied)
        self._queued.keyboard_left.connect(self.composer.draft.setFocus)
        self.transcript.viewport().installEventFilter(self)

    def _lay_out(self) -> None:
        self._column = column = QVBoxLayout()
        column.setContentsMargins(theme.SPACE_XL, 0, theme.SPACE_XL, theme.SPACE_L)
        column.setSpacing(theme.SPACE_S)
        column.addWidget(self._prefill)
        column.addWidget(self._queued)
        column.addWidget(self.composer)
        self._below = middle = QWidget()
        middle.setLayout(column)
        below = QHBoxLayout()
        below.setContentsMargins(0, 0, 0, 0)
        below.addStretch(1)
        below.addWidget(middle, 100_000)  # the sides get no pixel before it is as wide as it may be
        below.addStretch(1)
        self._layout = layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        self._pages.setMinimumHeight(theme.scaled(120))  # the welcome would have the draft squeezed in low windows
        layout.addWidget(self._pages, 1)
        layout.addLayout(below)

    def _use_text_size(self) -> None:
        self.composer.draft.use_text_size()
        self._below.setMaximumWidth(int(theme.reading_width()) + 2 * theme.SPACE_XL)

    def _send(self, message: str) -> None:
        if self._line.refuses(message) or not clean_text(message).strip():
            return
        self.composer.take_text()
        if not self._queue.add(message):
            self._chat.send(message)
        self._drafts.keep()  # after the question: a kill between them must not lose both

    def _send_starter(self, prompt: str) -> None:
        """Send a prompt of the welcome; what is typed next belongs into the draft."""
        self._chat.send(prompt)
        self.composer.draft.setFocus()

    def _give_back(self, text: str) -> None:
        self.composer.give_back(text)
        self._drafts.keep()

    def _send_first(self) -> None:
        """Send the question that waits; what is typed next belongs into the draft."""
        self._queue.send()
        self.composer.draft.setFocus()

    def _take_back(self, number: int) -> None:
        """Put a question that waits back before what is written."""
        if text := self._queue.take_back(number):
            self._give_back(text)

    def _show_queue(self) -> None:
        waiting = self._queue.shown
        behind = self._queue.is_behind_draft
        self._queued.show_queue(waiting, can_send=not self._chat.busy, is_behind_draft=behind)
        if self._line.waits != bool(waiting) and not self.composer.has_text:
            self._settled.start()  # what waits is sent next, and counted as such
        self._line.waits = bool(waiting)

    def _take_edit(self) -> None:
        self._settled.start()
        if self._chat.busy:
            self._line.show()  # that a draft has to wait is said with its first letter

    def _tell_draft(self) -> None:
        """Say what is sent next: what is written, or else the first question that waits."""
        written, waiting = self.composer.written, self._queue.shown
        message = waiting[0].text if waiting and not self.composer.has_text else written.message
        self.draft_settled.emit(message, tuple(pasted.text for pasted in written.pasted))

    def _show_page(self) -> None:
        page = self._opening if self._is_opening else self.welcome
        self._pages.setCurrentWidget(self.transcript if self._chat.turns else page)

    def _show_opened(self) -> None:
        self._drafts.follow()
        self._line.is_stopping = False
        self.transcript.show_turns(self._chat.turns, place_of(self._chat.shown))
        self.transcript.setAccessibleDescription("")
        self._show_page()
        self._show_reading()
        self.composer.draft.setFocus()
        self._settled.start()  # counting a long chat takes a moment: it is seen first

    def _show_branch(self, first: int) -> None:
        self._show_page()
        self.transcript.show_from(first, self._chat.turns[first:])
        if not self._chat.turns:
            self._drafts.move()

    def _show_changed(self, turn: Turn) -> None:
        self.transcript.refresh(turn)
        self.turn_actions.bars.place()
        if turn.state == "waiting":
            self._line.show()  # what it waits for is said there, too
        if turn.state == "done" and turn.number == self._chat.turns[-1].number:
            missing = footer.dropped(turn)
            if missing != self.transcript.accessibleDescription():
                self.transcript.setAccessibleDescription(missing)

    def _show_text(self, turn: Turn, text: str) -> None:
        self.transcript.grow(turn, text)

    def _show_busy(self) -> None:
        self._line.is_stopping = self._line.is_stopping and self._chat.busy
        self.composer.set_busy(self._chat.busy, stopping=self._line.is_stopping)
        self._show_queue()
        self._line.show()
        self._place_overlays()

    def _show_reading(self) -> None:
        """Show how far the prompt is read of the answer that was waited for already."""
        run = self._chat.shown.run
        self._show_prefill(run.reading if run is not None else None)

    def _show_prefill(self, progress: PrefillProgress | None) -> None:
        policy = self._prefill.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        self._prefill.setSizePolicy(policy)
        self._prefill.setVisible(progress is not None)
        if progress is not None:
            self._prefill.setRange(0, progress.total - progress.from_cache)
            self._prefill.setValue(progress.done - progress.from_cache)
        self._line.show_progress(progress)

    def _show_message(self, number: int) -> None:
        """Have a message at hand that somebody wants to see."""
        self.transcript.setFocus()
        self.transcript.take(number)

    def _show_file(self, file: AttachedFile) -> None:
        PasteViewer(file.text, self, title=file.name).open()

    def _give_keyboard_back(self) -> None:
        """Let the keyboard be where it is while nothing lies over the messages."""
        to = self.transcript if self.transcript.at_hand is not None else self.composer.draft
        to.setFocus()

    def _place_overlays(self) -> None:
        self.turn_actions.bars.place()
        viewport = self.transcript.viewport()
        if self.transcript.is_at_end and self._latest is self.window().focusWidget():
            self._give_keyboard_back()  # Qt would hand it to whichever button comes next
        self._latest.setVisible(not self.transcript.is_at_end)
        size = self._latest.sizeHint()
        self._latest.setGeometry(
            QRect(
                (viewport.width() - size.width()) // 2,
                viewport.height() - size.height() - theme.SPACE_M,
                size.width(),
                size.height(),
            )
        )

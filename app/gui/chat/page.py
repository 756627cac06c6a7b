"""The chat page: the conversation or a welcome, the buttons at the last answer, and the composer.

Listens to the chat service and says to it what people want; knows no other part of the window.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QRect, Qt, QTimer, Signal
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QStackedWidget, QVBoxLayout, QWidget

from app.core.chat import clean_text
from app.core.events import PrefillProgress
from app.gui import theme
from app.gui.chat.composer import Composer, Written
from app.gui.chat.count_words import CountWords, count_words
from app.gui.chat.transcript import Transcript
from app.gui.chat.turn_block import TurnBlock
from app.gui.chat.welcome import Welcome
from app.gui.icons import Icons
from app.gui.widgets.buttons import IconButton, TickButton
from app.services.chat import Chat
from app.services.prompt_count import Count
from app.services.turns import Turn
from app.services.units import count

SETTLED_MS = 120
"""After so long without a key a draft is counted."""
REPAINT_MS = 100
"""While an answer is written the counts under the draft change ten times a second at most."""
NEW_CHAT = 0
"""Where the draft of a conversation lies that has no message yet."""


class ChatPage(QWidget):
    """The middle of the window."""

    copied = Signal(str)
    """Somebody wants a text on the clipboard."""
    draft_settled = Signal(object, object)
    """The draft is another one: its whole message (str), and the pasted texts in it (tuple of str)."""
    larger_context_wanted = Signal()
    """Somebody wants to load the model with a larger context."""

    def __init__(
        self,
        chat: Chat,
        themes: theme.Themes,
        icons: Icons,
        prompts: list[str],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._chat = chat
        self._place = self._draft_place()
        self._drafts: dict[int, Written] = {}
        self._count = Count()
        self._progress: PrefillProgress | None = None
        self._stopping = False
        self.transcript = Transcript(themes)
        self.welcome = Welcome(prompts)
        self.composer = Composer(icons)
        self._pages = QStackedWidget()
        self._pages.addWidget(self.welcome)
        self._pages.addWidget(self.transcript)
        self._prefill = QProgressBar()
        self._prefill.setObjectName("prefill_progress")
        self._prefill.setAccessibleName(self.tr("Reading the prompt"))
        self._prefill.setTextVisible(False)
        self._settled = self._timer(SETTLED_MS, self._tell_draft)
        self._repaint = self._timer(REPAINT_MS, self._show_status)
        self._make_overlays(icons)
        self._lay_out()
        self._disconnect = [
            chat.opened.connect(self._show_opened),
            chat.added.connect(self._show_added),
            chat.removed.connect(self._show_removed),
            chat.changed.connect(self._show_changed),
            chat.text_added.connect(self._show_text),
            chat.busy_changed.connect(self._show_busy),
            chat.prefilled.connect(self._show_prefill),
            chat.draft_returned.connect(self.composer.give_back),
        ]
        self.composer.sent.connect(self._send)
        self.composer.stopped.connect(self.stop)
        self.composer.edited.connect(self._settled.start)
        self.composer.larger_context_wanted.connect(self.larger_context_wanted)
        self.welcome.chosen.connect(self._send_starter)
        self.transcript.moved.connect(self._place_overlays)
        if chat.turns:
            self.transcript.show_turns(chat.turns)
            self._pages.setCurrentWidget(self.transcript)
        self._show_busy()
        self._show_prefill(None)

    def disconnect_services(self) -> None:
        """Listen to the chat no longer."""
        for disconnect in self._disconnect:
            disconnect()
        self._settled.stop()
        self._repaint.stop()

    def copy_answer(self) -> None:
        """Ask for the last answer's text on the clipboard."""
        if self._chat.turns and self._chat.turns[-1].role == "assistant":
            self.copied.emit(self._chat.turns[-1].text)
            self._copy.tick()

    def stop(self) -> None:
        """End the answer, and show at once that this was heard."""
        if self._chat.busy:
            self._stopping = True
            self._show_busy()
            self._chat.stop()

    def show_count(self, counted: Count) -> None:
        """Show what is known of the next send."""
        self._count = counted
        self.composer.show_pasted_tokens(counted.pasted)
        if not self._chat.busy:
            self._show_status()
        elif not self._repaint.isActive():
            self._repaint.start()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keep the buttons over the transcript where they belong."""
        if watched is self.transcript.viewport() and event.type() == QEvent.Type.Resize:
            self._place_overlays()
        return super().eventFilter(watched, event)

    def _timer(self, interval_ms: int, slot: Callable[[], None]) -> QTimer:
        timer = QTimer(self)
        timer.setSingleShot(True)
        timer.setInterval(interval_ms)
        timer.timeout.connect(slot)
        return timer

    def _make_overlays(self, icons: Icons) -> None:
        self._answer_bar = QWidget(self.transcript.viewport())
        self._answer_bar.setCursor(Qt.CursorShape.ArrowCursor)
        self._go_on = IconButton(icons, "go_on", self.tr("Continue the answer"), object_name="go_on_button")
        again = IconButton(icons, "again", self.tr("Answer again"), object_name="answer_again_button")
        self._copy = TickButton(icons, "copy", self.tr("Copy the answer"), object_name="copy_answer_button")
        self._go_on.clicked.connect(self._chat.go_on)
        again.clicked.connect(self._chat.answer_again)
        self._copy.clicked.connect(self.copy_answer)
        row = QHBoxLayout(self._answer_bar)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(theme.SPACE_XS)
        for button in (self._go_on, again, self._copy):
            row.addWidget(button)
        self._latest = IconButton(
            icons,
            "latest",
            self.tr("Go to the latest text"),
            look="outlined",
            parent=self.transcript.viewport(),
        )
        self._latest.setCursor(Qt.CursorShape.ArrowCursor)
        self._latest.clicked.connect(self.transcript.go_to_end)
        self.transcript.viewport().installEventFilter(self)

    def _lay_out(self) -> None:
        column = QVBoxLayout()
        column.setContentsMargins(theme.SPACE_XL, 0, theme.SPACE_XL, theme.SPACE_L)
        column.setSpacing(theme.SPACE_S)
        column.addWidget(self._prefill)
        column.addWidget(self.composer)
        middle = QWidget()
        middle.setLayout(column)
        middle.setMaximumWidth(int(theme.reading_width()) + 2 * theme.SPACE_XL)
        below = QHBoxLayout()
        below.setContentsMargins(0, 0, 0, 0)
        below.addStretch(1)
        below.addWidget(middle, 1000)
        below.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self._pages, 1)
        layout.addLayout(below)

    def _send(self, message: str) -> None:
        known = self._count.message == message
        too_long = known and self._count.too_long and not self._count.drops
        if self._chat.busy or too_long or not clean_text(message).strip():
            return
        self.composer.take_text()
        self._chat.send(message)
        self._place = self._draft_place()

    def _send_starter(self, prompt: str) -> None:
        """Send a prompt of the welcome; what is typed next belongs into the draft."""
        self._chat.send(prompt)
        self.composer.draft.setFocus()

    def _draft_place(self) -> int:
        """Return where the draft belongs: to its conversation, or to the new one, whichever that is."""
        return NEW_CHAT if self._chat.shown.is_new else self._chat.conversation_id

    def _tell_draft(self) -> None:
        written = self.composer.written
        self.draft_settled.emit(written.message, tuple(pasted.text for pasted in written.pasted))

    def _show_opened(self) -> None:
        now = self._draft_place()
        if now != self._place:
            self._drafts[self._place] = self.composer.written
            self._place = now
            self.composer.write(self._drafts.pop(now, Written()))
        self._stopping = False
        self.transcript.show_turns(self._chat.turns, now)
        self._pages.setCurrentWidget(self.transcript if self._chat.turns else self.welcome)
        self._show_prefill(None)
        self.composer.draft.setFocus()
        self._tell_draft()

    def _show_added(self, turn: Turn) -> None:
        self._pages.setCurrentWidget(self.transcript)
        self.transcript.add(turn)

    def _show_removed(self, _turn: Turn) -> None:
        self.transcript.remove_last()
        if not self._chat.turns:
            self._pages.setCurrentWidget(self.welcome)

    def _show_changed(self, turn: Turn) -> None:
        self.transcript.refresh(turn)
        if turn.state == "done":
            missing = TurnBlock(turn).dropped_line()
            self.transcript.setAccessibleDescription(f"{missing}\n{turn.text}" if missing else turn.text)

    def _show_text(self, turn: Turn, text: str) -> None:
        self.transcript.grow(turn, text)

    def _show_busy(self) -> None:
        self._stopping = self._stopping and self._chat.busy
        self.composer.set_busy(self._chat.busy, stopping=self._stopping)
        self._show_status()
        self._place_overlays()

    def _show_prefill(self, progress: PrefillProgress | None) -> None:
        self._progress = progress
        policy = self._prefill.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        self._prefill.setSizePolicy(policy)
        self._prefill.setVisible(progress is not None)
        if progress is not None:
            self._prefill.setRange(0, progress.total)
            self._prefill.setValue(progress.done)
        self._show_status()

    def _show_status(self) -> None:
        words = self._words()
        self.composer.status.show_text(*words[:2], alarm=words.alarm)
        self.composer.offer_larger_context(words.alarm)

    def _words(self) -> CountWords:
        """Return what the line under the draft says: what goes on, else what the next send takes."""
        progress, before = self._progress, self._chat.waits_for
        if self._stopping:
            return CountWords(self.tr("Stopping…"))
        if progress is not None:
            reading = self.tr("Reading the prompt: {done} of {total} tokens")
            return CountWords(reading.format(done=count(progress.done), total=count(progress.total)))
        if before is not None:
            return CountWords(self.tr("This question waits for the answer in “{title}”").format(title=before))
        return count_words(self._count, has_text=self.composer.has_text)

    def _place_overlays(self) -> None:
        place = self.transcript.footer_place()
        visible = place is not None and self._chat.can_answer_again
        self._answer_bar.setVisible(visible)
        if place is not None and visible:
            self._go_on.setVisible(self._chat.can_go_on)
            size = self._answer_bar.sizeHint()
            top = place.center().y() - size.height() // 2
            self._answer_bar.setGeometry(QRect(place.right() - size.width(), top, size.width(), size.height()))
        viewport = self.transcript.viewport()
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

"""The chat page: the conversation or a welcome, the buttons at the last answer, and the composer.

Listens to the chat service and says to it what people want; knows no other part of the window.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QRect, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QStackedWidget, QVBoxLayout, QWidget

from app.core.events import PrefillProgress
from app.gui import theme
from app.gui.chat.composer import Composer
from app.gui.chat.transcript import Transcript
from app.gui.chat.turn_block import TurnBlock
from app.gui.chat.welcome import Welcome
from app.gui.icons import Icons
from app.gui.widgets.buttons import IconButton, TickButton
from app.services.chat import Chat
from app.services.turns import Turn
from app.services.units import count


class ChatPage(QWidget):
    """The middle of the window."""

    copied = Signal(str)
    """Somebody wants a text on the clipboard."""

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
        self._make_overlays(icons)
        self._lay_out()
        self._disconnect = [
            chat.cleared.connect(self._show_cleared),
            chat.added.connect(self._show_added),
            chat.removed.connect(self._show_removed),
            chat.changed.connect(self._show_changed),
            chat.text_added.connect(self._show_text),
            chat.busy_changed.connect(self._show_busy),
            chat.prefilled.connect(self._show_prefill),
            chat.draft_returned.connect(self.composer.give_back),
        ]
        self.composer.sent.connect(self._send)
        self.composer.stopped.connect(chat.stop)
        self.welcome.chosen.connect(chat.send)
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

    def copy_answer(self) -> None:
        """Ask for the last answer's text on the clipboard."""
        if self._chat.turns and self._chat.turns[-1].role == "assistant":
            self.copied.emit(self._chat.turns[-1].text)
            self._copy.tick()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keep the buttons over the transcript where they belong."""
        if watched is self.transcript.viewport() and event.type() == QEvent.Type.Resize:
            self._place_overlays()
        return super().eventFilter(watched, event)

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

    def _send(self, text: str) -> None:
        if not self._chat.busy:
            self.composer.take_text()
            self._chat.send(text)

    def _show_cleared(self) -> None:
        self.transcript.clear()
        self._pages.setCurrentWidget(self.welcome)
        self.composer.draft.setFocus()

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
        self.composer.set_busy(self._chat.busy)
        self._place_overlays()

    def _show_prefill(self, progress: PrefillProgress | None) -> None:
        policy = self._prefill.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        self._prefill.setSizePolicy(policy)
        self._prefill.setVisible(progress is not None)
        if progress is None:
            self.composer.set_status("")
            return
        self._prefill.setRange(0, progress.total)
        self._prefill.setValue(progress.done)
        self.composer.set_status(
            self.tr("Reading the prompt: {done} of {total} tokens").format(
                done=count(progress.done), total=count(progress.total)
            )
        )

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

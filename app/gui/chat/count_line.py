"""The line under the draft: what goes on, else what the next send takes, what it goes without, or that it is refused."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer

from app.core.events import PrefillProgress
from app.gui.chat.composer import Composer
from app.gui.chat.count_words import CountWords, count_words, left_out_words, with_draft
from app.gui.chat.transcript import Transcript
from app.gui.widgets.words import render
from app.services.chat import Chat
from app.services.next_send import Count
from app.services.units import count

REPAINT_MS = 200
"""While an answer is written the counts under the draft change five times a second at most."""


class CountLine(QObject):
    """Says in a composer what is known of its next send, and marks in a transcript what it goes without."""

    def __init__(self, chat: Chat, composer: Composer, transcript: Transcript, parent: QObject) -> None:
        super().__init__(parent)
        self.is_stopping = False
        """Whether somebody wants the answer to end, and it has not ended yet."""
        self.waits = False
        """Whether a question waits for the answer to end."""
        self._chat = chat
        self._composer = composer
        self._transcript = transcript
        self._read: Callable[[], Count] = Count
        """Returns what is known; working it out costs something while an answer is written."""
        self._progress: PrefillProgress | None = None
        self._repaint = QTimer(self)
        self._repaint.setSingleShot(True)
        self._repaint.setInterval(REPAINT_MS)
        self._repaint.timeout.connect(self.show)

    def stop(self) -> None:
        """Show nothing more."""
        self._repaint.stop()

    def refuses(self, message: str) -> bool:
        """Return whether the engine is known to refuse a message."""
        counted = self._read()
        return counted.message == message and counted.refused

    def follow(self, read: Callable[[], Count]) -> None:
        """Show what is known of the next send, read when it is shown: at once, or in a moment while an answer grows."""
        self._read = read
        if not self._chat.busy:
            self.show()
        elif not self._repaint.isActive():
            self._repaint.start()

    def show_progress(self, progress: PrefillProgress | None) -> None:
        """Show how far the prompt is read; None when that is over."""
        self._progress = progress
        self.show()

    def show(self) -> None:
        """Show what there is to say now."""
        has_text, known = self._composer.has_text, self._read()
        self._composer.show_pasted_tokens(known.pasted)
        counted = count_words(known, has_text=has_text)
        goes_on = self._what_goes_on()
        words = goes_on or counted
        if self._chat.busy and not self.is_stopping and has_text:
            words = with_draft(goes_on, counted)
        self._composer.status.show_text(*words[:2], alarm=words.alarm)
        self._composer.offer_room(
            larger_context=words.is_refused and known.larger_context is not None, dropping=words.can_drop
        )
        self._composer.refuse(counted.hint if counted.is_refused else "")
        numbers = frozenset(known.left_out)
        self._transcript.leave_out(numbers)
        turns = [turn for turn in self._chat.turns if turn.number in numbers] if numbers else []
        is_ahead = has_text or self.waits
        self._composer.show_left_out(left_out_words(known, is_ahead=is_ahead) if turns else "", turns)

    def _what_goes_on(self) -> CountWords | None:
        progress, before = self._progress, self._chat.waits_for
        if self.is_stopping:
            return CountWords(self.tr("Stopping…"))
        if progress is not None:
            reading = self.tr("Reading the prompt: {done} of {total} tokens")
            done, total = (count(tokens - progress.from_cache) for tokens in (progress.done, progress.total))
            short = self.tr("Reading: {done} of {total}").format(done=done, total=total)
            return CountWords(reading.format(done=done, total=total), short=short)
        return CountWords(render(before)) if before is not None else None

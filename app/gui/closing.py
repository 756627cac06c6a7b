"""The way out of the window: it goes once everything is kept, or once somebody says that the rest may be lost.

Knows nothing of what is kept or how; what ends after the window is the application's.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtWidgets import QDialog, QMessageBox

from app.core.words import Sentence, translate
from app.gui.dialogs import Dialogs
from app.gui.main_window import MainWindow
from app.gui.widgets.words import render
from app.services.answers import Answers

ANSWER_MS = 1_500
"""How long the disk may take to say whether everything is kept."""
AGAIN_MS = 2_000
"""While people are asked, the disk is asked again so often: where it can keep everything after all, nobody need answer."""
SESSION_MS = 30_000
"""A session that is about to end does so within this time, or somebody called that off."""


class Closing(QObject):
    """Holds a window open that is being closed until what was written is safe; asks where it cannot be made so."""

    def __init__(
        self,
        answers: Answers,
        window: MainWindow,
        before_closing: Callable[[], None],
        of_settings: Callable[[], Sentence | None] = lambda: None,
    ) -> None:
        """`before_closing` hands on what nobody handed on yet; it is called before the store is asked.

        `of_settings` writes the settings, or returns the question whether they may be lost.
        """
        super().__init__(window)
        self._answers = answers
        self._window = window
        self._before_closing = before_closing
        self._of_settings = of_settings
        self._dialogs = Dialogs(window)
        self._box: QMessageBox | None = None
        self._may_go = False
        self._waits = False
        """Whether the store was asked and has not answered."""
        self._limit = self._timer(ANSWER_MS, self._ask_without_answer)
        self._session = self._timer(SESSION_MS, self._stay)
        self._again = self._timer(AGAIN_MS, self._ask_again)
        self._disconnect = answers.settled.connect(self._take)
        window.installEventFilter(self)
        window.closing.connect(self._end)

    def at_once(self) -> None:
        """Close without a question: nobody may be there to answer it."""
        self._may_go = True
        self._window.close()

    def session_ends(self) -> None:
        """The session is about to end: whoever closes the window in the next moments is not asked."""
        self._may_go = True
        self._session.start()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Let no close through before it is settled."""
        if event.type() != QEvent.Type.Close or watched is not self._window:
            return False
        if not self._may_go:
            self._begin()
        if self._may_go:
            return False
        event.ignore()
        return True

    def _begin(self) -> None:
        """Ask the store; it may answer before this returns."""
        if self._box is not None:
            self._box.raise_()
            self._box.activateWindow()
        elif not self._waits:
            self._waits = True
            self._before_closing()
            if self._answers.settle():
                if self._waits:
                    self._limit.start()
            else:
                self._waits = False
                self._end_or_ask(self._of_settings())

    def _end_or_ask(self, problem: Sentence | None) -> None:
        self._may_go = problem is None
        if problem is not None:
            self._ask(problem)

    def _take(self, problem: Sentence | None) -> None:
        problem = problem or self._of_settings()
        if not self._waits:
            if self._box is not None and problem is None:
                self.at_once()
            elif self._box is not None:
                self._again.start()
            return
        self._waits = False
        self._end_or_ask(problem)
        if self._may_go and self._limit.isActive():
            # The close that began it is over.
            self._limit.stop()
            self._window.close()

    def _ask_without_answer(self) -> None:
        self._waits = False
        self._ask(_NO_ANSWER)

    def _ask(self, problem: Sentence) -> None:
        self._limit.stop()
        self._box = self._dialogs.ask_to_lose(render(problem), self._choose)
        self._again.start()

    def _ask_again(self) -> None:
        if self._box is not None and not self._answers.settle():
            self._take(None)

    def _choose(self, closes: bool) -> None:
        self._box = None
        self._again.stop()
        if closes:
            self.at_once()

    def _stay(self) -> None:
        self._may_go = False

    def _end(self) -> None:
        self._disconnect()
        for timer in (self._limit, self._session, self._again):
            timer.stop()
        self._window.removeEventFilter(self)
        # Their services outlive them.
        for dialog in self._window.findChildren(QDialog):
            dialog.close()

    def _timer(self, interval_ms: int, then: Callable[[], None]) -> QTimer:
        timer = QTimer(self)
        timer.setSingleShot(True)
        timer.setInterval(interval_ms)
        timer.timeout.connect(then)
        return timer


_NO_ANSWER = translate(
    "Closing",
    "What was written last is not saved yet: the disk does not answer. "
    "Close anyway and risk losing it, or keep the window open?",
)

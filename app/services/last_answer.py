"""The latest answer of the loaded model, and where its time went: in whatever chat, or the last one of the chat that is shown."""

from __future__ import annotations

from collections.abc import Callable

from app.core.diagnosis import Diagnosis
from app.core.signal import Signal
from app.services.answers import Answers
from app.services.chat import Chat
from app.services.engine_session import EngineSession
from app.services.figures import Figures
from app.services.open_conversation import Run
from app.services.turns import Turn


class LastAnswer:
    """Follows every answer; knows of earlier starts what the chat that is shown does."""

    def __init__(
        self,
        session: EngineSession,
        chat: Chat | None,
        answers: Answers | None,
        figures_of: Callable[[Turn], Figures],
    ) -> None:
        """`figures_of` tells what is known of an answer that has ended, its diagnosis among it."""
        self.changed: Signal[()] = Signal()
        """There is another answer, another model, or more is known of either."""
        self._session = session
        self._chat = chat
        self._figures_of = figures_of
        self._ended: Turn | None = None
        self._told: tuple[str | None, Diagnosis | None] = (None, None)
        session.changed.connect(self.look)
        if answers is not None:
            answers.ended.connect(self._take)
        if chat is not None:
            chat.opened.connect(self.look)

    @property
    def model(self) -> str | None:
        """What the loaded model is called; None while there is none."""
        return self._session.name if self._session.model is not None else None

    @property
    def diagnosis(self) -> Diagnosis | None:
        """Where the time of its latest answer went; None where it has answered nothing that is known here."""
        turn = self._turn()
        return self._figures_of(turn).diagnosis if turn is not None else None

    def look(self) -> None:
        """Tell whoever listens where something is another now."""
        told = (self.model, self.diagnosis)
        if told != self._told:
            self._told = told
            self.changed.emit()

    def _take(self, run: Run) -> None:
        if run.stop_reason is not None:
            self._ended = run.turn
            self.look()

    def _turn(self) -> Turn | None:
        ref = self._session.ref
        turns = [*(self._chat.turns if self._chat is not None else ()), *([self._ended] if self._ended else [])]
        if ref is None:
            return None
        of_model = (
            turn for turn in reversed(turns) if turn.model is not None and turn.model.identity == ref.identity
        )
        return next((turn for turn in of_model if turn.finished is not None), None)

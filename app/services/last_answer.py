"""The latest answer of the loaded model, and where its time went: in whatever chat since the start, else in the open one."""

from __future__ import annotations

from collections.abc import Callable

from app.core.diagnosis import Diagnosis
from app.core.model import ModelRef
from app.core.signal import Signal
from app.services.answers import Answers
from app.services.chat import Chat
from app.services.engine_session import EngineSession
from app.services.figures import Figures
from app.services.open_conversation import Run
from app.services.turns import Turn


class LastAnswer:
    """Follows every answer, one a model; knows of earlier starts what the chat that is open does."""

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
        self._ended: dict[str, Turn] = {}
        """By the identity of the model: what it answered last since the start."""
        self._name = session.name
        self._told: tuple[str | None, Diagnosis | None] = (None, None)
        session.changed.connect(self.look)
        if answers is not None:
            answers.ended.connect(self._take)
        if chat is not None:
            chat.opened.connect(self.look)

    @property
    def model(self) -> str | None:
        """What the loaded model is called; None while there is none."""
        return self._name if self._session.model is not None else None

    @property
    def diagnosis(self) -> Diagnosis | None:
        """Where the time of its latest answer went; None where it ended none since the start, nor in the open chat."""
        turn = self._turn()
        return self._figures_of(turn).diagnosis if turn is not None else None

    def look(self) -> None:
        """Tell whoever listens where something is another now."""
        if self._session.phase != "starting":  # while a file is checked the name is that file's
            self._name = self._session.name
        told = (self.model, self.diagnosis)
        if told != self._told:
            self._told = told
            self.changed.emit()

    def _take(self, run: Run) -> None:
        if run.stop_reason is not None and run.turn.model is not None:
            self._ended[run.turn.model.identity] = run.turn
            self.look()

    def _turn(self) -> Turn | None:
        ref = self._session.ref
        if ref is None:
            return None
        ended = self._ended.get(ref.identity)
        if ended is not None and _is_whole(ended, ref):
            return ended
        turns = self._chat.shown.known.values() if self._chat is not None else ()
        return max((turn for turn in turns if _is_whole(turn, ref)), key=lambda turn: turn.message, default=None)


def _is_whole(turn: Turn, ref: ModelRef) -> bool:
    """Return whether a turn is an answer of this model that has ended: one that goes on has not, or is another's."""
    return turn.finished is not None and turn.model is not None and turn.model.identity == ref.identity

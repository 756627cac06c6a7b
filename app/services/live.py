"""The figures of the conversation that is shown: of the answer that is being written in it, or of its last one.

The cache is the engine's, whatever is shown. An answer that is being written elsewhere is told beside the figures. Of
several questions the one is followed that the engine works on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from app.core.conversation import Conversation
from app.core.events import Failed, Finished, PromptReady
from app.core.model import ModelInfo
from app.core.signal import Signal
from app.services.answers import Answers
from app.services.chat import Chat
from app.services.engine_session import EngineSession
from app.services.figures import Elsewhere, Figures, figures_of_turn
from app.services.followed_answer import FollowedAnswer
from app.services.last_answer import LastAnswer
from app.services.live_cells import LiveCells
from app.services.questions import AnswerEvent, LanesEvent, ReplayEvent
from app.services.turns import Turn
from app.services.witness import Witness

MOST_KEPT = 64
"""So many answers are remembered with the gaps between their tokens, which nobody stores by themselves."""
MOST_UNPAINTED = 8
"""So many answers that have ended can wait to be painted: they are short, and a question waited behind each."""


class EndedAnswer(msgspec.Struct, frozen=True):
    """What is remembered of an answer: nothing of its conversation, which can be long."""

    figures: Figures
    gaps_ms: tuple[float, ...]
    """The last gaps between neighbouring tokens, oldest first."""


class Live:
    """Follows the answers of the session and works out the figures."""

    def __init__(
        self,
        session: EngineSession,
        gpu_is_there: Callable[[], bool | None] = lambda: None,
        chat: Chat | None = None,
        answers: Answers | None = None,
        heads: Callable[[], Sequence[Conversation]] = tuple,
    ) -> None:
        """`gpu_is_there` tells whether the engine has a GPU to use; without a chat every answer is shown.

        `heads` are those of all conversations, with the titles that they have now.
        """
        self.changed: Signal[()] = Signal()
        """At least one figure is another one."""
        self._heads = heads
        self._session = session
        self.witness = Witness(session, gpu_is_there, answers)
        """Knows what was around each answer."""
        if answers is not None:
            answers.seen = self.witness.seen
        self.last = LastAnswer(session, chat, answers, self.figures_of)
        """The latest answer of the loaded model."""
        self._chat = chat
        self._answers = answers
        self._figures = Figures()
        self._sent: dict[int, int] = {}
        """Questions that have not ended, with the time at which their clock starts."""
        self._followed: FollowedAnswer | None = None
        self._unpainted: dict[int, FollowedAnswer] = {}
        """By message, oldest first: answers of the chat that is shown which ended before their first text was seen."""
        self._kept: dict[int, EndedAnswer] = {}
        """By message, oldest first: answers that have ended since the start."""
        self.cells = LiveCells()
        """Knows what the cells hold, and how many bytes that is."""
        self._cache_of: Conversation | None = None
        """What is in the cells belongs to it; not with its messages, which may have been closed long ago."""
        self._model: ModelInfo | None = None
        """Whose cache is shown."""
        self._answer = Figures()
        """Of the answer that is shown; the cache is told beside it."""
        session.sent.connect(self._take_sent)
        session.answer_told.connect(self._take)
        session.replayed.connect(self._take_beside)
        session.lanes_told.connect(self._take_beside)
        session.changed.connect(self._model_changed)
        if chat is not None:
            chat.opened.connect(self._take_opened)
            chat.busy_changed.connect(self._look)
            chat.rebranched.connect(lambda _first: self._look())

    @property
    def figures(self) -> Figures:
        """The figures as they are now."""
        return self._figures

    @property
    def gaps_ms(self) -> tuple[float, ...]:
        """The last gaps between neighbouring tokens of the answer that is shown, oldest first."""
        shown = self._shown_answer()
        return shown.gaps_ms if shown is not None else ()

    def figures_of(self, turn: Turn) -> Figures:
        """Return what is known of an answer that has ended, wherever it is shown."""
        kept = self._kept.get(turn.message)
        return kept.figures if kept is not None and turn.finished is not None else figures_of_turn(turn)

    def know_bandwidth(self) -> None:
        """The machine's memory was measured: the answer that was followed last is seen beside that."""
        followed, model = self._followed, self._session.model
        if followed is None or model is None:
            return
        ceiling = self.witness.ceiling(model)
        if ceiling == followed.figures.traffic_ceiling or not (followed.is_open or self._is_shown(followed)):
            return
        whole = followed.know_ceiling(ceiling)
        turn = followed.place.turn
        if whole is not None and turn is not None and self._answers is not None:
            self._answers.note_end(turn, whole)
        if not followed.is_open:
            self._keep(followed)
        self._look()

    def first_text_painted(self, turn: Turn | None, now_ns: int) -> float | None:
        """The first text of an answer is on the screen: its time to the first token ends here, and is returned in ms.

        None where it is not known, or was before. A turn is None for a question that belongs to no conversation.
        """
        painted = self._unpainted.pop(turn.message, None) if turn is not None else None
        followed = self._followed if painted is None else painted
        if followed is None or followed.place.turn is not turn:
            return None
        if not self._is_shown(followed) or not followed.paint(now_ns):
            return None
        if not followed.is_open:
            self._keep(followed)
        self._look()
        return followed.figures.ttft_ms

    def _take_sent(self, request: int, sent_ns: int) -> None:
        self._sent[request] = sent_ns
        followed = self._followed
        if followed is None or followed.request == request or followed.request not in self._sent:
            self._begin(request)

    def _begin(self, request: int) -> None:
        """Follow this question from now on; the cache stays as it is."""
        runs = self._answers.runs if self._answers is not None else ()
        run = next((run for run in runs if run.request == request), None)
        model = self._session.model
        ceiling = self.witness.ceiling(model) if model is not None else None
        self._followed = FollowedAnswer(request, self._sent[request], run, ceiling)
        self._look()

    def _take(self, event: AnswerEvent) -> None:
        if event.request not in self._sent:
            return
        if (self._followed is None or event.request != self._followed.request) and not isinstance(event, Failed):
            self._begin(event.request)
        if isinstance(event, (Finished, Failed)):
            del self._sent[event.request]
        followed = self._followed
        if followed is None or event.request != followed.request:
            return
        if isinstance(event, Finished):
            followed.end(self.witness.seen(event))
        self._follow_cells(event, followed)
        if not isinstance(event, Finished):
            followed.take(event, self._read_bytes())
        if not followed.is_open:
            self._keep(followed)
            self._await_paint(followed)
            followed.let_go()
        if self._is_shown(followed):
            self._look()
        else:
            self._show()

    def _take_beside(self, event: ReplayEvent | LanesEvent) -> None:
        """Show what the cells hold, which answers share with what is written once more and with comparisons."""
        if isinstance(event, PromptReady):
            self._cache_of = self._chat.shown.head if self._chat is not None else None
        if self.cells.follow_beside(event):
            self._show()

    def _read_bytes(self) -> int | None:
        """Return what is read for a token, weights and cache; None where a part of it is unknown."""
        weights = self._session.model.weight_bytes_per_token if self._session.model is not None else None
        in_cache = self.cells.bytes
        return weights + in_cache if weights is not None and in_cache is not None else None

    def _keep(self, followed: FollowedAnswer) -> None:
        """Remember an answer that has ended for when its conversation is shown again."""
        of = followed.place
        if of.turn is not None and not of.came_to_nothing:
            self._kept.pop(of.turn.message, None)
            self._kept[of.turn.message] = EndedAnswer(followed.figures, followed.gaps_ms)
            if len(self._kept) > MOST_KEPT:
                del self._kept[next(iter(self._kept))]

    def _await_paint(self, followed: FollowedAnswer) -> None:
        """Remember whose first text may still be painted once the next answer is followed."""
        turn = followed.place.turn
        if turn is not None and followed.can_be_painted and self._is_shown(followed):
            self._unpainted[turn.message] = followed
            if len(self._unpainted) > MOST_UNPAINTED:
                del self._unpainted[next(iter(self._unpainted))]

    def _follow_cells(self, event: AnswerEvent, followed: FollowedAnswer) -> None:
        turn = followed.place.turn
        prompt = event if isinstance(event, PromptReady) else followed.prompt
        if self.cells.follow(event, prompt, turn.thoughts if turn is not None else None):
            self._cache_of = followed.run.conversation.head if followed.run is not None else None

    def _model_changed(self) -> None:
        """Show an empty cache after a load, and none without a model."""
        model = self._session.model
        if model is self._model:
            return
        self._model, self._cache_of = model, None
        self.cells.load(model)
        if self._followed is not None:
            self._followed.prompt = None
        self._show()

    def _take_opened(self) -> None:
        """Show the figures of another conversation; a question that belongs to none is let go once it has ended."""
        self._unpainted.clear()
        if self._followed is not None and self._followed.is_alone and not self._followed.is_open:
            self._followed = None
        self._look()

    def _look(self) -> None:
        """Work out anew what the last answer of the conversation that is shown says."""
        shown = self._shown_answer()
        last = self._last_turn()
        if shown is not None:
            self._answer = shown.figures
        elif self._chat is not None and self._chat.busy:
            self._answer = Figures(is_writing=True)
        else:
            self._answer = figures_of_turn(last) if last is not None else Figures()
        self._show()

    def _shown_answer(self) -> FollowedAnswer | EndedAnswer | None:
        """Return the answer that is shown, where it was written since the start."""
        followed = self._followed
        if self._chat is None or (followed is not None and followed.is_alone):
            return followed
        run, last = self._chat.shown.run, self._last_turn()
        if run is not None:
            return followed if followed is not None and followed.run is run else None
        return self._kept.get(last.message) if last is not None else None

    def _last_turn(self) -> Turn | None:
        return self._chat.turns[-1] if self._chat is not None and self._chat.turns else None

    def _is_shown(self, followed: FollowedAnswer) -> bool:
        conversation = followed.place.conversation
        return self._chat is None or conversation is None or conversation == self._chat.conversation_id

    def _elsewhere(self) -> Elsewhere | None:
        followed = self._followed
        if followed is None or followed.run is None or not followed.is_open or self._is_shown(followed):
            return None
        return Elsewhere(followed.run.conversation.head.title, followed.figures.decode_tokens_per_s)

    def _show(self) -> None:
        of, chat = self._cache_of, self._chat
        holds = ""
        if of is not None and chat is not None and of.id != chat.conversation_id:
            holds = next((head.title for head in self._heads() if head.id == of.id), of.title)
        figures = msgspec.structs.replace(
            self._answer, **self.cells.figures, kv_holds=holds, elsewhere=self._elsewhere()
        )
        if figures != self._figures:
            self._figures = figures
            self.changed.emit()
            self.last.look()

"""Which operations the time of a decode step and of a prefill goes to: asked of the engine when somebody wants to know.

Looks at the tokens of the answer that `inspecting` looks at. Takes its turn among the questions, one pass at a time; what
was found is kept for each answer and model, in memory alone. Must not know how it is shown.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from app.core.commands import TimeOperations
from app.core.events import Failed
from app.core.operations import LEAST_TOKENS, OperationsProgress, OperationsTimed
from app.core.signal import Signal
from app.core.words import Sentence, translate
from app.services.attention_cost import (
    WATCHED,
    AttentionCost,
    Computed,
    PassSpeed,
    ReadingSpeed,
    computed,
    cost_of,
)
from app.services.attention_text import AttentionText, text_of_answer
from app.services.engine_session import EngineSession
from app.services.engine_work import wait_for
from app.services.inspecting import Inspecting
from app.services.open_answer import why_open
from app.services.pass_source import PassSource, source_of
from app.services.questions import Scoring, ScoringEvent
from app.services.tensor_cores import has_tensor_cores

MOST_TOKENS = 512
"""So many tokens before the step are enough: more take longer and change little but the share of attention."""
MOST_KEPT = 64
"""What was found of so many answers is kept."""
_Whose = tuple[Computed, int]
"""A model as it was loaded, and the message of the answer."""


@dataclass
class _Run:
    """The pass that goes on."""

    whose: _Whose
    tokens: int
    request: int
    source: PassSource | None
    done: int = 0


class Operations:
    """`begin` has a computation taken apart; `found` is what came of it."""

    def __init__(self, session: EngineSession, inspecting: Inspecting) -> None:
        self.changed: Signal[()] = Signal()
        """More is known, or whether it can be asked for."""
        self.gpu_names: Callable[[], Sequence[str]] = tuple
        """What the GPUs are called that the engine can compute on, as far as that is known."""
        self._session = session
        self._inspecting = inspecting
        self._text: AttentionText | None = None
        self._run: _Run | None = None
        self._known: dict[_Whose, OperationsTimed] = {}
        """Oldest first."""
        self._problem: tuple[_Whose, Sentence] | None = None
        self._speed = PassSpeed()
        self.reading = ReadingSpeed(session, inspecting)
        session.scored.connect(self._follow)
        inspecting.chat.deleted.connect(self._end_deleted)
        session.changed.connect(self.changed.emit)
        for signal in (inspecting.opened, inspecting.changed):
            signal.connect(self._take_answer)

    @property
    def found(self) -> OperationsTimed | None:
        """What the loaded model took for the answer that is looked at; None where nobody asked for it yet."""
        whose = self._whose
        return self._known.get(whose) if whose is not None else None

    @property
    def tensor_cores_of(self) -> str:
        """The GPU that computes the loaded model and has Tensor Cores, by its name; nothing where none is known to."""
        model = self._session.model
        names = self.gpu_names() if model is not None and model.gpu_layers else ()
        return next((name for name in names if has_tensor_cores(name)), "")

    @property
    def progress(self) -> tuple[int, int] | None:
        """How many tokens were read, and how many there are to read; None where no pass goes on."""
        return (self._run.done, self._run.tokens) if self._run is not None else None

    @property
    def is_of_another(self) -> bool:
        """Whether the pass that goes on reads another answer than the one that is looked at."""
        return self._run is not None and self._run.whose != self._whose

    @property
    def problem(self) -> Sentence | None:
        """Why the last pass came to nothing, if it was of this answer; None where it did not."""
        return self._problem[1] if self._problem is not None and self._problem[0] == self._whose else None

    @property
    def cost(self) -> AttentionCost | None:
        """What a pass would take; None where it cannot be asked for."""
        model, text = self._session.model, self._text
        if model is None or text is None:
            return None
        tokens, speed = self._tokens_of(text), self._speed.of(computed(model))
        if speed is None and (reading := self.reading.of(tokens)) is not None:
            speed = reading / WATCHED
        return cost_of(model, tokens, speed)

    @property
    def hindrance(self) -> Sentence | None:
        """Return why it cannot be asked for now, in one sentence; None where it can be tried."""
        text, turn, loaded = self._text, self._inspecting.turn, self._session.model
        if self._session.phase in ("starting", "loading"):
            return _LOADING
        if loaded is None or self._session.ref is None:
            return _NO_MODEL
        if (open_words := why_open(turn)) is not None:
            return open_words
        if turn is None or text is None:
            return _NO_ANSWER if turn is None else _NO_TOKENS
        if text.model.identity != self._session.ref.identity:
            return translate(
                "Operations",
                "Another model is loaded. Load “{name}”, which wrote this answer, or look at an answer of this one.",
                name=text.author,
            )
        if self._tokens_of(text) < LEAST_TOKENS:
            return _TOO_SHORT
        return wait_for(self._session.opened()) if self._run is None and self._session.phase == "busy" else None

    def begin(self) -> bool:
        """Have a step and a chunk taken apart; False where that cannot even be tried."""
        text, whose = self._text, self._whose
        if self.hindrance is not None or text is None or whose is None or self._run is not None:
            return False
        tokens = self._tokens_of(text)
        self._problem = None
        self._run = _Run(whose, tokens, self._session.new_request(), source_of(self._inspecting))
        self._speed.begin(tokens)
        self.changed.emit()
        command = TimeOperations(self._run.request, array("i", text.ids[:tokens]).tobytes())
        self._session.ask(Scoring(command, text.model))
        return True

    def cancel(self) -> None:
        """End the pass that goes on, in whatever phase it is."""
        if self._run is not None:
            self._session.cancel(self._run.request)

    def _end_deleted(self, conversation: int, messages: tuple[int, ...]) -> None:
        """What was asked of an answer ends with it."""
        source = self._run.source if self._run is not None else None
        if source is not None and source.is_among(conversation, messages):
            self.cancel()

    @property
    def _whose(self) -> _Whose | None:
        model, turn = self._session.model, self._inspecting.turn
        return (computed(model), turn.message) if model is not None and turn is not None else None

    def _tokens_of(self, text: AttentionText) -> int:
        model = self._session.model
        return min(len(text.ids), MOST_TOKENS, model.context if model is not None else MOST_TOKENS)

    def _take_answer(self) -> None:
        self._text = text_of_answer(self._inspecting)
        self.changed.emit()

    def _follow(self, event: ScoringEvent) -> None:
        run = self._run
        if run is None or event.request != run.request:
            return
        match event:
            case OperationsProgress():
                run.done = event.done
            case OperationsTimed():
                self._run = None
                self._speed.end(run.whose[0])
                if event.decode:
                    self._keep(run.whose, event)
                else:
                    self._problem = run.whose, _NOT_TOLD
            case Failed():
                self._run = None
                if event.kind != "cancelled":
                    self._problem = run.whose, event.sentence
            case _:
                return
        self.changed.emit()

    def _keep(self, whose: _Whose, found: OperationsTimed) -> None:
        self._known.pop(whose, None)
        self._known[whose] = found
        if len(self._known) > MOST_KEPT:
            del self._known[next(iter(self._known))]


_LOADING = translate("Operations", "A model is being loaded. Ask again when it is ready.")
_NO_MODEL = translate("Operations", "No model is loaded. Open a model, then ask again.")
_NO_ANSWER = translate("Operations", "There is no answer to look at yet. Send a message, then ask again.")
_NO_TOKENS = translate(
    "Operations", "The prompt of this answer is not known. Look at another answer, then ask again."
)
_TOO_SHORT = translate(
    "Operations", "This chat has too few tokens to take apart. Send a longer message, then ask again."
)
_NOT_TOLD = translate(
    "Operations", "The engine told no operation: with this model its computation cannot be watched."
)

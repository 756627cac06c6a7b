"""How surprising the prompt of the answer was that people look at: asked of the engine when somebody wants to know.

Takes its turn among the questions, one prompt at a time; what was found of the last few is kept in memory alone. Must not
know how it is shown.
"""

from __future__ import annotations

from array import array
from collections import OrderedDict
from dataclasses import dataclass
from typing import NamedTuple

from app.core.commands import ScorePrompt
from app.core.events import Failed
from app.core.model import ModelRef
from app.core.prompt_scores import PromptScored, ScoreProgress
from app.core.signal import Signal
from app.core.words import Sentence, translate
from app.services.engine_session import EngineSession
from app.services.engine_work import wait_for
from app.services.inspecting import Inspecting
from app.services.open_answer import why_open
from app.services.pass_source import PassSource, source_of
from app.services.questions import Scoring, ScoringEvent
from app.services.scored_prompt import ScoredPrompt

KEPT_PROMPTS = 4
"""So many scored prompts are kept, at twelve bytes a token and what was asked of them."""


class _Key(NamedTuple):
    """What the same scores belong to: the same tokens, read by the same model."""

    model: str
    ids: tuple[int, ...]


@dataclass
class _Run:
    """The pass that goes on."""

    key: _Key
    request: int
    source: PassSource | None
    done: int = 0


class PromptScores:
    """One pass at a time, and what came of those before."""

    def __init__(self, session: EngineSession, inspecting: Inspecting) -> None:
        self.changed: Signal[()] = Signal()
        """Something else is known of the prompt that is looked at, or whether it can be scored."""
        self._session = session
        self._inspecting = inspecting
        self._run: _Run | None = None
        self._known: OrderedDict[_Key, ScoredPrompt] = OrderedDict()
        self._problem: tuple[_Key, Sentence] | None = None
        """Why the last pass came to nothing, until another one begins."""
        session.scored.connect(self._follow)
        inspecting.chat.deleted.connect(self._end_deleted)
        for signal in (session.changed, inspecting.opened, inspecting.changed):
            signal.connect(self.changed.emit)

    @property
    def scores(self) -> ScoredPrompt | None:
        """The scores of the prompt that is looked at; None where nobody asked for them yet."""
        key = self._key
        return self._known.get(key) if key is not None else None

    @property
    def progress(self) -> tuple[int, int] | None:
        """How many tokens of a prompt have their scores, and how many it has; None if no pass goes on."""
        return (self._run.done, len(self._run.key.ids)) if self._run is not None else None

    @property
    def is_of_another(self) -> bool:
        """Whether the pass that goes on reads another prompt than the one that is looked at."""
        return self._run is not None and not self._is_ours

    @property
    def problem(self) -> Sentence | None:
        """Why the last pass over the prompt that is looked at came to nothing; None where it did not."""
        return self._problem[1] if self._problem is not None and self._problem[0] == self._key else None

    @property
    def hindrance(self) -> Sentence | None:
        """Return why the prompt that is looked at cannot be scored now, in one sentence; None where it can be tried."""
        turn, prompt = self._inspecting.turn, self._inspecting.prompt
        if turn is None:
            return _NO_ANSWER
        if (open_words := why_open(turn)) is not None:
            return open_words
        if prompt is None:
            return _NO_PROMPT
        if turn.model is None:
            return _UNKNOWN_MODEL
        if len(prompt.ids) < 2:
            return _TOO_SHORT
        return self._hindered_by_model(turn.model, turn.author, len(prompt.ids)) or self._hindered_by_work()

    def begin(self) -> bool:
        """Have the prompt scored that is looked at; False where that cannot even be tried."""
        key, turn = self._key, self._inspecting.turn
        if self.hindrance is not None or self._run is not None or key is None or turn is None or turn.model is None:
            return False
        self._problem = None
        self._run = _Run(key, self._session.new_request(), source_of(self._inspecting))
        command = ScorePrompt(self._run.request, array("i", key.ids).tobytes())
        self.changed.emit()
        self._session.ask(Scoring(command, turn.model))
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
    def _key(self) -> _Key | None:
        """The prompt that is looked at, and the model that its answer is of."""
        turn, prompt = self._inspecting.turn, self._inspecting.prompt
        if turn is None or prompt is None or turn.model is None:
            return None
        return _Key(turn.model.identity, prompt.ids)

    @property
    def _is_ours(self) -> bool:
        return self._run is not None and self._run.key == self._key

    def _hindered_by_model(self, model: ModelRef, author: str, tokens: int) -> Sentence | None:
        loaded, phase = self._session.model, self._session.phase
        if phase in ("starting", "loading"):
            return _LOADING
        if loaded is None or self._session.ref is None:
            return translate(
                "PromptScores", "No model is loaded. Load “{name}”, which wrote this answer.", name=author
            )
        if self._session.ref.identity != model.identity:
            return translate(
                "PromptScores",
                "Another model is loaded. Load “{name}”, which wrote this answer: only it can tell.",
                name=author,
            )
        if tokens > loaded.context:
            return translate(
                "PromptScores",
                "The prompt has {tokens:,} tokens, and the context holds {cells:,} now. Load the model with a larger one.",
                tokens=tokens,
                cells=loaded.context,
            )
        return None

    def _hindered_by_work(self) -> Sentence | None:
        if self._run is not None:
            return None if self._is_ours else _ANOTHER
        return wait_for(self._session.opened()) if self._session.phase == "busy" else None

    def _follow(self, event: ScoringEvent) -> None:
        run = self._run
        if run is None or event.request != run.request:
            return
        match event:
            case ScoreProgress():
                run.done = event.done
            case PromptScored():
                self._run = None
                self._known[run.key] = ScoredPrompt(event)
                while len(self._known) > KEPT_PROMPTS:
                    self._known.popitem(last=False)
            case Failed():
                self._run = None
                if event.kind != "cancelled":
                    self._problem = run.key, event.sentence
        self.changed.emit()


_NO_ANSWER = translate("PromptScores", "There is no answer to look at yet. Send a message first.")
_NO_PROMPT = translate("PromptScores", "The prompt of this answer is not known, so nothing can be said of it.")
_UNKNOWN_MODEL = translate("PromptScores", "Which model wrote this answer was not kept, and only that one can tell.")
_TOO_SHORT = translate("PromptScores", "The prompt has a single token, and before it there is nothing.")
_LOADING = translate("PromptScores", "A model is being loaded. Ask again when it is ready.")
_ANOTHER = translate("PromptScores", "Another prompt is being read at the moment. Ask again when that has ended.")

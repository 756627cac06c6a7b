"""Writes an answer once more and tells how far it is the same: with its own prompt, settings and seed.

Takes its turn among the questions; nothing of it is kept, and no message is written. Must not know how it is shown.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import msgspec

from app.core.commands import Reproduce
from app.core.conversation import AnswerPrompt
from app.core.events import Failed, Finished, Loaded, LoadProgress, PrefillProgress, PromptReady, Tokens
from app.core.model import LoadOptions, ModelRef
from app.core.ports import StorePort
from app.core.replay_events import Reproduced
from app.core.signal import Signal
from app.core.store_commands import ReadPrompt, ReadRecord
from app.core.store_events import PromptRead, RecordRead
from app.core.words import Sentence, translate
from app.services.chat import Chat
from app.services.conversations import Conversations
from app.services.engine_session import EngineSession
from app.services.larger_context import in_steps, larger_context
from app.services.models import Models
from app.services.questions import Replay, ReplayEvent
from app.services.reproduction import Circumstances, Offer, Phase, Reproduction, nearness, outcome
from app.services.reread_prompt import stretches_of, tokens_before, written_before
from app.services.turns import Turn
from app.services.vocabulary import Vocabulary
from app.services.wishes import Wish

_ID_BYTES = 4


@dataclass
class _Run:
    """One answer that is written once more, as it was when that was asked for."""

    message: int
    """What the answer is kept as; its turn is another one when its conversation is opened again."""
    conversation: int
    is_listed: bool
    """Whether its conversation stands in the list."""
    written: tuple[bool, ...]
    """Of the messages before it, oldest first: whether a model wrote them."""
    ids: bytes
    finished: Finished
    seed: int
    model: ModelRef
    loads: bool
    """Whether the model that wrote it is loaded first."""
    then: Circumstances = ""
    """What was otherwise when it was written, as far as its turn knows."""
    request: int = 0
    """The open question to the store or the engine."""
    prompt: AnswerPrompt | None = None
    is_asked: bool = False
    """Whether it has its place among the questions."""

    @property
    def total(self) -> int:
        """How many tokens the answer has."""
        return len(self.ids) // _ID_BYTES


class Reproducing:
    """One reproduction at a time, and what came of those before."""

    def __init__(
        self,
        session: EngineSession,
        store: StorePort,
        vocabulary: Vocabulary,
        chat: Chat,
        conversations: Conversations,
        models: Models,
    ) -> None:
        self.changed: Signal[int] = Signal()
        """Something else is known of the answer of a message."""
        self._session = session
        self._store = store
        self._vocabulary = vocabulary
        self._chat = chat
        self._conversations = conversations
        self._models = models
        self._run: _Run | None = None
        self._known: dict[int, tuple[bytes, Reproduction]] = {}
        """By message: the tokens of the answer that it is about, and what is known."""
        session.replayed.connect(self._follow)
        session.load_told.connect(self._take_load)
        chat.rebranched.connect(lambda _first: self._look_for_it())
        conversations.changed.connect(self._look_for_it)

    def of(self, turn: Turn) -> Reproduction | None:
        """Return what is known of a turn; nothing once it is another answer than the one that was written again."""
        ids, known = self._known.get(turn.message, (b"", None))
        return known if known is not None and ids == turn.ids else None

    def hindrance(self, turn: Turn) -> Sentence | None:
        """Return why an answer cannot be reproduced, in one sentence; None where it can be tried."""
        finished = turn.finished
        if turn.state in ("waiting", "writing"):
            return _OPEN
        if finished is None:
            return _EDITED if turn.edited else _INTERRUPTED
        if not turn.ids:
            return _NOTHING
        if finished.seed is None or not finished.settings:
            return _UNSEEDED
        if turn.model is None:
            return _UNKNOWN_MODEL
        return _ANOTHER if self._run is not None else None

    def begin(self, turn: Turn, *, loads: bool = False) -> bool:
        """Write an answer once more; False where that cannot even be tried. `loads` has its model loaded first."""
        finished, model = turn.finished, turn.model
        if self.hindrance(turn) is not None or finished is None or finished.seed is None or model is None:
            return False
        is_missing = not self._has(model)
        shown = self._chat.shown
        run = _Run(
            turn.message,
            shown.head.id,
            self._lists(shown.head.id),
            written_before(shown, turn),
            turn.ids,
            finished,
            finished.seed,
            model,
            loads=loads and is_missing,
            then="beside" if turn.was_lane else "",
        )
        self._run = run
        if not loads and is_missing:
            name = turn.author or Path(model.path).stem
            refusal = translate(
                "Reproducing",
                "Only the model that wrote this answer can write it again: “{name}” is not loaded.",
                name=name,
            )
            self._fail(run, refusal, "load_model" if model.path else None)
            return True
        self._tell(run, "waiting", 0, run.total)
        run.request = self._session.new_request()
        self._store.send(ReadPrompt(run.request, run.message))
        return True

    def cancel(self) -> None:
        """End the reproduction that goes on, in whatever phase it is."""
        run = self._run
        if run is None:
            return
        if run.is_asked:
            self._session.cancel(run.request)
        else:
            self._end(run, Reproduction(run.message, "stopped", sentences=(_STOPPED,)))

    def dismiss(self, turn: Turn) -> None:
        """Forget what came of an answer."""
        known = self._known.get(turn.message)
        if known is not None and not known[1].is_open:
            del self._known[turn.message]
            self.changed.emit(turn.message)

    def take(self, event: PromptRead | RecordRead) -> None:
        """Take in what the store knows of the answer; what nobody waits for any more is ignored."""
        run = self._run
        if run is None or run.is_asked or event.request != run.request:
            return
        if isinstance(event, PromptRead):
            self._take_prompt(run, event.prompt)
        elif run.prompt is not None:
            self._ask(run, run.prompt, event.blocks)

    def _look_for_it(self) -> None:
        """End what goes on where the answer was deleted: nobody sees its card any more.

        A message goes only out of the conversation that is open, a conversation out of the list.
        """
        run, shown = self._run, self._chat.shown
        if run is None:
            return
        if shown.head.id == run.conversation:
            is_gone = run.message not in shown.known
        else:
            is_gone = run.is_listed and not self._lists(run.conversation)
        if is_gone:
            self.cancel()

    def _lists(self, conversation: int) -> bool:
        return any(head.id == conversation for head in self._conversations.heads)

    def _has(self, model: ModelRef) -> bool:
        loaded = self._session.ref
        return loaded is not None and loaded.identity == model.identity

    def _take_prompt(self, run: _Run, prompt: AnswerPrompt | None) -> None:
        if prompt is None:
            self._fail(run, _NO_PROMPT)
            return
        run.prompt = prompt
        if (refusal := self._too_small(run, prompt)) is not None:
            self._fail(run, refusal, "larger_context")
            return
        run.request = self._session.new_request()
        self._store.send(ReadRecord(run.request, run.message))

    def _too_small(self, run: _Run, prompt: AnswerPrompt) -> Sentence | None:
        """Return that the context cannot hold it, where its model is loaded."""
        model, needed = self._session.model, tokens_before(prompt) + run.total
        if model is None or not self._has(run.model) or needed <= model.context:
            return None
        return translate(
            "Reproducing",
            "Prompt and answer have {needed} tokens, and the context holds {cells} now: load the model with a "
            "larger one.",
            needed=needed,
            cells=model.context,
        )

    def _take_load(self, event: Loaded | LoadProgress | Failed) -> None:
        """Look at the context that its model has now, before the engine gets it."""
        run = self._run
        if run is None or run.prompt is None or not isinstance(event, Loaded):
            return
        if (refusal := self._too_small(run, run.prompt)) is not None:
            self._fail(run, refusal, "larger_context")
            if run.is_asked:
                self._session.cancel(run.request)  # it still waits: what is heard of it is nobody's any more

    def _ask(self, run: _Run, prompt: AnswerPrompt, record: tuple[bytes, ...]) -> None:
        """Let it take its turn, once its model is there."""
        before = tokens_before(prompt)
        run.request, run.is_asked = self._session.new_request(), True
        command = Reproduce(
            request=run.request,
            prompt=prompt.ids[: before * _ID_BYTES],
            ids=run.ids,
            settings=run.finished.settings,
            seed=run.seed,
            sent_ns=0,
            given=len(prompt.ids) // _ID_BYTES - before,
            spans=tuple(span for span in prompt.spans if span.part != "answer"),
            record=record,
            stretches=stretches_of(prompt, run.written, min(run.finished.metrics.prompt_tokens_from_cache, before)),
        )
        if run.loads:
            entry = self._models.entry_of(run.model.path, run.model)  # its file may have another name by now
            self._session.use(Wish(Path(entry.path if entry is not None else run.model.path)))
        self._session.ask(Replay(command, run.model))

    def _follow(self, event: ReplayEvent) -> None:
        run = self._run
        if run is None or not run.is_asked or event.request != run.request:
            return
        match event:
            case PromptReady():
                self._tell(run, "reading", 0, len(event.ids) // _ID_BYTES)
            case PrefillProgress():
                self._tell(run, "reading", event.done, event.total)
            case Tokens():
                first = run.finished.settings[0].token
                self._tell(run, "comparing", min(first + event.first + event.count, run.total), run.total)
            case Reproduced():
                options = self._session.model.options if self._session.model is not None else LoadOptions()
                self._end(run, self._outcome(run, event, nearness(options)))
            case Failed():
                self._take_failed(run, event)

    def _outcome(self, run: _Run, event: Reproduced, near: float) -> Reproduction:
        ended, reused = run.finished.stop_reason, run.finished.metrics.prompt_tokens_from_cache
        text_of = self._vocabulary.text
        return outcome(
            run.message, event, run.total, ended, near, text_of, then=run.then or ("warm" if reused else "")
        )

    def _take_failed(self, run: _Run, event: Failed) -> None:
        if event.kind == "cancelled":
            self._end(run, Reproduction(run.message, "stopped", sentences=(_STOPPED,)))
        else:
            self._fail(run, event.sentence, "larger_context" if event.kind == "prompt_too_long" else None)

    def _fail(self, run: _Run, sentence: Sentence, offer: Offer | None = None) -> None:
        self._end(run, Reproduction(run.message, "failed", sentences=(sentence,), offer=offer))

    def _end(self, run: _Run, reproduction: Reproduction) -> None:
        self._run = None
        if reproduction.offer == "larger_context" and run.prompt is not None:
            reproduction = msgspec.structs.replace(reproduction, context=self._context(run, run.prompt))
        self._put(run, reproduction)

    def _context(self, run: _Run, prompt: AnswerPrompt) -> int | None:
        """Return a context that holds prompt and answer, beyond the training where they were there already."""
        model, needed = self._session.model, tokens_before(prompt) + run.total
        if model is None:
            return None
        return larger_context(needed, model.context, model.trained_context) or in_steps(needed + 1)

    def _tell(self, run: _Run, phase: Phase, done: int, total: int) -> None:
        self._put(run, Reproduction(run.message, phase, done, total))

    def _put(self, run: _Run, reproduction: Reproduction) -> None:
        self._known[run.message] = run.ids, reproduction
        self.changed.emit(run.message)


_OPEN = translate("Reproducing", "This answer is still being written.")
_EDITED = translate("Reproducing", "A person wrote or changed this answer, so no draw leads to it.")
_INTERRUPTED = translate("Reproducing", "This answer was interrupted before all of its settings were kept.")
_NOTHING = translate("Reproducing", "The model wrote nothing of this answer.")
_UNSEEDED = translate("Reproducing", "The seed or the settings of this answer were not kept.")
_UNKNOWN_MODEL = translate("Reproducing", "Which model wrote this answer was not kept.")
_ANOTHER = translate("Reproducing", "Another answer is being reproduced at the moment.")
_NO_PROMPT = translate("Reproducing", "The prompt of this answer was not kept, so it cannot be written again.")
_STOPPED = translate("Reproducing", "Stopped before a token was compared.")

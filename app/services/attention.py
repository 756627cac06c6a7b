"""Which earlier tokens the model looked at when it read one token: asked of the engine when somebody wants to know.

Looks at the prompt and answer that `inspecting` looks at, or at an example that needs no chat. Takes its turn among the
questions, one pass at a time; what was found of the last few tokens is kept in memory alone. Must not know how it is shown.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

from app.core.attention import AttentionProgress, AttentionRead
from app.core.commands import ReadAttention, Tokenize
from app.core.events import Failed, Tokenized
from app.core.ports import EnginePort
from app.core.signal import Signal
from app.core.words import Sentence
from app.services import attention_words as words
from app.services.attention_cost import AttentionCost, PassSpeed, ReadingSpeed, computed, cost_of
from app.services.attention_rows import AttentionRows
from app.services.attention_text import EXAMPLE, AttentionText, example_place, text_of_answer, text_of_example
from app.services.engine_session import EngineSession
from app.services.engine_work import wait_for
from app.services.inspecting import Inspecting
from app.services.open_answer import why_open
from app.services.pass_source import PassSource, source_of
from app.services.questions import Scoring, ScoringEvent
from app.services.vocabulary import Vocabulary

KEPT_BYTES = 64 << 20
"""Of so many bytes of rows the last ones are kept, and always those of the newest pass."""


ReadOf = Literal["this", "answer", "another", "example"]
"""The text that is shown, the answer behind the example, another answer, or the example."""


class _Key(NamedTuple):
    """What the same attention belongs to: the same tokens up to one, read by the same model."""

    model: str
    ids: bytes


@dataclass
class _Run:
    """The pass that goes on."""

    key: _Key
    request: int
    source: PassSource | None
    """None for the example."""
    done: int = 0


class Attention:
    """One token at a time is selected; `begin` reads what it looked at."""

    def __init__(
        self, session: EngineSession, engine: EnginePort, inspecting: Inspecting, vocabulary: Vocabulary
    ) -> None:
        self.changed: Signal[()] = Signal()
        """Another text or token is selected, more is known of it, or whether it can be read."""
        self._session = session
        self._engine = engine
        self._inspecting = inspecting
        self._vocabulary = vocabulary
        self._answer: AttentionText | None = None
        self._example: AttentionText | None = None
        self._shows_example = False
        self._asked = 0
        """The request that tokenises the example; 0 for none."""
        self._reads = False
        """Whether somebody asked for the example to be read, which waits for its tokens."""
        self._token: int | None = None
        self._run: _Run | None = None
        self._known: OrderedDict[_Key, AttentionRows] = OrderedDict()
        self._prompts: dict[_Key, int] = {}
        """How long the prompt was of the text that was read for: a later text may begin with the same tokens."""
        self._problem: tuple[_Key, Sentence] | None = None
        self._example_problem: Sentence | None = None
        """Why the example has no tokens."""
        self._speed = PassSpeed()
        self.progress_of: Callable[[], ReadOf] = self._read_of
        self.reading = ReadingSpeed(session, inspecting)
        session.scored.connect(self._follow)
        session.changed.connect(self._look_at_session)
        inspecting.chat.deleted.connect(self._end_deleted)
        for signal in (inspecting.opened, inspecting.changed):
            signal.connect(self._take_answer)
        inspecting.token_changed.connect(self._take_token)
        vocabulary.changed.connect(self._take_words)

    @property
    def text(self) -> AttentionText | None:
        """The tokens that are shown; None while there are none."""
        return self._example if self._shows_example else self._answer

    @property
    def shows_example(self) -> bool:
        """Whether the example stands in place of the answer."""
        return self._shows_example

    @property
    def token(self) -> int | None:
        """The token whose attention is asked for, counted from 0 in `text`; None for none."""
        text = self.text
        return self._token if text is not None and self._token is not None and self._token < len(text.ids) else None

    @property
    def rows(self) -> AttentionRows | None:
        """What the selected token looked at; None where nobody asked for it yet."""
        key = self._key
        return self._known.get(key) if key is not None else None

    @property
    def progress(self) -> tuple[int, int] | None:
        """How many tokens were read, and how many there are to read; None where no pass goes on.

        Also where another token is selected meanwhile: there is one pass at a time, and it can be cancelled.
        """
        run = self._run
        return (run.done, len(run.key.ids) // 4) if run is not None else None

    def _read_of(self) -> ReadOf:
        """Whose tokens the pass that goes on reads, seen from what is shown."""
        run = self._run
        if run is None or run.key == self._key:
            return "this"
        if run.source is None:
            return "this" if self._shows_example else "example"
        is_answer = run.source == source_of(self._inspecting)
        return ("answer" if self._shows_example else "this") if is_answer else "another"

    @property
    def problem(self) -> Sentence | None:
        """Why the last pass came to nothing; None where it did not, or where another token is selected."""
        if self._shows_example and self._example is None:
            return self._example_problem
        return self._problem[1] if self._problem is not None and self._problem[0] == self._key else None

    @property
    def cost(self) -> AttentionCost | None:
        """What a pass would take; None where no token is selected or no model is there."""
        model, token = self._session.model, self.token
        if model is None or token is None:
            return None
        return cost_of(model, token + 1, self._speed.of(computed(model)) or self.reading.of(token + 1))

    @property
    def hindrance(self) -> Sentence | None:
        """Return why attention cannot be read now, in one sentence; None where it can be tried."""
        return self._hindered_by_text() or self._hindered_by_work()

    @property
    def example_hindrance(self) -> Sentence | None:
        """Return why the example cannot be opened now; None where it can."""
        if self._session.phase in ("starting", "loading"):
            return words.LOADING
        return words.NO_MODEL if self._session.model is None or self._session.ref is None else None

    def select(self, token: int | None) -> None:
        """Select another token of the text."""
        text = self.text
        if text is not None and token is not None and not 0 <= token < len(text.ids):
            return
        if token != self._token:
            self._token = token
            self.changed.emit()

    def show_example(self) -> bool:
        """Show the example and read it at once; False where there is no model for it."""
        if self.example_hindrance is not None:
            return False
        self._tokenise_example(reads=True)
        return True

    def _tokenise_example(self, *, reads: bool) -> None:
        """Have the example's tokens told; its attention is read with them only where somebody asked for that."""
        self._shows_example, self._example, self._example_problem, self._token = True, None, None, None
        self._reads = reads
        self._asked = self._engine.new_request()
        self._engine.send(Tokenize(self._asked, EXAMPLE, as_prompt=True))
        self.changed.emit()

    def leave_example(self) -> None:
        """Show the answer again."""
        if self._shows_example:
            self._shows_example, self._example, self._asked, self._token = False, None, 0, None
            self._take_answer()
            self._choose_again()
            self.changed.emit()

    def begin(self) -> bool:
        """Have the attention of the selected token read; False where that cannot even be tried."""
        key, text, token = self._key, self.text, self.token
        if self.hindrance is not None or key is None or text is None or token is None or key in self._known:
            return False
        if self._run is not None:
            return False  # it goes on, and begins no second time
        self._problem = None
        source = None if self._shows_example else source_of(self._inspecting)
        self._run = _Run(key, self._session.new_request(), source)
        self._prompts[key] = text.prompt
        self._speed.begin(token + 1)
        command = ReadAttention(self._run.request, key.ids)
        self.changed.emit()
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

    def take(self, event: Tokenized | Failed) -> None:
        """Take in the tokens of the example, or why there are none."""
        if not self._asked or event.request != self._asked:
            return
        self._asked = 0
        ref, model = self._session.ref, self._session.model
        if isinstance(event, Failed):
            self._example_problem = event.sentence
        elif ref is not None and model is not None:
            self._example = text_of_example(event.ids, ref, model.name, self._vocabulary)
            self._token = example_place(self._example)
            if self._reads:
                self.begin()
            self._reads = False
        self.changed.emit()

    @property
    def _key(self) -> _Key | None:
        text, token = self.text, self.token
        return _Key(text.model.identity, text.packed(token)) if text is not None and token is not None else None

    def _hindered_by_text(self) -> Sentence | None:
        turn, text, token = self._inspecting.turn, self.text, self.token
        if text is None:
            if self._shows_example:
                return self.example_hindrance or words.TOKENISING
            if turn is None:
                return words.NO_MODEL if self._session.model is None else words.NO_ANSWER
            return why_open(turn) or words.NO_PROMPT
        if not self._shows_example and (open_words := why_open(turn)) is not None:
            return open_words
        return words.hindered_by_model(self._session, text, token or 0) or (words.NO_TOKEN if token is None else None)

    def _hindered_by_work(self) -> Sentence | None:
        if self._run is not None:
            return None if self._run.key == self._key else words.ANOTHER
        return wait_for(self._session.opened()) if self._session.phase == "busy" else None

    def _take_answer(self) -> None:
        """The answer that is looked at became another one, or more is known of it."""
        before, self._answer = self._answer, text_of_answer(self._inspecting)
        if self._shows_example:
            return
        is_other = (
            before is None or self._answer is None or before.ids[: before.prompt] != self._answer.ids[: before.prompt]
        )
        if is_other:
            self._choose_again()
        self.changed.emit()

    def _choose_again(self) -> None:
        """Choose the token that the page looks at; else that which is read, or was read last, of the text shown again."""
        text, self._token = self.text, None
        for key in (*((self._run.key,) if self._run is not None else ()), *reversed(self._known)):
            end = len(key.ids) // 4 - 1
            is_same = text is not None and text.prompt == self._prompts.get(key)
            if text is not None and is_same and _Key(text.model.identity, text.packed(end)) == key:
                self._token = end
                break
        self._take_token(self._inspecting.token)

    def _take_token(self, token: int | None) -> None:
        """Follow the token that is looked at elsewhere on the page."""
        if token is not None and self._answer is not None and not self._shows_example:
            self.select(self._answer.prompt + token)

    def _take_words(self) -> None:
        """Say what the example's tokens say, once somebody knows."""
        if self._example is not None and None in self._example.texts:
            text = self._example
            self._example = text_of_example(text.packed(len(text.ids)), text.model, text.author, self._vocabulary)
            self.changed.emit()

    def _look_at_session(self) -> None:
        """The example belongs to the model that is loaded; an engine that ended says nothing of it any more."""
        ref, text = self._session.ref, self._example
        if self._session.model is None or ref is None:
            self._asked = 0
        elif (
            self._shows_example
            and not self._asked
            and (text.model.identity != ref.identity if text is not None else self.problem is None)
        ):
            self._tokenise_example(reads=self._reads)
        self.changed.emit()

    def _follow(self, event: ScoringEvent) -> None:
        run = self._run
        if run is None or event.request != run.request:
            return
        match event:
            case AttentionProgress():
                run.done = event.done
            case AttentionRead():
                self._run = None
                if (model := self._session.model) is not None:
                    self._speed.end(computed(model))
                self._known[run.key] = AttentionRows(event, len(run.key.ids) // 4)
                self._forget_old()
            case Failed():
                self._run = None
                self._prompts.pop(run.key, None)
                if event.kind != "cancelled":
                    self._problem = run.key, event.sentence
        self.changed.emit()

    def _forget_old(self) -> None:
        while len(self._known) > 1 and sum(rows.nbytes for rows in self._known.values()) > KEPT_BYTES:
            key, _ = self._known.popitem(last=False)
            self._prompts.pop(key, None)

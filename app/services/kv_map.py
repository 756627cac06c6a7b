"""What the cells of the KV cache hold, token by token: whose they are, what reuse saved, what the next turn adds.

Follows what the engine says of every question, whichever conversation it belongs to: the cache is the engine's. Knows no
view; what it tells is worked out when somebody asks.
"""

from __future__ import annotations

from app.core.events import (
    Compared,
    Failed,
    Finished,
    Held,
    LaneFinished,
    LanesPlanned,
    LaneTokens,
    PrefillProgress,
    PromptReady,
    Tokens,
)
from app.core.metrics import MIN_PREFILL_TOKENS, KVUse
from app.core.model import ModelInfo
from app.core.replay_events import Reproduced
from app.core.signal import Signal
from app.services.answers import Answers
from app.services.engine_session import EngineSession
from app.services.kv_blocks import BlockUse, block_use
from app.services.kv_cells import (
    CellsHeld,
    CellToken,
    GivenBack,
    Saving,
    Stretch,
    answer_stretches,
    joined,
    prompt_stretches,
    with_lanes,
)
from app.services.kv_sum import ClassSum, class_sums, keeps_all, window_alone
from app.services.live import Live
from app.services.next_send import Count
from app.services.open_conversation import Run
from app.services.prompt_count import PromptCount
from app.services.questions import AnswerEvent, LanesEvent, Replay, ReplayEvent
from app.services.turns import Turn
from app.services.vocabulary import Vocabulary

_ID_BYTES = 4


class KVMap:
    """Follows the cells."""

    def __init__(
        self, session: EngineSession, answers: Answers, live: Live, count: PromptCount, vocabulary: Vocabulary
    ) -> None:
        self.changed: Signal[()] = Signal()
        """The cells hold something else, or more is known of what they hold."""
        self._session = session
        self._answers = answers
        self._live = live
        self._count = count
        self._vocabulary = vocabulary
        self._model: ModelInfo | None = None
        self._prompt: PromptReady | None = None
        self._is_again = False
        """Whether that was the prompt of an answer that is written once more."""
        self._ids = bytearray()
        """Of the chat's sequence: the prompt, and what is written behind it."""
        self._turn: Turn | None = None
        """The answer that they belong to; None where it is written once more, or in lanes."""
        self._used = 0
        """How many of them are in cells."""
        self._lanes: dict[int, bytearray] = {}
        """Tokens of the lanes that hold cells."""
        self._lanes_from: dict[int, int] = {}
        """The first position of each that a sliding window still has."""
        self._ended = GivenBack()
        self._limit = 0
        """The most tokens that the answer may have; 0 for as many as the context holds."""
        self._limits: tuple[int, ...] = ()
        """The same by lane."""
        self._dropped = 0
        self._rate: float | None = None
        self._held: CellsHeld | None = None
        self._whole: tuple[Stretch, ...] | None = None
        """The parts of the prompt, once all of it is in cells: they stay as they are while an answer is written."""
        session.answer_told.connect(self._take)
        session.replayed.connect(self._take)
        session.lanes_told.connect(self._take)
        session.changed.connect(self._look_at_model)
        for source in (count.changed, vocabulary.changed, live.changed):
            source.connect(self.changed.emit)

    @property
    def model(self) -> ModelInfo | None:
        """Whose cells they are; None without a model."""
        return self._model

    @property
    def held(self) -> CellsHeld:
        """What the cells hold now."""
        if self._held is None:
            self._held = self._work_out()
        return self._held

    @property
    def holds(self) -> str:
        """The title of the conversation whose tokens they are, where another one is shown."""
        return self._live.figures.kv_holds

    def is_as_at(self, turn: Turn) -> bool:
        """Return whether the cells are those of an answer: nothing was read or written since."""
        own = self._turn if not self._lanes and not self._ended.lanes else None
        return own is not None and (own is turn or 0 < own.message == turn.message)

    @property
    def bytes(self) -> tuple[int | None, int | None]:
        """What the cells in use take, and what was set aside for all."""
        held, cells = self.held, self._live.cells.in_use
        if self._model is None:
            return None, None
        return cells.bytes(held.used, cells.window_used(held.used, held.all_dropped)), cells.reserved

    @property
    def window_cells(self) -> int | None:
        """The cells of layers with a sliding window, as many as the context has now; None where there are none."""
        return self._live.cells.in_use.window_cells

    @property
    def saving(self) -> Saving | None:
        """What the last prompt found in the cells; None before there was one."""
        prompt = self._prompt
        if prompt is None:
            return None
        return Saving(len(prompt.ids) // _ID_BYTES, prompt.from_cache, self._rate, is_again=self._is_again)

    @property
    def ended(self) -> GivenBack | None:
        """What the lanes gave back whose prompt is in the cells; None where there were none, or where some are there."""
        return self._ended if self._ended.lanes and not self._lanes else None

    @property
    def next(self) -> Count:
        """What the next send takes."""
        return self._count.count

    @property
    def given_back(self) -> range:
        """The places of the chat's tokens that the next send gives back: its prompt does not begin with them."""
        count, held = self._count.count, self.held
        shares = count.shares
        if (
            shares is None
            or count.answering
            or count.refused
            or any(each.lane is not None for each in held.stretches)
        ):
            return range(0)
        return range(min(shares.cached, held.end), held.end)

    @property
    def blocks(self) -> BlockUse | None:
        """What the sequences would take in blocks, and as one reservation each; None where there is none."""
        model, prompt = self._model, self._prompt
        if model is None or prompt is None or not self.held.used:
            return None
        tokens = len(prompt.ids) // _ID_BYTES
        if self._lanes:
            limits = [self._limits[lane] if lane < len(self._limits) else 0 for lane in self._lanes]
            return block_use(self._used, [_cells(ids) for ids in self._lanes.values()], limits, model.context)
        read = min(tokens, self._used)
        return block_use(read, [self._used - read], [self._limit], model.context, whole=tokens)

    @property
    def sums(self) -> tuple[ClassSum, ...]:
        """How many bytes a token takes, by the classes of layers."""
        return class_sums(self._model) if self._model is not None else ()

    def token(self, stretch: Stretch, place: int) -> CellToken:
        """Return what is known of a place of a stretch of `held`, or of the same in blocks."""
        position = stretch.first + place - stretch.start
        is_lanes = stretch.owner == "lanes" and stretch.lane is not None
        ids = self._lanes.get(stretch.lane or 0, bytearray()) if is_lanes else self._ids
        at = (position - self._used if is_lanes else position) * _ID_BYTES
        is_dropped = position < (stretch.first + stretch.dropped if is_lanes else self.held.dropped)
        token = int.from_bytes(ids[at : at + _ID_BYTES], "little", signed=True) if at < len(ids) else None
        return CellToken(
            stretch,
            position,
            token,
            self._vocabulary.text(token) if token is not None else None,
            is_reused=not is_lanes and position < self.held.reused,
            is_dropped=is_dropped,
            is_gone=is_dropped and not keeps_all(self.sums),
        )

    def _work_out(self) -> CellsHeld:
        model, prompt = self._model, self._prompt
        if model is None:
            return CellsHeld()
        chat = self._chat_stretches(prompt) if prompt is not None else ()
        lanes = {lane: _cells(ids) for lane, ids in self._lanes.items()}
        return CellsHeld(
            cells=model.context,
            stretches=with_lanes(chat, lanes, self._lanes_from),
            reused=min(prompt.from_cache, self._used) if prompt is not None else 0,
            dropped=self._dropped,
            window_cells=self.window_cells if window_alone(model) is not None else None,
        )

    def _chat_stretches(self, prompt: PromptReady) -> tuple[Stretch, ...]:
        tokens = len(prompt.ids) // _ID_BYTES
        if self._used < tokens:
            return tuple(joined(prompt_stretches(prompt.spans, tokens, self._used)))
        if self._whole is None:
            self._whole = tuple(joined(prompt_stretches(prompt.spans, tokens, tokens)))
        if self._used == tokens:
            return self._whole
        thoughts = self._turn.thoughts if self._turn is not None else None
        behind = answer_stretches(tokens, self._used, thoughts.token_stretches if thoughts is not None else ())
        return (*self._whole[:-1], *joined(iter((*self._whole[-1:], *behind))))

    def _take(self, event: AnswerEvent | ReplayEvent | LanesEvent) -> None:
        match event:
            case PromptReady():
                self._begin(event)
            case PrefillProgress():
                self._read(event)
            case Tokens():
                self._ids += event.ids
                self._use(event.cells_used, event.window_from)
            case Held():
                self._hold(event)
            case LanesPlanned():
                self._limits = event.plan.limits
                self._use(self._used, event.prompt_from)
            case LaneTokens():
                self._lanes.setdefault(event.lane, bytearray()).extend(event.tokens.ids)
                self._lanes_from[event.lane] = event.tokens.window_from
                self._use(self._used, event.prompt_from)
            case LaneFinished():
                if (ids := self._lanes.pop(event.lane, None)) is not None:
                    self._ended = GivenBack(self._ended.lanes + 1, self._ended.cells + _cells(ids))
                self._use(self._used, event.prompt_from)
            case Finished():
                self._end(event.metrics.kv)
            case Reproduced() | Compared():
                self._end(event.kv)
            case Failed():
                self._fail(event)
            case _:
                return
        self._tell()

    def _begin(self, event: PromptReady) -> None:
        self._prompt, self._ids, self._limits = event, bytearray(event.ids), ()
        self._ended = GivenBack()
        self._lanes.clear()
        self._lanes_from.clear()
        self._whole = None
        run = next((each for each in self._answers.runs if each.request == event.request), None)
        self._turn = run.turn if run is not None else None
        self._limit = self._limit_of(event.request, run)
        asked = self._session.opened()
        self._is_again = isinstance(asked, Replay) and asked.request == event.request
        self._use(event.from_cache, event.window_from)

    def _read(self, event: PrefillProgress) -> None:
        self._use(event.done, event.window_from)
        prompt, evaluated = self._prompt, event.done - event.from_cache
        if prompt is not None and evaluated >= MIN_PREFILL_TOKENS and event.at_ns > prompt.at_ns:
            self._rate = evaluated / (event.at_ns - prompt.at_ns) * 1e9

    def _hold(self, event: Held) -> None:
        """The row of the next token is there, so all tokens before it are in cells: the last one told, too."""
        if self._prompt is not None and event.request == self._prompt.request:
            self._use(len(self._prompt.ids) // _ID_BYTES + event.token, event.window_from)

    def _use(self, used: int, first: int) -> None:
        """So many of the chat's positions are in cells; layers with a sliding window have those from `first` on."""
        self._used = used
        in_window = self._live.cells.in_use.window_used(used, first)
        self._dropped = 0 if in_window is None else used - in_window

    def _end(self, kv: KVUse) -> None:
        """Take over what the engine counted at the end of a question."""
        self._use(kv.cells_used, kv.cells_used - (kv.window_cells_used or 0))
        del self._ids[self._used * _ID_BYTES :]

    def _fail(self, event: Failed) -> None:
        """Nothing is known but that a prompt, or its beginning, is there."""
        if self._prompt is not None and event.request == self._prompt.request:
            self._lanes.clear()
            self._use(min(self._used, len(self._prompt.ids) // _ID_BYTES), self._dropped)

    def _limit_of(self, request: int, run: Run | None) -> int:
        """Return the most tokens that an answer may have; 0 where it may fill the context, or nobody knows."""
        asked = self._session.opened()
        if isinstance(asked, Replay) and asked.request == request:
            return asked.command.settings[-1].settings.validated().max_tokens
        return run.conversation.head.settings.validated().max_tokens if run is not None else 0

    def _look_at_model(self) -> None:
        model = self._session.model
        if model is self._model:
            return
        self._model, self._prompt, self._rate, self._whole = model, None, None, None
        self._ids.clear()
        self._lanes.clear()
        self._used = self._dropped = 0
        self._ended = GivenBack()
        self._tell()

    def _tell(self) -> None:
        self._held = None
        self.changed.emit()


def _cells(ids: bytearray) -> int:
    """Return the cells of a lane: its last token was drawn, and is evaluated with the next step."""
    return max(len(ids) // _ID_BYTES - 1, 0)

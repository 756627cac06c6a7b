"""Takes in what the engine says of a comparison's lanes: each grows, is kept and ends; whatever comes, no word is lost.

Knows no view, and not how comparisons begin.
"""

from __future__ import annotations

import msgspec

from app.core.comparison import SharedPrefill
from app.core.events import (
    Compared,
    Failed,
    LaneFinished,
    LanesPlanned,
    LaneTokens,
    PrefillProgress,
    PromptReady,
)
from app.core.signal import Signal
from app.core.thinking_tags import tag_pairs
from app.core.words import Sentence, translate
from app.services.engine_session import EngineSession
from app.services.failure_remedies import REMEDIES
from app.services.keeper import Keeper
from app.services.lane_keeper import LaneKeeper
from app.services.lanes_run import Lane, LanesRun
from app.services.notices import Notice, Notices
from app.services.questions import LanesEvent
from app.services.thinking import Thoughts
from app.system.settings_file import SettingsFile


class LanesFollower:
    """Follows one comparison."""

    def __init__(
        self,
        session: EngineSession,
        lane_keeper: LaneKeeper,
        keeper: Keeper,
        settings: SettingsFile,
        notices: Notices,
    ) -> None:
        self.lane_grew: Signal[int, int, str] = Signal()
        """A lane grew by a text: (comparison, lane, text)."""
        self.lane_changed: Signal[int, int] = Signal()
        """A lane is another one than it was: its state, or all of its text: (comparison, lane)."""
        self.changed: Signal[LanesRun] = Signal()
        """Something else is known of a comparison."""
        self.ended: Signal[LanesRun] = Signal()
        """All lanes of a comparison have ended."""
        self._session = session
        self._lane_keeper = lane_keeper
        self._keeper = keeper
        self._settings = settings
        self._notices = notices
        self._run: LanesRun | None = None
        session.lanes_told.connect(self._take)

    def follow(self, run: LanesRun) -> None:
        """Take in what is said of a comparison from now on."""
        self._run = run

    def give_up(self, run: LanesRun, reason: Sentence) -> None:
        """End a comparison at once, as it is: nothing that is still said of it counts."""
        for lane in run.lanes:
            if lane.is_open:
                self._interrupt(run, lane, reason)
        self._end(run)

    def _take(self, event: LanesEvent) -> None:
        run = self._run
        if run is None or event.request != run.request or not run.is_running:
            return
        match event:
            case PromptReady():
                self._take_prompt(run, event)
            case PrefillProgress():
                run.reading = event
                if event.done >= event.total:
                    self._keep(run, prefill=_prefill_of(run, event))
                else:
                    self.changed.emit(run)
            case LanesPlanned():
                self._keep(run, plan=event.plan)
                self._tell(event.notes)
            case LaneTokens():
                self._grow(run, event)
            case LaneFinished():
                self._finish(run, event)
            case Compared():
                self._keep(run, prefill=event.prefill)
                self._tell(event.notes if run.wrote else (*event.notes, _NOTHING))
                self._end(run)
            case Failed():
                self._fail(run, event)

    def _take_prompt(self, run: LanesRun, event: PromptReady) -> None:
        run.ready = event
        total = len(event.ids) // 4
        run.reading = PrefillProgress(run.request, event.from_cache, total, event.from_cache, event.at_ns)
        model = self._session.model
        pairs = tag_pairs(self._session.template, self._settings.values.thinking_tags)
        for lane in run.lanes:
            turn = lane.turn
            turn.author = self._session.name or turn.author
            turn.model, turn.tokenizer = self._session.ref, model.tokenizer if model is not None else ""
            turn.notes.extend(note for note in event.notes if note not in turn.notes)
            turn.dropped = len(event.dropped)
            turn.thoughts = Thoughts(pairs, opened=event.thinking_opened, sent_ns=run.began_ns)
            self._lane_keeper.prompt(turn, event)
        self._tell(event.notes)
        self.changed.emit(run)

    def _grow(self, run: LanesRun, event: LaneTokens) -> None:
        lane = _lane(run, event.lane)
        if lane is None or not lane.is_open:
            return
        turn, tokens = lane.turn, event.tokens
        run.reading, run.cells_used = None, tokens.cells_used
        lane.pace.add(tokens)
        turn.ids += tokens.ids
        if tokens.record:
            lane.record.append(tokens.record)
        if turn.thoughts is not None:
            turn.thoughts.take(tokens)
        self._lane_keeper.chunk(turn, tokens.text, tokens.ids, tokens.record)
        if turn.state == "waiting" and tokens.text:
            turn.state, turn.text = "writing", tokens.text
            self.lane_changed.emit(run.comparison.id, lane.index)
            return
        turn.text += tokens.text
        self.lane_grew.emit(run.comparison.id, lane.index, tokens.text)

    def _finish(self, run: LanesRun, event: LaneFinished) -> None:
        lane = _lane(run, event.lane)
        if lane is None or not lane.is_open:
            return
        turn, whole = lane.turn, event.finished
        text = whole.text.removeprefix(turn.text) if whole.text.startswith(turn.text) else ""
        ids = whole.ids.removeprefix(turn.ids) if whole.ids.startswith(turn.ids) else b""
        self._lane_keeper.chunk(turn, text, ids)
        if turn.thoughts is not None:
            turn.thoughts.finish(text)
        turn.state, turn.reason, turn.finished = "done", None, whole
        turn.text, turn.ids, turn.seed, turn.settings = whole.text, whole.ids, whole.seed, whole.settings
        turn.notes.extend(note for note in whole.notes if note not in turn.notes)
        self._keeper.keep_answer(run.conversation, turn)
        self.lane_changed.emit(run.comparison.id, lane.index)

    def _fail(self, run: LanesRun, event: Failed) -> None:
        run.failure = event.kind
        if event.kind != "cancelled":
            self._notices.post(Notice(event.sentence, remedy=REMEDIES.get(event.kind), details=event.details))
        self.give_up(run, event.sentence)

    def _interrupt(self, run: LanesRun, lane: Lane, reason: Sentence) -> None:
        """Let what was written of a lane stay."""
        turn = lane.turn
        turn.state, turn.reason = "interrupted", reason
        if turn.thoughts is not None:
            turn.thoughts.finish()
        self._keeper.keep_answer(run.conversation, turn)
        self.lane_changed.emit(run.comparison.id, lane.index)

    def _end(self, run: LanesRun) -> None:
        """Let a comparison go; one of which nothing was written is as if it had never been asked for.

        One whose question was deleted comes back with it, as it is.
        """
        run.is_running, run.reading = False, None
        self._run = None
        if not run.wrote and run.question.message in run.conversation.known:
            self._keeper.removed([turn.message for turn in run.turns])
            run.conversation.lanes.drop(run.comparison)
        self.ended.emit(run)

    def _keep(self, run: LanesRun, **changes: object) -> None:
        run.comparison = msgspec.structs.replace(run.comparison, **changes)
        run.conversation.lanes.put(run.comparison)
        self._lane_keeper.comparison(run.comparison)
        self.changed.emit(run)

    def _tell(self, notes: tuple[Sentence, ...]) -> None:
        for note in notes:
            self._notices.post(Notice(note, level="hint"))


def _lane(run: LanesRun, index: int) -> Lane | None:
    return next((lane for lane in run.lanes if lane.index == index), None)


def _prefill_of(run: LanesRun, event: PrefillProgress) -> SharedPrefill:
    """Return what the shared prefill was, as far as that is known before the comparison has ended."""
    took_ns = event.at_ns - run.ready.at_ns if run.ready is not None else 0
    return SharedPrefill(event.total, event.from_cache, event.total - event.from_cache, took_ns / 1e6)


_NOTHING = translate("Comparing", "The model had nothing to say in any lane, so there is nothing to compare.")

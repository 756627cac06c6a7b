"""What if one finished answer of a chat had been written with other settings: its record is replayed, without the model.

The answer is looked at as the one lane of a comparison that nobody keeps, so that reading and replaying are the same.
The work is done by the background jobs, which load numpy; knows no view.
"""

from __future__ import annotations

from copy import copy

import msgspec

from app.core.commands import SettingsChange
from app.core.comparison import Comparison
from app.core.job_events import LanesAnalysed
from app.core.ports import StorePort
from app.core.sampling import SamplingSettings
from app.core.signal import Signal
from app.core.store_events import PiecesRead, PromptRead, RecordRead
from app.core.words import Sentence, translate
from app.services.chat import Chat
from app.services.comparison_reads import ComparisonReads
from app.services.engine_session import EngineSession
from app.services.lane_analysis import LaneWhatIf
from app.services.lane_inputs import LaneInputs
from app.services.lanes_run import Lane, LanesRun
from app.services.latest_job import LatestJob
from app.services.open_conversation import OpenConversation
from app.services.turns import Turn
from app.services.vocabulary import Vocabulary
from app.system.jobs import Jobs

_LANE = 0
"""The one lane that the answer is."""


class AnswerWhatIf:
    """The answer that somebody looks at under other settings, and what came of the newest ones."""

    def __init__(
        self, chat: Chat, session: EngineSession, store: StorePort, vocabulary: Vocabulary, jobs: Jobs
    ) -> None:
        self.changed: Signal[()] = Signal()
        """Something else is known, another answer is looked at, or none any more."""
        self._chat = chat
        self._session = session
        self._store = store
        self._vocabulary = vocabulary
        self._reads: ComparisonReads | None = None
        self._wished: SamplingSettings | None = None
        """What somebody asked for last."""
        self._is_granted = True
        self._found: LaneWhatIf | None = None
        self._problem: Sentence | None = None
        self._replaying: LatestJob[LaneWhatIf] = LatestJob(jobs, "what if of an answer", self._take_found)
        chat.opened.connect(self._look)
        chat.rebranched.connect(lambda _first: self._look())
        chat.changed.connect(lambda _turn: self._look())
        vocabulary.changed.connect(self._take_vocabulary)

    @property
    def shown(self) -> Lane | None:
        """The answer that is looked at, as a lane; None while none is."""
        return self._reads.run.lanes[_LANE] if self._reads is not None else None

    @property
    def found(self) -> LaneWhatIf | None:
        """What came of the newest settings; None before anything did."""
        return self._found

    @property
    def problem(self) -> Sentence | None:
        """Why the newest settings came to nothing; None where they did not."""
        return self._problem

    @property
    def is_busy(self) -> bool:
        """Whether something is being read or worked out."""
        return (self._reads is not None and not self._reads.is_whole) or self._replaying.is_busy

    def hindrance(self, turn: Turn) -> Sentence | None:
        """Return why an answer cannot be replayed, in one sentence; None where it can be tried."""
        if turn.state in ("waiting", "writing"):
            return _OPEN
        if turn.edited and turn.finished is None:
            return _EDITED
        if not turn.ids:
            return _NOTHING
        return None if changes_of(turn) else _NO_SETTINGS

    def open(self, turn: Turn) -> bool:
        """Look at an answer of the chat that is shown; False where that cannot even be tried."""
        if self.hindrance(turn) is not None:
            return False
        self._forget()
        run = _run_of(turn, self._chat.shown)
        self._reads = ComparisonReads(run, self._session, self._store, self._vocabulary)
        self._reads.begin()
        self.changed.emit()
        return True

    def close(self) -> None:
        """Look at nothing any more."""
        if self._reads is not None:
            self._forget()
            self.changed.emit()

    def ask(self, settings: SamplingSettings) -> None:
        """Have the record replayed under other settings; `found` is the newest that was asked for."""
        self._wished, self._is_granted = settings, False
        self._grant()

    def take_read(self, event: RecordRead | PromptRead | PiecesRead) -> None:
        """Take in what the store knows of the answer."""
        if self._reads is not None and self._reads.take(event):
            self._grant()

    def take(self, event: LanesAnalysed) -> None:
        """Take in what a job has found."""
        self._replaying.take(event)

    def _forget(self) -> None:
        self._replaying.forget()
        self._reads = self._wished = self._found = self._problem = None
        self._is_granted = True

    def _look(self) -> None:
        """Leave the answer once it is deleted, goes on or is not of the chat that is shown."""
        lane = self.shown
        if lane is None:
            return
        then, there = lane.turn, self._chat.shown.known.get(lane.turn.message)
        is_open = there is None or there.state in ("waiting", "writing")
        if there is None or is_open or (there.text, there.ids) != (then.text, then.ids):
            self.close()

    def _take_vocabulary(self) -> None:
        """Say where the tokens stand, once somebody knows what they say."""
        if self._reads is not None and self._wished is not None and self._reads.lacks_pieces:
            self.ask(self._wished)

    def _grant(self) -> None:
        """Begin with what was asked for, once everything was read."""
        reads, settings = self._reads, self._wished
        if reads is None or settings is None or self._is_granted or not reads.is_whole:
            return
        self._is_granted = True
        inputs = reads.inputs()
        self._replaying.want(lambda: _replay(inputs, settings))
        self.changed.emit()

    def _take_found(self, made: LaneWhatIf | None) -> None:
        self._found = made
        self._problem = _FAILED if made is None else made.problem
        self.changed.emit()


def changes_of(turn: Turn) -> tuple[SettingsChange, ...]:
    """Return the settings that an answer was written with, in their order."""
    return turn.finished.settings if turn.finished is not None else turn.settings


def _run_of(turn: Turn, conversation: OpenConversation) -> LanesRun:
    """Return an answer as the one lane of a comparison; a copy, since the turn may go on."""
    still = copy(turn)
    lane = Lane(_LANE, still, changes_of(turn)[-1].settings)
    question = conversation.known.get(turn.parent) if turn.parent is not None else None
    comparison = Comparison(turn.message, conversation.head.id, turn.parent, turn.created_ms, (turn.message,))
    return LanesRun(0, conversation, comparison, question or still, [lane], is_running=False)


def _replay(inputs: LaneInputs, settings: SamplingSettings) -> LaneWhatIf | None:
    # Loads numpy, which costs 130 ms: the window's start need not wait for it.
    from app.services.analysing import record_kind, replayed, unrecorded  # noqa: PLC0415  loaded by the first job that needs it

    kind = record_kind(inputs, _LANE)
    if kind != "all":
        refusal = _CHOSEN_ONLY if kind == "chosen" else unrecorded(inputs, _LANE) or _NO_RECORD
        return msgspec.structs.replace(LaneWhatIf(inputs.comparison, _LANE, settings), problem=refusal)
    return replayed(inputs, _LANE, settings)


_OPEN = translate("AnswerWhatIf", "This answer is still being written.")
_EDITED = translate("AnswerWhatIf", "A person wrote or changed this answer, so no settings led to it.")
_NOTHING = translate("AnswerWhatIf", "The model wrote nothing of this answer.")
_NO_SETTINGS = translate("AnswerWhatIf", "The settings of this answer were not kept, so they cannot be changed.")
_NO_RECORD = translate(
    "AnswerWhatIf",
    "Nothing was recorded of this answer, so it cannot be replayed: choose “All likely candidates” under "
    "“Save for each token” in the preferences, and answer again.",
)
_CHOSEN_ONLY = translate(
    "AnswerWhatIf",
    "Only the chosen tokens of this answer were recorded, so it cannot be replayed: choose “All likely candidates” "
    "under “Save for each token” in the preferences, and answer again.",
)
_FAILED = translate("AnswerWhatIf", "The answer could not be replayed; the log has the details.")

"""The sampler laboratory: what each stage of the chain does to one step, under settings that people try out.

It looks at the newest step of the answer that is written, at one that it holds still, at the next token of an answer that
waits, or at a token of an answer as it is kept. Nothing that is tried here touches the chat before somebody wants it.
The work is done by the background jobs, which load numpy; knows no view.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import msgspec

from app.core.job_events import LanesAnalysed
from app.core.sampling import STAGE_FIELDS, SamplingSettings
from app.core.signal import Signal
from app.core.words import Sentence, translate
from app.services.chat import Chat
from app.services.engine_session import EngineSession
from app.services.inspecting import Inspecting
from app.services.lab_focus import LabFocus
from app.services.lab_values import KeptStep, LabBench, LabPlace, LabResult, LabStep
from app.services.latest_job import LatestJob
from app.services.sampling import Sampling
from app.services.stage_order import StageOrder
from app.services.vocabulary import Vocabulary
from app.system.jobs import Jobs

SHAPING = (*(field for fields in STAGE_FIELDS.values() for field in fields), "order", "off")
"""The settings that the laboratory can change."""


class Laboratory(StageOrder):
    """One step at a time, and the newest cards of it; nothing is worked out while nobody looks."""

    def __init__(
        self,
        chat: Chat,
        session: EngineSession,
        sampling: Sampling,
        vocabulary: Vocabulary,
        inspecting: Inspecting,
        jobs: Jobs,
        want_rows: Callable[[bool], None],
    ) -> None:
        """`want_rows` has the engine tell its steps with all of their rows, or no longer."""
        self.changed: Signal[()] = Signal()
        """Other cards, other settings, another step, or none any more."""
        self._chat = chat
        self._sampling = sampling
        self._vocabulary = vocabulary
        self._want_rows = want_rows
        self._is_watched = False
        self._bench: LabBench | None = None
        """What is looked at."""
        self._tried: dict[str, object] | None = None
        """What somebody tries out of `SHAPING`; None where nothing is."""
        self._tried_in: int | None = None
        """In which answer, by its message; None where it was in none."""
        self._result: LabResult | None = None
        self._shown: LabBench | None = None
        """What the result is of: cards never stand under the name of another step."""
        self._working: LatestJob[_Worked] = LatestJob(jobs, "sampler cards", self._take_result)
        self._told: tuple[LabPlace | None, bool, bool] = (None, False, True)
        chat.opened.connect(self._leave)  # before its other steps are looked at
        self.focus = LabFocus(chat, session, inspecting)
        """Which step is looked at."""
        self.focus.changed.connect(self._look)
        sampling.changed.connect(self._follow_chat)
        vocabulary.changed.connect(self._take_vocabulary)

    @property
    def result(self) -> LabResult | None:
        """The newest cards; None before there are any."""
        return self._result

    @property
    def place(self) -> LabPlace | None:
        """Which step the cards are of, before there are any which is looked at, and where it comes from; None without one."""
        bench = self._bench if self._result is None else self._shown
        return None if bench is None else LabPlace(self.focus.source_of(bench.step), bench.step.position)

    @property
    def reason(self) -> Sentence | None:
        """Why there are no cards; None where there are."""
        if self._result is not None:
            return self._result.problem
        if self._bench is None:
            if self.focus.can_follow:
                return _ELSEWHERE
            return _NOTHING if self._chat.shown.run is None else _WAITING
        return _READING

    @property
    def values(self) -> SamplingSettings:
        """The settings of the cards."""
        return self._own if self._tried is None else msgspec.structs.replace(self._own, **self._tried)

    @property
    def is_trying(self) -> bool:
        """Whether other settings are tried out than those of the token or of the chat."""
        return self._tried is not None

    @property
    def is_in_use(self) -> bool:
        """Whether the chat has the settings of the cards already."""
        return _shape_of(self.values) == _shape_of(self._sampling.values)

    @property
    def _own(self) -> SamplingSettings:
        """The settings of what is looked at: of a kept token its own, else those of the chat."""
        step = None if self._bench is None else self._bench.step
        given = step.inputs.lane(0) if isinstance(step, KeptStep) else None
        return given.settings_at(step.position) if given is not None and step is not None else self._sampling.values

    def watch(self, on: bool) -> None:
        """Say whether somebody looks."""
        if on != self._is_watched:
            self._is_watched = on
            self._look()

    def change(self, **changes: object) -> None:
        """Try other settings."""
        tried = msgspec.structs.replace(self.values, **changes).validated()
        self._try(_shape_of(tried))

    def reset(self) -> None:
        """Go back to the settings of the token, or of the chat."""
        self._try(_shape_of(self._own))

    def use_in_chat(self) -> None:
        """Let the chat have these settings, from its next token on."""
        wanted = _shape_of(self.values)
        if not isinstance(self._bench.step if self._bench is not None else None, KeptStep):
            self._tried = None
        self._sampling.change(**wanted)
        self.changed.emit()

    @property
    def is_busy(self) -> bool:
        """Whether cards are being worked out."""
        return self._working.is_busy

    def take(self, event: LanesAnalysed) -> None:
        """Take in what a job has found."""
        self._working.take(event)

    def _try(self, shape: dict[str, object]) -> None:
        before = self._tried
        self._tried = None if shape == _shape_of(self._own) else shape
        if self._tried != before:
            self._work()
            self.changed.emit()

    def _follow_chat(self) -> None:
        """The chat has other settings: nothing that is tried out changes by that."""
        if self._tried is None:
            self._work()
        self.changed.emit()

    def _leave(self) -> None:
        self._tried = self._tried_in = None

    def _take_vocabulary(self) -> None:
        """Read the tokens again; those of another tokenizer say nothing of the step that is looked at."""
        if self._vocabulary.known == 0:
            self.focus.forget()
        elif self._bench is not None:
            self._bench.pieces = self._vocabulary.table
            self._work()

    def _look(self) -> None:
        """Find out anew what is looked at."""
        self._want_rows(self._is_watched and self.focus.follows)
        step = self._wanted_step()
        if step is None:
            if self._bench is not None or self._result is not None:
                self._bench = self._result = None
                self._working.forget()
                self.changed.emit()
        elif self._bench is None or self._bench.step is not step:
            is_other_kind = self._bench is None or isinstance(self._bench.step, KeptStep) != isinstance(
                step, KeptStep
            )
            self._bench = LabBench(step, self._vocabulary.table)
            self._end_trial_of_others(step)
            if is_other_kind:
                self._result = None
            if self._tried == _shape_of(self._own):
                self._tried = None
            self._work()
            self.changed.emit()
        self._tell_state()

    def _end_trial_of_others(self, step: LabStep | KeptStep) -> None:
        """Let what was tried out end with its answer: the next one is shown as its own settings make it.

        Who looks at a kept token after another, of whichever answer, tries the same out at each.
        """
        message = self.focus.message_of(step)
        if isinstance(step, LabStep) and self._tried_in is not None and self._tried_in != message:
            self._tried = None
        self._tried_in = message

    def _wanted_step(self) -> LabStep | KeptStep | None:
        if not self._is_watched:
            return None
        has_cards = self._result is not None and self._result.cards is not None
        return self.focus.wanted(None if self._bench is None else self._bench.step, has_cards=has_cards)

    def _tell_state(self) -> None:
        """Say when the same step comes from elsewhere now, or something else can be done."""
        state = (self.place, self.focus.can_follow, self._chat.shown.run is None)
        if state != self._told:
            self._told = state
            self.changed.emit()

    def _work(self) -> None:
        bench, settings = self._bench, self.values
        if bench is not None:
            self._working.want(lambda: _Worked(bench, _result_of(bench, settings)))

    def _take_result(self, worked: _Worked | None) -> None:
        self._shown = self._bench if worked is None else worked.bench
        self._result = LabResult(None, {}, problem=_FAILED) if worked is None else worked.result
        self.changed.emit()


class _Worked(NamedTuple):
    """What a job has worked out, and of what."""

    bench: LabBench
    result: LabResult


def _shape_of(settings: SamplingSettings) -> dict[str, object]:
    return {name: getattr(settings, name) for name in SHAPING}


def _result_of(bench: LabBench, settings: SamplingSettings) -> LabResult:
    # Loads numpy, which costs 130 ms: the window's start need not wait for it.
    from app.services.lab_work import lab_result  # noqa: PLC0415  loaded by the first job that needs it

    return lab_result(bench, settings)


_NOTHING = translate(
    "Laboratory",
    "Click a token above, or send a message and watch its tokens being chosen.",
)
_ELSEWHERE = translate("Laboratory", "Click a token above, or follow the answer that is written.")
_WAITING = translate("Laboratory", "The next token of the answer shows here as soon as it comes.")
_READING = translate("Laboratory", "The step is being worked out …")
_FAILED = translate("Laboratory", "The cards could not be worked out; the log has the details.")

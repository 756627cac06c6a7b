"""Leads the fake engine through a comparison."""

from __future__ import annotations

from array import array

from app.core.chat import PromptSpan
from app.core.commands import Compare, SettingsChange
from app.core.comparison import LanePlan, SharedPrefill
from app.core.events import (
    Compared,
    Finished,
    LaneFinished,
    LanesPlanned,
    LaneTokens,
    PrefillProgress,
    PromptReady,
    Tokens,
)
from app.core.metrics import KVUse, StopReason
from tests.desk import Desk
from tests.fake_engine import CONTEXT, MILLISECOND_NS, metrics

PROMPT = 40
FROM_CACHE = 12


class LanesLead:
    """Says what an engine would say of the lanes that were asked for last."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._texts: dict[int, str] = {}
        self._counts: dict[int, int] = {}

    @property
    def asked(self) -> Compare:
        """The comparison that the engine has."""
        return self._desk.engine.all(Compare)[-1]

    def begin(self, plan: LanePlan | None = None) -> None:
        """Read the prompt and plan the lanes."""
        asked = self.asked
        self._texts, self._counts = {}, {}
        ids = array("i", range(PROMPT)).tobytes()
        spans = (PromptSpan(0, PROMPT, "prompt", 0),)
        say = self._desk.engine.say
        say(PromptReady(asked.request, ids, spans, FROM_CACHE, 0))
        say(PrefillProgress(asked.request, PROMPT, PROMPT, FROM_CACHE, 96 * MILLISECOND_NS))
        lanes = tuple(range(len(asked.lanes)))
        plan = plan or LanePlan((lanes,), (200,) * len(lanes))
        say(LanesPlanned(asked.request, plan, tuple(each.seed or 0 for each in asked.lanes)))
        self._desk.settle()

    def write(self, lane: int, text: str, count: int = 1, record: bytes = b"") -> None:
        """Let some tokens of a lane follow."""
        first = self._counts.get(lane, 0)
        self._counts[lane] = first + count
        self._texts[lane] = self._texts.get(lane, "") + text
        at_ns = (100 + 13 * self._counts[lane]) * MILLISECOND_NS
        ids = array("i", range(first, first + count)).tobytes()
        used = PROMPT + sum(max(each - 1, 0) for each in self._counts.values())
        request = self.asked.request
        tokens = Tokens(request, first, count, ids, text, record, used, at_ns, at_ns)
        self._desk.engine.say(LaneTokens(request, lane, tokens))
        self._desk.settle()

    def finish(self, lane: int, reason: StopReason = "end", rest: str = "") -> None:
        """Let a lane end."""
        request, settings = self.asked.request, self.asked.lanes[lane]
        count = self._counts.get(lane, 0)
        whole = Finished(
            request=request,
            text=self._texts.get(lane, "") + rest,
            ids=array("i", range(count)).tobytes(),
            stop_reason=reason,
            metrics=metrics(count),
            seed=settings.seed,
            settings=(SettingsChange(0, settings),),
        )
        self._desk.engine.say(LaneFinished(request, lane, whole))
        self._desk.settle()

    def end(self) -> None:
        """Let the comparison end."""
        prefill = SharedPrefill(PROMPT, FROM_CACHE, PROMPT - FROM_CACHE, 96.0, 110.0)
        self._desk.engine.say(Compared(self.asked.request, prefill, KVUse(PROMPT, CONTEXT, PROMPT * 23_040)))
        self._desk.settle()

    def all(self, *texts: str) -> None:
        """Let all lanes say something and end."""
        self.begin()
        for lane, text in enumerate(texts):
            self.write(lane, text)
        for lane in range(len(texts)):
            self.finish(lane)
        self.end()

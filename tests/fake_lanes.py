"""What an engine says of the lanes of a comparison, as a test wants it."""

from __future__ import annotations

from array import array
from collections.abc import Callable

from app.core.commands import Compare, SettingsChange
from app.core.comparison import MOST_AT_ONCE, HowRun, LanePlan, SharedPrefill
from app.core.events import (
    Compared,
    Event,
    Finished,
    LaneFinished,
    LanesPlanned,
    LaneTokens,
    PrefillProgress,
    PromptReady,
    Tokens,
)
from app.core.metrics import KVUse, Metrics, StopReason
from app.core.words import Sentence

MILLISECOND_NS = 1_000_000
CELLS = 4096


class FakeLanes:
    """Answers one `Compare`."""

    def __init__(self, command: Compare, say: Callable[[Event], None], metrics: Callable[[int], Metrics]) -> None:
        self.command = command
        self._say = say
        self._metrics = metrics
        self._texts = dict.fromkeys(range(len(command.lanes)), "")
        self._counts = dict.fromkeys(range(len(command.lanes)), 0)
        self._ids = {lane: array("i") for lane in self._counts}
        self._prompt, self._cached = 0, 0

    @property
    def open(self) -> list[int]:
        """The lanes that have not ended."""
        return list(self._counts)

    def prompt(self, tokens: int = 40, cached: int = 0, *, ms: int = 96, done: int | None = None) -> None:
        """Let the prompt be read, or only so many of its tokens."""
        self._prompt, self._cached = tokens, cached
        request, began = self.command.request, self.command.sent_ns
        self._say(PromptReady(request, array("i", range(tokens)).tobytes(), (), cached, began))
        self.reads(tokens if done is None else done, ms)

    def reads(self, done: int, ms: int = 96) -> None:
        """Let so many tokens of the prompt be read."""
        at_ns = self.command.sent_ns + ms * MILLISECOND_NS
        self._say(PrefillProgress(self.command.request, done, self._prompt, self._cached, at_ns))

    def plan(
        self,
        *,
        limit: int = 256,
        how: HowRun = "together",
        lowered: bool = False,
        most: int = MOST_AT_ONCE,
        notes: tuple[Sentence, ...] = (),
    ) -> None:
        """Let the lanes be planned, at most so many of them at once."""
        lanes = range(len(self.command.lanes))
        waves = tuple(tuple(lanes[first : first + most]) for first in range(0, len(lanes), most))
        plan = LanePlan(waves, (limit,) * len(lanes), how, lowered)
        seeds = tuple(settings.seed or 0 for settings in self.command.lanes)
        self._say(LanesPlanned(self.command.request, plan, seeds, notes))

    def write(
        self,
        lane: int,
        text: str,
        count: int = 1,
        step_ms: int = 20,
        *,
        token: int | None = None,
        record: bytes = b"",
    ) -> None:
        """Let some tokens of a lane follow, or one of which is told which it is."""
        first = self._counts[lane]
        ids = array("i", range(first, first + count) if token is None else (token,))
        self._ids[lane] += ids
        self._counts[lane] = first + count
        self._texts[lane] += text
        first_ns = self.command.sent_ns + (100 + first * step_ms) * MILLISECOND_NS
        cells = self._prompt + sum(max(each - 1, 0) for each in self._counts.values())
        last_ns = first_ns + (count - 1) * step_ms * MILLISECOND_NS
        tokens = Tokens(self.command.request, first, count, ids.tobytes(), text, record, cells, last_ns, first_ns)
        self._say(LaneTokens(self.command.request, lane, tokens))

    def finish(self, lane: int, reason: StopReason = "end", rest: str = "") -> None:
        """Let a lane end."""
        count, text = self._counts.pop(lane), self._texts[lane] + rest
        settings = self.command.lanes[lane]
        finished = Finished(
            request=self.command.request,
            text=text,
            ids=self._ids[lane].tobytes(),
            stop_reason=reason,
            metrics=self._metrics(count),
            seed=settings.seed,
            settings=(SettingsChange(0, settings),),
        )
        self._say(LaneFinished(self.command.request, lane, finished))

    def end(self, prefill_ms: float = 96.0, notes: tuple[Sentence, ...] = ()) -> None:
        """Let the comparison end; lanes that are open end first."""
        for lane in self.open:
            self.finish(lane)
        prefill = SharedPrefill(self._prompt, self._cached, self._prompt - self._cached, prefill_ms, 112.0)
        kv = KVUse(self._prompt, CELLS, self._prompt * 23_040)
        self._say(Compared(self.command.request, prefill, kv, notes))

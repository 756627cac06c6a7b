"""What the engine's events told of one answer while it was read and written: figures that nobody stores by themselves."""

from __future__ import annotations

from dataclasses import dataclass, field

from app.core.events import Finished, Held, PrefillProgress, PromptReady, Tokens
from app.core.metrics import MIN_PREFILL_TOKENS
from app.services.loop_values import LoopPrefill
from app.services.pace import Pace
from app.services.step_answer import first_of

_NS = 1e9


@dataclass
class LoopRun:
    """Grows with the events of its request, told in their order."""

    request: int
    prompt: PromptReady | None = None
    done: int = 0
    read_ns: int = 0
    cells_used: int | None = None
    tokens: int = 0
    is_held: bool = False
    held_at: int | None = None
    """The token that it waited for last."""
    is_stepped: bool = False
    """Whether it waits again, or is over, after somebody let one token follow."""
    _pace: Pace = field(default_factory=Pace)

    @property
    def first(self) -> int:
        """The place in its answer of the first token of this request."""
        return first_of(self.prompt) if self.prompt is not None else 0

    @property
    def tokens_per_s(self) -> float | None:
        """How fast the answer is written, on average: it becomes the figure that is kept of it."""
        return self._pace.mean_rate()

    @property
    def prefill(self) -> LoopPrefill | None:
        """How far the prompt is read; None before it is ready."""
        if self.prompt is None:
            return None
        total, new = len(self.prompt.ids) // 4, self.done - self.prompt.from_cache
        took = (self.read_ns - self.prompt.at_ns) / _NS
        speed = new / took if took > 0 and new >= MIN_PREFILL_TOKENS else None
        return LoopPrefill(self.done, total, self.prompt.from_cache, speed, self.first)

    def begin(self, event: PromptReady) -> None:
        """The prompt is ready."""
        self.prompt, self.done, self.cells_used = event, event.from_cache, event.from_cache

    def read(self, event: PrefillProgress) -> None:
        """More of the prompt is in the cache: one chunk, or several of which only the last is told."""
        if event.done > self.done:
            self.done, self.read_ns, self.cells_used = event.done, event.at_ns, event.done

    def write(self, event: Tokens) -> None:
        """Tokens were drawn."""
        self.is_held, self.cells_used = False, event.cells_used
        self.tokens = max(self.tokens, event.first + event.count)
        self._pace.add(event)

    def hold(self, event: Held) -> None:
        """The answer waits before its next token."""
        self.is_stepped = self.held_at is not None and event.token == self.held_at + 1
        self.is_held, self.held_at = True, event.token
        self.tokens = event.token
        if self.prompt is not None:  # the row is there, so all tokens before it are in cells
            self.cells_used = len(self.prompt.ids) // 4 + event.token

    def fail(self) -> None:
        """It was cut off: all that is known to be there is the prompt, or as much of it as was read."""
        self.is_held = False
        if self.prompt is not None and self.cells_used is not None:
            self.cells_used = min(self.cells_used, len(self.prompt.ids) // 4)

    def finish(self, event: Finished) -> None:
        """The answer is over, perhaps by the one token that it waited for, which need not say anything."""
        is_next = self.held_at is not None and self.tokens <= self.held_at + 1
        self.is_held, self.is_stepped = False, is_next and event.stop_reason != "cancelled"

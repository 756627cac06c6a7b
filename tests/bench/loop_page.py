"""What the picture of the loop costs the decode: the whole application with the page in sight, and without it.

The timeline of the same answer is measured beside it, in the same rounds.
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.bench.arithmetic import BenchError, Measurement
from tests.bench.decoding import rounds
from tests.bench.setting import Setting
from tests.bench.windows import SLICE_TOKENS, Window, opened

THREADS = 2
LEAST_PAINTS_PER_S = 1.0
"""The part is painted five times a second at most: below this it was not in sight, and nothing was measured."""


@dataclass
class PageOfWindow:
    """The window while it shows one of its pages."""

    window: Window
    page: str

    @property
    def process_id(self) -> int:
        """The process that evaluates."""
        return self.window.process_id

    def slice(self, seed: int) -> float:
        """Return the speed of one slice in tokens/s, by the engine's clock."""
        answer = self.window.ask(SLICE_TOKENS, seed, page=self.page)
        if "/" in self.page and answer["paints"] < LEAST_PAINTS_PER_S * answer["ns"] / 1e9:
            raise BenchError(f"The page {self.page} was painted {answer['paints']} times: it was not in sight.")
        return float(answer["steps"] / answer["ns"] * 1e9)


def decode_loop_page(setting: Setting) -> Measurement:
    """Measure decode while the loop is in sight and runs at full speed against the same window that shows the chat."""
    with opened(setting, THREADS) as window:
        closed, loop, time = (PageOfWindow(window, page) for page in ("chat", "inside/loop", "inside/time"))
        return rounds(closed, loop, closed, setting.seconds, {"time_part": time})

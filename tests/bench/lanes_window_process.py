"""The whole application in a process of its own, led through a comparison.

`python -m tests.bench.window_start tests.bench.lanes_window_process --fake-engine [SCRIPT]` with `TOKENLIGHT_HOME` set.
"""

from __future__ import annotations

import msgspec

from app.gui.main_window import MainWindow
from app.services.lane_starts import Lanes, lanes_for
from app.services.lanes_run import LanesRun
from app.services.program import Program
from tests.bench.window_process import Led


class LanesLed(Led):
    """Does what the parent asks with comparisons."""

    def __init__(self, window: MainWindow, program: Program) -> None:
        super().__init__(window, program)
        self._run: LanesRun | None = None
        self._beats = False
        program.comparing.lane_changed.connect(lambda _comparison, _lane: self._first_words())

    def compare(self, text: str, lanes: int) -> None:
        """Compare answers to a new question in so many lanes; tell how late the window was while they were written."""
        program, self._beats, self._run = self.program, False, None
        present = msgspec.structs.replace(program.sampling.values, max_tokens=0)
        program.comparing.begin(Lanes(lanes_for("seeds", present, lanes).settings), None, text)
        self._run = program.comparing.shown
        self._when(lambda: program.comparing.running is None, self._compared)

    def _first_words(self) -> None:
        """Let the heart beat from the first word on: what comes before is the page that opens."""
        run = self._run
        if run is not None and not self._beats and all(lane.turn.text for lane in run.lanes):
            self._beats = True
            self.heart.start()

    def _compared(self) -> dict[str, object]:
        self.heart.stop()
        run, page = self._run, self.window.page
        finished = [lane.turn.finished for lane in run.lanes] if run is not None else []
        rates = [each.metrics.decode_tokens_per_s or 0.0 for each in finished if each is not None]
        tokens = [each.metrics.sampled_tokens for each in finished if each is not None]
        return {"rates": rates, "tokens": tokens, "late_ms": self.heart.late_ms, "page": page}


LEADER = LanesLed

"""How fast this machine's memories are: measured by the engine when somebody asks, and kept in the settings.

Takes its turn among the questions. Must not know how it is shown.
"""

from __future__ import annotations

from collections.abc import Callable

from app.core.bandwidth import MemorySpeed
from app.core.commands import MeasureBandwidth
from app.core.devices import MAIN_MEMORY, MainMemory
from app.core.events import Failed
from app.core.machine_speed import KnownMemory
from app.core.model import ModelInfo
from app.core.operations import BandwidthMeasured
from app.core.signal import Signal
from app.core.words import Sentence, translate
from app.services.engine_session import EngineSession
from app.services.engine_work import wait_for
from app.services.questions import Scoring, ScoringEvent
from app.system.settings_file import SettingsFile

MOST_BYTES, SECONDS = 512 << 20, 2
"""What a measurement takes at most of a device's memory, and about how long it takes for each."""


class Bandwidth:
    """`begin` has every device measured; `known` is what came of it, now or at an earlier start."""

    def __init__(self, session: EngineSession, settings: SettingsFile, memory: Callable[[], MainMemory]) -> None:
        self.changed: Signal[()] = Signal()
        """A memory was measured, or whether one can be."""
        self._session = session
        self._settings = settings
        self._memory = memory
        self._request: int | None = None
        self._problem: Sentence | None = None
        session.scored.connect(self._follow)
        session.changed.connect(self.changed.emit)

    @property
    def known(self) -> dict[str, KnownMemory]:
        """By ggml's name of the device; what no memory can be is unknown."""
        return {name: each for name, each in self._settings.values.memory_speeds.items() if each.is_plausible}

    @property
    def is_measuring(self) -> bool:
        """Whether a measurement goes on, or waits for its turn."""
        return self._request is not None

    @property
    def problem(self) -> Sentence | None:
        """Why the last measurement came to nothing, or to less than all."""
        return self._problem

    @property
    def hindrance(self) -> Sentence | None:
        """Return why it cannot be measured now; None where it can."""
        if self._session.model is None or self._session.ref is None:
            return _NO_MODEL
        if self.is_measuring or self._session.phase == "busy":
            return wait_for(self._session.opened())
        return None

    def begin(self) -> bool:
        """Have the memory of every device measured, main memory with the threads of a decode; False where it cannot be."""
        model, ref = self._session.model, self._session.ref
        if self.hindrance is not None or model is None or ref is None:
            return False
        self._problem = None
        self._request = self._session.new_request()
        self._session.ask(Scoring(MeasureBandwidth(self._request, model.threads, self._memory()), ref))
        self.changed.emit()
        return True

    def cancel(self) -> None:
        """End the measurement that goes on."""
        if self._request is not None:
            self._session.cancel(self._request)

    def ceiling(self, model: ModelInfo) -> float | None:
        """Return the most that the memory gives which holds a model's weights, in 10^9 bytes/s.

        None where it was not measured, or only while other programs took from it, and where some layers lie in one memory
        and some in another.
        """
        if not model.gpu_layers:
            speeds = [self.known.get(MAIN_MEMORY)]
        elif model.gpu_layers > model.layers:
            speeds = [self.known.get(name) for name in model.devices if name != MAIN_MEMORY]
        else:
            return None
        measured = [speed.gb_per_s for speed in speeds if speed is not None and not speed.is_disturbed]
        return min(measured) if measured and len(measured) == len(speeds) else None

    def _follow(self, event: ScoringEvent) -> None:
        if event.request != self._request or not isinstance(event, (BandwidthMeasured, Failed)):
            return
        self._request = None
        if isinstance(event, Failed):
            self._problem = event.sentence if event.kind != "cancelled" else None
        else:
            found = {each.device: self._better(each) for each in event.speeds if each.gb_per_s is not None}
            reasons = [each.reason for each in event.speeds if each.reason is not None]
            is_kept = any(
                found[each.device].gb_per_s > round(each.gb_per_s, 2) for each in event.speeds if each.gb_per_s
            )
            self._problem = next(iter(reasons), _KEPT if is_kept else None)
            self._settings.change(memory_speeds={**self.known, **found})
        self.changed.emit()

    def _better(self, found: MemorySpeed) -> KnownMemory:
        """Return what is kept of a measurement: others only take something away, so that the better one counts."""
        new = KnownMemory(round(found.gb_per_s or 0.0, 2), found.threads, found.description, found.is_disturbed)
        old = self.known.get(found.device)
        is_same = old is not None and (old.threads, old.description) == (new.threads, new.description)
        return old if old is not None and is_same and found.is_disturbed and old.gb_per_s > new.gb_per_s else new


_KEPT = translate(
    "Bandwidth",
    "Other programs were busy, so the better figure of before is kept. Close them and measure again for a new one.",
)
_NO_MODEL = translate("Bandwidth", "Load a model first: its threads are those that read.")

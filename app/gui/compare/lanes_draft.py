"""The lanes of a comparison that is being set up: their settings, how they are laid out, and which is the baseline.

Plain state; who changes it shows it anew.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import msgspec

from app.core.comparison import MOST_AT_ONCE, Layout
from app.core.sampling import SamplingSettings
from app.services.lane_starts import Lanes, Start, another, lanes_for, with_seed

USUAL_TOKENS = 256
"""Of a lane, where the settings have no limit: answers beside each other are compared at a glance."""


class Removed(NamedTuple):
    """A lane that was taken away, and what there was with it."""

    place: int
    settings: SamplingSettings
    was_baseline: bool
    lanes: int
    """How many there were."""
    layout: Layout
    start: Start | None


class LanesDraft:
    """Two to eight lanes, or the cells of a grid."""

    def __init__(self, present: SamplingSettings) -> None:
        self.start: Start | None = None
        """The quick start that the lanes come from; None once somebody changed them."""
        self.present = present
        """What the lanes have where they do not differ."""
        self._settings: list[SamplingSettings] = []
        self._layout = Layout()
        self.baseline = 0
        """The lane that the others are compared with."""
        self.removed: list[Removed] = []
        """The lanes that can be brought back; the one that was taken away last stands last."""
        self.begin_with(present)

    @property
    def settings(self) -> tuple[SamplingSettings, ...]:
        """The settings of each lane."""
        return tuple(self._settings)

    @property
    def lanes(self) -> Lanes:
        """The lanes as they are asked for."""
        return Lanes(tuple(self._settings), self._layout, self.baseline)

    @property
    def max_tokens(self) -> int:
        """The longest answer of any lane; 0 is no limit."""
        limits = [each.max_tokens for each in self._settings]
        return 0 if 0 in limits else max(limits)

    @property
    def can_add(self) -> bool:
        """Whether there may be one more lane."""
        return len(self._settings) < MOST_AT_ONCE

    @property
    def can_remove(self) -> bool:
        """Whether more lanes are left than a comparison needs."""
        return len(self._settings) > 2

    def begin_with(self, present: SamplingSettings) -> None:
        """Begin anew with the settings that people have: steps of temperature."""
        limited = present.max_tokens or USUAL_TOKENS
        self.present = with_seed(msgspec.structs.replace(present, max_tokens=limited))
        self.use_start("temperature")
        self.begun = self.lanes
        """What it began with, before anybody set up anything else."""

    def use_start(self, start: Start, seeds: int = 4) -> None:
        """Take the lanes of a quick start."""
        self.use(lanes_for(start, self.present, seeds))
        self.start = start

    def use(self, lanes: Lanes) -> None:
        """Take other lanes."""
        self._settings, self._layout, self.baseline = list(lanes.settings), lanes.layout, lanes.baseline
        self.start = None
        self.removed = []

    def add(self) -> None:
        """Put one more lane behind the others: like the last one, with another seed."""
        more = another(self._settings) if self.can_add else None
        if more is not None:
            self._edit(lambda: self._settings.append(more))

    def duplicate(self, lane: int) -> None:
        """Put a lane with the same settings behind one."""
        if self.can_add:
            self._edit(lambda: self._settings.insert(lane + 1, self._settings[lane]))
            self.baseline += self.baseline > lane

    def remove(self, lane: int) -> None:
        """Take a lane away."""
        if self.can_remove:
            count, is_baseline = len(self._settings), self.baseline == lane
            gone = Removed(lane, self._settings.pop(lane), is_baseline, count, self._layout, self.start)
            self.removed.append(gone)
            self._layout, self.start = Layout(), None
            self.baseline = min(self.baseline - (self.baseline > lane), len(self._settings) - 1)

    def pin(self, lane: int) -> None:
        """Compare the others with a lane; one that comes back later leaves that as it is."""
        self.baseline = lane
        self.removed = [each._replace(was_baseline=False) for each in self.removed]

    def restore(self) -> int:
        """Put the lane that was taken away last back where it was; return its place."""
        gone = self.removed.pop()
        place = min(gone.place, len(self._settings))
        self._settings.insert(place, gone.settings)
        self.baseline = place if gone.was_baseline else self.baseline + (self.baseline >= place)
        self._layout, self.start = gone.layout, gone.start
        self._keep_removed(self.removed)
        return place

    def change(self, lane: int, settings: SamplingSettings) -> None:
        """Let a lane have other settings."""
        if settings != self._settings[lane]:
            self._edit(lambda: self._settings.__setitem__(lane, settings))

    def limit(self, tokens: int) -> None:
        """Let no lane have more tokens; 0 is no limit."""
        self.present = msgspec.structs.replace(self.present, max_tokens=tokens)
        self._settings = [msgspec.structs.replace(each, max_tokens=tokens) for each in self._settings]
        self.removed = [
            each._replace(settings=msgspec.structs.replace(each.settings, max_tokens=tokens)) for each in self.removed
        ]

    def _edit(self, edit: Callable[[], object]) -> None:
        """Change single lanes: they are no grid any more and no quick start's."""
        edit()
        self._layout, self.start = Layout(), None
        self._keep_removed([each._replace(layout=Layout(), start=None) for each in self.removed])

    def _keep_removed(self, removed: list[Removed]) -> None:
        """Forget lanes for which there is no room any more."""
        self.removed = [each for each in removed if len(self._settings) < max(MOST_AT_ONCE, each.lanes)]

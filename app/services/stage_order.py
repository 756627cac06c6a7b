"""Moves the stages of a sampler chain and switches them; a part of whoever holds settings: the chat's, or those that are tried."""

from __future__ import annotations

from abc import ABC, abstractmethod

from app.core.sampling import STAGES, SamplingSettings, whole_order

_CHOICE = "temperature"
"""The stage that comes last where it chooses without a draw, wherever it stands."""


class StageOrder(ABC):
    """What can be done to the chain of settings that somebody holds."""

    @property
    @abstractmethod
    def values(self) -> SamplingSettings:
        """The settings as they are now."""

    @abstractmethod
    def change(self, **changes: object) -> None:
        """Use other values for some settings."""

    def move_stage(self, name: str, place: int) -> None:
        """Put a stage at a place of those that run, 0 for the first; beyond the ends it is the first or the last."""
        _refuse_unknown(name)
        settings = self.values
        others = [each for each in settings.running_order if each != name]
        if not settings.is_greedy:
            others.insert(min(max(place, 0), len(others)), name)
        elif name != _CHOICE:
            others.remove(_CHOICE)
            others.insert(min(max(place, 0), len(others)), name)
            others.insert(whole_order(settings.order).index(_CHOICE), _CHOICE)  # for when it chooses no longer
        else:
            return
        self.change(order=tuple(others))

    def switch_stage(self, name: str, on: bool) -> None:
        """Switch a stage off, whose values stay, or on again."""
        _refuse_unknown(name)
        others = tuple(each for each in self.values.off if each != name)
        self.change(off=others if on else (*others, name))

    def reset_stages(self) -> None:
        """Have all stages run in their default order."""
        self.change(order=STAGES, off=())


def _refuse_unknown(name: str) -> None:
    if name not in STAGES:
        raise ValueError(f"{name} is no stage")

"""What somebody sets of a use in one part of the planner is what the other begins with, until it is set there too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

UseField = Literal["context", "users", "prompt"]


class PartUse:
    """The use as one part has it; `join` it with that of the other."""

    def __init__(self) -> None:
        self.set_here: dict[UseField, int] = {}
        """What somebody set in this part, since the program began."""
        self._other: PartUse | None = None

    def join(self, other: PartUse) -> None:
        """Begin each with what is set in the other."""
        self._other, other._other = other, self

    def note(self, before: Mapping[UseField, int], now: Mapping[UseField, int]) -> None:
        """Remember what somebody has made another value."""
        self.set_here |= {field: value for field, value in now.items() if before[field] != value}

    def forget(self, field: UseField) -> None:
        """Count a value as set here no longer."""
        self.set_here.pop(field, None)

    @property
    def start(self) -> Mapping[UseField, int]:
        """What was set in the other part, and not here."""
        other = self._other.set_here if self._other is not None else {}
        return {field: value for field, value in other.items() if field not in self.set_here}

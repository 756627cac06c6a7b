"""What can be said of a lane while it is written: how undecided the model is, and whether it still says what another says.

Cheap enough to be asked several times a second; everything else waits for the analysis.
"""

from __future__ import annotations

from app.probability.record_layout import entropies
from app.services.lanes_run import Lane

_ID_BYTES = 4


class LiveLane:
    """Reads what came since it was last asked."""

    def __init__(self, lane: Lane) -> None:
        self.lane = lane
        self.entropies: list[float] = []
        """Of the distribution that each recorded token came from, in nats."""
        self.most_entropy = 0.0
        self._blocks = 0
        self._same = 0
        """So many tokens are known to be those of the other lane."""
        self._other: Lane | None = None

    def look(self) -> bool:
        """Take in new blocks of the record; return whether there were any."""
        new = self.lane.record[self._blocks :]
        self._blocks += len(new)
        for block in new:
            found = entropies(block)
            self.entropies += found
            self.most_entropy = max(self.most_entropy, *found, 0.0)
        return bool(new)

    def leaves(self, other: Lane) -> int | None:
        """Return the first token that is another one than in a lane; None while what both have is the same."""
        if other is not self._other:
            self._other, self._same = other, 0
        mine, theirs = self.lane.turn.ids, other.turn.ids
        common = min(len(mine), len(theirs)) // _ID_BYTES
        while self._same < common:
            place = self._same * _ID_BYTES
            if mine[place : place + _ID_BYTES] != theirs[place : place + _ID_BYTES]:
                return self._same
            self._same += 1
        return None

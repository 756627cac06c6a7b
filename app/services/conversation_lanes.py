"""The comparisons of a conversation in memory, and their lanes, which are in no branch until they are kept.

Plain state; who changes it says so.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence

from app.core.comparison import Comparison
from app.services.turns import Turn


class ConversationLanes:
    """Beside the tree of a conversation: the answers that nobody steps to."""

    def __init__(self, comparisons: Iterable[Comparison] = ()) -> None:
        self.comparisons = {comparison.id: comparison for comparison in comparisons}
        """What is known of each comparison, by its id."""
        self.hidden: dict[int, Turn] = {}
        """Answers that are lanes alone, by message."""

    def take(self, turns: Iterable[Turn]) -> list[Turn]:
        """Hide the lanes among turns, and return the others."""
        others = []
        for turn in turns:
            if self.hides(turn):
                self.hidden[turn.message] = turn
            else:
                others.append(turn)
        return others

    def put(self, comparison: Comparison, lanes: Sequence[Turn] = ()) -> None:
        """Add a comparison, or take over what is known of it now."""
        self.comparisons[comparison.id] = comparison
        self.take(lanes)

    def join(self, other: ConversationLanes) -> None:
        """Take over the comparisons of the same conversation, read anew, that are not here."""
        self.comparisons = other.comparisons | self.comparisons

    def drop(self, comparison: Comparison) -> None:
        """Forget a comparison that came to nothing."""
        self.comparisons.pop(comparison.id, None)
        for message in comparison.lanes:
            self.hidden.pop(message, None)

    def release(self, turn: Turn) -> None:
        """Hide a lane no more: it is becoming a version of the answer."""
        self.hidden.pop(turn.message, None)

    def remove_behind(self, messages: Container[int]) -> list[Turn]:
        """Take out the lanes that follow messages that go, and return them."""
        gone = [turn for turn in self.hidden.values() if turn.parent in messages]
        for turn in gone:
            del self.hidden[turn.message]
        return gone

    def answers(self, message: int) -> bool:
        """Whether a lane that nobody kept answers a message."""
        return any(turn.parent == message for turn in self.hidden.values())

    def hides(self, turn: Turn) -> bool:
        """Whether a turn is a lane that nobody kept; one whose comparison was lost is a version like others."""
        comparison = self.comparisons.get(turn.comparison) if turn.comparison is not None else None
        return comparison is not None and turn.lane not in comparison.kept

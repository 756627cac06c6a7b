"""Where readers were in conversations that are not shown: which turn, and how far in it."""

from __future__ import annotations

from collections.abc import Hashable

from app.gui.chat.turn_list import TurnList


class RememberedPlaces:
    """One place a conversation."""

    def __init__(self) -> None:
        self._places: dict[Hashable, tuple[int, int]] = {}

    def keep(self, conversation: Hashable, turns: TurnList, scrolled: int) -> None:
        """Remember where the reader of a conversation is."""
        if conversation is not None and turns.blocks:
            index = turns.index_at(scrolled)
            self._places[conversation] = index, scrolled - turns.top(index)

    def take(self, conversation: Hashable, turns: TurnList) -> int | None:
        """Return how far turns must be scrolled for the reader to be there again; None where nobody was."""
        index, below = self._places.pop(conversation, (-1, 0))
        if not 0 <= index < len(turns.blocks):
            return None
        turns.update(index)
        return turns.top(index) + below

"""Of which answer the tokens are that a pass reads: with its chat it goes, and its words say when it is not the shown one."""

from __future__ import annotations

from typing import NamedTuple

from app.services.inspecting import Inspecting


class PassSource(NamedTuple):
    """An answer, by its chat and its message."""

    conversation: int
    message: int

    def is_among(self, conversation: int, messages: tuple[int, ...]) -> bool:
        """Return whether it is one of these messages of a chat; none named are all of them."""
        return self.conversation == conversation and (not messages or self.message in messages)


def source_of(inspecting: Inspecting) -> PassSource | None:
    """Return the answer that is looked at; None where there is none."""
    turn = inspecting.turn
    return PassSource(inspecting.chat.conversation_id, turn.message) if turn is not None else None

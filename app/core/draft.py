"""What somebody writes and has not sent."""

from __future__ import annotations

import msgspec

MAX_CHARACTERS = 1_000_000
"""Of one message, files and pasted texts counted."""
NEW_CHAT = 0
"""Stands for the chat that has no message yet, whichever it is; a kept conversation never has this id."""


class Draft(msgspec.Struct, frozen=True):
    """The draft of one conversation; one without a word is no draft."""

    conversation: int
    """Its conversation, or `NEW_CHAT`."""
    text: str = ""
    pasted: tuple[str, ...] = ()
    """Long texts that were pasted, oldest first; they stand before the text."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing is written."""
        return not self.text and not self.pasted

"""What is found in the conversations: messages that hold what was typed, newest first, a page at a time."""

from __future__ import annotations

import msgspec

from app.core.literal_text import Snippet

PAGE = 50
"""So many messages are found at a time."""


class SearchPlace(msgspec.Struct, frozen=True):
    """How far a search has come: what follows is older than this."""

    before: int
    is_scan: bool = False
    """Whether every message is looked at: `before` is a message then, and else an entry of the index."""


class FoundMessage(msgspec.Struct, frozen=True):
    """A message that holds what was looked for."""

    message: int
    conversation: int
    title: str
    is_answer: bool
    created_ms: int
    snippet: Snippet

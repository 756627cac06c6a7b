"""What is found in the conversations: messages and titles that hold what was typed, newest first, messages a page at a time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from app.core.conversation import Conversation
from app.core.literal_text import Snippet, matches, snippet_of

PAGE = 50
"""So many messages are found at a time."""
MOST_TITLES = 20
"""So many titles are told above them."""


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


class FoundChat(msgspec.Struct, frozen=True):
    """A conversation whose title holds what was looked for."""

    conversation: int
    changed_ms: int
    snippet: Snippet
    """The title, in one line."""


def titles_holding(
    heads: Iterable[Conversation], wanted: str, messages: Sequence[FoundMessage], most: int = MOST_TITLES
) -> tuple[FoundChat, ...]:
    """Return the conversations whose titles hold what `needle` returned, at most so many.

    One whose title is the beginning of a message that was found is not told twice.
    """
    said: dict[int, list[str]] = {}
    for hit in messages:
        said.setdefault(hit.conversation, []).append(hit.snippet.text)
    found: list[FoundChat] = []
    for head in heads:
        if len(found) == most:
            break
        beginning = " ".join(head.title.rstrip("…").split())
        told = any(text.startswith(beginning) for text in said.get(head.id, ()))
        if not told and matches(head.title, wanted, 1):
            found.append(FoundChat(head.id, head.changed_ms, snippet_of(head.title, wanted)))
    return tuple(found)

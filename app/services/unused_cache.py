"""Why tokens that had been read before are read again: what lay in the cache, and what came between two prompts of a chat.

Pure: told prompts and answers as the engine tells them; knows no session.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from app.core.chat import PromptSpan, last_asked
from app.core.circumstances import UnusedCache

MOST_CHATS = 16
"""So many chats are remembered with their last tokens."""
FEW = 16
"""Fewer tokens that are read again are told by nobody."""
SEAM = 8
"""Tokens of a template around the end of a prompt, which may differ once an answer follows."""
_ID = 4


class ReadAgain(msgspec.Struct, frozen=True):
    """What of a prompt had been read before; no reason where nothing had, or nobody can tell."""

    tokens: int = 0
    why: UnusedCache | None = None


class _Chat(msgspec.Struct, frozen=True):
    """The last prompt of a chat and what was written behind it."""

    ids: bytes
    prompt: int
    """Tokens of the prompt."""
    model: object
    dropped: tuple[int, ...]


class UnusedCaches:
    """Remembers the last tokens of each chat, and whose the cells are."""

    def __init__(self) -> None:
        self._chats: dict[str, _Chat] = {}
        """Oldest first."""
        self._holder: str | None = None
        self._model: object = None
        """Which model read the last prompt."""
        self._between: UnusedCache | None = None

    def came_between(self, what: UnusedCache) -> None:
        """The cells were used for something else than an answer."""
        self._between = what

    def read(
        self,
        chat: str,
        model: object,
        ids: bytes,
        from_cache: int,
        spans: Sequence[PromptSpan],
        dropped: tuple[int, ...] = (),
    ) -> ReadAgain:
        """Take in a prompt, and return what of it is read again; `ids` are int32."""
        before, total = self._chats.pop(chat, None), len(ids) // _ID
        if before is not None:
            known = common_tokens(before.ids, ids)
            found = self._found(before, chat, model, known, from_cache, spans, dropped)
        else:
            found = self._found_unknown(model, from_cache, spans)
        self._chats[chat] = _Chat(ids, total, model, dropped)
        if len(self._chats) > MOST_CHATS:
            del self._chats[next(iter(self._chats))]
        self._holder, self._model, self._between = chat, model, None
        return found

    def wrote(self, chat: str, ids: bytes) -> None:
        """Take in what was written behind the last prompt of a chat."""
        if (before := self._chats.get(chat)) is not None:
            self._chats[chat] = msgspec.structs.replace(before, ids=before.ids[: before.prompt * _ID] + ids)

    def _found(
        self,
        before: _Chat,
        chat: str,
        model: object,
        known: int,
        from_cache: int,
        spans: Sequence[PromptSpan],
        dropped: tuple[int, ...],
    ) -> ReadAgain:
        lost = known - from_cache
        if lost > FEW:
            if self._between is not None:
                return ReadAgain(lost, self._between)
            if before.model is not model:
                return ReadAgain(lost, "reloaded")
            return ReadAgain(lost, "other_chat" if self._holder != chat else "cannot_rewind")
        if known >= before.prompt - SEAM:  # all that had been sent is there: only what was written is read again
            return ReadAgain()
        old = _old(spans, from_cache)
        if old <= FEW:
            return ReadAgain()
        if dropped != before.dropped:
            return ReadAgain(old, "cut_turns")
        system_ends = max((span.end for span in spans if span.part == "system"), default=0)
        return ReadAgain(old, "system_prompt" if known < system_ends else "edited")

    def _found_unknown(self, model: object, from_cache: int, spans: Sequence[PromptSpan]) -> ReadAgain:
        """Return what of a chat is read again whose last prompt nobody remembers: one of an earlier start."""
        old = _old(spans, from_cache) if _has_old(spans) else 0
        if old <= FEW:
            return ReadAgain()
        return ReadAgain(old, "reloaded" if self._model is not model else "other_chat")


def _old(spans: Sequence[PromptSpan], from_cache: int) -> int:
    """Return how many of the evaluated tokens are older than the last question."""
    asked = last_asked(spans)
    return sum(
        span.end - max(span.start, from_cache)
        for span in spans
        if (span.part == "system" or _is_old(span, asked)) and span.end > from_cache
    )


def _has_old(spans: Sequence[PromptSpan]) -> bool:
    asked = last_asked(spans)
    return any(_is_old(span, asked) for span in spans)


def _is_old(span: PromptSpan, asked: int | None) -> bool:
    """Return whether a span came before what is asked; files belong to the message that they stand in."""
    return span.part in ("history", "answer") or (span.part == "files" and span.message != asked)


def common_tokens(left: bytes, right: bytes) -> int:
    """Return how many leading ids two prompts share, both int32."""
    low, high = 0, min(len(left), len(right)) // _ID
    while low < high:
        middle = (low + high + 1) // 2
        if left[low * _ID : middle * _ID] == right[low * _ID : middle * _ID]:
            low = middle
        else:
            high = middle - 1
    return low

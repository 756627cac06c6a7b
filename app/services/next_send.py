"""What is known of the next send: how many tokens it takes, what of them the cache holds, and what remains.

Plain values; who counts is `prompt_count`.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from app.core.model import MemoryKind
from app.core.words import Sentence
from app.services.larger_context import larger_context


class Shares(NamedTuple):
    """What the context will be used for, in tokens; together they are all of its cells."""

    new: int
    """Of the next prompt, what the cache does not hold."""
    cached: int
    """Of the next prompt, what the cache holds and the model does not read again."""
    left: int
    """What remains for the answer."""


class Count(msgspec.Struct, frozen=True):
    """What is known of the next send; None is unknown."""

    message: str = ""
    """The text that `prompt` was counted for."""
    draft: int | None = None
    """Tokens of the text by itself."""
    pasted: tuple[int | None, ...] = ()
    """Tokens of each pasted part by itself."""
    prompt: int | None = None
    """Tokens of the prompt that the next send evaluates or finds in the cache, without what is left out of it."""
    left_out: tuple[int, ...] = ()
    """The turns (their numbers) that it goes without because the context is full, oldest first."""
    cached: int = 0
    """Tokens that `prompt` begins with and that the cache holds now, but for its last one, which is always read."""
    memory_kind: MemoryKind = "plain"
    """What the model keeps of its past: all but a plain one go back only to states that were saved."""
    in_cache: int | None = None
    """Cells of the cache that are in use now."""
    holds_chat: bool = False
    """The cells were filled up to the last answer of this conversation."""
    cells: int | None = None
    refused: bool = False
    """The engine would refuse it: it is too long, and no turn can be left out that makes it fit."""
    trained: int = 0
    """Tokens that the model was trained for; 0 is unknown."""
    needed: int | None = None
    """Tokens of a prompt that is refused; None where they are more than anybody counted."""
    answering: bool = False
    """An answer of this conversation is being waited for or written."""
    asked: int | None = None
    """Tokens of the prompt that is being answered, once they are known."""
    kept: int | None = None
    """What the cells hold of that prompt, and of its answer."""
    drops: bool = False
    """The oldest turns go where the context is full, instead of a refusal."""
    reason: Sentence | None = None
    """Why the prompt is not counted."""

    @property
    def excess(self) -> int | None:
        """How many tokens too many a prompt has that is refused: the answer needs room for one at least."""
        return self.needed - self.cells + 1 if self.needed is not None and self.cells is not None else None

    @property
    def larger_context(self) -> int | None:
        """A context that would hold a prompt that is refused, in tokens; None where the model was trained for none such."""
        return larger_context(self.needed, self.cells, self.trained) if self.refused and self.cells else None

    @property
    def is_long_by_itself(self) -> bool:
        """Whether it is rather the message than the chat before it that does not fit."""
        if self.drops or self.draft is None:
            return bool(self.message)
        return 2 * self.draft >= (self.needed or self.cells or 0)

    @property
    def shares(self) -> Shares | None:
        """What the context is used for with the next send, or by the answer that is being written; None is unknown."""
        if self.cells is None:
            return None
        if self.answering:
            if self.asked is None or self.kept is None:
                return None
            new, cached = (self.draft or 0) + max(self.asked - self.kept, 0), self.kept
        elif self.prompt is None:
            return None
        elif not self.message and self.holds_chat and self.in_cache is not None and self._begins_with(self.in_cache):
            new, cached = 0, self.in_cache  # nobody asks for the marks of a message that is not begun
        else:
            new, cached = self.prompt - self.cached, self.cached
        return Shares(new, cached, max(self.cells - cached - new, 0))

    @property
    def reused(self) -> int | None:
        """What the cells hold of this conversation; None where all that is known of them may be another one's."""
        if self.answering:
            return self.kept
        if self.prompt is not None:
            return self.cached
        return self.in_cache if self.holds_chat or not self.in_cache else None

    @property
    def holds_other(self) -> bool:
        """Whether cells are in use for something else than this conversation."""
        return not self.answering and not self.holds_chat and self.reused != (self.in_cache or 0)

    def _begins_with(self, used: int) -> bool:
        """Whether the prompt begins with all cells in use."""
        prompt = self.prompt or 0
        return used <= prompt and self.cached == min(used, max(prompt - 1, 0))

    @property
    def left(self) -> int | None:
        """Cells that the next send leaves for the answer; None where that is unknown or nothing is left."""
        if self.prompt is None or self.cells is None:
            return None
        return self.cells - self.prompt

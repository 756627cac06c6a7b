"""The same sequences in blocks of 16 cells, as servers with paged attention keep them, and what that wastes.

Pure arithmetic. Blocks of the prompt that are full are shared by all sequences; the block in which they part is copied for
each (Kwon et al. 2023, “Efficient Memory Management for Large Language Model Serving with PagedAttention”, section 4.4).
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

BLOCK = 16
"""Cells of a block, as vLLM has them."""


class BlockUse(msgspec.Struct, frozen=True):
    """What so many sequences take in blocks, and what one reservation for each would take; all in cells but `blocks`."""

    blocks: int
    held: int
    """Cells that hold a token, copies among them."""
    copied: int
    """Of them, tokens of the prompt that are there once more because a block belongs to one sequence alone."""
    requests: int
    reserved: int
    """One reservation a request: as long as it may become."""
    unused: int
    """Of the reservations, what holds no token; each holds the whole prompt."""

    @property
    def empty(self) -> int:
        """Cells of blocks that hold nothing: the ends of last blocks."""
        return self.blocks * BLOCK - self.held

    @property
    def waste(self) -> int:
        """Cells of blocks that hold nothing of their own."""
        return self.empty + self.copied


def block_use(prompt: int, tails: Sequence[int], limits: Sequence[int], context: int) -> BlockUse:
    """Return what sequences take that all begin with `prompt` tokens, each with a tail of its own (tokens).

    `limits` are the most tokens that each tail may have, 0 for as many as the context holds.
    """
    parts = tail_parts(prompt, tails)
    shared = prompt - prompt % BLOCK if tails else 0
    blocks = shared // BLOCK + sum(-(-each // BLOCK) for each in parts)
    held = shared + sum(parts)
    reserved = [min(context, prompt + limit) if limit else context for _, limit in zip(tails, limits, strict=True)]
    used = sum(prompt + tail for tail in tails)
    return BlockUse(
        blocks=blocks,
        held=held,
        copied=held - prompt - sum(tails) if tails else 0,
        requests=len(tails),
        reserved=sum(reserved),
        unused=sum(reserved) - used,
    )


def tail_parts(prompt: int, tails: Sequence[int]) -> list[int]:
    """Return what each sequence holds beside the shared blocks: the prompt's last, part-filled block, and its tail."""
    return [prompt % BLOCK + tail for tail in tails]

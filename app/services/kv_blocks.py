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


def block_use(prompt: int, tails: Sequence[int], limits: Sequence[int], context: int, *, whole: int = 0) -> BlockUse:
    """Return what sequences take that all begin with `prompt` tokens, each with a tail of its own (tokens).

    A sequence without a tail shares all blocks of the prompt, the part-filled one, too: only who writes into it copies it.
    `limits` are the most tokens that each tail may have, 0 for as many as the context holds. `whole` are the tokens that the
    prompt has once all of it is read.
    """
    parts = [prompt % BLOCK + tail for tail in tails if tail] or [prompt % BLOCK]
    shared = prompt - prompt % BLOCK
    blocks = shared // BLOCK + sum(-(-each // BLOCK) for each in parts)
    held = shared + sum(parts)
    most = max(whole, prompt)
    reserved = [min(context, most + limit) if limit else context for _, limit in zip(tails, limits, strict=True)]
    used = sum(prompt + tail for tail in tails)
    return BlockUse(
        blocks=blocks,
        held=held,
        copied=held - prompt - sum(tails),
        requests=len(tails),
        reserved=sum(reserved),
        unused=sum(reserved) - used,
    )

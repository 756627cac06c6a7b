"""Blocks of 16 and one reservation a request, against numbers worked out by hand."""

from __future__ import annotations

import pytest

from app.core.chat import PromptSpan
from app.services.kv_blocks import block_use
from app.services.kv_cells import CellsHeld, Stretch, in_blocks, joined, prompt_stretches, with_lanes


@pytest.mark.parametrize(
    ("prompt", "tail", "blocks", "empty"),
    [(16, 0, 1, 0), (16, 1, 2, 15), (10, 5, 1, 1), (10, 6, 1, 0), (33, 30, 4, 1), (0, 0, 0, 0)],
)
def test_one_sequence_wastes_the_end_of_its_last_block(prompt: int, tail: int, blocks: int, empty: int) -> None:
    use = block_use(prompt, [tail], [0], 4096)
    assert (use.blocks, use.empty, use.copied, use.waste) == (blocks, empty, 0, empty)
    assert (use.held, use.requests) == (prompt + tail, 1)
    assert (use.reserved, use.unused) == (4096, 4096 - prompt - tail)


def test_lanes_share_full_blocks_of_the_prompt_and_have_copies_of_its_end() -> None:
    # 40 tokens are 2 full blocks and 8 tokens; lanes of 3, 8 and 20 tokens need 11, 16 and 28 cells behind the blocks.
    use = block_use(40, [3, 8, 20], [50, 50, 100], 1024)
    assert use.blocks == 2 + 1 + 1 + 2
    assert use.held == 32 + 11 + 16 + 28
    assert use.copied == 16, "two lanes have a copy of 8 tokens each; the first has the tokens themselves"
    assert use.empty == 5 + 0 + 4 and use.waste == 9 + 16
    assert use.reserved == 90 + 90 + 140 and use.unused == 320 - (43 + 48 + 60)


def test_a_reservation_is_never_longer_than_the_context() -> None:
    use = block_use(100, [1, 1], [10_000, 0], 256)
    assert use.reserved == 512 and use.unused == 512 - 202


def stretches(*parts: tuple[int, int, str]) -> list[tuple[int, int, str]]:
    return list(parts)


def told(held: CellsHeld) -> list[tuple[int, int, str, int, int | None, bool]]:
    return [(each.start, each.end, each.owner, each.first, each.lane, each.is_copy) for each in held.stretches]


def test_what_no_span_covers_belongs_to_the_template_and_what_follows_the_prompt_to_the_answer() -> None:
    spans = (PromptSpan(2, 5, "system", 0), PromptSpan(7, 9, "history", 1), PromptSpan(9, 12, "history", 2))
    whole = [(each.start, each.end, each.owner) for each in joined(prompt_stretches(spans, 14, 17))]
    assert whole == stretches(
        (0, 2, "template"),
        (2, 5, "system"),
        (5, 7, "template"),
        (7, 12, "history"),
        (12, 14, "template"),
        (14, 17, "answer"),
    )
    part = [(each.start, each.end, each.owner) for each in joined(prompt_stretches(spans, 14, 8))]
    assert part == [*whole[:3], (7, 8, "history")]


def test_a_chat_in_blocks_ends_with_what_is_empty_of_its_last_block() -> None:
    chat = (Stretch(0, 20, "prompt", 0), Stretch(20, 35, "answer", 20))
    drawn = in_blocks(CellsHeld(256, chat, reused=20))
    assert told(drawn)[:2] == told(CellsHeld(256, chat))
    assert told(drawn)[2] == (35, 48, "empty", 35, None, False)
    assert (drawn.used, drawn.end, drawn.reused) == (35, 48, 20)
    full = CellsHeld(256, (Stretch(0, 32, "prompt", 0),))
    assert in_blocks(full) == full


def test_lanes_in_blocks_begin_with_the_end_of_the_prompt_each() -> None:
    held = CellsHeld(256, with_lanes((Stretch(0, 20, "prompt", 0),), {0: 3, 2: 14}), reused=20)
    assert told(held)[1:] == [(20, 23, "lanes", 20, 0, False), (23, 37, "lanes", 20, 2, False)]
    assert told(in_blocks(held)) == [
        (0, 16, "prompt", 0, None, False),
        (16, 20, "prompt", 16, 0, False),
        (20, 23, "lanes", 20, 0, False),
        (23, 32, "empty", 23, None, False),
        (32, 36, "prompt", 16, 2, True),
        (36, 50, "lanes", 20, 2, False),
        (50, 64, "empty", 50, None, False),
    ]
    use = block_use(20, [3, 14], [0, 0], 256)
    drawn = in_blocks(held)
    assert (drawn.end, drawn.used + drawn.copies) == (use.blocks * 16, use.held)
    assert (drawn.used, drawn.copies, drawn.reused) == (held.used, use.copied, 20), "each token counts once"

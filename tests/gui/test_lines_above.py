"""While an answer is written, nothing that stands above its open block moves or changes."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from PySide6.QtCore import QRect

from app.gui.chat.transcript import Transcript
from app.services.turns import Turn
from tests.gui.transcripts import grow, on_screen, themes, transcript

__all__ = ["themes", "transcript"]

MIXED = (Path(__file__).parent / "markdown" / "mixed.md").read_text(encoding="utf-8")
AUTHOR_PX = 40
"""What stands above an answer: who wrote it."""


@pytest.mark.parametrize(
    ("seed", "longest", "height_px"),
    [(0, 40, 2500), *(pytest.param(seed, 12, 5200, marks=pytest.mark.slow) for seed in range(3))],
)
def test_no_line_above_the_open_block_changes_from_one_state_to_the_next(
    transcript: Transcript, seed: int, longest: int, height_px: int
) -> None:
    transcript.resize(700, height_px)
    chance, turn = random.Random(seed), Turn(1, "assistant", "", state="writing", author="tiny")
    transcript.add(turn)
    start, before, compared = 0, None, 0
    while start < len(MIXED):
        end = start + chance.randint(1, longest)
        block = transcript.turns.blocks[0]
        open_top = transcript.turns.top(0) + block.text_top + int(block.body.open_top)
        grow(transcript, turn, MIXED[start:end])
        if transcript.verticalScrollBar().value():
            break  # from here on what is in view moves as the end is followed
        after = on_screen(transcript)
        if before is not None and open_top > AUTHOR_PX:
            above = QRect(0, 0, after.width(), int((open_top - 1) * after.devicePixelRatio()))
            assert before.copy(above) == after.copy(above), MIXED[:end][-80:]
            compared += 1
        before, start = after, end
    assert compared > 20

"""The bytes of one cell, exactly: by how much the saved state of a model that runs grows over 256 tokens."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from app.core.model import FlashAttention, KVType, LoadOptions
from app.engine.llama import LogCapture
from tests.formula_checks import CELL_TYPES, cell_growth
from tests.ggufs import write_tiny_llama
from tests.ggufs_kinds import (
    write_tiny_hybrid,
    write_tiny_hybrid_window,
    write_tiny_latent,
    write_tiny_plain,
    write_tiny_recurrent,
    write_tiny_window,
)

Write = Callable[[Path], Path]
PLAIN: tuple[Write, ...] = (write_tiny_llama, write_tiny_plain, write_tiny_window, write_tiny_hybrid)


@pytest.mark.parametrize("write", PLAIN, ids=lambda write: write.__name__)
@pytest.mark.parametrize(("kv_type", "flash_attention"), CELL_TYPES)
def test_a_cell_grows_by_the_bytes_that_were_worked_out(
    write: Write, kv_type: KVType, flash_attention: FlashAttention, tmp_path: Path, llama_log: LogCapture
) -> None:
    options = LoadOptions(
        context=1024, kv_type_k=kv_type, kv_type_v=kv_type, flash_attention=flash_attention, threads=1
    )
    found, expected = cell_growth(write(tmp_path / "model.gguf"), options, llama_log)
    assert found == expected > 0


@pytest.mark.parametrize(
    ("write", "expected"), [(write_tiny_latent, 2 * 48 * 2), (write_tiny_recurrent, 0), (write_tiny_hybrid_window, 0)]
)
def test_a_latent_row_counts_once_and_a_state_or_a_full_window_does_not_grow(
    write: Write, expected: int, tmp_path: Path, llama_log: LogCapture
) -> None:
    options = LoadOptions(context=1024, threads=1)
    assert cell_growth(write(tmp_path / "model.gguf"), options, llama_log) == (expected, expected)

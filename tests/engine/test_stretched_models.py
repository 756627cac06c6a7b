"""A model that was stretched by LongRoPE computes beside the chat what it computes in the chat, whatever the size of each."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np
import pytest

from app.core.model import INSPECTION_BATCH
from app.engine.llama import LogCapture
from app.engine.llama_model import LlamaBackend
from tests.engine.test_checkpoints import NEAR, from_empty, some
from tests.engine.test_state_keeping import OPTIONS
from tests.ggufs_kinds import write_tiny_plain

ORIGINAL = 512


@pytest.mark.parametrize("context", [ORIGINAL, 2 * ORIGINAL])
def test_an_inspection_turns_positions_as_the_chat_does(tmp_path: Path, llama_log: LogCapture, context: int) -> None:
    path = write_tiny_plain(tmp_path / "m.gguf", stretched_from=ORIGINAL)
    options = msgspec.structs.replace(OPTIONS, context=context)
    backend = LlamaBackend(str(path), options, llama_log, lambda percent: True)
    ids = some(300)
    expected = from_empty(backend, ids)
    inspection = backend.inspect(len(ids), None)
    for start in range(0, len(ids), INSPECTION_BATCH):
        rows = inspection.rows(ids[start : start + INSPECTION_BATCH], start)
    assert rows is not None
    assert np.abs(rows[-1] - expected).max() < NEAR
    inspection.close()
    backend.close()

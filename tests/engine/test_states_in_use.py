"""What goes first when room runs out is what no chat went on from for longest, not what was written first."""

from __future__ import annotations

import os
import time
from pathlib import Path

from app.core.kept_state import StatePlace
from app.engine.llama_model import LlamaBackend
from app.system.state_folder import StateFolder
from tests.engine.test_checkpoints import joined, some
from tests.engine.test_state_keeping import MODEL, Desk, kept


def test_a_chat_that_goes_on_from_disk_is_used_last(quick_backend: LlamaBackend, tmp_path: Path) -> None:
    folder = StateFolder(tmp_path / "states")
    places = [StatePlace(str(folder.place(chat, MODEL)), MODEL, 1 << 30) for chat in (1, 2)]
    for place, age_s in zip(places, (500, 100), strict=True):
        kept(quick_backend, place, some(300))
        then = time.time() - age_s
        os.utime(place.path, (then, then))
    desk = Desk(quick_backend)
    desk.read(joined(some(300), some(10, 2)), places[0])
    assert desk.from_disk == 300
    one = Path(places[0].path).stat().st_size
    assert folder.tidy(one) == (1, one)
    assert [Path(place.path).exists() for place in places] == [True, False]

"""What is said when the engine process ended by itself, and what of its log belongs to it."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Literal

from app.core.words import Sentence, translate
from app.engine.entry import LIBRARY_MISSING

Phase = Literal["loading", "preparing", "answering"]
TAIL_BYTES = 16_384
TAIL_LINES = 80


def death_sentence(exit_code: int, phases: tuple[Phase, ...], *, greeted: bool = True) -> Sentence:
    """Return what people are told; `phases` are those of the open requests, `greeted` whether it ever started."""
    if exit_code == LIBRARY_MISSING:
        return translate(
            "Engine",
            "The llama.cpp library cannot be loaded on this machine. Run the set-up again to build it for this one.",
        )
    how = _how(exit_code)
    if not greeted:
        return translate(
            "Engine",
            "The engine could not start ({how}). Run the set-up again; the log has the details.",
            how=how,
        )
    if "loading" in phases:
        return translate(
            "Engine",
            "The engine stopped while it loaded the model ({how}): memory ran out or the file is damaged. "
            "Load it with a smaller context or fewer GPU layers, or download it again.",
            how=how,
        )
    if "preparing" in phases:
        return translate(
            "Engine",
            "The engine stopped while it prepared the prompt ({how}). Your text is safe. "
            "Shorten it or choose another chat template, then send again.",
            how=how,
        )
    return translate(
        "Engine",
        "The engine stopped ({how}). Your chat is safe. Send again and it starts anew.",
        how=how,
    )


def _how(exit_code: int) -> str:
    if exit_code < 0:
        names = {int(known): known.name for known in signal.Signals}
        return names.get(-exit_code, f"signal {-exit_code}")
    return f"exit code {exit_code}"


def log_tail(log_path: str, start: int) -> tuple[str, ...]:
    """Return the last lines that the process wrote since byte `start` of the log."""
    path = Path(log_path)
    if not log_path or not path.exists():
        return ()
    with path.open("rb") as file:
        file.seek(max(start, path.stat().st_size - TAIL_BYTES))
        text = file.read(TAIL_BYTES).decode("utf-8", "replace")
    return tuple(line for line in text.splitlines() if line.strip())[-TAIL_LINES:]

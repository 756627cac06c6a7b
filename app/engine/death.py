"""What is said when the engine process ended by itself, and what of its log belongs to it."""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from typing import Literal

from app.core.library_fault import LibraryFault, says_why
from app.core.words import Sentence, translate
from app.engine.entry import LIBRARY_MISSING

Phase = Literal["loading", "preparing", "scoring", "answering"]
ILLEGAL_INSTRUCTION = (-4, 0xC000001D)
"""Exit codes of a process that met an instruction which the processor does not know: SIGILL, and Windows' status."""
KILLED = -9
"""SIGKILL, which Windows does not have: nothing within a process sends it."""
LOST_PAGE = (-7, 0xC0000006) if sys.platform != "darwin" else (-10,)
"""Exit codes of a process that read of a file in memory what is not there any more: SIGBUS, and Windows' status."""
OTHER_PROCESSOR = LibraryFault("processor")
TAIL_BYTES = 16_384
TAIL_LINES = 80


def is_illegal_instruction(exit_code: int) -> bool:
    """Return whether the build of llama.cpp uses instructions that this processor lacks."""
    return exit_code in ILLEGAL_INSTRUCTION


def death_sentence(
    exit_code: int, phases: tuple[Phase, ...], *, greeted: bool = True, plain_next: bool = False
) -> Sentence:
    """Return what people are told; `phases` are those of the open requests, `greeted` whether it ever started.

    `plain_next` says that the next engine runs a plain build of llama.cpp, which suits every processor.
    """
    if is_illegal_instruction(exit_code):
        return _other_processor() if plain_next else says_why(OTHER_PROCESSOR)
    if exit_code == LIBRARY_MISSING:
        return translate(
            "Engine",
            "The llama.cpp library cannot be loaded on this machine. Run the set-up again to build it for this one.",
        )
    how = how_it_ended(exit_code)
    if greeted and exit_code in LOST_PAGE:
        return _lost_file(how)
    if not greeted and exit_code == KILLED:
        return translate(
            "Engine",
            "The engine was ended from outside while it started ({how}), or memory ran out. "
            "Close other programs and try again.",
            how=how,
        )
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
    if "scoring" in phases:
        return translate(
            "Engine",
            "The engine stopped while it went over a prompt ({how}), or memory ran out. Your chat is safe. "
            "Ask again and it starts anew; other programs or a large context may need the memory.",
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


def _other_processor() -> Sentence:
    return translate(
        "Engine",
        "llama.cpp was built for another processor and met an instruction that this one lacks. "
        "Your chat is safe. Send again, and a plain build is used; set Tokenlight up again to have a fast one.",
    )


def _lost_file(how: str) -> Sentence:
    return translate(
        "Engine",
        "The engine lost the model's file ({how}): it was cut off or changed, or its disk is gone. Your chat is safe. "
        "Send again once the file is whole; if that does not help, download it again.",
        how=how,
    )


def how_it_ended(exit_code: int) -> str:
    """Return an exit code as `multiprocessing` reports it in words: a signal by name."""
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

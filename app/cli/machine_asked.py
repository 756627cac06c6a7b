"""Asks the engine which devices this machine has, for commands that say what fits."""

from __future__ import annotations

import os
import threading

from app.cli.pump import Pump
from app.cli.terminal import Terminal
from app.core.errors import ExitCode
from app.services.program import Program

LIMIT_SECONDS = 60.0
"""An engine that says nothing for so long is ended, and main memory alone counts."""


def ask_machine(program: Program, terminal: Terminal, limit_seconds: float = LIMIT_SECONDS) -> bool:
    """Have the program know its devices; return False where somebody interrupted that."""
    recommending = program.planner.recommending
    terminal.progress("Asking this machine …")
    pump = Pump(program.inbox, program.dispatch, program.engine.close)
    limit = threading.Timer(limit_seconds, program.engine.close)
    limit.daemon = True
    limit.start()
    try:
        recommending.list_devices()
        pump.run(lambda: recommending.is_listed or pump.interrupted, lambda: os._exit(ExitCode.INTERRUPTED))
    finally:
        limit.cancel()
        limit.join()
        terminal.clear_progress()
    return not pump.interrupted

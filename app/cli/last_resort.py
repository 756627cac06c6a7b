"""What is said when something failed that nobody expected: one sentence on the terminal, all of it in the log."""

from __future__ import annotations

import logging
import os

from app.cli.terminal import Terminal
from app.core.errors import ExitCode
from app.core.words import translate
from app.system.logs import Logs
from app.system.model_files import shown
from app.system.paths import find_paths

_log = logging.getLogger(__name__)


def tell_unexpected(error: Exception) -> ExitCode:
    """Log the error, tell people in a sentence and return the exit code; the program's own logs may be closed."""
    paths, logs = find_paths(os.environ), Logs()
    logs.open(paths.command_log, paths.crash_log)
    where = shown(paths.command_log)
    sentence = translate(
        "CommandLine",
        "Something went wrong that should not have ({error}): try again; {log} has the details.",
        error=type(error).__name__,
        log=where,
    )
    if not logs.writes_files:
        sentence = translate(
            "CommandLine",
            "Something went wrong that should not have ({error}), and {log} cannot be written: make some room or check"
            " its folder, and try again.",
            error=type(error).__name__,
            log=where,
        )
    _log.critical("An error that nobody expected", exc_info=error)
    logs.close()
    terminal = Terminal()
    terminal.clear_progress()
    terminal.say(sentence.english())
    return ExitCode.ENGINE_DIED

"""What needs no program: a page of help, the version. Loading the services would take longer than all the rest."""

from __future__ import annotations

from app.cli.arguments import Arguments
from app.cli.terminal import Terminal
from app.core.errors import ExitCode
from app.core.version import VERSION


def write_short(arguments: Arguments, terminal: Terminal) -> ExitCode:
    """Write what was asked for; a reader that is gone does not matter."""
    try:
        terminal.write(arguments.help or f"Tokenlight {VERSION}\n")
    except BrokenPipeError:
        terminal.forget_output()
    return ExitCode.DONE

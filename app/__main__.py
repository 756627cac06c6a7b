"""Where the program starts: a command on the terminal, or the window.

Standard library only at the top, because the engine process imports this file again when it is spawned.
"""

from __future__ import annotations

import sys
from multiprocessing import freeze_support
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.services.program import Program

INTERRUPTED = 130


def main() -> int:
    """Run what was typed and return the exit code."""
    freeze_support()
    try:
        return _run(sys.argv[1:])
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001  the last one: people get a sentence, the log gets the rest
        from app.cli.last_resort import tell_unexpected

        return tell_unexpected(error)


def _run(words: list[str]) -> int:
    from app.cli.arguments import read_arguments
    from app.cli.terminal import Terminal
    from app.core.errors import UserError

    terminal = Terminal()
    try:
        arguments = read_arguments(words)
    except UserError as error:
        terminal.say(error.sentence.english())
        return error.exit_code
    if arguments.command or arguments.version:
        from app.cli.run import run as run_command

        return run_command(arguments, words, lambda: _build(arguments.fake_engine, window=False))
    try:
        from app.gui.application import run as run_window
    except ImportError as error:
        terminal.say(
            f"The window cannot open because Qt cannot be loaded ({error}). Install what is missing, or use:"
            " tokenlight ask PROMPT"
        )
        return 2
    try:
        return run_window(_build(arguments.fake_engine, window=True), arguments.model)
    except UserError as error:
        terminal.say(error.sentence.english())
        return error.exit_code


def _build(fake_engine: bool, *, window: bool) -> Program:
    from app.bootstrap import Options, build

    return build(Options(fake_engine=fake_engine, window=window))


if __name__ == "__main__":
    sys.exit(main())

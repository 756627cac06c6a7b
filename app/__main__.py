"""Where the program starts: a command on the terminal, or the window.

Standard library only at the top, because the engine process imports this file again when it is spawned.
"""

from __future__ import annotations

import gc
import os
import sys
from multiprocessing import freeze_support
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.cli.arguments import Arguments
    from app.cli.terminal import Terminal
    from app.services.exporting import ChatWriter
    from app.services.program import Program
    from app.system.instance import Instance

INTERRUPTED = 130
WRONG_USE = 2


def main() -> int:
    """Run what was typed and return the exit code."""
    _fill_standard_files()
    freeze_support()
    try:
        return _run(sys.argv[1:])
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001  the last one: people get a sentence, the log gets the rest
        return _tell(error)


def _fill_standard_files() -> None:
    """Where standard files are closed, the engine's pipes would take their numbers, and be written to."""
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(number, True)
    os.close(number)


def _tell(error: Exception) -> int:
    if isinstance(error, ImportError) and _package(error) not in ("", "app"):
        return _tell_missing(error)
    try:
        from app.cli.last_resort import tell_unexpected
    except ImportError as missing:
        return _tell_missing(missing)
    return tell_unexpected(error)


def _tell_missing(error: ImportError) -> int:
    if sys.stderr is not None:
        sys.stderr.write(
            f"A part of Tokenlight is missing ({error.name or error}): run `python3 packaging/dev.py setup`, then"
            " `.venv/bin/tokenlight`.\n"
        )
    return WRONG_USE


def _package(error: ImportError) -> str:
    return (error.name or "").partition(".")[0]


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
    if arguments.help or arguments.version:
        from app.cli.short import write_short

        return write_short(arguments, terminal)
    if arguments.command:
        from app.cli.run import run as run_command

        return run_command(arguments, words, lambda: _build(arguments.fake_engine, window=False), _page)
    from app.system.instance import claim
    from app.system.paths import find_paths

    try:
        instance = claim(find_paths(os.environ).data, arguments.model)
    except UserError as error:
        terminal.say(error.sentence.english())
        return error.exit_code
    if instance is None:
        return 0
    try:
        return _open_window(arguments, terminal, instance)
    finally:
        instance.close()


def _open_window(arguments: Arguments, terminal: Terminal, instance: Instance) -> int:
    from app.core.errors import UserError

    try:
        load_window()
        from app.gui.application import run as run_window
    except ImportError as error:
        if _package(error) not in ("", "PySide6", "shiboken6"):
            raise
        terminal.say(
            f"The window cannot open because Qt cannot be loaded ({error}). Install what is missing, or use:"
            " tokenlight ask PROMPT"
        )
        return 2
    try:
        program = _build(arguments.fake_engine, window=True)
        instance.deliver_to(program.inbox.put)
        return run_window(program, arguments.model, instance.hang_up)
    except UserError as error:
        terminal.say(error.sentence.english())
        return error.exit_code
    finally:
        gc.enable()


def load_window() -> None:
    """Import what the window needs, in the order that takes least; nothing is collected until it is painted.

    Qt's modules read the source of everything that is imported after them, so what does not need them comes first.
    """
    gc.disable()
    import app.bootstrap
    import app.gui.application  # noqa: F401


def _page(program: Program) -> ChatWriter:
    from app.core.errors import ExitCode, UserError
    from app.core.words import translate

    try:
        from app.gui.markdown.page import PageWriter
    except ImportError as error:
        if _package(error) not in ("", "PySide6", "shiboken6"):
            raise
        sentence = translate(
            "CommandLine", "HTML needs Qt, which cannot be loaded here: use --format json or --format markdown."
        )
        raise UserError(sentence, ExitCode.WRONG_USE) from error
    return PageWriter(program.resources)


def _build(fake_engine: bool, *, window: bool) -> Program:
    from app.bootstrap import Options, build

    return build(Options(fake_engine=fake_engine, window=window))


if __name__ == "__main__":
    sys.exit(main())

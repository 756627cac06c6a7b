"""What the command line writes to: UTF-8 on every system, quiet when the reader has gone."""

from __future__ import annotations

import getpass
import io
import os
import shutil
import sys
from typing import TextIO

from app.core.chat import clean_text
from app.core.errors import ExitCode, UserError
from app.core.words import translate

_HIDDEN = [*range(0x80, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
_CONTROLS = {code: chr(0x2400 + code) for code in range(32) if chr(code) not in "\n\t"} | {127: "\u2421"}
_CONTROLS |= dict.fromkeys(_HIDDEN, "\ufffd")


def visible(text: str) -> str:
    """Return text that can neither move a screen's cursor nor turn the order of what stands there."""
    return text.translate(_CONTROLS)


def one_line(text: str) -> str:
    """Return visible text on one line."""
    return visible(text.replace("\r\n", "\n").replace("\n", " ").replace("\t", " "))


class Terminal:
    """Standard input, output and error of one command."""

    def __init__(self) -> None:
        self._out = _utf8(sys.stdout)
        self._err = _utf8(sys.stderr)
        self._progress = 0
        self._out_is_screen = self._out is not None and self._out.isatty()
        self._err_is_screen = self._err is not None and self._err.isatty()

    @property
    def shows_figures(self) -> bool:
        """Whether a person reads standard error."""
        return self._err_is_screen

    @property
    def columns(self) -> int | None:
        """Characters of a line where a person reads standard output; None where a program does, which wants all."""
        return shutil.get_terminal_size().columns if self._out_is_screen else None

    def write(self, text: str) -> None:
        """Write to standard output at once; control characters cannot move a screen's cursor."""
        if self._out is None:
            return
        self.clear_progress()
        try:
            self._out.write(visible(text) if self._out_is_screen else text)
            self._out.flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            self.forget_output()
            raise UserError(
                translate(
                    "CommandLine",
                    "The answer cannot be written ({reason}): check where standard output goes.",
                    reason=error.strerror or type(error).__name__,
                ),
                ExitCode.WRONG_USE,
            ) from error

    def say(self, text: str) -> None:
        """Write one line to standard error, whatever the text holds."""
        self._say(one_line(text) + "\n")

    def progress(self, text: str) -> None:
        """Show a line on standard error that the next output replaces; only to a person."""
        if self._err_is_screen:
            self.clear_progress()
            shown, most = one_line(text), shutil.get_terminal_size().columns - 1
            if len(shown) > most:  # a line that wraps could not be taken away again
                shown = shown[: max(0, most - 1)] + "…"
            self._say(shown)
            self._progress = len(shown)

    def clear_progress(self) -> None:
        """Take the line of progress away."""
        if self._progress:
            width, self._progress = self._progress, 0
            self._say("\r" + " " * width + "\r")

    def read_input(self) -> str:
        """Return all of standard input as text."""
        if sys.stdin is None:
            return ""
        return clean_text(sys.stdin.buffer.read().decode("utf-8", "replace"))

    def read_secret(self, question: str) -> str:
        """Return one line of standard input; where a person types it, what is typed is not shown."""
        if sys.stdin is not None and sys.stdin.isatty():
            try:
                return getpass.getpass(question)
            except EOFError:
                return ""  # Ctrl+D in place of an answer
        return self.read_input().strip()

    def confirm(self, question: str) -> bool | None:
        """Ask a person for a yes; None where nobody is there to be asked."""
        if sys.stdin is None or not sys.stdin.isatty():
            return None
        self._say(one_line(question))
        return sys.stdin.readline().strip().lower() in ("y", "yes")

    def forget_output(self) -> None:
        """The reader of standard output has gone: write nothing more, not even when the process ends."""
        self._out = None
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)

    def _say(self, text: str) -> None:
        if self._err is None:
            return
        try:
            self._err.write(text)
            self._err.flush()
        except OSError:
            self._err = None


def _utf8(stream: TextIO | None) -> TextIO | None:
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(encoding="utf-8", errors="replace")
    return stream

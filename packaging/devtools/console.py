"""What the set-up says to people: plain lines, one progress line, and problems with a next step.

It must not know what is being set up.
"""

from __future__ import annotations

import shutil
import sys
import time
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from collections.abc import Callable

QUIET_INTERVAL_S = 20.0


class Problem(Exception):
    """The set-up cannot go on; the text is one plain sentence with the next step."""


def make_output_safe() -> None:
    """Keep a terminal that lacks a character from ending the set-up."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")


def say(text: str) -> None:
    """Print one line at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def complain(text: str) -> None:
    """Print one line to standard error."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def plural(count: int, noun: str) -> str:
    """Return "1 minute", "2 minutes"."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def listing(names: list[str] | tuple[str, ...]) -> str:
    """Return "a", "a and b" or "a, b and c"."""
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"


class ProgressLine:
    """One line that is rewritten on a terminal, and an occasional line in a file or a CI log."""

    def __init__(
        self,
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
        width: int | None = None,
    ) -> None:
        self._stream = sys.stdout if stream is None else stream
        self._clock = clock
        self._is_terminal = self._stream.isatty()
        self._width = width
        self._shown = ""
        self._last_written_s: float | None = None

    def update(self, text: str) -> None:
        """Show the text now on a terminal, elsewhere only when the last line is old enough."""
        if self._is_terminal:
            width = self._width or shutil.get_terminal_size().columns
            line = text[: max(1, width - 1)]
            self._stream.write("\r" + line.ljust(len(self._shown)))
            self._stream.flush()
            self._shown = line
            return
        now = self._clock()
        if self._last_written_s is None or now - self._last_written_s >= QUIET_INTERVAL_S:
            self._last_written_s = now
            self._stream.write(text + "\n")
            self._stream.flush()

    def finish(self, text: str = "") -> None:
        """End the line; a text replaces what was shown last."""
        if self._is_terminal:
            blank = "\r" + " " * len(self._shown) + "\r" if self._shown else ""
            self._stream.write(blank + (text + "\n" if text else ""))
        elif text:
            self._stream.write(text + "\n")
        self._stream.flush()
        self._shown = ""

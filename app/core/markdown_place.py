"""Where in Markdown a growing text has come to: at the start of a line, in a code fence, in inline code.

Reads each character once, in pieces of any size, and looks at nothing else of Markdown.
"""

from __future__ import annotations

import re

MOST_INDENT = 3
"""Spaces before a line that still begin it; one more makes it code."""
FENCE = 3
"""So many backticks or tildes begin a block of code."""
TAB_SPACES = 4
_BLANK = re.compile(r"[^\S\n]+")
_LEAD = re.compile(r"[^\S\n]|[0-9.)*+>-]")
"""What may stand before a fence: white space, the markers of lists and quotes."""
MOST_LEAD = 24
"""Characters of it."""
_TICKS, _WAVES = re.compile("`+"), re.compile("~+")
_RUN = re.compile("[`~]")
_RUNS = {"`": _TICKS, "~": _WAVES}
_LINE_END, _IN_LINE, _IN_CODE = re.compile("\n"), re.compile(r"[\n`\\]"), re.compile(r"[\n`]")


class MarkdownPlace:
    """The place behind the last character."""

    def __init__(self) -> None:
        self.code_number = 0
        """Which code, fenced or inline, was begun last; each has a number of its own."""
        self.reset()

    def reset(self) -> None:
        """Stand at the start of a new text."""
        self.is_fresh = True
        """Whether nothing but white space came so far."""
        self._is_blank = True
        self._is_lead = True
        self._lead = self._indent = 0
        self._run_of = ""
        self._run = 0
        self._run_leads = False
        """Whether nothing but white space and markers stands before the backticks in this line."""
        self._code = 0
        """So many backticks began the inline code that is open; 0 where none is."""
        self._fence = ("", 0)
        self._is_head = False
        """Whether this is the line that a fence begins in."""
        self._is_closing = False
        self._is_escaped = False

    @property
    def is_line_start(self) -> bool:
        """Whether a line begins here, behind three spaces at most."""
        return self._is_blank and self._indent <= MOST_INDENT and not self._run

    @property
    def is_behind_tick(self) -> bool:
        """Whether a backtick is the last character."""
        return self._run_of == "`" and self._run > 0

    @property
    def is_in_fence(self) -> bool:
        """Whether a block of code is open; `settle` first."""
        return self._fence[1] > 0

    @property
    def is_in_code(self) -> bool:
        """Whether code is open; `settle` first. A lone backtick counts as code up to the next empty line."""
        return self._code > 0 or self.is_in_fence

    def settle(self) -> None:
        """Know that a run of backticks or tildes has ended."""
        run, self._run = self._run, 0
        if not run:
            return
        if self.is_in_fence:
            self._is_closing = self._run_leads and self._run_of == self._fence[0] and run >= self._fence[1]
        elif self._run_leads and run >= FENCE:
            self._fence, self._is_head, self._code = (self._run_of, run), True, 0
            self.code_number += 1
        elif self._run_of == "`":
            self._tick(run)

    def go(self, text: str) -> None:
        """Move over a piece of the text."""
        at = 0
        while at < len(text):
            at = self._step(text, at, text[at])

    def _step(self, text: str, at: int, character: str) -> int:
        """Move over the characters from one place on that are of one kind; return where they end."""
        if self._run and character == self._run_of:
            end = _end(_RUNS[character], text, at)
            self._run += end - at
            return end
        self.settle()
        if character == "\n":
            self._end_line()
            return at + 1 if self._code else self._next_line_with_run(text, at + 1)
        if self._is_escaped:
            self._is_escaped = False
            return at + 1
        if self._is_blank and (end := _end(_BLANK, text, at)) > at:
            self._indent += sum(TAB_SPACES if each == "\t" else 1 for each in text[at:end])
            return end
        if self._begins_run(character):
            self._run_of, self._run = character, 1
            self._run_leads = self._is_blank if self.is_in_fence else self._is_lead
            self._leave_start()
            return at + 1
        if character == "\\" and not self.is_in_code:
            self._is_escaped = True
            self._leave_start()
            return at + 1
        return self._words(text, at, character)

    def _begins_run(self, character: str) -> bool:
        if character not in _RUNS:
            return False
        if not self.is_in_fence:
            return character == "`" or self._is_lead
        if self._is_head and character == self._fence[0] == "`":
            # No language has a backtick in its name: it was inline code that only looked like a block.
            self._code, self._fence, self._is_head, self._is_lead = self._fence[1], ("", 0), False, False
            return True
        return self._is_blank and character == self._fence[0]

    def _words(self, text: str, at: int, character: str) -> int:
        """Move over ordinary characters."""
        if self._is_closing and not character.isspace():
            self._is_closing = False
        if self._is_lead and self._lead < MOST_LEAD and not self.is_in_fence and _LEAD.match(character):
            self._lead += 1
            self._is_blank = self.is_fresh = False
            return at + 1
        if self._is_closing:
            return at + 1
        self._leave_start()
        if self.is_in_fence:
            stops = _IN_CODE if self._is_head else _LINE_END
        else:
            stops = _IN_CODE if self._code else _IN_LINE
        found = stops.search(text, at + 1)
        return found.start() if found is not None else len(text)

    def _next_line_with_run(self, text: str, at: int) -> int:
        """Return where the next line begins that matters, or the last one: lines without a backtick leave no trace."""
        run = _RUN.search(text, at)
        start = text.rfind("\n", at, run.start() if run is not None else len(text)) + 1
        if start <= at:
            return at
        self.is_fresh = self.is_fresh and text[at:start].isspace()
        return start

    def _leave_start(self) -> None:
        self._is_blank = self._is_lead = self.is_fresh = False

    def _tick(self, run: int) -> None:
        if not self._code:
            self._code = run
            self.code_number += 1
        elif self._code == run:
            self._code = 0

    def _end_line(self) -> None:
        if self._is_closing:
            self._fence = ("", 0)
        if self._is_blank and not self.is_in_fence:
            self._code = 0  # an empty line ends the paragraph, and code in it that never closed
        self._is_blank = self._is_lead = True
        self._is_head = self._is_closing = self._is_escaped = False
        self._lead = self._indent = 0


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found is not None else at

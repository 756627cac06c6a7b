"""An answer that grows, parted into what it thinks and what it says, as people read them.

Pure. White space at the edges of either is nobody's; several stretches of thinking are one text, and so is the answer.
"""

from __future__ import annotations

from collections.abc import Sequence

from app.core.thinking import Segment, ThinkingReader
from app.core.thinking_tags import DEFAULT_PAIRS, TagPair

PARAGRAPH_GAP = "\n\n"


class PartedAnswer:
    """An answer that grows, parted into what it thinks and what it says."""

    def __init__(self, pairs: Sequence[TagPair] = DEFAULT_PAIRS, *, opened: bool = False) -> None:
        self._reader = ThinkingReader(pairs, opened=opened)
        self._source = ""
        self.restarts = 0
        """How often what seemed to be the answer turned out to be thinking: once at most."""
        self._begin()

    def _begin(self) -> None:
        self._dealt = 0
        """Which of the closed stretches have been dealt out."""
        self._reached = 0
        """Up to which character."""
        self._space = ""
        """White space that nothing follows yet."""
        self._is_new = True
        """Whether nothing of the stretch that goes on was dealt out."""
        self.thought = ""
        """What was thought, several stretches an empty line apart; it only grows, unless `restarts` does too."""
        self.said = ""
        """The answer, likewise."""
        self.said_from: int | None = None
        """Where in the text the answer's first visible character is."""

    @property
    def segments(self) -> tuple[Segment, ...]:
        """All stretches of what is decided."""
        return self._reader.segments

    @property
    def is_thinking(self) -> bool:
        """Whether the text ends inside thinking."""
        return self._reader.is_thinking

    @property
    def decided(self) -> int:
        """How many characters of the text are decided."""
        return self._reader.decided

    def append(self, text: str) -> None:
        """Let the text grow."""
        self._source += text
        was_turned = self._reader.is_turned
        self._reader.feed(text)
        self._deal(was_turned=was_turned)

    def finish(self, text: str = "") -> None:
        """Take the last of the text, and know that it is whole."""
        self._source += text
        was_turned = self._reader.is_turned
        self._reader.finish(text)
        self._deal(was_turned=was_turned)

    def _deal(self, *, was_turned: bool) -> None:
        if self._reader.is_turned and not was_turned:
            self._begin()
            self.restarts = 1
        for segment in self._reader.closed[self._dealt :]:
            self._give(segment)
            self._dealt += 1
            self._is_new, self._space = True, ""
        self._give(self._reader.open)

    def _give(self, segment: Segment) -> None:
        """Deal out what is new of a stretch; white space at its end waits for what follows."""
        start = max(segment.text_start, self._reached)
        self._reached = max(self._reached, segment.text_end)
        fresh = self._space + self._source[start : segment.text_end]
        bare = fresh.rstrip()
        self._space = fresh[len(bare) :]
        if not bare or segment.kind == "mark":
            return
        lead = len(fresh) - len(fresh.lstrip())
        if segment.kind == "thinking":
            if self._is_new:
                bare = (PARAGRAPH_GAP if self.thought else "") + bare[lead:]
            self.thought += bare
        else:
            if self._is_new and self.said_from is None:
                self.said_from = segment.text_end - len(fresh) + lead
            if self._is_new and segment.start:
                # The lines between the thinking and the answer are neither's; spaces before the first word may be code.
                bare = (PARAGRAPH_GAP if self.said else "") + bare[fresh.rfind("\n", 0, lead) + 1 :]
            self.said += bare
        self._is_new = False

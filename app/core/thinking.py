"""Which stretches of an answer's text are thinking, told while it grows.

Pure: knows texts and tags. However the text is cut, the stretches are the same, and they tile it.

An opening tag counts at the start of the answer and at the start of a line; in code, and in the middle of a sentence,
it is text. A closing tag ends the thinking wherever it stands, except in code that has the opening one too, and right
behind a backtick. Where a closing tag alone fills the first line that has one, and no thinking came before, the chat
template had opened it: then everything before was thinking.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

import msgspec

from app.core.markdown_place import MarkdownPlace
from app.core.thinking_tags import DEFAULT_PAIRS, TagPair

SegmentKind = Literal["thinking", "answer", "mark"]
"""A mark is a tag that says where the answer begins, and is neither."""


class Segment(msgspec.Struct, frozen=True, gc=False):
    """A stretch of an answer, in characters; its text lies between the tags."""

    kind: SegmentKind
    start: int
    end: int
    text_start: int
    text_end: int
    is_closed: bool = True
    """Whether thinking has ended; what is no thinking has no end to miss."""
    tag: str = ""
    """What opens the thinking, also where the chat template wrote it."""


class _Hit(NamedTuple):
    """A whole tag in what is being read."""

    text: str
    start: int
    end: int


class ThinkingReader:
    """Reads one answer. What may still become a tag is not decided: at most a tag's length, at the end."""

    def __init__(self, pairs: Sequence[TagPair] = DEFAULT_PAIRS, *, opened: bool = False) -> None:
        """`opened` says that the prompt ended inside thinking, so that no tag opens it."""
        pairs = _unambiguous(pairs)
        self._openings = {pair.opening: pair for pair in pairs}
        self._closings = {pair.closing: pair for pair in reversed(pairs) if pair.closing}
        tags = sorted({*self._openings, *self._closings}, key=len, reverse=True)
        self._tags = tags
        self._firsts = {tag[0] for tag in tags}
        self._longest = max(map(len, tags), default=0)
        self._search = re.compile("|".join(map(re.escape, tags)) if tags else r"(?!)")
        self._place = MarkdownPlace()
        self._done: list[Segment] = []
        self._rest = ""
        """What is not decided."""
        self._base = 0
        """Where `_rest` begins."""
        self._start = self._text_start = 0
        """Of the stretch that is open."""
        self._is_thinking = opened
        self._opened = opened
        """The stretch that is open has no tag that opens it."""
        self._pair = pairs[0] if opened and pairs else None
        self._may_turn = not opened
        self._inner: int | None = None
        """Which code, inside the thinking, has an opening tag."""
        self.is_turned = False
        """Whether what was taken for the answer turned out to be thinking."""

    @property
    def decided(self) -> int:
        """How many characters are decided."""
        return self._base

    @property
    def is_thinking(self) -> bool:
        """Whether the end of what is decided lies inside thinking."""
        return self._is_thinking

    @property
    def closed(self) -> Sequence[Segment]:
        """The stretches that have ended; none of them changes, except once when `is_turned` comes true."""
        return self._done

    @property
    def open(self) -> Segment:
        """The stretch that goes on, up to what is decided; it may be empty."""
        if not self._is_thinking:
            return Segment("answer", self._start, self._base, self._text_start, self._base)
        tag = self._pair.opening if self._pair is not None else ""
        return Segment("thinking", self._start, self._base, self._text_start, self._base, is_closed=False, tag=tag)

    @property
    def segments(self) -> tuple[Segment, ...]:
        """All stretches; they tile what is decided, and none of them is empty."""
        last = self.open
        return (*self._done, last) if last.end > last.start else tuple(self._done)

    def feed(self, text: str) -> None:
        """Read on."""
        self._read(self._rest + text, is_end=False)

    def finish(self, text: str = "") -> None:
        """Read the last of the text, and decide what is left: it is whole."""
        self._read(self._rest + text, is_end=True)

    def _read(self, text: str, *, is_end: bool) -> None:
        at = 0
        while (found := self._search.search(text, at)) is not None:
            hit = _Hit(found.group(), found.start(), found.end())
            self._place.go(text[at : hit.start])
            is_behind_tick = self._place.is_behind_tick
            self._place.settle()
            following = text[hit.end : hit.end + 1]
            if not following and not is_end and self._may_fill_line(hit.text):
                self._keep(text, hit.start)
                return
            if self._takes(hit, is_behind_tick, following):
                at = hit.end
            else:
                self._place.go(text[hit.start])
                at = hit.start + 1
        held = len(text) if is_end else self._held(text, at)
        if not is_end:
            self._place.go(text[at:held])
        self._keep(text, held)

    def _keep(self, text: str, start: int) -> None:
        """Leave the text from one place on undecided."""
        self._base += start
        self._rest = text[start:]

    def _held(self, text: str, at: int) -> int:
        """Return where the end of the text begins that may still become a tag."""
        for start in range(max(at, len(text) - self._longest + 1), len(text)):
            if text[start] in self._firsts and any(tag.startswith(text[start:]) for tag in self._tags):
                return start
        return len(text)

    def _takes(self, hit: _Hit, is_behind_tick: bool, following: str) -> bool:
        """Take a tag for what it is, or return that it is text."""
        if self._is_thinking:
            return self._takes_inside(hit, is_behind_tick)
        if hit.text in self._openings:
            return self._takes_opening(hit)
        if self._may_fill_line(hit.text) and following in ("", "\n", "\r"):
            self._pair, self.is_turned = self._closings[hit.text], True
            self._done.clear()
            self._start = self._text_start = 0
            self._close(hit)
            return True
        return False

    def _takes_opening(self, hit: _Hit) -> bool:
        pair, place = self._openings[hit.text], self._place
        if place.is_in_code or not (place.is_fresh or (place.is_line_start and pair.closing)):
            return False
        start, end = self._base + hit.start, self._base + hit.end
        if start > self._start:
            self._done.append(Segment("answer", self._start, start, self._text_start, start))
        self._start, self._text_start = start, end
        if not pair.closing:
            self._done.append(Segment("mark", start, end, end, end))
            self._start = end
        else:
            self._pair, self._is_thinking, self._opened, self._may_turn = pair, True, False, False
            self._inner = None
        place.reset()
        return True

    def _takes_inside(self, hit: _Hit, is_behind_tick: bool) -> bool:
        place = self._place
        if hit.text in self._openings and hit.text not in self._closings:
            if self._opened and place.is_fresh and self._text_start == self._start == 0:
                # The template opened it, and the model says so once more.
                self._pair, self._text_start = self._openings[hit.text], self._base + hit.end
                place.reset()
                return True
            if place.is_in_code:
                self._inner = place.code_number
            return False
        if hit.text not in self._closings or not (self._opened or self._pair_closes(hit.text)):
            return False
        if place.is_in_code and self._inner == place.code_number:
            self._inner = None
            return False
        if place.is_in_code and is_behind_tick and not place.is_in_fence:
            return False
        if self._opened:
            self._pair = self._closings[hit.text]
        self._close(hit)
        return True

    def _pair_closes(self, tag: str) -> bool:
        return self._pair is not None and self._pair.closing == tag

    def _may_fill_line(self, tag: str) -> bool:
        """Return whether a closing tag would, alone in its line, end thinking that nothing seemed to open."""
        place = self._place
        is_candidate = (
            self._may_turn and not self._is_thinking and tag in self._closings and tag not in self._openings
        )
        return is_candidate and place.is_line_start and not place.is_in_code

    def _close(self, hit: _Hit) -> None:
        """End the thinking with a tag."""
        start, end = self._base + hit.start, self._base + hit.end
        tag = self._pair.opening if self._pair is not None else ""
        self._done.append(Segment("thinking", self._start, end, self._text_start, start, tag=tag))
        self._start = self._text_start = end
        self._is_thinking = self._opened = self._may_turn = False
        self._inner = None
        self._place.reset()


def _unambiguous(pairs: Iterable[TagPair]) -> tuple[TagPair, ...]:
    """Return the pairs without those of which a tag is the beginning of another one's."""
    kept: list[TagPair] = []
    tags: set[str] = set()
    for pair in pairs:
        own = {pair.opening, pair.closing} - {""}
        clash = any(
            one != other and (one.startswith(other) or other.startswith(one)) for one in own for other in tags
        )
        if pair.opening and pair.opening != pair.closing and not clash and pair not in kept:
            kept.append(pair)
            tags |= own
    return tuple(kept)

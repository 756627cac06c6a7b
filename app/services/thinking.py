"""What an answer thinks before it says anything: the two texts apart, and what the thinking took.

Follows an answer while it is written, and reads one that was kept when somebody looks. Knows no session and no view.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from math import ceil
from typing import NamedTuple

from app.core.conversation import Thinking
from app.core.events import Tokens
from app.core.parted_answer import PartedAnswer
from app.core.thinking import Segment
from app.core.thinking_tags import DEFAULT_PAIRS, TagPair, name_of, pairs_for

_NS_PER_MS = 1e6


class _Step(NamedTuple):
    """Tokens that came at once."""

    end: int
    """Of their text in that of the answer, in characters."""
    before: int
    """Tokens that came before them."""
    tokens: int
    first_ns: int
    last_ns: int


class Thoughts:
    """The thinking of one answer.

    Tokens come several at once: where thinking ends among them, they are shared out by their characters.
    """

    def __init__(self, pairs: Sequence[TagPair] = DEFAULT_PAIRS, *, opened: bool = False, sent_ns: int = 0) -> None:
        """`opened` says that the prompt ended inside the thinking; `sent_ns` is when the answer was asked for."""
        self._parted = PartedAnswer(pairs, opened=opened)
        self._opened = opened
        self._sent_ns = sent_ns
        self._before: Thinking | None = None
        self._unread: str | None = None
        """The text of an answer that was kept, until somebody looks."""
        self._is_whole = False
        self._first = 0
        """Characters that were there before."""
        self._length = 0
        self._steps: list[_Step] = []

    @classmethod
    def kept(cls, text: str, thinking: Thinking | None) -> Thoughts | None:
        """Return the thinking of an answer that was kept; None where there is none to look for.

        Answers from before thinking was kept have no word of it: the usual tags say it.
        """
        if thinking is None and not any(pair.closing in text or pair.opening in text for pair in DEFAULT_PAIRS):
            return None
        known = thinking or Thinking(tokens=0)
        made = cls(pairs_for(known.tag), opened=known.opened)
        made._before, made._unread = thinking, text
        made._is_whole = True
        return made

    @classmethod
    def edited(cls, text: str, before: Thinking | None) -> Thoughts | None:
        """Return the thinking in what people made of an answer, which has the tags that it had; nobody measured it.

        Where they took out the end of what the prompt had opened, all that is left is the answer.
        """
        if before is None:
            return cls.kept(text, None)
        is_closed = any(pair.closing and pair.closing in text for pair in pairs_for(before.tag))
        made = cls.kept(text, Thinking(opened=before.opened and (is_closed or not before.closed), tag=before.tag))
        return made if made is not None and made.thinking is not None else cls.kept(text, None)

    def resume(self, text: str, thinking: Thinking | None) -> None:
        """Begin behind the beginning of an answer that goes on, which thought so much already."""
        self._before = thinking
        self._first = self._length = len(text)
        self._parted.append(text)

    def take(self, event: Tokens) -> None:
        """Take tokens and their text, in the order in which they come."""
        self._length += len(event.text)
        before = self._steps[-1].before + self._steps[-1].tokens if self._steps else 0
        self._steps.append(_Step(self._length, before, event.count, event.first_ns, event.last_ns))
        self._parted.append(event.text)

    def finish(self, rest: str = "") -> None:
        """Know that the answer is whole, with a last bit of text that came with its end."""
        self._length += len(rest)
        self._parted.finish(rest)
        self._is_whole = True

    @property
    def is_whole(self) -> bool:
        """Whether no more of the answer will come."""
        return self._is_whole

    @property
    def segments(self) -> tuple[Segment, ...]:
        """The stretches of the answer's text, as far as they are decided."""
        return self._read().segments

    @property
    def decided(self) -> int:
        """How many characters of the text are decided; what may still become a tag is not."""
        return self._read().decided

    @property
    def thought(self) -> str:
        """The thinking as people read it; it only grows, unless `restarts` does too."""
        return self._read().thought

    @property
    def said(self) -> str:
        """The answer without its thinking, likewise."""
        return self._read().said

    @property
    def restarts(self) -> int:
        """How often what seemed to be the answer turned out to be thinking."""
        return self._read().restarts

    @property
    def is_thinking(self) -> bool:
        """Whether the answer is being written and thinks now."""
        return not self._is_whole and self._read().is_thinking

    @property
    def thinking(self) -> Thinking | None:
        """What the thinking took so far, as it is kept; None while there is none."""
        parted = self._read()
        parts = [each for each in parted.segments if each.kind == "thinking"]
        is_open = parted.is_thinking
        if not parts and not (is_open and self._length):
            return None
        before, measured = self._before, self._measured(parts, is_open=is_open)
        first_ms = before.first_answer_ms if before is not None else None
        if first_ms is None and parted.said_from is not None and self._steps:
            first_ms = max(self._moment(parted.said_from + 1) - self._sent_ns, 0) / _NS_PER_MS
        tag = next((part.tag for part in parts if part.tag), "")
        return Thinking(
            opened=self._opened,
            tag=name_of(tag) if tag else Thinking().tag,
            tokens=measured[0] + (before.tokens if before is not None else 0),
            ms=measured[1] + (before.ms if before is not None else 0.0),
            first_answer_ms=first_ms,
            closed=not is_open,
        )

    @property
    def token_stretches(self) -> tuple[tuple[int, int], ...]:
        """Which of the tokens that came while somebody followed are thinking, from the first of them: first, end."""
        parted = self._read()
        parts = [each for each in parted.segments if each.kind == "thinking"]
        return tuple(self._stretches(parts, is_open=parted.is_thinking)) if self._steps else ()

    def _stretches(self, parts: Sequence[Segment], *, is_open: bool) -> Iterator[tuple[int, int]]:
        for part in parts:
            first, end = self._count(part.start), self._count(part.end)
            if end > first:
                yield first, end
        if is_open:  # what is not decided yet, or has no text, is the thinking's as long as that is open
            first, last = self._count(parts[-1].end if parts else 0), self._steps[-1]
            if last.before + last.tokens > first:
                yield first, last.before + last.tokens

    def _read(self) -> PartedAnswer:
        if self._unread is not None:
            text, self._unread = self._unread, None
            self._length = self._first = len(text)
            self._parted.finish(text)
        return self._parted

    def _measured(self, parts: Sequence[Segment], *, is_open: bool) -> tuple[int, float]:
        """Return tokens and milliseconds of the thinking that came while somebody followed it."""
        if not self._steps:
            return 0, 0.0
        tokens = sum(end - first for first, end in self._stretches(parts, is_open=is_open))
        ns = sum((self._moment(part.end) - self._moment(part.start) for part in parts), 0.0)
        if is_open:
            ns += self._steps[-1].last_ns - self._moment(parts[-1].end if parts else 0)
        return tokens, ns / _NS_PER_MS

    def _count(self, place: int) -> int:
        """Return how many tokens the text up to a character took."""
        return self._token(place)[0]

    def _moment(self, place: int) -> float:
        """Return when the text up to a character was there, in ns."""
        return self._token(place)[1]

    def _token(self, place: int) -> tuple[int, float]:
        """Return how many tokens came up to a character, and when the last of them did."""
        if place <= self._first:
            return 0, float(self._steps[0].first_ns)
        index = min(bisect_left(self._steps, place, key=lambda step: step.end), len(self._steps) - 1)
        step = self._steps[index]
        start = self._steps[index - 1].end if index else self._first
        share = min((place - start) / max(step.end - start, 1), 1.0)
        count = max(ceil(share * step.tokens), 1)
        ns = step.first_ns + (step.last_ns - step.first_ns) * (count - 1) / max(step.tokens - 1, 1)
        return step.before + count, ns

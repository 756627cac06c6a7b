"""Stage 7: text that may still become a stop string is held back, and the answer is cut before the first one.

Knows nothing of tokens: it sees text in pieces of any size, and how it is cut does not depend on the pieces.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence

from app.core.chat import clean_text
from app.core.words import Sentence, translate
from app.engine.backend import Vocabulary


def usable_stops(stops: Iterable[str]) -> tuple[tuple[str, ...], tuple[Sentence, ...]]:
    """Return the stop strings without blank and double ones, and a hint if blank ones were dropped.

    Spaces alone are blank; a line break is a stop like any other.
    """
    given = [clean_text(stop) for stop in stops]
    kept = tuple(dict.fromkeys(stop for stop in given if stop.strip(" \t")))
    if all(stop.strip(" \t") for stop in given):
        return kept, ()
    return kept, (translate("Engine", "Blank stop strings are ignored. Remove them or give them some text."),)


def control_stops(stops: Iterable[str], vocabulary: Vocabulary) -> frozenset[int]:
    """Return the control tokens that are named as stops: they say nothing in the text, so they stop by their id."""
    named = set(stops)
    return frozenset(token for token, text, is_control in vocabulary.special_texts() if is_control and text in named)


class StopWatch:
    """Withholds the longest tail that could still become a stop; the earliest start of a match wins."""

    def __init__(self, stops: Sequence[str]) -> None:
        self._states = _Prefixes(stops)
        self._state = 0
        self._held: deque[str] = deque()
        self._head = 0
        """Characters of the first held piece that are shown already."""
        self._shown = 0
        self._seen = 0
        self._match: int | None = None
        self.stopped = False
        """Whether a stop was found; after `flush` also when the text ended inside a longer one."""

    def resume(self, shown: str) -> None:
        """Begin behind text that is shown already: a stop may have begun in it, and ends the answer all the same."""
        for character in shown:
            self._state = self._states.after(self._state, character)
        self._seen = self._shown = len(shown)

    def step(self, text: str) -> tuple[str, bool]:
        """Take text; return what became visible and whether a stop ends the answer here."""
        if self.stopped:
            return "", True
        states = self._states
        for character in text:
            self._state = states.after(self._state, character)
            self._seen += 1
            if matched := states.matched[self._state]:
                start = self._seen - matched
                self._match = start if self._match is None else min(self._match, start)
            # A stop that begins earlier may still be on its way; only then is the match not final.
            if self._match is not None and self._seen - states.depth[self._state] >= self._match:
                self.stopped = True
                break
        self._held.append(text)
        visible = self._release(self._seen - states.depth[self._state])
        return visible, self.stopped

    def flush(self) -> str:
        """Return what was held back, at the end of the answer: nothing that follows a stop."""
        if self.stopped:
            return ""
        self.stopped = self._match is not None
        return self._release(self._seen)

    def _release(self, end: int) -> str:
        """Take from the held text up to a position of the answer, but not beyond a match."""
        missing = (end if self._match is None else min(end, self._match)) - self._shown
        self._shown += max(missing, 0)
        parts = []
        while missing > 0:
            part = self._held[0][self._head : self._head + missing]
            parts.append(part)
            missing -= len(part)
            self._head += len(part)
            if self._head == len(self._held[0]):
                self._held.popleft()
                self._head = 0
        return "".join(parts)


class _Prefixes:
    """The beginnings of all stops as the states of an Aho-Corasick automaton; state 0 is no beginning at all."""

    def __init__(self, stops: Sequence[str]) -> None:
        self._next: list[dict[str, int]] = [{}]
        self._shorter = [0]
        self.depth = [0]
        """Characters of the beginning that a state stands for."""
        self.matched = [0]
        """Length of the longest stop that ends at a state, 0 for none."""
        for stop in stops:
            self._add(stop)
        self._link()

    def after(self, state: int, character: str) -> int:
        """Return the longest beginning of a stop that the text ends with after one more character."""
        while character not in self._next[state]:
            if state == 0:
                return 0
            state = self._shorter[state]
        return self._next[state][character]

    def _add(self, stop: str) -> None:
        state = 0
        for character in stop:
            if character not in self._next[state]:
                self._next[state][character] = len(self._next)
                self._next.append({})
                self._shorter.append(0)
                self.depth.append(self.depth[state] + 1)
                self.matched.append(0)
            state = self._next[state][character]
        self.matched[state] = len(stop)

    def _link(self) -> None:
        """Point each beginning to the longest other one that it ends with, the short ones first."""
        queue = deque(self._next[0].values())
        while queue:
            state = queue.popleft()
            self.matched[state] = self.matched[state] or self.matched[self._shorter[state]]
            for character, target in self._next[state].items():
                self._shorter[target] = self.after(self._shorter[state], character)
                queue.append(target)

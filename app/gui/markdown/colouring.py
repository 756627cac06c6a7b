"""Which colour each part of some code has, found out bit by bit: a long block is never read in one go.

Knows the names of the colours and no colour.
"""

from __future__ import annotations

import bisect
import time
from collections.abc import Callable, Iterator
from functools import cache
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable

    class Lexer(Protocol):
        """What reads a language: `pygments` has no types."""

        def get_tokens_unprocessed(self, text: str) -> Iterable[tuple[int, object, str]]:
            """Yield where a token starts, what it is, and its text."""


SLICE_MS = 4.0
MOST_CHARACTERS = 200_000
"""Longer code stays in one colour."""
_NS_PER_MS = 1_000_000
_LOOK_AT_CLOCK_EVERY = 32
_TOKENS = (
    ("Comment.Preproc", "code_keyword"),
    ("Comment", "code_comment"),
    ("Keyword.Constant", "code_number"),
    ("Keyword", "code_keyword"),
    ("Operator.Word", "code_keyword"),
    ("Literal.String", "code_string"),
    ("Literal.Number", "code_number"),
    ("Literal.Date", "code_number"),
    ("Name.Function", "code_name"),
    ("Name.Class", "code_name"),
    ("Name.Namespace", "code_name"),
    ("Name.Decorator", "code_name"),
    ("Name.Tag", "code_keyword"),
    ("Name.Attribute", "code_name"),
    ("Name.Builtin", "code_name"),
    ("Name.Exception", "code_name"),
    ("Generic.Deleted", "code_string"),
    ("Generic.Inserted", "code_number"),
    ("Generic.Heading", "code_keyword"),
    ("Generic.Subheading", "code_keyword"),
)


class Coloured(NamedTuple):
    """A stretch of code in one colour."""

    start: int
    end: int
    token: str


Work = Callable[[], None]


class Lexers:
    """Loads what reads a language, where it can away from the window's thread: some need a tenth of a second."""

    def __init__(self, run: Callable[[Work], None] | None = None) -> None:
        self._run = run
        self._asked: set[str] = set()
        self._loaded: set[str] = set()

    def use(self, run: Callable[[Work], None]) -> None:
        """Load with this from now on: it runs what it is given at another time, on any thread."""
        self._run = run

    def is_ready(self, language: str) -> bool:
        """Return whether code in a language can be coloured now; if not, that is prepared."""
        name = _name(language)
        if self._run is None or not name or name in self._loaded:
            return True
        if name not in self._asked:
            self._asked.add(name)
            self._run(lambda: self._load(name))
        return name in self._loaded

    def _load(self, name: str) -> None:
        _lexer(name)
        self._loaded.add(name)


class Colouring:
    """The colours of one block of code."""

    def __init__(self, code: str, language: str) -> None:
        self._stretches: list[Coloured] = []
        self._reached = 0
        self._end = len(code)
        self._source = _stretches(code, language)

    @property
    def reached(self) -> int:
        """Up to which character the colours are known."""
        return self._reached

    def reach(self, position: int, milliseconds: float = SLICE_MS) -> bool:
        """Find the colours up to a character, for a while at most; return whether that was enough."""
        end = time.perf_counter_ns() + int(milliseconds * _NS_PER_MS)
        counted = 0
        while self._reached < min(position, self._end):
            stretch = next(self._source, None)
            if stretch is None:
                self._reached = self._end
                break
            self._reached = stretch.end
            if stretch.token:
                self._stretches.append(stretch)
            counted += 1
            if counted % _LOOK_AT_CLOCK_EVERY == 0 and time.perf_counter_ns() > end:
                break
        return self._reached >= min(position, self._end)

    def between(self, start: int, end: int) -> list[Coloured]:
        """Return the stretches in a part of the code, cut to it and counted from its start."""
        first = bisect.bisect_right(self._stretches, start, key=lambda each: each.end)
        found = []
        for stretch in self._stretches[first:]:
            if stretch.start >= end:
                break
            found.append(Coloured(max(stretch.start, start) - start, min(stretch.end, end) - start, stretch.token))
        return found


def _stretches(code: str, language: str) -> Iterator[Coloured]:
    lexer = _lexer(_name(language)) if len(code) <= MOST_CHARACTERS else None
    if lexer is None:
        return
    for start, kind, text in lexer.get_tokens_unprocessed(code):
        yield Coloured(start, start + len(text), _token(str(kind).removeprefix("Token.")))


def _name(language: str) -> str:
    """Return the first word of what stands behind a fence, as ``{.python title="x"}`` or `python,ignore` have it."""
    words = language.strip("{} ").replace(",", " ").split()
    return words[0].lstrip(".").lower() if words else ""


@cache
def _token(kind: str) -> str:
    return next((token for prefix, token in _TOKENS if kind == prefix or kind.startswith(prefix + ".")), "")


@cache
def _lexer(name: str) -> Lexer | None:
    """Return what reads a language; loading it is left to the first block of code."""
    if not name:
        return None
    # Costs 8 ms and more, which the start of the window does not wait for. The package has no types.
    from pygments.lexers import get_lexer_by_name  # type: ignore[import-untyped]  # noqa: PLC0415
    from pygments.util import ClassNotFound  # type: ignore[import-untyped]  # noqa: PLC0415

    try:
        found: Lexer = get_lexer_by_name(name, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None
    return found

"""What is marked in the text of a lane, in characters of it: where lanes part, which words differ, what would be cut.

Plain values; knows no widget.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from app.services.lane_analysis import Analysis, LaneWhatIf, LaneWords, TextSpan, WhatIfToken

UNLIKELY = 0.05
"""Below this probability after the chain a token is marked as only unlikely."""
Shown = Literal["words", "tokens", "off"]
"""Which differences are marked."""


class TokenMark(NamedTuple):
    """The first token in which lanes differ from the baseline."""

    span: TextSpan
    lanes: tuple[int, ...]
    """Indices of the lanes that leave the baseline with it; in a lane's own text that lane alone."""


class StageMark(NamedTuple):
    """A token that other settings would have cut, or of which the record does not say that."""

    span: TextSpan
    stage: str
    """As the chain calls it; empty where that is not known."""
    is_certain: bool


class Marks(NamedTuple):
    """All that is marked in one lane."""

    shared_end: int = 0
    """So many characters all compared lanes have in common."""
    tokens: tuple[TokenMark, ...] = ()
    words: tuple[TextSpan, ...] = ()
    stages: tuple[StageMark, ...] = ()
    unlikely: tuple[TextSpan, ...] = ()
    """Tokens that other settings would have left, with little probability."""
    greedy: TextSpan | None = None
    """The first token that is not the model's most likely one."""

    def of_lanes(self) -> Marks:
        """Return what is marked between lanes alone, without what other settings would have made of one."""
        return Marks(self.shared_end, self.tokens, self.words)


def token_marks(analysis: Analysis, lane: int) -> Marks:
    """Return where a lane leaves the baseline, or in the baseline where the others leave it."""
    if lane != analysis.baseline:
        found = analysis.divergence(lane)
        if found is None:
            return Marks()
        return Marks(found.in_lane.start, (TokenMark(found.in_lane, (lane,)),))
    spans: dict[TextSpan, list[int]] = {}
    for each in analysis.divergences:
        if each is not None:
            spans.setdefault(each.in_baseline, []).append(each.lane)
    tokens = [TokenMark(span, tuple(lanes)) for span, lanes in spans.items()]
    tokens.sort(key=lambda mark: mark.span.start)
    return Marks(min((mark.span.start for mark in tokens), default=0), tuple(tokens))


def word_marks(words: LaneWords, lane: int) -> tuple[TextSpan, ...]:
    """Return the stretches of a lane that the other of two lanes says otherwise or not at all."""
    if lane not in (words.first, words.second):
        return ()
    differing = [span for span in words.spans if span.kind != "equal"]
    if lane == words.first:
        return _not_empty([TextSpan(span.first_start, span.first_end) for span in differing])
    return _not_empty([TextSpan(span.second_start, span.second_end) for span in differing])


def stage_marks(found: LaneWhatIf) -> tuple[StageMark, ...]:
    """Return the tokens that would have been cut, or may have been."""
    return tuple(
        StageMark(span, token.stage or "", token.state == "cut")
        for span, token in zip(found.spans, found.tokens, strict=False)
        if token.state in ("cut", "unknown")
    )


def is_unlikely(token: WhatIfToken) -> bool:
    """Return whether a token would have been left with little probability."""
    return token.state == "known" and token.after is not None and token.after < UNLIKELY


def what_if_marks(found: LaneWhatIf) -> Marks:
    """Return all that is marked of an answer under other settings."""
    greedy = found.greedy_leaves_at
    return Marks(
        stages=stage_marks(found),
        unlikely=tuple(span for span, token in zip(found.spans, found.tokens, strict=False) if is_unlikely(token)),
        greedy=found.spans[greedy] if greedy is not None and greedy < len(found.spans) else None,
    )


def _not_empty(spans: Sequence[TextSpan]) -> tuple[TextSpan, ...]:
    return tuple(span for span in spans if span.start < span.end)

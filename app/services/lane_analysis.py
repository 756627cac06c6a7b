"""What is known of the lanes of a comparison once they were analysed, as plain values for whoever shows or exports it.

Knows no engine, no store and no numbers library: this module costs a start nothing.

Places in texts are in characters (code points) of the whole text of a lane's turn, its thinking included.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from app.core.comparison import LETTERS, ReasonKind
from app.core.metrics import StopReason
from app.core.sampling import SamplingSettings
from app.core.word_difference import WordSpan
from app.core.words import Sentence, translate

TokenState = Literal["known", "left", "unknown", "cut"]
"""Of a token under other settings. `known`: left, with a probability. `left`: left for certain, but its probability is
not known closely. `unknown`: the record does not say whether it would have been cut. `cut`: it would not have come."""


class TextSpan(msgspec.Struct, frozen=True):
    """A stretch of a lane's text, in characters; an empty one is a place between two characters."""

    start: int
    end: int


class LaneFigures(msgspec.Struct, frozen=True):
    """Figures of one lane; None is unknown. Logarithms are natural, entropy in nats, both of the raw model."""

    length: int
    """Tokens, the one that ends the answer included."""
    recorded: int
    """Tokens of which a record was kept: the likelihoods and entropies are of these."""
    mean_log_probability: float | None = None
    perplexity: float | None = None
    mean_entropy: float | None = None
    repetition: float | None = None
    """Share of the sequences of four tokens that came up before, 0 to 1."""
    distinct_1: float | None = None
    distinct_2: float | None = None
    """Different tokens, and pairs of tokens, by all of them."""
    itl_p50_ms: float | None = None
    tokens_per_s: float | None = None
    """Decode speed, with all lanes of the wave at once."""
    shared_ttft_ms: float | None = None
    """Request to the first visible character of the lane: the prefill in it is shared by all lanes."""
    stop_reason: StopReason | None = None
    """None while it is written, and for a lane that was interrupted."""


class AnalysedLane(msgspec.Struct, frozen=True):
    """One lane."""

    index: int
    message: int
    settings: SamplingSettings
    """Its seed among them."""
    text: str
    figures: LaneFigures
    surprise: tuple[float | None, ...] = ()
    """-log-probability of each recorded token, for a sparkline."""
    entropies: tuple[float | None, ...] = ()
    """Of the distribution that each recorded token came from."""
    token_starts: tuple[int, ...] = ()
    """Where the text of each token begins, and at the end where that of the last ends; empty where that is not known.

    Tokens that share a character begin at it together."""
    is_open: bool = False
    """Whether more of it may come: it is written, or waits for its wave."""

    @property
    def is_cut_short(self) -> bool:
        """Whether somebody stopped it, or something interrupted it."""
        return not self.is_open and self.figures.stop_reason in (None, "cancelled")

    @property
    def letter(self) -> str:
        """What it is called."""
        return LETTERS[self.index]


class Share(msgspec.Struct, frozen=True):
    """What one lane's chain made of a token."""

    after: float | None
    """Its probability after the chain, 0 for one that was cut; None where that is not known."""
    cut_by: str | None = None
    """The stage that cut it for certain, as the chain calls it."""


class Contender(msgspec.Struct, frozen=True):
    """A token of the row that both lanes drew from."""

    token: int
    text: str | None
    """What it says, parts of characters as `<0xD7>`; None where that is not known."""
    raw: float | None
    """Its probability as the model gave it, 0 to 1; None where nothing was recorded of it."""
    rank: int | None
    """Its place by falling raw probability, 1 for the most likely."""
    baseline: Share
    lane: Share


class LaneDivergence(msgspec.Struct, frozen=True):
    """Where a lane leaves the baseline."""

    lane: int
    """Index of the lane."""
    token: int
    """Index of the first token that differs, counted from 0."""
    in_baseline: TextSpan
    in_lane: TextSpan
    """The differing token in both texts: what lies before its start is the shared beginning. Empty where that lane has no
    token there. Where nobody knows what the tokens say, the first character in which the texts differ."""
    baseline_token: Contender | None
    """What the baseline took; None where it has no token there."""
    lane_token: Contender | None
    """What the lane took."""
    kind: ReasonKind
    stage: str | None
    """The stage that decided it, as the chain calls it; None where none did or that is not known."""
    reason: Sentence
    """Why they took different tokens, for people."""
    draws: Sentence | None
    """Which numbers the two draws drew with; None where that is not known or nothing was drawn."""
    baseline_number: float | None
    lane_number: float | None
    """These numbers, in [0, 1)."""
    cutter: str | None = None
    """The stage that cut one of the tokens, where another stage before it made it do so."""
    picture: tuple[Contender, ...] = ()
    """The most likely tokens with both distributions, by falling raw probability; empty where nothing was recorded."""


class BranchNode(msgspec.Struct, frozen=True):
    """A stretch of tokens that one or several lanes have in common, up to where one of them leaves or ends."""

    start: int
    end: int
    """Tokens, counted in each of its lanes; the root may be empty."""
    lanes: tuple[int, ...]
    """Indices of lanes, rising."""
    span: TextSpan | None
    """In its first lane's text; None where nobody knows what the tokens say."""
    text: str
    """What the stretch says."""
    parent: int | None
    children: tuple[int, ...]
    """Places in the list of nodes; the likeliest branch first."""
    ends: tuple[int, ...]
    """Indices of lanes that end with this stretch."""
    probability: float | None
    """Raw probability of its first token; None for what was not recorded, and for an empty root."""
    probability_after: tuple[float | None, ...]
    """What the draw of each lane in `lanes` saw of that token."""
    log_probability: float | None
    """Sum over the stretch in the raw distribution; None where not all of it was recorded."""
    open: tuple[int, ...] = ()
    """Those of `ends` of which more may come."""


class Analysis(msgspec.Struct, frozen=True):
    """All that is known of a comparison's lanes at one moment."""

    comparison: int
    baseline: int
    """Index of the lane that the others are compared with; the first that is there where the pinned one was deleted."""
    lanes: tuple[AnalysedLane, ...]
    """Those that are there, by index."""
    divergences: tuple[LaneDivergence | None, ...]
    """One for each lane in `lanes`; None for the baseline, and for a lane whose tokens are the same.

    Of a lane or a baseline that is open they are the same so far, up to where its tokens reach."""
    tree: tuple[BranchNode, ...]
    """The root first, each before its children."""
    is_whole: bool = True
    """Whether all lanes have ended."""
    prompt_ids: bytes | None = None
    """The prompt that all lanes got, int32; None where it was not kept."""
    prompt_text: str | None = None
    """The same as text, control tokens by their name; None where nobody knows what the tokens say."""

    def lane(self, index: int) -> AnalysedLane | None:
        """Return a lane by its index; None where it is not there."""
        return next((each for each in self.lanes if each.index == index), None)

    def divergence(self, index: int) -> LaneDivergence | None:
        """Return where a lane leaves the baseline, by the lane's index."""
        return next((each for each in self.divergences if each is not None and each.lane == index), None)


class WhatIfToken(msgspec.Struct, frozen=True):
    """One recorded token of a lane under other settings."""

    state: TokenState
    after: float | None
    """Its probability after the chain, where it is `known`; 0 where it would have been cut."""
    stage: str | None
    """The stage that would have cut it, where that is certain."""
    survivors: int
    """At least so many tokens would have been left to draw from."""
    is_exact: bool
    """Whether exactly these."""
    unseen: float
    """The raw probability of tokens outside of the record that may be among those left, 0 to 1."""

    @property
    def left(self) -> Sentence:
        """How many tokens would have been left, for people."""
        if self.is_exact:
            return translate("LaneAnalysis", "{count} left to draw from", count=self.survivors)
        percent = f"{100 * self.unseen:.3g}"
        if percent == "0":
            return translate("LaneAnalysis", "at least {count} left to draw from", count=self.survivors)
        return translate(
            "LaneAnalysis", "at least {count} survive, {percent} % unseen", count=self.survivors, percent=percent
        )


class LaneWhatIf(msgspec.Struct, frozen=True):
    """A lane's record under other settings."""

    comparison: int
    lane: int
    settings: SamplingSettings
    tokens: tuple[WhatIfToken, ...] = ()
    """One for each recorded token."""
    spans: tuple[TextSpan, ...] = ()
    """Of each recorded token in the lane's text; empty where nobody knows what the tokens say."""
    cuts: dict[str, int] = {}
    """How many tokens each stage would have cut, by the stage's name, in the chain's order."""
    cut: int = 0
    """How many would have been cut, those of which the stage is not certain included."""
    unknown: int = 0
    """Of how many the record does not say whether they would have been cut."""
    known: int = 0
    """Of how many the probability is known."""
    log_probability: float | None = None
    """Of the whole answer under these settings; None where a token would have been cut or is not known."""
    log_probability_of_known: float | None = None
    """Of the tokens that are known."""
    greedy_leaves_at: int | None = None
    """The first token that was not the model's most likely one; None where there is none."""
    problem: Sentence | None = None
    """Why nothing can be said: then everything else is empty."""


class LaneWords(msgspec.Struct, frozen=True):
    """The words in which two lanes differ."""

    comparison: int
    first: int
    second: int
    """Indices of the lanes."""
    spans: tuple[WordSpan, ...] = ()
    """Stretches that cover both texts in order."""

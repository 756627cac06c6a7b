"""What the sampler laboratory shows of one step: a card for each stage of the chain, and one for the draw.

Plain values: whoever works them out may be anywhere, and whoever shows them needs no numbers library.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

Fate = Literal["left", "cut", "unknown"]
"""What a stage makes of a token; “unknown” where too little of the row was kept to say."""
StageState = Literal["acts", "off", "neutral", "skipped"]
"""Whether a stage runs: it acts, somebody switched it off, its value does nothing, or temperature 0 leaves it out."""


Bounds = tuple[float, float]
"""A share that is not known exactly lies between these two, 0 to 1."""


class CardToken(NamedTuple):
    """One of the most likely tokens that enter a stage."""

    token: int
    before: float
    """Its probability among all that enter, 0 to 1; the best guess where there are bounds."""
    after: float
    """Its probability among all that leave; 0 for one that is cut."""
    fate: Fate
    before_bounds: Bounds | None = None
    """None where `before` is exact."""
    after_bounds: Bounds | None = None
    """None where `after` is exact."""


class StageCard(NamedTuple):
    """What one stage does to the tokens of a step."""

    name: str
    """As `core.sampling.STAGES` calls it."""
    state: StageState
    enter: int
    """So many tokens enter; at least so many where `enter_is_exact` is false."""
    leave: int
    tokens: tuple[CardToken, ...]
    """The most likely ones that enter, by falling probability."""
    cut: int | None = None
    """The cut line lies after so many tokens by rank; None where it is no line, nothing is cut, or nobody knows."""
    cuts_front: bool = False
    """Whether the tokens before the line are those that are cut."""
    threshold: float | None = None
    """Where it cuts in the stage's own terms: the probability at which min-p cuts, the entropy around which typical keeps."""
    removed: float | None = 0.0
    """The share of the mass that it cuts, 0 to 1; None where nobody knows."""
    removed_bounds: Bounds | None = None
    """None where `removed` is exact."""
    touched: int | None = 0
    """How many logits penalties or DRY change, tokens that are not shown included; None where nobody knows."""
    number: float | None = None
    """XTC's own number for this step; it takes effect where the number is below its chance. None where nobody knows."""
    acts_here: bool | None = True
    """Whether it takes effect at this step; None where nobody knows."""
    enter_is_exact: bool = True
    leave_is_exact: bool = True
    unseen: float = 0.0
    """Raw probability of tokens that were not kept and may be among those that leave."""
    has_likeliest: bool = True
    """Whether the first of the tokens is known to be the likeliest that enters."""


class GrammarCard(NamedTuple):
    """What a grammar that is in force cuts before the first stage."""

    vocabulary: int | None = None
    """So many tokens there are; None where the step is one of a record, which does not tell what a grammar cuts."""
    masked: int | None = None
    """So many of them may not come next; None where nobody knows."""

    @property
    def is_not_counted(self) -> bool:
        """Whether nobody knows how many because counting them took too long."""
        return self.vocabulary is not None and self.masked is None


class DrawToken(NamedTuple):
    """A token's stretch of the cumulative bar, from 0 to 1."""

    token: int
    begin: float
    end: float
    """What is its own for certain; it ends where it begins where no place is."""
    share: float
    """How long the whole stretch is: its probability; the best guess where there are bounds."""
    share_bounds: Bounds | None = None
    """None where `share` is exact."""


class DrawCard(NamedTuple):
    """The cumulative bar of what is left, and where the random number falls."""

    tokens: tuple[DrawToken, ...]
    """The most likely ones, in the order in which the draw walks over them."""
    left: int
    left_is_exact: bool
    number: float | None
    """The random number, from 0 to 1; None where nothing is drawn or nobody knows it."""
    drawn: DrawToken | None
    """On which token it falls; None where nobody can say."""
    is_greedy: bool = False
    """Whether the most likely token is taken, without a draw."""
    unseen: float = 0.0
    """Raw probability of tokens that were not kept and may be left."""
    unsure_to: float = 0.0
    """Up to there nobody knows whose the places between the tokens' stretches are."""


class SamplerCards(NamedTuple):
    """All cards of one step."""

    stages: tuple[StageCard, ...]
    """In the order in which they run."""
    draw: DrawCard
    vocabulary: int
    is_whole: bool
    """Whether all logits of the step are at hand."""

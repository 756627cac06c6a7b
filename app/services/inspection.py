"""What is known of the tokens of one answer, and of its prompt, as plain values for whoever shows them.

Knows no engine, no store and no numbers library. Logarithms are natural, entropies in nats, both of the raw model;
None is what nobody knows.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from app.core.chat import PromptSpan

FORCED = 1
"""Flag: somebody chose the token, the draw did not."""
NO_DRAW = 2
"""Flag: the most likely token was taken without a draw."""


class InspectedAnswer(msgspec.Struct, frozen=True):
    """The n tokens of an answer, a column a field; each column has n values."""

    message: int
    ids: tuple[int, ...] = ()
    texts: tuple[str | None, ...] = ()
    """What each says, parts of characters as `<0xD7>`, control tokens by their names."""
    pieces: tuple[bytes | None, ...] = ()
    """The bytes of each; None where nobody knows what tokens say."""
    log_probabilities: tuple[float | None, ...] = ()
    after: tuple[float | None, ...] = ()
    """Probability after the chain: what the draw saw, 0 to 1."""
    ranks: tuple[int | None, ...] = ()
    """Place by falling raw probability, 1 for the most likely."""
    entropies: tuple[float | None, ...] = ()
    gaps_ms: tuple[float | None, ...] = ()
    """Time since the token before."""
    flags: tuple[int, ...] = ()
    """`FORCED`, `NO_DRAW`; 0 for a token of which nothing was recorded."""
    recorded: int = 0
    """Of how many of the first tokens that were drawn something is known."""
    is_damaged: bool = False
    """Whether a part of what was recorded cannot be read."""
    has_alternatives: bool = False
    """Whether other tokens than the chosen ones were recorded."""
    pending: int = 0
    """So many of the last tokens have no record yet, and may get one: it comes in blocks of a few tokens."""

    def __len__(self) -> int:
        return len(self.ids)

    def is_pending(self, token: int) -> bool:
        """Return whether the record of a token may still come."""
        return token >= len(self.ids) - self.pending


class Alternative(msgspec.Struct, frozen=True):
    """A token that could have come in place of the one that is looked at."""

    token: int
    text: str | None
    raw: float | None
    """Its probability as the model gave it, 0 to 1."""
    after: float | None = None
    """Its probability after the chain, 0 where it was cut; None where the record does not prove one."""
    cut_by: str | None = None
    """The stage that cut it for certain, as the chain calls it."""
    is_taken: bool = False


class TokenInsight(msgspec.Struct, frozen=True):
    """What could have come at one place of an answer."""

    message: int
    index: int
    alternatives: tuple[Alternative, ...] = ()
    """By falling raw probability, the taken token among them."""
    rest: float | None = None
    """The raw probability of all tokens that are not among them, together."""
    rest_after: float | None = None
    """The same after the chain; None where the record does not prove it."""


TokenKind = Literal["special", "template", "system", "question", "answer", "thinking", "files", "asked"]
"""What a token of a prompt belongs to: `special` is a control token of the template, `template` other text of it,
`system` the system prompt, `question` and `answer` earlier messages, `thinking` that of earlier answers, `files` what is
attached to any message, `asked` the question that was answered."""


class InspectedPrompt(msgspec.Struct, frozen=True):
    """The tokens that an answer was written behind, without anything of it."""

    message: int
    ids: tuple[int, ...]
    texts: tuple[str | None, ...]
    spans: tuple[PromptSpan, ...]
    kinds: tuple[TokenKind, ...] = ()
    """What each belongs to."""
    written: tuple[int, ...] = ()
    """The messages (as in `PromptSpan.message`) that a model wrote."""
    begin_token: int | None = None
    """The token that prompts of this model begin with, where it is known."""

    @property
    def begins(self) -> bool:
        """Whether its first token is the one that prompts begin with."""
        return bool(self.ids) and self.ids[0] == self.begin_token

"""What was compared last in the planner, as it is kept in the settings."""

from __future__ import annotations

from typing import Annotated

import msgspec

from app.core.model import DEFAULT_CONTEXT, DEFAULT_PROMPT, MOST_CONTEXT

MOST_KEPT = 256
"""Models, and GPUs; a comparison has fewer rows than that."""
MOST_USERS = 256
MOST_SECONDS, MOST_RATE = 100_000.0, 100_000.0
Tokens = Annotated[int, msgspec.Meta(ge=1, le=MOST_CONTEXT)]


class KeptComparison(msgspec.Struct, frozen=True):
    """Which models on which GPUs, for which use, and what was wanted."""

    models: Annotated[tuple[tuple[str, str], ...], msgspec.Meta(max_length=MOST_KEPT)] = ()
    """Files, each with the quantisation that it is estimated in; empty as it is."""
    gpus: Annotated[tuple[str, ...], msgspec.Meta(max_length=MOST_KEPT)] = ()
    context: Tokens = DEFAULT_CONTEXT
    users: Annotated[int, msgspec.Meta(ge=1, le=MOST_USERS)] = 1
    prompt: Tokens = DEFAULT_PROMPT
    first_token_s: Annotated[float, msgspec.Meta(gt=0, le=MOST_SECONDS)] | None = None
    tokens_per_s: Annotated[float, msgspec.Meta(gt=0, le=MOST_RATE)] | None = None
    may_split: bool = False
    room: bool = False
    """Whether room for context and users was wanted, whatever these were."""

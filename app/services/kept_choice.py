"""What is compared, as the settings keep it over a restart, and back. Pure."""

from __future__ import annotations

from app.core.kept_comparison import MOST_KEPT, KeptComparison
from app.services.plan_values import Chosen, ModelChoice, Wanted


def kept_of(chosen: Chosen) -> KeptComparison:
    """Return a choice as it is kept."""
    return KeptComparison(
        models=tuple((each.path, each.quantisation) for each in chosen.models[:MOST_KEPT]),
        gpus=chosen.gpus[:MOST_KEPT],
        context=chosen.context,
        users=chosen.users,
        prompt=chosen.prompt,
        first_token_s=chosen.wanted.first_token_s,
        tokens_per_s=chosen.wanted.tokens_per_s,
        may_split=chosen.wanted.may_split,
        room=chosen.wanted.room,
    )


def chosen_of(kept: KeptComparison) -> Chosen:
    """Return the choice that was kept."""
    return Chosen(
        tuple(ModelChoice(path, quantisation) for path, quantisation in kept.models),
        kept.gpus,
        kept.context,
        kept.users,
        kept.prompt,
        Wanted(kept.first_token_s, kept.tokens_per_s, kept.may_split, kept.room),
    )

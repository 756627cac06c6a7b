"""What the cards of the sampler laboratory say: what a stage is, what it did here, and all of that for who listens."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from app.core.sampler_cards import Bounds, DrawCard, GrammarCard, SamplerCards, StageCard
from app.core.sampling import SamplingSettings
from app.gui.widgets.stage_words import stage_heading
from app.gui.widgets.token_words import bounded_per_cent, known_per_cent, quoted
from app.services.units import UNKNOWN, count

translate = QCoreApplication.translate
DRAW = "draw"
"""What the last card is called among the stages."""
GRAMMAR = "grammar"
"""What the first card is called among the stages where a grammar is in force."""
_MOST_CHARACTERS = 24


def stage_title(name: str) -> str:
    """Return the heading of a card."""
    if name == GRAMMAR:
        return translate("Laboratory", "Grammar")
    return translate("Laboratory", "Draw") if name == DRAW else stage_heading(name)


def explanation(name: str) -> str:
    """Return what a stage does, for people who see it for the first time."""
    words = {
        "penalties": translate("Laboratory", "Makes tokens less likely that came shortly before."),
        "dry": translate("Laboratory", "Makes tokens less likely that would repeat a phrase."),
        "top_k": translate("Laboratory", "Keeps the k likeliest tokens."),
        "typical": translate("Laboratory", "Keeps the tokens that surprise about as much as is usual here."),
        "top_p": translate("Laboratory", "Keeps the likeliest tokens that together reach the chance p."),
        "min_p": translate("Laboratory", "Cuts tokens that are far less likely than the likeliest."),
        "xtc": translate("Laboratory", "Now and then cuts the most obvious tokens."),
        "temperature": translate("Laboratory", "Sharpens the chances below 1, evens them out above."),
        GRAMMAR: translate("Laboratory", "Lets through what fits the grammar, before all stages."),
        DRAW: translate("Laboratory", "A random number from 0 to 1 falls on one of the tokens that are left."),
    }
    return words.get(name, "")


def per_cent(share: float) -> str:
    """Return a share in per cent, with its sign."""
    return known_per_cent(share)


def share_words(share: float, bounds: Bounds | None) -> str:
    """Return a share in per cent: as one figure where it is known so well, else between which two it lies."""
    return bounded_per_cent(share, bounds)


def token_words(token: int, texts: dict[int, str]) -> str:
    """Return what a token says, its white space visible, in quotation marks; else its number."""
    return quoted(texts.get(token), token, _MOST_CHARACTERS)


def survivors(value: int, *, is_exact: bool) -> str:
    """Return how many tokens are left; at least so many where nobody knows more."""
    return count(value) if is_exact else f"≥\u00a0{count(value)}"


def headline(card: StageCard) -> str:
    """Return how many tokens enter and leave."""
    leave = survivors(card.leave, is_exact=card.leave_is_exact)
    enter = survivors(card.enter, is_exact=card.enter_is_exact)
    if card.state != "acts" or (leave == enter and card.leave_is_exact):
        return leave
    return f"{enter} → {leave}"


def fact(card: StageCard, settings: SamplingSettings) -> str:
    """Return what the stage did here, in its own terms."""
    if card.state == "off":
        return translate("Laboratory", "switched off: passes all on")
    if card.state == "neutral":
        return translate("Laboratory", "without effect at this value")
    if card.state == "skipped":
        return translate("Laboratory", "does not run at temperature 0")
    if card.name in ("penalties", "dry"):
        return _changing(card.touched)
    if card.name == "temperature":
        return _tempered(card)
    if card.name == "xtc" and not card.acts_here:
        return _idle_xtc(card, settings)
    removed = UNKNOWN if card.removed is None else share_words(card.removed, card.removed_bounds)
    if removed == UNKNOWN:
        return translate("Laboratory", "how much it cuts was not recorded")
    is_idle = card.leave == card.enter and card.leave_is_exact and card.enter_is_exact
    if card.name == "min_p" and card.threshold is not None:
        least = per_cent(card.threshold)
        if is_idle:
            return translate("Laboratory", "cuts below {least}: nothing here").format(least=least)
        below = translate("Laboratory", "cuts below {least}: {share} of the chance")
        return below.format(least=least, share=removed)
    if is_idle:
        return translate("Laboratory", "cuts nothing here")
    cut = translate("Laboratory", "cuts {share} of the chance").format(share=removed)
    if card.name == "typical" and card.threshold is not None:
        return translate("Laboratory", "around {entropy} nats; {cut}").format(
            entropy=f"{card.threshold:.2f}", cut=cut
        )
    return cut


def _changing(touched: int | None) -> str:
    if touched is None:
        return translate("Laboratory", "how many tokens it changes was not recorded")
    if touched == 1:
        return translate("Laboratory", "changes 1 token")
    return translate("Laboratory", "changes {tokens} tokens").format(tokens=count(touched))


def _tempered(card: StageCard) -> str:
    if card.leave == 1 and card.leave_is_exact and card.enter != 1:
        return translate("Laboratory", "at 0 the likeliest alone is left")
    if not card.tokens:
        return ""
    first = card.tokens[0]
    before = share_words(first.before, first.before_bounds)
    after = share_words(first.after, first.after_bounds)
    if not card.has_likeliest or UNKNOWN in (before, after):
        return translate("Laboratory", "what it does here was not recorded")
    return translate("Laboratory", "the likeliest: {before} → {after}").format(before=before, after=after)


def _idle_xtc(card: StageCard, settings: SamplingSettings) -> str:
    if card.number is None or card.acts_here is None:
        return translate("Laboratory", "nobody knows whether it acted here")
    words = translate("Laboratory", "its number {number} is not below {chance}: idle here")
    return words.format(number=f"{card.number:.2f}", chance=f"{settings.xtc_probability:.2f}")


def unseen(share: float) -> str:
    """Return how much of the chance nobody can tell token by token; empty where there is none."""
    if share < 0.0005:
        return ""
    return translate("Laboratory", "{share} of the chance was not recorded token by token").format(
        share=per_cent(share)
    )


def draw_fact(card: DrawCard, texts: dict[int, str], taken: int | None, chosen: int | None = None) -> str:
    """Return on what the draw falls, and what the answer has where that is another token, or one that somebody chose."""
    if chosen is not None:
        return _fact_of_chosen(card, texts, chosen, is_there=taken is not None)
    if card.drawn is None:
        return translate("Laboratory", "on which token it falls was not recorded")
    drawn = token_words(card.drawn.token, texts)
    if taken is None:  # nothing is drawn before somebody lets it be
        words = translate("Laboratory", "would fall on {drawn}")
        if card.is_greedy:
            words = translate("Laboratory", "would take {drawn} without a draw")
        return words.format(drawn=drawn)
    if taken != card.drawn.token:
        words = translate("Laboratory", "falls on {drawn}; the answer has {taken}")
        return words.format(drawn=drawn, taken=token_words(taken, texts))
    if card.is_greedy:
        return translate("Laboratory", "takes {drawn} without a draw").format(drawn=drawn)
    return translate("Laboratory", "falls on {drawn}").format(drawn=drawn)


def _fact_of_chosen(card: DrawCard, texts: dict[int, str], chosen: int, *, is_there: bool) -> str:
    """Return what there is to say of a draw that does not decide."""
    hand = token_words(chosen, texts)
    if card.drawn is None:
        return translate("Laboratory", "{token} was chosen by hand").format(token=hand)
    words = (
        translate("Laboratory", "{token} chosen by hand; the draw would have fallen on {drawn}")
        if is_there
        else translate("Laboratory", "{token} chosen by hand; the draw would fall on {drawn}")
    )
    return words.format(token=hand, drawn=token_words(card.drawn.token, texts))


def grammar_fact(card: GrammarCard) -> str:
    """Return how many tokens a grammar masks."""
    if card.is_not_counted:
        return translate("Laboratory", "In force; how many tokens it masks was not counted: that takes too long.")
    if card.masked is None:
        return translate("Laboratory", "Which tokens the grammar masked here is not in the record.")
    if card.masked == 1:
        return translate("Laboratory", "masks 1 token")
    return translate("Laboratory", "masks {tokens} tokens").format(tokens=count(card.masked))


def grammar_spoken(card: GrammarCard | None) -> str:
    """Return the whole card of the grammar for people who cannot see it; None is before any step."""
    title = stage_title(GRAMMAR)
    if card is None:
        return translate("Laboratory", "{stage}: no token to show yet").format(stage=title)
    if card.vocabulary is None or card.masked is None:
        return f"{title}: {grammar_fact(card)}"
    words = translate("Laboratory", "{stage}: {fact}; {left} of {all} are left")
    left = card.vocabulary - card.masked
    if left == 1:
        words = translate("Laboratory", "{stage}: {fact}; 1 of {all} is left")
    return words.format(stage=title, fact=grammar_fact(card), left=count(left), all=count(card.vocabulary))


def spoken(card: StageCard, settings: SamplingSettings) -> str:
    """Return a whole card for people who cannot see it."""
    enter = survivors(card.enter, is_exact=card.enter_is_exact)
    leave = survivors(card.leave, is_exact=card.leave_is_exact)
    entering = translate("Laboratory", "{enter} tokens enter").format(enter=enter)
    leaving = translate("Laboratory", "{leave} leave").format(leave=leave)
    if card.enter == 1 and card.enter_is_exact:
        entering = translate("Laboratory", "1 token enters")
    if card.leave == 1 and card.leave_is_exact:
        leaving = translate("Laboratory", "1 leaves")
    words = translate("Laboratory", "{stage}: {entering}, {leaving}; {fact}")
    return words.format(stage=stage_title(card.name), entering=entering, leaving=leaving, fact=fact(card, settings))


def summary(cards: SamplerCards, texts: dict[int, str], chosen: int | None = None) -> str:
    """Return the way through the chain in one line: 49,152 → 40 → 18 → 7 → the token, which somebody may have chosen."""
    first = cards.stages[0]
    steps = [count(cards.vocabulary)] if first.enter != cards.vocabulary else []
    if first.enter_is_exact:
        steps.append(survivors(first.enter, is_exact=True))
    for card in cards.stages:
        leave = survivors(card.leave, is_exact=card.leave_is_exact)
        if not steps or steps[-1] != leave:
            steps.append(leave)
    if chosen is not None:
        said = translate("Laboratory", "{token} chosen by hand")
        return " → ".join(steps) + " · " + said.format(token=token_words(chosen, texts))
    if cards.draw.drawn is not None:
        steps.append(token_words(cards.draw.drawn.token, texts))
    return " → ".join(steps)

"""What is said of the place where a lane leaves the baseline: in a line under its settings, and on the card.

Knows no widget.
"""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from app.core.comparison import LETTERS
from app.gui.widgets.stage_words import cutter_words
from app.gui.widgets.token_words import per_cent, quoted, visible
from app.gui.widgets.words import isolated, render
from app.services.lane_analysis import Contender, LaneDivergence, Share
from app.services.units import UNKNOWN, count

translate = QCoreApplication.translate


def token_words(token: Contender | None) -> str:
    """Return what a token says, its white space visible, in quotation marks; an end of the text by its name."""
    if token is None:
        return translate("Compare", "the end")
    return quoted(token.text, token.token)


def share_words(share: Share) -> str:
    """Return what a chain made of a token, in a cell."""
    if share.cut_by is not None:
        return translate("Compare", "cut by {stage}").format(stage=cutter_words(share.cut_by))
    return percent(share.after)


def percent(value: float | None) -> str:
    """Return a probability in percent; – where it is not known."""
    return UNKNOWN if value is None else f"{per_cent(value)} %"


def place_words(found: LaneDivergence) -> str:
    """Return the number of the token, counted from 1 as people count."""
    return translate("Compare", "Token {number}").format(number=count(found.token + 1))


def shortest_words(found: LaneDivergence) -> str:
    """Return in very few words where a lane leaves the baseline, for a narrow lane."""
    words = translate("Compare", "At {number}: {theirs} → {own}")
    both = (_bare(found.baseline_token), _bare(found.lane_token))
    return words.format(number=count(found.token + 1), theirs=both[0], own=both[1])


def _bare(token: Contender | None) -> str:
    """Return what a token says without the space before it, unless it says nothing else."""
    bare = token.text.strip() if token is not None and token.text is not None else ""
    return f"“{isolated(visible(bare))}”" if bare else token_words(token)


def brief_words(found: LaneDivergence, baseline: int) -> str:
    """Return in one line where a lane leaves the baseline, and both tokens."""
    words = translate("Compare", "Leaves {baseline} at token {number}: {theirs} → {own}")
    return words.format(
        baseline=LETTERS[baseline],
        number=count(found.token + 1),
        theirs=token_words(found.baseline_token),
        own=token_words(found.lane_token),
    )


def card_words(found: LaneDivergence, baseline: int) -> str:
    """Return all that the card says, for those who listen."""
    letters = {"baseline": LETTERS[baseline], "lane": LETTERS[found.lane]}
    said = [brief_words(found, baseline) + "."]
    for token in (found.baseline_token, found.lane_token):
        if token is not None:
            words = translate(
                "Compare", "{token}: {raw} by the model, {theirs} in lane {baseline}, {own} in lane {lane}."
            )
            said.append(
                words.format(
                    token=token_words(token),
                    raw=percent(token.raw),
                    theirs=share_words(token.baseline),
                    own=share_words(token.lane),
                    **letters,
                )
            )
    said.append(render(found.reason))
    if found.draws is not None:
        said.append(render(found.draws))
    return " ".join(said)

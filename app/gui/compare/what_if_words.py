"""What is said of a lane's record under other settings; nothing that the record does not say is claimed. Knows no widget."""

from __future__ import annotations

import math

from PySide6.QtCore import QCoreApplication

from app.gui.compare.divergence_words import percent, stage_title
from app.gui.next_token.candidates_model import visible
from app.gui.widgets.words import render
from app.services.lane_analysis import LaneWhatIf
from app.services.units import count

translate = QCoreApplication.translate


def cut_words(found: LaneWhatIf) -> str:
    """Return how many tokens would have been cut, and by which stages."""
    total = len(found.tokens)
    if not found.cut and not found.unknown:
        said = translate("Compare", "None of the {count} tokens would have been cut.")
    elif not found.cut:
        said = translate("Compare", "None of the {count} tokens would have been cut for certain.")
    else:
        said = translate("Compare", "{cut} of {count} tokens would have been cut.")
    words = [said.format(count=count(total), cut=count(found.cut))]
    if found.unknown:
        words.append(
            translate(
                "Compare", "Of {unknown} the record does not say: the tokens that survive lie outside of it."
            ).format(unknown=count(found.unknown))
        )
    return " ".join(words)


def likelihood_words(found: LaneWhatIf) -> str:
    """Return how probable the answer was under the settings."""
    total = len(found.tokens)
    if found.cut:
        return translate("Compare", "Under these settings the answer could not have been written.")
    if found.log_probability is not None and total:
        words = translate("Compare", "The answer had a log-probability of {sum}; a token {each} on average.")
        return words.format(sum=_number(found.log_probability), each=percent(math.exp(found.log_probability / total)))
    if found.log_probability_of_known is not None and found.known:
        words = translate(
            "Compare", "The {known} tokens that are known had a log-probability of {sum}; each {each} on average."
        )
        return words.format(
            known=count(found.known),
            sum=_number(found.log_probability_of_known),
            each=percent(math.exp(found.log_probability_of_known / found.known)),
        )
    return translate("Compare", "How probable the answer was is not known.")


def greedy_words(found: LaneWhatIf) -> str:
    """Return where the answer was not the model's most likely one any more."""
    place = found.greedy_leaves_at
    if place is None:
        return translate("Compare", "Greedy would have written the same answer.")
    return translate("Compare", "Greedy would have left it at token {number}.").format(number=count(place + 1))


def token_state(found: LaneWhatIf, token: int, text: str) -> str:
    """Return what is known of one token."""
    known = found.tokens[token]
    if found.spans:
        span = found.spans[token]
        text = visible(text[span.start : span.end])
        head = translate("Compare", "Token {number} “{text}”").format(number=count(token + 1), text=text)
    else:
        head = translate("Compare", "Token {number}").format(number=count(token + 1))
    match known.state:
        case "cut" if known.stage is not None:
            said = translate("Compare", "cut by {stage}").format(stage=stage_title(known.stage))
        case "cut":
            said = translate("Compare", "cut")
        case "known":
            said = translate("Compare", "{percent} after the chain").format(percent=percent(known.after))
        case "left":
            said = translate("Compare", "left, its probability not known closely")
        case _:
            said = translate("Compare", "not known whether it would have been cut")
    return f"{head}: {said}; {render(known.left)}"


def _number(value: float) -> str:
    return f"{value:.1f}".replace("-", "−")

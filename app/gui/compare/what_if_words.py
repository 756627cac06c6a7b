"""What is said of a lane's record under other settings; nothing that the record does not say is claimed. Knows no widget."""

from __future__ import annotations

import math

from PySide6.QtCore import QCoreApplication

from app.core.sampling import SamplingSettings, in_effect
from app.gui.compare.divergence_words import percent
from app.gui.widgets.stage_words import chain_remark, cutter_words
from app.gui.widgets.token_words import visible
from app.gui.widgets.words import render
from app.services.lane_analysis import LaneWhatIf
from app.services.turns import Turn
from app.services.units import count

translate = QCoreApplication.translate
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_LEAST_PLAIN = 1e-4
"""A smaller probability is told as a power of ten."""


def cut_words(found: LaneWhatIf) -> str:
    """Return how many tokens would have been cut, and by which stages."""
    total = len(found.tokens)
    if not found.cut and not found.unknown:
        said = translate("Compare", "None of the {count} tokens would have been cut.")
    elif not found.cut:
        said = translate("Compare", "None of the {count} tokens would have been cut for certain.")
    else:
        said = translate("Compare", "{cut} of {count} tokens would have been cut.")
    if total == 1 and not found.unknown:
        kept = translate("Compare", "The only token would not have been cut.")
        said = translate("Compare", "The only token would have been cut.") if found.cut else kept
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
        said = [translate("Compare", "Under these settings the answer could not have been written.")]
        if found.log_probability_of_known is not None and found.known:
            left = translate(
                "Compare",
                "The {known} tokens that are left and known had a log-probability of {mean} on average, which is {each}.",
            )
            if found.known == 1:
                left = translate(
                    "Compare", "The 1 token that is left and known had a log-probability of {mean}, which is {each}."
                )
            averages = _averages(found.log_probability_of_known, found.known)
            said.append(left.format(known=count(found.known), **averages))
        return " ".join(said)
    if found.log_probability is not None and total:
        words = translate(
            "Compare",
            "Under these settings the answer had a probability of {probability} (log-probability {sum}); a token had "
            "{mean} on average, which is {each}.",
        )
        return words.format(probability=_tiny(found.log_probability), **_averages(found.log_probability, total))
    if found.log_probability_of_known is not None and found.known:
        words = translate(
            "Compare",
            "The {known} tokens that are known had a log-probability of {sum}; each had {mean} on average, "
            "which is {each}.",
        )
        return words.format(known=count(found.known), **_averages(found.log_probability_of_known, found.known))
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
            said = translate("Compare", "cut by {stage}").format(stage=cutter_words(known.stage))
        case "cut":
            said = translate("Compare", "cut")
        case "known":
            said = translate("Compare", "{percent} after the chain").format(percent=percent(known.after))
        case "left":
            said = translate("Compare", "left, its probability not known closely")
        case _:
            said = translate("Compare", "not known whether it would have been cut")
    return f"{head}: {said}; {render(known.left)}"


def exactness_words(settings: SamplingSettings, turn: Turn, found: LaneWhatIf | None) -> str:
    """Return in which order the stages run where it is not the usual one, and what cannot be said exactly, and why."""
    words = [remark] if (remark := chain_remark(settings)) else []
    if len(turn.finished.settings if turn.finished is not None else turn.settings) > 1:
        words.append(
            translate(
                "Compare", "Its settings were moved while it was written: the sliders begin with the last ones."
            )
        )
    reaches = {"penalties": settings.penalty_reach(1), "dry": settings.dry_reach(1)}
    stages = [cutter_words(stage) for stage, reach in reaches.items() if reach]
    if "typical" in in_effect(settings).order:
        stages.append(cutter_words("typical"))
    if stages:
        words.append(
            translate(
                "Compare",
                "What {stages} do is worked out on the candidates that were recorded; what one outside of them could "
                "change is called not known.",
            ).format(stages=", ".join(stages))
        )
    if (
        "xtc" in in_effect(settings).order
        and settings.xtc_probability < 1
        and turn.seed is None
        and settings.seed is None
    ):
        words.append(
            translate("Compare", "XTC: the seed was not kept, so where it would have acted is called not known.")
        )
    if found is not None and found.tokens and not found.spans:
        words.append(translate("Compare", "What its tokens say is not known, so none is marked in the text."))
    return " ".join(words)


def _averages(log_probability: float, tokens: int) -> dict[str, str]:
    mean = log_probability / tokens
    return {"sum": _number(log_probability), "mean": _number(mean, 2), "each": percent(math.exp(mean))}


def _tiny(log_probability: float) -> str:
    """Return a probability that may be far below what a number can hold."""
    if log_probability > math.log(_LEAST_PLAIN):
        return percent(math.exp(log_probability))
    exponent = math.floor(log_probability / math.log(10))
    mantissa = f"{10 ** (log_probability / math.log(10) - exponent):.1f}"
    if mantissa == "10.0":
        mantissa, exponent = "1.0", exponent + 1
    raised = str(exponent).translate(_RAISED)
    return f"{mantissa} × 10{raised}"


def _number(value: float, decimals: int = 1) -> str:
    shown = f"{value:.{decimals}f}"
    return shown.removeprefix("-") if not float(shown) else shown.replace("-", "−")

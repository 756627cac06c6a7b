"""How tokens are coloured: by probability, rank or entropy in steps of one hue each, which are words, numbers and lines too.

Step 0 is not coloured at all; the higher the step, the stronger the tint and the line below. Knows no widget.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from typing import Literal, NamedTuple, overload

from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QColor

from app.gui import theme
from app.services.inspection import InspectedAnswer

translate = QCoreApplication.translate

Colouring = Literal["probability", "rank", "entropy", "attention", "none"]
COLOURINGS: tuple[Colouring, ...] = ("probability", "rank", "entropy", "none")
"""Those of an answer; “attention” is the share that a token looked at each, which stands in its column `after`."""
STEPS = 6
LINES_PX = (0.0, 1.0, 1.5, 2.0, 3.0, 4.0)
"""How thick the line under a token is, by its step."""
_TINTS = (0.0, 0.13, 0.23, 0.32, 0.41, 0.50)
_SHARE_TINTS = (0.0, 0.13, 0.25, 0.37, 0.485, 0.60)
"""Of attention, in whose grid steps stand side by side."""
_PROBABILITIES = (0.9, 0.5, 0.2, 0.05, 0.01)
_RANKS = (2, 3, 6, 11, 41)
"""Below each of them one step more begins."""
_ENTROPIES = (0.25, 0.75, 1.5, 2.5, 4.0)
"""In nats."""
_SHARES = (0.01, 0.03, 0.1, 0.25, 0.5)
"""Of attention: at each of them one step more begins."""
_HUES: dict[Colouring, str] = {
    "probability": "stage_logits",
    "rank": "stage_logits",
    "entropy": "stage_tokens",
    "attention": "stage_kv",
    "none": "text",
}
_TINT_STEP = 0.01


class Shade(NamedTuple):
    """One step of a ramp in a theme."""

    ground: QColor
    """What the token stands on."""
    line: QColor


class Steps(Sequence[int | None]):
    """The steps of the tokens as they are wanted: of a long prompt only those in view."""

    def __init__(self, colouring: Colouring, answer: InspectedAnswer) -> None:
        self._colouring = colouring
        self._answer = answer

    def __len__(self) -> int:
        """Return how many tokens there are."""
        return len(self._answer)

    @overload
    def __getitem__(self, token: int) -> int | None: ...

    @overload
    def __getitem__(self, token: slice) -> list[int | None]: ...

    def __getitem__(self, token: int | slice) -> int | list[int | None] | None:
        """Return the step of a token, or of some; None where it is not known."""
        if isinstance(token, slice):
            return [self[each] for each in range(*token.indices(len(self)))]
        return step_of(self._colouring, self._answer, token)


def step_of(colouring: Colouring, answer: InspectedAnswer, token: int) -> int | None:
    """Return a token's step, 0 to 5; None where nobody knows, or where nothing is coloured."""
    match colouring:
        case "probability":
            value = answer.log_probabilities[token]
            return None if value is None else step_of_probability(math.exp(min(value, 0.0)))
        case "rank":
            rank = answer.ranks[token]
            return None if rank is None else bisect_right(_RANKS, rank)
        case "entropy":
            entropy = answer.entropies[token]
            return None if entropy is None else bisect_right(_ENTROPIES, entropy)
        case "attention":
            share = answer.after[token]
            return None if share is None else step_of_share(share)
        case _:
            return None


def step_of_probability(probability: float) -> int:
    """Return the step of a probability: the less likely, the higher."""
    return sum(probability < bound for bound in _PROBABILITIES)


def step_of_share(share: float) -> int:
    """Return the step of a share of attention: the larger, the higher."""
    return bisect_right(_SHARES, share)


def words_of(colouring: Colouring) -> list[str]:
    """Return what the steps stand for, in words and numbers; none where nothing is coloured."""
    match colouring:
        case "probability":
            return [
                translate("TokenLegend", "≥ 90 %"),
                translate("TokenLegend", "50–90 %"),
                translate("TokenLegend", "20–50 %"),
                translate("TokenLegend", "5–20 %"),
                translate("TokenLegend", "1–5 %"),
                translate("TokenLegend", "< 1 %"),
            ]
        case "rank":
            return [
                "1",
                "2",
                translate("TokenLegend", "3–5"),
                translate("TokenLegend", "6–10"),
                translate("TokenLegend", "11–40"),
                translate("TokenLegend", "beyond 40"),
            ]
        case "entropy":
            return [
                translate("TokenLegend", "< 0.25"),
                translate("TokenLegend", "0.25–0.75"),
                translate("TokenLegend", "0.75–1.5"),
                translate("TokenLegend", "1.5–2.5"),
                translate("TokenLegend", "2.5–4"),
                translate("TokenLegend", "≥ 4"),
            ]
        case "attention":
            return [
                translate("TokenLegend", "< 1 %"),
                translate("TokenLegend", "1–3 %"),
                translate("TokenLegend", "3–10 %"),
                translate("TokenLegend", "10–25 %"),
                translate("TokenLegend", "25–50 %"),
                translate("TokenLegend", "≥ 50 %"),
            ]
        case _:
            return []


def name_of(colouring: Colouring) -> str:
    """Return what a colouring is called in the list to choose from."""
    return {
        "probability": translate("TokenLegend", "Colour by probability"),
        "rank": translate("TokenLegend", "Colour by rank"),
        "entropy": translate("TokenLegend", "Colour by entropy"),
        "attention": translate("TokenLegend", "Colour by attention"),
        "none": translate("TokenLegend", "Do not colour"),
    }[colouring]


def title_of(colouring: Colouring) -> str:
    """Return what stands before the steps of a legend."""
    return {
        "probability": translate("TokenLegend", "Probability"),
        "rank": translate("TokenLegend", "Rank among all tokens"),
        "entropy": translate("TokenLegend", "Entropy in nats (0 certain, 0.69 one of two)"),
        "attention": translate("TokenLegend", "Share of the attention"),
        "none": "",
    }[colouring]


def shades(look: theme.Theme, colouring: Colouring) -> list[Shade]:
    """Return the steps of a ramp; text on each of them keeps its contrast, and they are as far apart as that allows."""
    hue, surface = look.colour(_HUES[colouring]), look.colour("surface")
    tints = _SHARE_TINTS if colouring == "attention" else _TINTS
    spread = _strongest(look, hue, tints[-1]) / tints[-1]
    return [Shade(_mixed(surface, hue, tint * spread), hue) for tint in tints]


def _strongest(look: theme.Theme, hue: QColor, tint: float) -> float:
    """Return so much of a hue in the surface, or as much as text on it allows."""
    surface, text = look.colour("surface"), look.colour("text")
    while tint > 0 and theme.contrast(_mixed(surface, hue, tint), text) < theme.LEAST_TEXT_CONTRAST:
        tint -= _TINT_STEP
    return max(tint, 0.0)


def _mixed(surface: QColor, hue: QColor, tint: float) -> QColor:
    pairs = ((surface.red(), hue.red()), (surface.green(), hue.green()), (surface.blue(), hue.blue()))
    return QColor(*(round(one + (other - one) * tint) for one, other in pairs))

"""What stands in the rows: names, hints and ranges of the sampling settings that are numbers."""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtCore import QCoreApplication

from app.core.sampling import BOUNDS
from app.gui.widgets.slider_row import Scale

translate = QCoreApplication.translate


class Control(NamedTuple):
    """One row: the setting's name in the settings, its words, and its scale."""

    name: str
    title: str
    hint: str
    scale: Scale
    spoken: str = ""
    """The name where the title alone would not say whose it is."""


class Group(NamedTuple):
    """Rows under one heading."""

    title: str
    hint: str
    controls: list[Control]


def _scale(name: str, low: float, high: float, step: float, off: float | None = None) -> Scale:
    words = {} if off is None else {off: translate("SamplingPanel", "off")}
    return Scale(BOUNDS[name], low, high, step, words)


def _reach(name: str) -> Scale:
    words = {0.0: translate("SamplingPanel", "none"), -1.0: translate("SamplingPanel", "whole chat")}
    return Scale(BOUNDS[name], -1, BOUNDS[name].high, 1, words)


def main_controls() -> list[Control]:
    """Return the sliders that are always there, in the order of their importance to people."""
    return [
        Control(
            "temperature",
            translate("SamplingPanel", "Temperature"),
            translate("SamplingPanel", "Higher is more surprising; 0 always takes the likeliest token."),
            _scale("temperature", 0.0, 2.0, 0.05),
        ),
        Control(
            "top_k",
            translate("SamplingPanel", "Top-k"),
            translate("SamplingPanel", "Keep this many of the likeliest tokens; 0 is off."),
            _scale("top_k", 0, 200, 1, off=0),
        ),
        Control(
            "top_p",
            translate("SamplingPanel", "Top-p"),
            translate("SamplingPanel", "Keep the likeliest tokens that together reach this share; 1 is off."),
            _scale("top_p", 0.0, 1.0, 0.01, off=1),
        ),
        Control(
            "min_p",
            translate("SamplingPanel", "Min-p"),
            translate(
                "SamplingPanel", "Keep tokens with at least this share of the likeliest one's chance; 0 is off."
            ),
            _scale("min_p", 0.0, 1.0, 0.01, off=0),
        ),
        Control(
            "repeat_penalty",
            translate("SamplingPanel", "Repeat penalty"),
            translate("SamplingPanel", "Above 1 makes recent tokens less likely, below 1 more likely; 1 is off."),
            _scale("repeat_penalty", 0.5, 2.0, 0.01, off=1),
        ),
    ]


def typical_control() -> Control:
    """Return the slider that stands first under “More”."""
    return Control(
        "typical_p",
        translate("SamplingPanel", "Typical-p"),
        translate("SamplingPanel", "Keep tokens about as surprising as expected here, up to this share; 1 is off."),
        _scale("typical_p", 0.0, 1.0, 0.01, off=1),
    )


def penalties() -> Group:
    """Return what makes recent tokens less likely."""
    return Group(
        translate("SamplingPanel", "Penalties"),
        translate("SamplingPanel", "They make tokens less likely that stand in the last part of the chat."),
        [
            Control(
                "frequency_penalty",
                translate("SamplingPanel", "Frequency"),
                translate(
                    "SamplingPanel", "The more often a token stands there, the less likely it becomes; 0 is off."
                ),
                _scale("frequency_penalty", -2.0, 2.0, 0.05, off=0),
                translate("SamplingPanel", "Frequency penalty"),
            ),
            Control(
                "presence_penalty",
                translate("SamplingPanel", "Presence"),
                translate("SamplingPanel", "Less likely as soon as a token stands there once; 0 is off."),
                _scale("presence_penalty", -2.0, 2.0, 0.05, off=0),
                translate("SamplingPanel", "Presence penalty"),
            ),
            Control(
                "penalty_last_n",
                translate("SamplingPanel", "Last tokens"),
                translate(
                    "SamplingPanel",
                    "How many of the last tokens count for the repeat, frequency and presence penalties; 0 is none, -1"
                    " is the whole chat.",
                ),
                _reach("penalty_last_n"),
                translate("SamplingPanel", "Penalty last n"),
            ),
        ],
    )


def dry() -> Group:
    """Return what works against repeated sequences."""
    return Group(
        translate("SamplingPanel", "DRY"),
        translate("SamplingPanel", "DRY works against whole phrases that come again, not against single words."),
        [
            Control(
                "dry_multiplier",
                translate("SamplingPanel", "Strength"),
                translate(
                    "SamplingPanel", "How strongly a phrase is kept from going on as before; 0 is off, 0.8 is usual."
                ),
                _scale("dry_multiplier", 0.0, 2.0, 0.05, off=0),
                translate("SamplingPanel", "DRY strength (multiplier)"),
            ),
            Control(
                "dry_base",
                translate("SamplingPanel", "Growth"),
                translate("SamplingPanel", "How fast it grows with the length of the phrase; at 1 it does not grow."),
                _scale("dry_base", 1.0, 4.0, 0.05),
                translate("SamplingPanel", "DRY growth (base)"),
            ),
            Control(
                "dry_allowed_length",
                translate("SamplingPanel", "Free length"),
                translate("SamplingPanel", "Phrases of up to this many tokens may come again."),
                _scale("dry_allowed_length", 1, 20, 1),
                translate("SamplingPanel", "DRY allowed length"),
            ),
            Control(
                "dry_penalty_last_n",
                translate("SamplingPanel", "Last tokens"),
                translate(
                    "SamplingPanel", "How many of the last tokens DRY looks at; 0 is none, -1 is the whole chat."
                ),
                _reach("dry_penalty_last_n"),
                translate("SamplingPanel", "DRY last n"),
            ),
        ],
    )


def xtc() -> Group:
    """Return what now and then leaves the likeliest tokens out."""
    return Group(
        translate("SamplingPanel", "XTC"),
        translate("SamplingPanel", "XTC now and then leaves out the likeliest tokens, for fresher words."),
        [
            Control(
                "xtc_probability",
                translate("SamplingPanel", "Chance"),
                translate("SamplingPanel", "How often it happens, from never to at every token; 0 is off."),
                _scale("xtc_probability", 0.0, 1.0, 0.01, off=0),
                translate("SamplingPanel", "XTC probability"),
            ),
            Control(
                "xtc_threshold",
                translate("SamplingPanel", "Threshold"),
                translate(
                    "SamplingPanel",
                    "Of the tokens at or above this chance only the least likely stays; at 0.5 it hardly ever happens.",
                ),
                _scale("xtc_threshold", 0.0, 0.5, 0.01),
                translate("SamplingPanel", "XTC threshold"),
            ),
        ],
    )

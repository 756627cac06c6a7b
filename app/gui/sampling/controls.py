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
            translate(
                "SamplingPanel",
                "How daring the choice of the next word is. Low is safe and plain, high is surprising; "
                "at 0 the likeliest word always wins.",
            ),
            _scale("temperature", 0.0, 2.0, 0.05),
        ),
        Control(
            "top_k",
            translate("SamplingPanel", "Top-k"),
            translate(
                "SamplingPanel",
                "Only this many of the likeliest next words stay in the choice. Lower is safer; 0 leaves "
                "all of them in.",
            ),
            _scale("top_k", 0, 200, 1, off=0),
        ),
        Control(
            "top_p",
            translate("SamplingPanel", "Top-p"),
            translate(
                "SamplingPanel",
                "Only the likeliest next words stay that together have this much of the chance: 0.90 "
                "leaves out the unlikely last tenth. Lower is safer; 1 leaves all of them in.",
            ),
            _scale("top_p", 0.0, 1.0, 0.01, off=1),
        ),
        Control(
            "min_p",
            translate("SamplingPanel", "Min-p"),
            translate(
                "SamplingPanel",
                "Leaves out words that are far less likely than the likeliest one: at 0.05, those with "
                "less than a twentieth of its chance. Higher is safer; 0 leaves all of them in.",
            ),
            _scale("min_p", 0.0, 1.0, 0.01, off=0),
        ),
        Control(
            "repeat_penalty",
            translate("SamplingPanel", "Repeat penalty"),
            translate(
                "SamplingPanel",
                "Above 1, words that were just used come again less often; below 1, more often. At 1 it "
                "is off, and much above 1.2 the text turns odd.",
            ),
            _scale("repeat_penalty", 0.5, 2.0, 0.01, off=1),
        ),
    ]


def typical_control() -> Control:
    """Return the slider that stands first under “More”."""
    return Control(
        "typical_p",
        translate("SamplingPanel", "Typical-p"),
        translate(
            "SamplingPanel",
            "Leaves out words that would be a surprise here, and also those that are too obvious. "
            "Lower is stricter; 1 leaves all of them in.",
        ),
        _scale("typical_p", 0.0, 1.0, 0.01, off=1),
    )


def penalties() -> Group:
    """Return what makes recent tokens less likely."""
    return Group(
        translate("SamplingPanel", "Penalties"),
        translate(
            "SamplingPanel",
            "They keep the answer from repeating itself: words that came shortly before become less likely.",
        ),
        [
            Control(
                "frequency_penalty",
                translate("SamplingPanel", "Frequency"),
                translate(
                    "SamplingPanel",
                    "Makes a word a little less likely each time it is used. Below 0 it becomes likelier; 0 is off.",
                ),
                _scale("frequency_penalty", -2.0, 2.0, 0.05, off=0),
                translate("SamplingPanel", "Frequency penalty"),
            ),
            Control(
                "presence_penalty",
                translate("SamplingPanel", "Presence"),
                translate(
                    "SamplingPanel",
                    "Makes a word less likely once it has been used, no matter how often: the answer moves "
                    "on to new things. Below 0 it becomes likelier; 0 is off.",
                ),
                _scale("presence_penalty", -2.0, 2.0, 0.05, off=0),
                translate("SamplingPanel", "Presence penalty"),
            ),
            Control(
                "penalty_last_n",
                translate("SamplingPanel", "Penalties look back"),
                translate(
                    "SamplingPanel",
                    "How far back the penalties look, in tokens: words or pieces of words. 0 is nowhere, -1 "
                    "is the whole chat.",
                ),
                _reach("penalty_last_n"),
            ),
        ],
    )


def dry() -> Group:
    """Return what works against repeated sequences."""
    return Group(
        translate("SamplingPanel", "DRY"),
        translate(
            "SamplingPanel",
            "Short for “don't repeat yourself”: keeps whole phrases from coming again, and leaves "
            "single words alone.",
        ),
        [
            Control(
                "dry_multiplier",
                translate("SamplingPanel", "Strength"),
                translate("SamplingPanel", "How firmly a phrase is kept from coming again. 0 is off, 0.8 is usual."),
                _scale("dry_multiplier", 0.0, 2.0, 0.05, off=0),
                translate("SamplingPanel", "DRY strength (multiplier)"),
            ),
            Control(
                "dry_base",
                translate("SamplingPanel", "Growth"),
                translate(
                    "SamplingPanel",
                    "How much firmer it gets with every further word that repeats. At 1 it stays the same.",
                ),
                _scale("dry_base", 1.0, 4.0, 0.05),
                translate("SamplingPanel", "DRY growth (base)"),
            ),
            Control(
                "dry_allowed_length",
                translate("SamplingPanel", "Free length"),
                translate(
                    "SamplingPanel", "Phrases of up to this many tokens, words or pieces of words, may come again."
                ),
                _scale("dry_allowed_length", 1, 20, 1),
                translate("SamplingPanel", "DRY allowed length"),
            ),
            Control(
                "dry_penalty_last_n",
                translate("SamplingPanel", "DRY looks back"),
                translate(
                    "SamplingPanel",
                    "How far back it looks for the phrase, in tokens: words or pieces of words. 0 is "
                    "nowhere, -1 is the whole chat.",
                ),
                _reach("dry_penalty_last_n"),
            ),
        ],
    )


def xtc() -> Group:
    """Return what now and then leaves the likeliest tokens out."""
    return Group(
        translate("SamplingPanel", "XTC"),
        translate(
            "SamplingPanel",
            "Short for “exclude top choices”: now and then leaves out the most obvious words, for a "
            "fresher text that still makes sense.",
        ),
        [
            Control(
                "xtc_probability",
                translate("SamplingPanel", "Chance"),
                translate("SamplingPanel", "How often it happens: 0 is never, 1 is at every word."),
                _scale("xtc_probability", 0.0, 1.0, 0.01, off=0),
                translate("SamplingPanel", "XTC probability"),
            ),
            Control(
                "xtc_threshold",
                translate("SamplingPanel", "Threshold"),
                translate(
                    "SamplingPanel",
                    "A word counts as obvious from this chance on, and of the obvious ones only the least "
                    "likely stays. At 0.5 that hardly ever happens.",
                ),
                _scale("xtc_threshold", 0.0, 0.5, 0.01),
                translate("SamplingPanel", "XTC threshold"),
            ),
        ],
    )

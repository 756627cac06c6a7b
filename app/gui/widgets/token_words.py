"""How tokens and shares are written, in the same way wherever they are shown."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from app.gui.widgets.words import isolated
from app.services.units import UNKNOWN

translate = QCoreApplication.translate

SPACE, LINE_END, TAB = "\N{OPEN BOX}", "\N{DOWNWARDS ARROW WITH CORNER LEFTWARDS}", "\N{RIGHTWARDS ARROW TO BAR}"
MARKS = frozenset((SPACE, LINE_END, TAB))
"""Characters that stand for white space."""
_WHOLE_FROM = 0.0995
_LEAST_SHOWN = 0.0005
_TELLS_NOTHING = 0.9
"""Bounds that are farther apart say next to nothing."""
_VISIBLE = {" ": SPACE, "\n": LINE_END, "\t": TAB}


def visible(text: str) -> str:
    """Return a text with marks for white space, and codes for what cannot be printed or would turn the text round."""
    return "".join(_VISIBLE.get(each) or (each if each.isprintable() else f"\\u{ord(each):04x}") for each in text)


def quoted(text: str | None, token: int | None, most: int | None = None) -> str:
    """Return what a token says in quotation marks, its white space visible and cut off behind `most`; else its number.

    The number is its id, never its place; None where nobody knows it.
    """
    if token is None and not text:
        return UNKNOWN if text is None else translate("TokenCard", "a token without text")
    if text is None:
        return translate("TokenCard", "token {number}").format(number=token)
    if not text:
        return translate("TokenCard", "token {number} (no text)").format(number=token)
    shown = visible(text)
    return f"“{isolated(shown if most is None or len(shown) <= most else f'{shown[:most]}…')}”"


def per_cent(share: float) -> str:
    """Return a share in per cent: whole from ten on, else with one decimal."""
    value = share * 100
    if share >= _WHOLE_FROM:
        return f"{value:.0f}"
    return f"{value:.1f}" if share >= _LEAST_SHOWN else "<0.1"


def known_per_cent(share: float | None) -> str:
    """Return a share in per cent with its sign; an en dash where nobody knows it."""
    if share is None:
        return UNKNOWN
    return f"{per_cent(share) if share > 0 else 0}\u00a0%"


def is_sharp(share: float, bounds: tuple[float, float] | None) -> bool:
    """Return whether a share that lies between bounds can be told as one figure: within half of its last digit."""
    half = 0.005 if share >= _WHOLE_FROM else 0.0005
    return bounds is None or max(bounds[1] - share, share - bounds[0]) <= half


def bounded_per_cent(share: float, bounds: tuple[float, float] | None) -> str:
    """Return a share that lies between bounds as one figure where it is sharp; else the bounds, or an en dash."""
    if bounds is None or is_sharp(share, bounds):
        return known_per_cent(share)
    if bounds[1] - bounds[0] > _TELLS_NOTHING:
        return UNKNOWN
    low, high = per_cent(bounds[0]) if bounds[0] >= _LEAST_SHOWN else "0", per_cent(bounds[1])
    return f"{low}\u00a0%" if low == high else f"{low}–{high}\u00a0%"

"""How tokens, shares and stages of the chain are written, in the same way wherever they are shown."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from app.services.units import UNKNOWN

translate = QCoreApplication.translate

SPACE, LINE_END, TAB = "\N{OPEN BOX}", "\N{DOWNWARDS ARROW WITH CORNER LEFTWARDS}", "\N{RIGHTWARDS ARROW TO BAR}"
MARKS = frozenset((SPACE, LINE_END, TAB))
"""Characters that stand for white space."""
_VISIBLE = {" ": SPACE, "\n": LINE_END, "\t": TAB}
_STAGES = {"top_k": "top-k", "top_p": "top-p", "min_p": "min-p", "xtc": "XTC", "dry": "DRY"}


def visible(text: str) -> str:
    """Return a text with marks for white space, and codes for what cannot be printed or would turn the text round."""
    return "".join(_VISIBLE.get(each) or (each if each.isprintable() else f"\\u{ord(each):04x}") for each in text)


def per_cent(share: float) -> str:
    """Return a share in per cent: whole from ten on, else with one decimal."""
    value = share * 100
    if value >= 9.95:
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 0.05 else "<0.1"


def known_per_cent(share: float | None) -> str:
    """Return a share in per cent with its sign; an en dash where nobody knows it."""
    if share is None:
        return UNKNOWN
    return f"{per_cent(share) if share > 0 else 0}\u00a0%"


def stage_name(stage: str) -> str:
    """Return what people call a stage of the chain that cut a token."""
    if stage == "temperature":
        return translate("CandidatesModel", "temp. 0")
    if stage == "grammar":
        return translate("CandidatesModel", "grammar")
    return _STAGES.get(stage, stage)

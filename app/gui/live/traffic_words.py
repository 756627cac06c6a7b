"""Memory traffic in words: what it is, and its share of the most that the memory gives where that was measured."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from app.services.figures import Figures
from app.services.units import rate


def share_words(figures: Figures) -> str:
    """Return the share of the ceiling; nothing where one of the two is unknown."""
    traffic, most = figures.traffic_gb_per_s, figures.traffic_ceiling
    if traffic is None or not most:
        return ""
    return _tr("{percent:.0f} % of {most}").format(percent=100 * traffic / most, most=rate(most))


def traffic_hint(figures: Figures) -> str:
    """Return what the traffic is, its formula, and what is known of the ceiling."""
    words = _tr(
        "How much is read from memory every second: for each token the whole model and what it keeps of the chat. "
        "This is often what limits the speed."
    )
    formula = _tr("(bytes of weights read for a token + bytes of the cache in use) × tokens per second")
    if figures.traffic_gb_per_s is None:
        words = _tr("{words} Unknown until an answer has two tokens.").format(words=words)
    most = figures.traffic_ceiling
    ceiling = (
        _tr("At most {most} GB/s, as this machine's memory was measured.").format(most=rate(most))
        if most
        else _tr("How much the memory gives at most is not measured: click the sentence below for that.")
    )
    return f"{words}\n{formula}\n{ceiling}"


def _tr(words: str) -> str:
    return QCoreApplication.translate("TrafficWords", words)

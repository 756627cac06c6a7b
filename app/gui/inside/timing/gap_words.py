"""What the histogram of the gaps between neighbouring tokens says in words: all of it, and each of its bars."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from app.services.gap_bins import GapBins
from app.services.units import count

translate = QCoreApplication.translate


def bins_sentence(bins: GapBins | None) -> str:
    """Return what the histogram shows, for those who cannot see it."""
    if bins is None:
        return translate(
            "Timeline",
            "Gaps between neighbouring tokens: unknown until an answer has two tokens whose times are known.",
        )
    most = max(bins.counts)
    low, high = bins.range_of(bins.counts.index(most))
    is_peak = bins.counts.count(most) == 1 and bins.beyond < most  # of bars that are alike, none is said to stand out
    said = translate("Timeline", "{total} gaps between neighbouring tokens, the longest {most} ms")
    if bins.total == 1:
        said = translate("Timeline", "1 gap between neighbouring tokens: {most} ms")
    elif is_peak:
        said = translate(
            "Timeline",
            "{total} gaps between neighbouring tokens; most often {low} to {high} ms, the longest {most} ms",
        )
    return said.format(
        total=count(bins.total), low=edge_words(low), high=edge_words(high), most=gap_words(bins.longest_ms)
    )


def edge_words(ms: float) -> str:
    """Return where a bin begins, in ms: a round number."""
    return f"{round(ms, 3):,g}"


def gap_words(ms: float) -> str:
    """Return a gap in ms, with a digit behind the point where that says something."""
    return f"{ms:,.0f}" if ms >= 100 else f"{ms:.1f}"


def bin_words(bins: GapBins, place: int) -> str:
    """Return what a bar of the histogram stands for; the one behind the last is of all longer gaps."""
    if place >= len(bins.counts):
        return translate("Timeline", "longer than {end} ms: {count} of {total} gaps, the longest {most} ms").format(
            end=edge_words(bins.end_ms),
            count=count(bins.beyond),
            total=count(bins.total),
            most=gap_words(bins.longest_ms),
        )
    low, high = bins.range_of(place)
    return translate("Timeline", "{low} to {high} ms: {count} of {total} gaps").format(
        low=edge_words(low), high=edge_words(high), count=count(bins.counts[place]), total=count(bins.total)
    )

"""Figures and reasons as people read them; unknown is an en dash, never nan and never inf."""

from __future__ import annotations

from app.core.metrics import StopReason
from app.core.words import Sentence, translate

UNKNOWN = "–"
_STEP = 1024
MOST_BYTES = 100 * _STEP**4
"""No machine that models are run on has more memory."""
_STOPS: dict[StopReason, Sentence] = {
    "end": translate("Units", "end of answer"),
    "length": translate("Units", "length limit"),
    "stop_string": translate("Units", "stop text"),
    "cancelled": translate("Units", "stopped by you"),
    "context_full": translate("Units", "context full"),
}


def count(value: int | None) -> str:
    """Return a whole number with thousands separated."""
    return UNKNOWN if value is None else f"{value:,}"


def rate(value: float | None) -> str:
    """Return a rate with three significant digits."""
    if value is None:
        return UNKNOWN
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def signed(value: float) -> str:
    """Return a whole number with its sign; one that rounds to nothing has both."""
    whole = round(value)
    return f"{whole:+,}".replace("-", "\u2212") if whole else "±0"


def at_most(is_most: bool) -> str:
    """Return what stands before a figure that is the most there can be, and nothing before any other."""
    return "\N{LESS-THAN OR EQUAL TO}\N{NO-BREAK SPACE}" if is_most else ""


def milliseconds(value: float | None) -> str:
    """Return a time in milliseconds, or in seconds from ten seconds on."""
    if value is None:
        return UNKNOWN
    return f"{value / 1000:,.1f} s" if value >= 10_000 else f"{value:,.0f} ms"


def seconds(ms: float) -> str:
    """Return a time, given in milliseconds, in seconds."""
    return f"{ms / 1000:,.1f} s"


def byte_size(value: int | None) -> str:
    """Return a size in binary units; one that no machine has is no figure any more, but more than the largest."""
    if value is None:
        return UNKNOWN
    if value > MOST_BYTES:
        return f"> {MOST_BYTES // _STEP**4:,} TiB"
    size = float(value)
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if size < _STEP or unit == "TiB":
            break
        size /= _STEP
    return f"{size:.0f} {unit}" if unit == "B" or size >= 100 else f"{size:.1f} {unit}"


def byte_share(used: int | None, total: int | None) -> str:
    """Return how much of something is used, both in the unit of the whole."""
    if total is None:
        return UNKNOWN if used is None else f"{byte_size(used)} / {UNKNOWN}"
    power = 3 if total >= _STEP**3 else 2
    whole = total / _STEP**power
    shown = f"{whole:.0f}" if whole >= 100 or round(whole, 1) == round(whole) else f"{whole:.1f}"
    taken = UNKNOWN if used is None else f"{used / _STEP**power:.1f}"
    return f"{taken} / {shown} {'GiB' if power == 3 else 'MiB'}"


def short_milliseconds(value: float | None) -> str:
    """Return a part of a time as a bare number of milliseconds: small ones keep a digit."""
    if value is None:
        return UNKNOWN
    return f"{value:,.0f}" if value >= 10 else f"{value:.1f}"


def parameter_count(value: int | None) -> str:
    """Return how many parameters a model has, as models are named: 135M, 7.2B; of what is tiny K or all digits."""
    if value is None:
        return UNKNOWN
    if value >= 999_500_000:
        return f"{value / 1e9:.1f}B"
    if value >= 999_500:
        return f"{value / 1e6:.0f}M"
    return f"{value / 1e3:.0f}K" if value >= 1000 else str(value)


def stop_words(reason: StopReason) -> Sentence:
    """Return how an answer ended, in the same words everywhere."""
    return _STOPS[reason]

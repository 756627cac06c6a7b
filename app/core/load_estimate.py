"""What was worked out before a load beside what it really took: the last times of one model, as the settings keep them."""

from __future__ import annotations

import msgspec

MOST_KEPT = 5
"""Loads of one model that are kept."""
_KIB = 1024


class LoadEstimate(msgspec.Struct, frozen=True):
    """One load, over all devices; KiB, because the settings hold no larger numbers than 32 bits."""

    estimate_kib: int
    real_kib: int

    @property
    def percent(self) -> float | None:
        """By how much the load took more than estimated, in percent; negative is less, None where nothing was estimated."""
        return percent_more(self.estimate_kib, self.real_kib)


def load_estimate(estimate: int, real: int) -> LoadEstimate:
    """Return what is kept of a load, from bytes."""
    return LoadEstimate(round(estimate / _KIB), round(real / _KIB))


def percent_more(estimate: int | None, real: int | None) -> float | None:
    """Return by how much `real` is more than `estimate`, in percent; None where one is unknown or nothing was estimated."""
    if estimate is None or real is None or estimate <= 0:
        return None
    return 100 * (real - estimate) / estimate


def kept_with(kept: tuple[LoadEstimate, ...], newest: LoadEstimate) -> tuple[LoadEstimate, ...]:
    """Return the last loads with one more, the newest last."""
    return (*kept, newest)[-MOST_KEPT:]

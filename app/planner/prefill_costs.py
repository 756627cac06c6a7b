"""What can have slowed the reading of a prompt down, so that its time says little of the machine. Pure."""

from __future__ import annotations

from app.core.circumstances import Circumstances
from app.core.metrics import Metrics
from app.planner.answer_times import Times
from app.planner.decode_costs import Costs

PAGED_SHARE = 0.1
"""Of the weights, from the disk: more than this is no accident."""
PAGED_FAULTS = 256
"""Where nobody tells the bytes: each of these faults reads 4 KiB at least, and usually much more ahead."""


def was_paged_in(metrics: Metrics, circumstances: Circumstances) -> bool:
    """Return whether much of the weights came from the disk while the prompt was read."""
    pages = metrics.page_ins
    if pages is None:
        return False
    if pages.prefill_bytes is not None and circumstances.weight_bytes_per_token:
        return pages.prefill_faults > 0 and pages.prefill_bytes >= PAGED_SHARE * circumstances.weight_bytes_per_token
    return pages.prefill_faults >= PAGED_FAULTS


def is_prefill_disturbed(metrics: Metrics, times: Times, circumstances: Circumstances) -> bool:
    """Return whether something took much of it; programs that kept the cores busy right after are taken to have before."""
    is_busy = Costs(metrics, times, circumstances).others > 0
    return is_busy or bool(circumstances.gpu_limits) or was_paged_in(metrics, circumstances)

"""What an answer's own record says of how it was written, where nobody who saw it kept what was around it."""

from __future__ import annotations

from app.core.circumstances import LAST_TOKEN, Circumstances
from app.core.metrics import Metrics


def kept_circumstances(metrics: Metrics) -> Circumstances:
    """Return what was around an answer as its record has it: what was seen while it was written, else how it was loaded."""
    if metrics.circumstances is not None:
        return metrics.circumstances
    loading = metrics.loading
    lost = metrics.reuse.shared - metrics.prompt_tokens_from_cache if metrics.reuse is not None else 0
    if loading is None:
        return Circumstances()
    return Circumstances(
        unused_cache="cannot_rewind" if lost > LAST_TOKEN else None,
        read_again=lost if lost > LAST_TOKEN else 0,
        gpu_is_there=True if loading.gpu_layers else None,
        gpu_layers=loading.gpu_layers,
        all_layers=loading.all_layers,
        weight_bytes_per_token=loading.weight_bytes_per_token,
        first_after_load=loading.is_first,
        threads=loading.threads,
    )

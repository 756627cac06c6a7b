"""Figures that an earlier version kept are read: what it did not measure is unknown."""

from __future__ import annotations

import msgspec

from app.store import columns
from tests.fake_engine import metrics


def test_figures_without_the_template_and_the_draws_are_read() -> None:
    now = msgspec.structs.replace(metrics(20), sampling_ms=18.0)
    kept = msgspec.json.decode(columns.to_json(now) or b"")
    assert kept.pop("sampling_ms") == 18.0
    del kept["ttft_parts_ms"]["template"]
    read = columns.METRICS.decode(msgspec.json.encode(kept))
    assert read == metrics(20) and read.sampling_ms is None and read.ttft_parts_ms.template is None

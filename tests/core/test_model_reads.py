"""Which tensors stay in main memory, as a pattern."""

from __future__ import annotations

import re

import pytest

from app.core.model_reads import moved_experts


@pytest.mark.parametrize("layers", [*range(1, 130), 255, 256, 300, 999, 1000, 1001, 1234, 9999])
def test_the_pattern_means_the_first_layers_and_no_others(layers: int) -> None:
    pattern = re.compile(moved_experts(layers))
    for layer in {*range(140), 999, 1000, 9999, layers - 1, layers, layers + 1}:
        for name in ("ffn_up_exps", "ffn_gate_up_exps", "ffn_down_chexps"):
            assert bool(pattern.search(f"blk.{layer}.{name}.weight")) is (layer < layers), layer
    assert not pattern.search("blk.0.ffn_up.weight")


def test_all_is_any_layer() -> None:
    assert re.search(moved_experts(-1), "blk.123.ffn_up_exps.weight")

"""The buffers for computing, against what llama.cpp's own engine set aside for real models."""

from __future__ import annotations

from typing import Any

import pytest

from app.planner.buffer_formula import buffers, loaded_sequences
from app.planner.plan_options import PlanOptions
from app.planner.planned_model import PlannedModel
from tests.formula_checks import MIB
from tests.planner.planned_models import planned


def device_mib(name: str, sequences: int = 1, **options: Any) -> float:
    sizes = buffers(planned(name), PlanOptions(**options), sequences)
    assert sizes is not None
    return sizes.device / MIB


@pytest.mark.parametrize(
    ("name", "options", "mib"),
    [
        ("llama-3.1-8b", {"context": 4096}, 120),
        ("llama-3.1-8b", {"context": 8192}, 124),
        ("llama-3.1-8b", {"context": 32768}, 148),
        ("llama-3.1-8b", {"context": 131072}, 244),
        ("llama-3.1-8b", {"context": 8192, "micro_batch": 128}, 31),
        ("llama-3.1-8b", {"context": 8192, "micro_batch": 2048}, 496),
        ("llama-3.1-8b", {"context": 4096, "flash_attention": False}, 308),
        ("llama-3.1-8b", {"context": 8192, "flash_attention": False}, 572),
        ("llama-3.1-8b", {"context": 32768, "flash_attention": False}, 2156),
        ("llama-3.1-8b", {"context": 131072, "flash_attention": False}, 8492),
        ("gemma-3-12b", {"context": 8192}, 130),
        ("deepseek-v2-lite", {"context": 8192}, 97),
        ("lfm2-1.2b", {"context": 8192}, 68),
        ("qwen3.5-27b", {"context": 8192}, 140),
        ("qwen3.5-27b", {"context": 262144}, 388),
    ],
)
def test_a_real_model_computes_in_what_the_engine_set_aside(name: str, options: dict[str, Any], mib: float) -> None:
    assert device_mib(name, **options) == pytest.approx(mib, rel=0.02)


def test_all_rows_of_logits_outweigh_the_layers() -> None:
    """512 sequences of one row each are as many rows as a batch has: 258.5 MiB in llama.cpp's log, and what is around."""
    assert device_mib("llama-3.1-8b", sequences=512, context=8192) == pytest.approx(266.5, rel=0.02)


def test_a_batch_is_rounded_to_whole_rows_of_sequences() -> None:
    assert device_mib("llama-3.1-8b", sequences=9, context=8192) == pytest.approx(124 * 513 / 512)


def test_a_row_of_logits_is_kept_for_each_sequence() -> None:
    sizes = buffers(planned("llama-3.1-8b"), PlanOptions(8192), 3)
    assert sizes is not None and sizes.output == 3 * 128256 * 4


def test_a_cache_without_windows_and_states_has_sequences_for_comparisons() -> None:
    assert loaded_sequences(planned("llama-3.1-8b"), PlanOptions(8192)) == 9
    assert loaded_sequences(planned("deepseek-v2-lite"), PlanOptions(8192)) == 9
    assert loaded_sequences(planned("llama-3.1-8b"), PlanOptions(8192, sequences=20)) == 20
    assert loaded_sequences(planned("gemma-3-12b"), PlanOptions(8192)) == 1
    assert loaded_sequences(planned("llama-3.1-8b"), PlanOptions(8192, sequences=2, unified=False)) == 2


def test_grok_has_no_flash_attention_whatever_is_asked() -> None:
    plain = planned("llama-3.1-8b")
    grok = PlannedModel(**{name: getattr(plain, name) for name in plain.__struct_fields__} | {"architecture": "grok"})
    assert buffers(grok, PlanOptions(8192)) == buffers(grok, PlanOptions(8192, flash_attention=False))


def test_of_what_is_unknown_no_buffer_is_said() -> None:
    assert buffers(PlannedModel("", "new", "unknown"), PlanOptions(8192)) is None
    assert buffers(PlannedModel("", "llama", "dense", embedding=64), PlanOptions(8192)) is None

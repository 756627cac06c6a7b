"""Real models by their sizes, at least one of each kind of memory, as sparse files: see `tests.sparse_ggufs`."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tests.sparse_dense import (
    deci_by_layer,
    deepseek2_lite,
    llama_8b,
    mixtral_8x7b,
    phi3_mini,
    qwen3_8b,
    qwen3_30b,
    qwen3_32b,
    qwen3_600m,
    smollm_135m,
)
from tests.sparse_ggufs import Sparse
from tests.sparse_states import (
    falcon_h1_1_5b,
    granite_h_small,
    jamba_52b,
    lfm2_1_2b,
    mamba_2_8b,
    qwen35_27b,
)
from tests.sparse_windows import (
    cohere2_7b,
    gemma2_9b,
    gemma3_1b,
    gemma3_12b,
    gemma3_27b,
    gemma3n_e4b,
    gemma4_small,
    gpt_oss_20b,
)

DENSE: Mapping[str, Callable[[], Sparse]] = {
    "llama-3.1-8b": llama_8b,
    "smollm2-135m": smollm_135m,
    "qwen3-8b": qwen3_8b,
    "qwen3-0.6b": qwen3_600m,
    "qwen3-32b": qwen3_32b,
    "phi-3-mini": phi3_mini,
    "deci-by-layer": deci_by_layer,
}
WINDOWED: Mapping[str, Callable[[], Sparse]] = {
    "gemma-3-12b": gemma3_12b,
    "gemma-3-1b": gemma3_1b,
    "gemma-3-27b": gemma3_27b,
    "gemma-2-9b": gemma2_9b,
    "command-r7b": cohere2_7b,
    "gemma-3n-e4b": gemma3n_e4b,
    "gemma-4-small": gemma4_small,
}
OTHERS: Mapping[str, Callable[[], Sparse]] = {
    "mixtral-8x7b": mixtral_8x7b,
    "qwen3-30b-a3b": qwen3_30b,
    "gpt-oss-20b": gpt_oss_20b,
    "deepseek-v2-lite": deepseek2_lite,
    "mamba-2.8b": mamba_2_8b,
    "jamba-52b": jamba_52b,
    "lfm2-1.2b": lfm2_1_2b,
    "qwen3.5-27b": qwen35_27b,
    "granite-4-h-small": granite_h_small,
    "falcon-h1-1.5b": falcon_h1_1_5b,
}
ALL: Mapping[str, Callable[[], Sparse]] = {**DENSE, **WINDOWED, **OTHERS}

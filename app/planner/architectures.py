"""What llama.cpp knows of each architecture beside its header: which layers keep what, where the file does not say.

Taken from llama.cpp as of llama-cpp-python 0.3.36: `src/llama-arch.cpp`, `src/models/*.cpp` (`load_arch_hparams`) and
`llama_model::create_memory`. An architecture that is not named here is unknown, whatever its header says.
"""

from __future__ import annotations

from typing import NamedTuple


class WindowRule(NamedTuple):
    """Which layers of an architecture keep a sliding window, where the header has no list of them."""

    every: int | None
    """One layer of so many keeps every token; None where the header must have the list."""
    dense_first: bool = False
    """Whether that is the first of them; otherwise the last."""
    window: int | None = None
    """Tokens of the window where the header has no number; None is no window at all then."""
    forced: int | None = None
    """Tokens of the window whatever the header says."""


WINDOWS: dict[str, WindowRule] = {
    "afmoe": WindowRule(4),
    "cohere2": WindowRule(4),
    "cohere2moe": WindowRule(4, dense_first=True),
    "exaone-moe": WindowRule(4, window=128),
    "exaone4": WindowRule(4, window=4096),
    "gemma2": WindowRule(2, window=4096),
    "gemma3": WindowRule(6),
    "gemma3n": WindowRule(5),
    "gemma4": WindowRule(None),
    "gpt-oss": WindowRule(2),
    "granite_swa": WindowRule(None),
    "laguna": WindowRule(4, dense_first=True),
    "llama4": WindowRule(4, window=8192, forced=8192),
    "maple": WindowRule(None),
    "mellum": WindowRule(4),
    "mimo2": WindowRule(None),
    "muse-glimmer": WindowRule(4),
    "olmo2": WindowRule(4),
    "plamo3": WindowRule(8),
    "smallthinker": WindowRule(4, dense_first=True, forced=4096),
    "spark2_5": WindowRule(None),
    "step35": WindowRule(None),
}
EXAONE4_WINDOW_LAYERS = 64
"""EXAONE 4 has its window only in the model with so many layers."""
GEMMA3N_OWN_LAYERS = 20
"""Layers of Gemma 3n with keys and values of their own; the others use those of earlier ones."""

RECURRENT = frozenset({"mamba", "mamba2", "rwkv6", "rwkv6qwen2", "rwkv7", "arwkv7"})
"""Every layer keeps a state, none keeps keys and values."""
BY_KV_HEADS = frozenset(
    {
        "jamba",
        "plamo2",
        "granitehybrid",
        "lfm2",
        "lfm2moe",
        "nemotron_h",
        "nemotron_h_moe",
        "kimi-linear",
        "bailingmoe3",
    }
)
"""Hybrids whose recurrent layers are those without heads of keys and values."""
BY_INTERVAL: dict[str, int] = {"qwen3next": 4, "qwen35": 4, "qwen35moe": 4, "minimax-01": 8}
"""Hybrids of which each so-many-th layer is attention, unless the header says otherwise."""
BOTH_IN_EACH = frozenset({"falcon-h1"})
"""Hybrids whose every layer keeps a state as well as keys and values."""
NO_FEED_FORWARD = frozenset({"nemotron_h", "nemotron_h_moe"})
"""Layers that have a feed-forward network have nothing else."""

OTHER_CACHES = frozenset(
    {
        "deepseek32", "deepseek4", "dots3note", "glm-dsa", "glm5-next", "graniteswitch", "hrm_text", "hy_v4",
        "kimi-k3", "minimax-m3", "nanbeige", "qwen4exp",
    }
)  # fmt: skip
"""Known to llama.cpp, with a cache that is not worked out here: its own dry run tells it."""

_LIKE_LLAMA = """
llama deci falcon grok gpt2 gptj gptneox mpt baichuan starcoder refact bloom stablelm qwen qwen2 qwen2moe qwen2vl qwen3
qwen3moe qwen3vl qwen3vlmoe phi2 phi3 phimoe plamo codeshell orion internlm2 minicpm minicpm3 gemma starcoder2 xverse
command-r dbrx olmo olmoe openelm arctic deepseek deepseek2 deepseek2-ocr chatglm glm4 glm4moe bitnet jais jais2 nemotron
exaone granite granitemoe chameleon plm bailingmoe bailingmoe2 dots1 arcee ernie4_5 ernie4_5-moe hunyuan-moe
hunyuan-dense hunyuan_vl hy_v3 smollm3 seed_oss grovemoe apertus minimax-m2 cogvlm pangu-embedded mistral3 mistral4
paddleocr maincoder talkie
"""
PLANNED = (
    frozenset(_LIKE_LLAMA.split()) | WINDOWS.keys() | RECURRENT | BY_KV_HEADS | BY_INTERVAL.keys() | BOTH_IN_EACH
)
"""Architectures whose cache is worked out here."""

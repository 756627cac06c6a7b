"""Made answers that were slow while they were written, and what is to be said of them; with all other cases."""

from __future__ import annotations

from app.core.metrics import ItlDrift, KVUse, PageIns
from tests.planner.made_answers import CPU, GPU, IDLE, SPLIT, WEIGHTS, around, figures
from tests.planner.slow_answers import BEFORE, NOTHING, UNUSED, Case

_WROTE = "Writing (decode) took 10.0 of 10.1 s"
WRITING: dict[str, Case] = {
    "the processor, memory not measured": Case(
        figures(),
        CPU,
        "bandwidth",
        f"{_WROTE}; a smaller model file or a GPU would be faster.",
        "choose_model",
        evidence="Memory traffic: 5.0 GB/s; the most is not measured",
    ),
    "the GPU, memory not measured": Case(
        figures(), GPU, "bandwidth", f"{_WROTE}; a smaller model file is usually faster.", "choose_model"
    ),
    "the processor's memory is the limit": Case(
        figures(traffic_gb_per_s=15.0),
        around(memory_gb_per_s=20.0),
        "bandwidth",
        f"{_WROTE}; memory limits it: a smaller file or GPU helps.",
        "choose_model",
        evidence="Memory traffic: 15.0 of 20.0 GB/s: 75 %",
    ),
    "the GPU's memory is the limit": Case(
        figures(traffic_gb_per_s=150.0),
        around(GPU, memory_gb_per_s=200.0),
        "bandwidth",
        f"{_WROTE}; memory limits it: a smaller file helps.",
        "choose_model",
    ),
    "memory is not the limit": Case(
        figures(traffic_gb_per_s=5.0),
        around(memory_gb_per_s=20.0, threads=2),
        "not_bandwidth",
        f"{_WROTE}; memory was not the limit (5.0 of 20 GB/s).",
        "load_options",
        {"threads": None},
        "Threads: 2 on 4 cores",
    ),
    "near neither end nothing of memory is claimed": Case(
        figures(traffic_gb_per_s=10.0),
        around(GPU, memory_gb_per_s=20.0),
        "bandwidth",
        f"{_WROTE}; a smaller model file is usually faster.",
        "choose_model",
    ),
    "a model whose bytes are unknown": Case(
        figures(traffic_gb_per_s=None),
        CPU,
        "bandwidth",
        f"{_WROTE}; a smaller model file is usually faster.",
        "choose_model",
    ),
    "few layers on the GPU, even at a good speed": Case(
        figures(tokens=201, rate=80.0),
        SPLIT,
        "gpu_layers",
        "Writing (decode) took 2.5 of 2.6 s; 12 of 31 layers are on the GPU: more would help.",
        "load_options",
        {"gpu_layers": None},
        "Layers on the GPU: 12 of 31",
    ),
    "an idle GPU": Case(
        figures(),
        IDLE,
        "gpu_layers",
        f"{_WROTE}; no layer is on the GPU: it would help most.",
        "load_options",
        {"gpu_layers": None},
    ),
    "the GPU's memory spilled over": Case(
        figures(),
        around(GPU, gpu_used_bytes=23_500_000_000, gpu_buffer_bytes=26_000_000_000),
        "spilled",
        f"{_WROTE}; the GPU's memory spilled into main memory.",
        "load_options",
        {"context": 2048},
        "Set aside, and in the GPU's own memory: 26.0 GB, at most 23.5 GB",
    ),
    "more threads than cores": Case(
        figures(),
        around(threads=8),
        "threads",
        f"{_WROTE} with more threads than cores.",
        "load_options",
        {"threads": None},
        "Threads: 8 on 4 cores",
    ),
    "a GPU that is too hot": Case(
        figures(),
        around(GPU, gpu_limits=frozenset({"heat", "power"})),
        "gpu_limit",
        f"{_WROTE}; the GPU was too hot: it slowed itself down.",
        evidence="The GPU was held back by: its temperature",
    ),
    "a GPU at its power limit": Case(
        figures(),
        around(GPU, gpu_limits=frozenset({"power"})),
        "gpu_limit",
        f"{_WROTE}; the GPU was at its power limit.",
        evidence="The GPU was held back by: its power limit",
    ),
    "a GPU that protects itself": Case(
        figures(),
        around(GPU, gpu_limits=frozenset({"hardware"})),
        "gpu_limit",
        f"{_WROTE}; the GPU protected itself and slowed down.",
    ),
    "weights from the disk all the time": Case(
        figures(page_ins=PageIns(0, 4000, 0, 900_000_000)),
        CPU,
        "page_in",
        f"{_WROTE}; weights came from the disk again and again.",
        "load_options",
        {"mlock": True},
        "Read from the disk meanwhile: 900.0 MB, 4,000 page faults",
    ),
    "a window that takes a core": Case(
        figures(),
        around(window_busy_s=6.0),
        "window",
        f"{_WROTE}; showing it took much of a core.",
        evidence="Showing it (window): 6.0 s of one core: 60 % of the decode",
    ),
    "costly draws": Case(
        figures(sampling_ms=4020.0),
        around(top_k_is_off=True),
        "sampling",
        f"{_WROTE}; choosing tokens took much of that.",
        "top_k",
        {"top_k": 40},
        "Choosing tokens (sampling): 20.00 ms a token: 40 % of the decode",
    ),
    "a costly grammar": Case(
        figures(sampling_ms=4020.0),
        around(top_k_is_off=True, has_grammar=True),
        "sampling",
        f"{_WROTE}; its grammar took much of that.",
    ),
    "a cache that grew": Case(
        figures(drift=ItlDrift(40.0, 60.0), kv=KVUse(3000, 4096, 60_000_000)),
        around(kv_is_f16=True),
        "kv_cache",
        f"{_WROTE}, rereading a long chat: a shorter one is faster.",
        "load_options",
        {"kv_type_k": "q8_0", "kv_type_v": "q8_0"},
        "A token, at the beginning and at the end: 40.0 ms, 60.0 ms",
    ),
    "a cache that is more than the weights": Case(
        figures(kv=KVUse(3000, 4096, WEIGHTS + 1)),
        around(kv_is_f16=False),
        "kv_cache",
        f"{_WROTE}, rereading a long chat: a shorter one is faster.",
        "new_chat",
        evidence="Read for the last token: 98.0 MB of weights, 98.0 MB of the KV cache",
    ),
    "slower and slower, though the cache is small": Case(
        figures(drift=ItlDrift(40.0, 60.0)),
        CPU,
        "slowed",
        f"{_WROTE} and got slower: heat, or another program.",
    ),
}
CASES = {**NOTHING, **BEFORE, **UNUSED, **WRITING}

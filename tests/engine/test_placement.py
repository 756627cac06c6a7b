"""Where weights and cells would lie, worked out of the log and the header; what the log leaves open stays unknown."""

from __future__ import annotations

from app.core.gguf_header import Header
from app.core.gguf_tensors import Tensor
from app.core.metrics import DeviceMemory
from app.engine.placement import Weights, cache_by_device, narrowed
from app.engine.placement import weights_by_device as placed
from app.engine.sizes import MIB

F32 = 0
BYTES = {"token_embd.weight": 4000, "output_norm.weight": 40, "output.weight": 2000}
LAYERS = (
    "load_tensors: layer   0 assigned to device CPU, is_swa = 0",
    "load_tensors: layer   1 assigned to device CUDA0, is_swa = 0",
    "load_tensors: layer   2 assigned to device CUDA1, is_swa = 0",
    "load_tensors: layer   3 assigned to device CUDA1, is_swa = 0",
)
"""Three layers and the output layer."""
CACHE = (
    "llama_kv_cache: layer   0: dev = CPU",
    "llama_kv_cache: layer   1: dev = CUDA0",
    "llama_kv_cache: layer   2: dev = CUDA1",
    "llama_kv_cache:      CUDA0 KV buffer size =     0.00 MiB",
    "llama_kv_cache: size =   90.00 MiB (  8192 cells,   3 layers,  9/1 seqs), K (f16):   45.00 MiB, V (f16):   45.00 MiB",
)


def weights_by_device(headers: list[Header], lines: tuple[str, ...]) -> dict[str, int] | None:
    """Return the bytes where every tensor's place is known."""
    found = placed(headers, lines)
    return found.sizes if found is not None and found.exact else None


def header(sizes: dict[str, int], kv_heads: int | tuple[int, ...] = 1, unknown: str = "") -> Header:
    """Return a header whose tensors have these bytes."""
    tensors = tuple(Tensor(name, (size // 4,), 99 if name == unknown else F32, 0) for name, size in sizes.items())
    return Header(3, {"general.architecture": "llama", "llama.attention.head_count_kv": kv_heads}, tensors, 32, 0)


def layers(count: int = 3) -> dict[str, int]:
    """Return the tensors of some layers, 100 bytes of experts and 20 of the rest in each."""
    return {
        name: size
        for layer in range(count)
        for name, size in ((f"blk.{layer}.attn_q.weight", 20), (f"blk.{layer}.ffn_up_exps.weight", 100))
    }


def test_each_layers_weights_lie_where_the_layer_goes() -> None:
    model = header({**BYTES, **layers()})
    assert weights_by_device([model], LAYERS) == {"CPU": 4000 + 120, "CUDA0": 120, "CUDA1": 120 + 2040}


def test_weights_of_several_files_are_one_model() -> None:
    first, second = header(BYTES), header(layers())
    assert weights_by_device([first, second], LAYERS) == weights_by_device([header({**BYTES, **layers()})], LAYERS)


def test_a_table_that_is_the_output_matrix_too_is_there_twice() -> None:
    tied = header({"token_embd.weight": 4000, "output_norm.weight": 40, **layers()})
    assert weights_by_device([tied], LAYERS) == {"CPU": 4120, "CUDA0": 120, "CUDA1": 120 + 40 + 4000}
    on_cpu = tuple(line.replace("CUDA0", "CPU").replace("CUDA1", "CPU") for line in LAYERS)
    assert weights_by_device([tied], on_cpu) == {"CPU": 4000 + 40 + 360}


def test_experts_that_are_kept_in_main_memory_count_there() -> None:
    kept = tuple(
        f"tensor blk.{layer}.ffn_up_exps.weight (0 MiB f16) buffer type overridden to CPU_REPACK" for layer in (1, 2)
    )
    moved = (
        "done_getting_tensors: tensor 'blk.1.ffn_up_exps.weight' (f16) (and 1 others) cannot be used with preferred"
        " buffer type CUDA0, using CPU instead"
    )
    sizes = weights_by_device([header({**BYTES, **layers()})], (*LAYERS, *kept, moved))
    assert sizes == {"CPU": 4120 + 200, "CUDA0": 20, "CUDA1": 20 + 2040}


def test_a_tensor_that_a_gpu_cannot_hold_is_counted_where_it_goes() -> None:
    moved = (
        "done_getting_tensors: tensor 'blk.1.attn_q.weight' (iq4) (and {} others) cannot be used with preferred"
        " buffer type CUDA0, using CUDA_Host instead"
    )
    model = header({**BYTES, **layers()})
    assert weights_by_device([model], (*LAYERS, moved.format(0))) == {"CPU": 4140, "CUDA0": 100, "CUDA1": 2160}
    at_most = placed([model], (*LAYERS, moved.format(3)))
    assert at_most == Weights({"CPU": 4140, "CUDA0": 100, "CUDA1": 2160}, exact=False)


def test_a_tensor_that_only_changes_its_kind_of_main_memory_stays() -> None:
    moved = (
        "done_getting_tensors: tensor 'token_embd.weight' (q4_1) (and 154 others) cannot be used with preferred"
        " buffer type CPU_REPACK, using CPU instead"
    )
    model = header({**BYTES, **layers()})
    assert weights_by_device([model], (*LAYERS, moved)) == weights_by_device([model], LAYERS)


def test_what_the_log_or_the_header_leaves_open_is_unknown() -> None:
    sizes = {**BYTES, **layers()}
    assert weights_by_device([header(sizes)], ()) is None
    assert weights_by_device([header({**sizes, "blk.7.attn_q.weight": 20})], LAYERS) is None
    assert weights_by_device([header(sizes, unknown="blk.0.attn_q.weight")], LAYERS) is None
    rows = "load_tensors:  CUDA_Split model buffer size =     0.00 MiB"
    assert placed([header(sizes)], (*LAYERS, rows)) is None


def test_the_cache_is_shared_out_by_layers() -> None:
    assert cache_by_device(header({}), CACHE) == {"CPU": 30 * MIB, "CUDA0": 30 * MIB, "CUDA1": 30 * MIB}


def test_layers_with_more_heads_have_more_of_the_cache() -> None:
    shares = cache_by_device(header({}, kv_heads=(1, 1, 4)), CACHE)
    assert shares == {"CPU": 15 * MIB, "CUDA0": 15 * MIB, "CUDA1": 60 * MIB}


def test_two_caches_of_one_model_add_up() -> None:
    window = (
        "llama_kv_cache: layer   1: dev = CUDA0",
        "llama_kv_cache: size =   12.00 MiB (   768 cells,   1 layers,  1/1 seqs), K (f16):    6.00 MiB",
    )
    sizes = cache_by_device(header({}), (*CACHE, *window))
    assert sizes == {"CPU": 30 * MIB, "CUDA0": 42 * MIB, "CUDA1": 30 * MIB}


def test_a_model_without_a_cache_has_none_and_an_unknown_one_stays_unknown() -> None:
    assert cache_by_device(header({}), ()) == {}
    assert cache_by_device(header({}), CACHE[:2]) is None
    assert cache_by_device(header({}), CACHE[1:]) is None


def test_a_mapped_file_counts_no_more_than_lies_in_main_memory() -> None:
    model = header({**BYTES, **layers()})
    mapped = "load_tensors:   CPU_Mapped model buffer size =     1.00 MiB"
    logged = (DeviceMemory("CPU", MIB, None, 5), DeviceMemory("CUDA0", 120, None, None))
    assert narrowed(logged, [model], (*LAYERS, mapped)) == (DeviceMemory("CPU", 4120, None, 5), logged[1])
    assert narrowed(logged, [model], LAYERS) == logged
    assert narrowed(logged, [model], (mapped,)) == logged

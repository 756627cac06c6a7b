"""What llama.cpp's log says of buffers; a line that is not known stays unknown."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from app.core.metrics import DeviceMemory
from app.core.model import CacheSizes, LoadOptions
from app.engine.llama import LogCapture
from app.engine.llama_model import LlamaBackend
from app.engine.sizes import MIB, device_of, parse_cache, parse_flash, parse_sizes
from tests.ggufs_kinds import write_tiny_hybrid, write_tiny_recurrent, write_tiny_window

WINDOW_LOG = (
    "llama_kv_cache_iswa: creating non-SWA KV cache, size = 32768 cells",
    "llama_kv_cache:      CUDA0 KV buffer size =  2048.00 MiB",
    "llama_kv_cache: size = 2048.00 MiB ( 32768 cells,   8 layers,  1/1 seqs), K (f16): 1024.00 MiB, V (f16): 1024.00 MiB",
    "llama_kv_cache_iswa: creating     SWA KV cache, size = 1536 cells",
    "llama_kv_cache:      CUDA0 KV buffer size =   480.00 MiB",
    "llama_kv_cache: size =  480.00 MiB (  1536 cells,  40 layers,  1/1 seqs), K (f16):  240.00 MiB, V (f16):  240.00 MiB",
)


def test_buffers_are_summed_for_each_device() -> None:
    lines = (
        "load_tensors:   CPU_Mapped model buffer size =    92.10 MiB",
        "load_tensors:   CPU_REPACK model buffer size =    10.00 MiB",
        "load_tensors:        CUDA0 model buffer size =  4096.00 MiB",
        "llama_kv_cache:      CUDA0 KV buffer size =   90.00 MiB",
        "llama_kv_cache:        CPU KV buffer size =   30.00 MiB",
        "llama_memory_recurrent:      CUDA0 RS buffer size =     8.00 MiB",
        "llama_context:  CUDA_Host  output buffer size =     1.00 MiB",
        "sched_reserve:      CUDA0 compute buffer size =   120.50 MiB",
        "sched_reserve:  CUDA_Host compute buffer size =    20.00 MiB",
    )
    cpu, gpu = parse_sizes(lines)
    assert cpu == DeviceMemory("CPU", round(102.10 * MIB), 30 * MIB, 20 * MIB, None, MIB)
    assert gpu == DeviceMemory("CUDA0", 4096 * MIB, 90 * MIB, round(120.5 * MIB), 8 * MIB, None)
    assert gpu.total == round(4314.5 * MIB)


def test_a_line_of_another_version_leaves_the_figure_unknown() -> None:
    assert parse_sizes(("load: the weights of CUDA0 take 3 GiB",)) == ()
    assert parse_cache(("cache: 3 GiB in 8192 cells",)) == CacheSizes()


def test_what_a_file_says_of_itself_is_no_buffer() -> None:
    line = "llama_model_loader: - kv   2: general.name str = load_tensors: CUDA0 model buffer size = 99.00 MiB"
    assert parse_sizes((line,)) == ()


@pytest.mark.parametrize(
    ("buffer", "device"),
    [
        ("CPU", "CPU"),
        ("CPU_Mapped", "CPU"),
        ("CPU_REPACK", "CPU"),
        ("AMX", "CPU"),
        ("CUDA_Host", "CPU"),
        ("Vulkan_Host", "CPU"),
        ("CUDA1", "CUDA1"),
        ("MTL0_Mapped", "MTL0"),
        ("MTL0_Private", "MTL0"),
    ],
)
def test_every_buffer_type_belongs_to_a_device(buffer: str, device: str) -> None:
    assert device_of(buffer) == device


def test_layers_with_a_window_are_told_apart() -> None:
    assert parse_cache(WINDOW_LOG) == CacheSizes(full=2048 * MIB, window=480 * MIB, window_cells=1536)


def test_the_state_of_recurrent_layers_is_told_beside_the_cache() -> None:
    lines = (
        "llama_kv_cache: size =  256.00 MiB (  8192 cells,   8 layers,  1/1 seqs), K (f16):  128.00 MiB, V (f16): 128.00 MiB",
        "llama_memory_recurrent: size =  149.62 MiB (     1 cells,  64 layers,  1 seqs  0 rs_seq), R (f32):    5.62 MiB",
    )
    assert parse_cache(lines) == CacheSizes(full=256 * MIB, state=round(149.62 * MIB))


@pytest.mark.parametrize(
    "line",
    [
        "llama_kv_cache_dsv4: creating DSV4 CSA compressed KV cache, size = 2048 cells",
        "llama_kv_cache_dsv4: creating DSV4 raw KV cache",
        "llama_dsv4_comp_state:      CUDA0 DSV4 csa state buffer size =    12.00 MiB",
    ],
)
def test_a_cache_that_does_not_grow_by_the_token_is_unknown(line: str) -> None:
    assert parse_cache((line, *WINDOW_LOG)) == CacheSizes()


def test_the_cache_of_an_indexer_counts_as_one_that_keeps_every_token() -> None:
    size = "llama_kv_cache: size =  100.00 MiB (  8192 cells,   8 layers,  1/1 seqs), K (f16):  100.00 MiB"
    lines = (
        "llama_kv_cache_dsa: creating main KV cache, size = 8192 cells",
        size,
        "llama_kv_cache_dsa: creating indexer KV cache, size = 8192 cells",
        size,
    )
    assert parse_cache(lines) == CacheSizes(full=200 * MIB)


def test_the_starter_models_cache_has_the_bytes_of_the_formula(starter_backend: LlamaBackend) -> None:
    assert starter_backend.info.kv_bytes == 1024 * 30 * 2 * 3 * 64 * 2


@pytest.mark.parametrize(
    ("write", "sizes"),
    [
        # cells x layers x (keys and values) x heads x length x 2 bytes, in the log rounded to 0.01 MiB
        (write_tiny_window, CacheSizes(full=2048 * 2 * 2 * 64 * 2, window=round(0.38 * MIB), window_cells=768)),
        (write_tiny_recurrent, CacheSizes(state=round(0.04 * MIB))),
        (write_tiny_hybrid, CacheSizes(full=2048 * 2 * 2 * 32 * 2, state=round(0.02 * MIB))),
    ],
)
def test_the_log_of_this_version_is_understood(
    tmp_path: Path, llama_log: LogCapture, write: Callable[[Path], Path], sizes: CacheSizes
) -> None:
    path = write(tmp_path / "model.gguf")
    backend = LlamaBackend(str(path), LoadOptions(context=2048), llama_log, lambda percent: True)
    try:
        assert parse_cache(llama_log.lines()) == sizes
    finally:
        backend.close()


WISH, CHOICE = "llama_context: flash_attn            = ", "resolve_fused_ops: Flash Attention "


@pytest.mark.parametrize(
    ("lines", "flash"),
    [
        ((), "auto"),
        ((WISH + "auto", "another line"), "auto"),
        ((WISH + "auto", CHOICE + "enabled"), "on"),
        ((WISH + "auto", CHOICE + "not supported, set to disabled"), "off"),
        ((WISH + "disabled", "llama_context: Flash Attention of another kind"), "off"),
        ((WISH + "enabled",), "on"),
        ((WISH + "auto", CHOICE + "enabled", WISH + "disabled"), "off"),
    ],
)
def test_the_attention_is_what_the_context_came_to(lines: tuple[str, ...], flash: str) -> None:
    assert parse_flash(lines) == flash

"""What llama.cpp's log says of buffers; a line that is not known stays unknown."""

from __future__ import annotations

from app.core.metrics import DeviceMemory
from app.engine.llama_model import LlamaBackend
from app.engine.sizes import MIB, parse_sizes


def test_buffers_are_summed_for_each_device() -> None:
    lines = (
        "load_tensors:   CPU_Mapped model buffer size =    92.10 MiB",
        "load_tensors:        CUDA0 model buffer size =  4096.00 MiB",
        "llama_kv_cache:      CUDA0 KV buffer size =   90.00 MiB",
        "llama_context:  CUDA_Host  output buffer size =     1.00 MiB",
        "sched_reserve:      CUDA0 compute buffer size =   120.50 MiB",
    )
    cpu, gpu = parse_sizes(lines)
    assert cpu == DeviceMemory("CPU", round(92.10 * MIB), None, MIB)
    assert gpu == DeviceMemory("CUDA0", 4096 * MIB, 90 * MIB, round(120.5 * MIB))


def test_a_line_of_another_version_leaves_the_figure_unknown() -> None:
    assert parse_sizes(("load: the weights of CUDA0 take 3 GiB",)) == ()


def test_the_starter_models_cache_has_the_bytes_of_the_formula(starter_backend: LlamaBackend) -> None:
    assert starter_backend.info.kv_bytes == 1024 * 30 * 2 * 3 * 64 * 2

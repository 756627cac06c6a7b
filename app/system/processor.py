"""This machine's processor: its name, and which of the instruction sets that llama.cpp uses it has.

Knows nothing of any build.
"""

from __future__ import annotations

import os
import platform
import sys
from pathlib import Path

_CPU_INFO = Path("/proc/cpuinfo")
_FLAGS = {
    "SSE3": "pni",
    "SSSE3": "ssse3",
    "AVX": "avx",
    "AVX_VNNI": "avx_vnni",
    "AVX2": "avx2",
    "F16C": "f16c",
    "FMA": "fma",
    "BMI2": "bmi2",
    "AVX512": "avx512f",
    "AVX512_VBMI": "avx512vbmi",
    "AVX512_VNNI": "avx512_vnni",
    "AVX512_BF16": "avx512_bf16",
    "AMX_INT8": "amx_int8",
    "NEON": "asimd",
    "FP16_VA": "asimdhp",
    "DOTPROD": "asimddp",
    "MATMUL_INT8": "i8mm",
    "SVE": "sve",
    "SME": "sme",
}
"""ggml's name of a feature: the kernel's."""


def processor_name(cpu_info: Path = _CPU_INFO) -> str:
    """Return what its maker calls it, or at least its architecture."""
    named = _lines(cpu_info).get("model name", "")
    if sys.platform == "win32":
        named = os.environ.get("PROCESSOR_IDENTIFIER", "")
    return named or platform.processor() or platform.machine()


def processor_features(cpu_info: Path = _CPU_INFO) -> frozenset[str] | None:
    """Return ggml's names of the features that this processor has; None where the system does not tell."""
    lines = _lines(cpu_info)
    flags = (lines.get("flags") or lines.get("Features") or "").split()
    return frozenset(name for name, flag in _FLAGS.items() if flag in flags) if flags else None


def known_features() -> frozenset[str]:
    """Return every feature that can be told; ggml's other names are no instruction sets, or go by another rule."""
    return frozenset(_FLAGS)


def _lines(cpu_info: Path) -> dict[str, str]:
    """Return the lines of the first core."""
    try:
        text = cpu_info.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return {}
    lines: dict[str, str] = {}
    for line in text.splitlines():
        name, colon, value = line.partition(":")
        if colon:
            lines.setdefault(name.strip(), value.strip())
    return lines

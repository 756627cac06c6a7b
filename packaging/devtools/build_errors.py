"""Finds the lines of a failed build or installation that matter, and what people can do about them.

It must not decide what the set-up does next; it only explains.
"""

from __future__ import annotations

import re

ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
LONGEST_LINE = 220
MOST_LINES = 6

# From the most telling to the least; the first kind that occurs is shown.
KINDS = (
    re.compile(r"(?:^|[\s)])(?:fatal )?error(?: [A-Z]+\d+)?: (?!subprocess-exited)"),
    re.compile(r"CMake Error|undefined reference|cannot find -l|collect2: error|No space left|MemoryError"),
    re.compile(r"Could not fetch URL"),
    re.compile(r"^\s*(?:ERROR|error)\b"),
)
NOISE = re.compile(
    r"subprocess-exited-with-error|exited with|did not run successfully|likely not a problem with pip"
    r"|Failed building wheel|Failed to build|metadata-generation-failed|^\s*\[\d+/\d+\]|dependency resolver|ResolutionImpossible",
    re.IGNORECASE,
)
CMAKE_DETAILS = 3

ADVICE = (
    (r"No space left on device|not enough space on the disk", "Free at least 2 GB of disk space."),
    (
        r"internal compiler error: Killed|signal terminated program|virtual memory exhausted|MemoryError",
        "The computer ran out of memory: close other programs, or limit the build with CMAKE_BUILD_PARALLEL_LEVEL=1.",
    ),
    (
        r"CUDA::cublas|cublas_v2\.h",
        "The CUDA toolkit lacks cuBLAS: install its cuBLAS development package (libcublas-dev).",
    ),
    (
        r"CUDA::cuda_driver",
        "The CUDA toolkit lacks the driver's stub library: install the package cuda-driver-dev.",
    ),
    (
        r"unsupported GNU version|unsupported Microsoft",
        "The CUDA toolkit is too old for this compiler: update one.",
    ),
    (
        r"LayerSettingEXT|vulkan/vulkan\.hpp: No such|Could NOT find Vulkan",
        "The Vulkan headers are missing or too old: version 1.3.290 or newer is needed.",
    ),
    (
        r"CMAKE_C(?:XX)?_COMPILER (?:not set|could not be found)|No CMAKE_C(?:XX)?_COMPILER|stdlib\.h: No such file",
        "The C++ compiler is missing or incomplete: install it (Debian and Ubuntu: build-essential).",
    ),
    (
        r"CERTIFICATE_VERIFY_FAILED",
        "The package index could not be trusted: check the clock, or name your network's certificates in PIP_CERT.",
    ),
    (
        (
            r"Name or service not known|Temporary failure in name resolution|getaddrinfo failed|Network is unreachable"
            r"|Failed to establish a new connection|ConnectTimeoutError|ProxyError|Read timed out|Max retries exceeded"
        ),
        "The package index cannot be reached: check the internet connection and the proxy (HTTPS_PROXY).",
    ),
    (
        r"No matching distribution found|Could not find a version that satisfies",
        "The package index has no file for this system and this Python: see which Python versions the README names.",
    ),
)


def lines_that_matter(output: str, limit: int = MOST_LINES) -> list[str]:
    """Return the first errors of a compiler, else of CMake or the linker, else of pip, else the last lines."""
    lines = [ANSI.sub("", line).rstrip() for line in output.splitlines()]
    useful = [line for line in lines if line.strip()]
    for kind in KINDS:
        found = _matching(useful, kind, limit)
        if found:
            return [_short(line) for line in found]
    return [_short(line) for line in useful[-limit:]]


def _matching(lines: list[str], kind: re.Pattern[str], limit: int) -> list[str]:
    found: list[str] = []
    for index, line in enumerate(lines):
        if len(found) >= limit:
            break
        if not kind.search(line) or NOISE.search(line):
            continue
        follow = lines[index + 1 : index + 1 + CMAKE_DETAILS] if "CMake Error" in line else []
        for each in (line, *follow):
            if each not in found:
                found.append(each)
    return found[:limit]


def advice(output: str) -> str:
    """Return what to do about the failure, or an empty text if nothing is known."""
    for pattern, sentence in ADVICE:
        if re.search(pattern, output):
            return sentence
    return ""


def _short(line: str) -> str:
    stripped = line.strip()
    return stripped if len(stripped) <= LONGEST_LINE else stripped[: LONGEST_LINE - 1] + "…"

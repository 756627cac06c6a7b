"""Facts about this machine that choose a backend: system, processor, graphics cards, drivers, toolkits.

It must not choose anything; `backends` does, from these values alone.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from devtools.processes import quiet

NVIDIA, AMD, INTEL = "NVIDIA", "AMD", "Intel"
INSTRUCTION_SETS = (
    "sse",
    "ssse",
    "avx",
    "fma",
    "f16c",
    "bmi",
    "amx",
    "popcnt",
    "gfni",
    "vaes",
    "vpclmul",
    "sha_ni",
)
VENDORS = {"0x10de": NVIDIA, "0x1002": AMD, "0x8086": INTEL}

# The second question finds cards without a driver, which Windows does not count as video controllers.
WINDOWS_CARDS = r"""
Get-CimInstance Win32_VideoController | ForEach-Object { $_.PNPDeviceID }
Get-CimInstance Win32_PnPEntity | Where-Object { $_.CompatibleID -match '^PCI\\CC_03' } |
    ForEach-Object { $_.PNPDeviceID }
"""

# In a process of its own, because a broken driver can end the process that asks it.
DRIVER_PROBE = """
import ctypes, json, sys
try:
    cuda = ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
except OSError:
    print(json.dumps({"installed": False}))
    sys.exit()
found = {"installed": True, "error": cuda.cuInit(0), "cuda": 0, "devices": []}
if found["error"] == 0:
    number, major, minor = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
    cuda.cuDriverGetVersion(ctypes.byref(number))
    found["cuda"] = number.value
    cuda.cuDeviceGetCount(ctypes.byref(number))
    for index in range(number.value):
        device, name = ctypes.c_int(), ctypes.create_string_buffer(200)
        cuda.cuDeviceGet(ctypes.byref(device), index)
        cuda.cuDeviceGetName(name, 200, device)
        cuda.cuDeviceGetAttribute(ctypes.byref(major), 75, device)
        cuda.cuDeviceGetAttribute(ctypes.byref(minor), 76, device)
        found["devices"].append([name.value.decode("utf-8", "replace"), major.value, minor.value])
print(json.dumps(found))
"""

Version = tuple[int, int]


@dataclass(frozen=True)
class Gpu:
    """An NVIDIA card as its driver describes it."""

    name: str
    compute_capability: Version


@dataclass(frozen=True)
class Driver:
    """NVIDIA's driver: the newest CUDA that it runs, its error (0 is none) and the cards that it offers."""

    cuda: Version
    error: int = 0
    gpus: tuple[Gpu, ...] = ()


@dataclass(frozen=True)
class Toolkit:
    """A CUDA compiler and its version."""

    nvcc: Path
    version: Version


@dataclass(frozen=True)
class Machine:
    """Everything about this machine that decides how llama.cpp is obtained."""

    system: str
    architecture: str
    processor: str
    vendors: tuple[str, ...] = ()
    driver: Driver | None = None
    toolkit: Toolkit | None = None
    shader_compiler: bool = False


def driver_from_probe(output: str) -> Driver | None:
    """Read the probe's answer; None without a driver, an error of -1 if the probe itself died."""
    try:
        found = json.loads(output.strip().splitlines()[-1])
    except (IndexError, ValueError):
        return Driver((0, 0), error=-1)
    if not found["installed"]:
        return None
    number = found["cuda"]
    gpus = tuple(Gpu(name, (major, minor)) for name, major, minor in found["devices"])
    return Driver((number // 1000, number % 1000 // 10), found["error"], gpus)


def toolkit_version(nvcc_output: str) -> Version | None:
    """Read "release 13.0" out of `nvcc --version`."""
    match = re.search(r"release (\d+)\.(\d+)", nvcc_output)
    return (int(match[1]), int(match[2])) if match else None


def vendors_of_cards(devices: Path) -> tuple[str, ...]:
    """List the makers of the display controllers that the PCI bus shows."""
    found = set()
    for folder in sorted(devices.glob("*")):
        try:
            kind = (folder / "class").read_text().strip()
            maker = (folder / "vendor").read_text().strip()
        except OSError:
            continue
        if kind.startswith("0x03") and maker in VENDORS:
            found.add(VENDORS[maker])
    return tuple(sorted(found))


def vendors_from_windows(output: str) -> tuple[str, ...]:
    """Read the makers out of device names such as "PCI\\VEN_10DE&DEV_2504"."""
    makers = (f"0x{each.lower()}" for each in re.findall(r"\bPCI\\VEN_([0-9A-Fa-f]{4})&", output))
    return tuple(sorted({VENDORS[maker] for maker in makers if maker in VENDORS}))


def processor_from_cpuinfo(text: str) -> str:
    """Return what tells this processor from another: its model and the instruction sets that compilers use."""
    wanted = ("model name", "flags", "CPU implementer", "CPU part", "Features", "uarch", "isa")
    lines: dict[str, str] = {}
    for line in text.splitlines():
        name, colon, value = line.partition(":")
        if colon and name.strip() in wanted:
            words = sorted(value.split())
            if name.strip() == "flags":
                # The rest of the flags also change with the kernel, which would compile everything anew.
                words = [word for word in words if word.startswith(INSTRUCTION_SETS)]
            lines.setdefault(name.strip(), " ".join(words))
    return "\n".join(f"{name}: {lines[name]}" for name in wanted if name in lines)


def this_processor() -> str:
    """Return what tells this processor from others; a build for one may not run on another."""
    if sys.platform == "linux":
        try:
            described = processor_from_cpuinfo(Path("/proc/cpuinfo").read_text(errors="replace"))
        except OSError:
            described = ""
        return described or platform.machine()
    if sys.platform == "darwin":
        return quiet(["sysctl", "-n", "machdep.cpu.brand_string"]).output.strip() or platform.machine()
    return os.environ.get("PROCESSOR_IDENTIFIER", platform.processor())


def _toolkit() -> Toolkit | None:
    places = [shutil.which("nvcc")]
    home = os.environ.get("CUDA_PATH") or os.environ.get("CUDA_HOME")
    places += [shutil.which("nvcc", path=str(Path(home) / "bin"))] if home else []
    places += [shutil.which("nvcc", path="/usr/local/cuda/bin")]
    for place in places:
        if place is not None:
            version = toolkit_version(quiet([place, "--version"]).output)
            if version is not None:
                return Toolkit(Path(place), version)
    return None


def _driver() -> Driver | None:
    if sys.platform == "darwin":
        return None
    return driver_from_probe(quiet([sys.executable, "-c", DRIVER_PROBE]).output)


def vendors_on(platform: str) -> tuple[str, ...]:
    """List the makers of this machine's graphics cards; on a Mac none, because there the processor decides."""
    if platform == "win32":
        shell = ["powershell", "-NoProfile", "-NonInteractive", "-Command", WINDOWS_CARDS]
        return vendors_from_windows(quiet(shell).output)
    return vendors_of_cards(Path("/sys/bus/pci/devices"))


def this_machine() -> Machine:
    """Look at this machine; takes well under a second, on Windows a few."""
    return Machine(
        system=platform.system(),
        architecture=platform.machine().lower(),
        processor=this_processor(),
        vendors=vendors_on(sys.platform),
        driver=_driver(),
        toolkit=_toolkit(),
        shader_compiler=shutil.which("glslc") is not None,
    )


def digest(*parts: str) -> str:
    """Return eight hex digits that stand for these texts."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:8]


def core_count() -> int:
    """Return how many cores this process may use."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1

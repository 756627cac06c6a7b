"""Which llama.cpp this machine gets: an ordered list of attempts, each with the sentence for its failure.

Pure: it reads a `Machine` and must not look at anything else.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from devtools.console import Problem
from devtools.machine import AMD, INTEL, NVIDIA

if TYPE_CHECKING:
    from devtools.machine import Driver, Machine, Toolkit, Version

AUTO = "auto"
CHOICES = (AUTO, "cpu", "cuda", "vulkan", "metal")
PREBUILT_INDEX = "https://abetlen.github.io/llama-cpp-python/whl/"
PREBUILT_CUDA: tuple[Version, ...] = ((13, 2), (13, 0), (12, 5), (12, 4), (12, 3), (12, 2), (12, 1))
OLDEST_COMPUTE_FOR_CUDA_13: Version = (7, 5)
AGAIN = "python3 packaging/dev.py setup --backend"


class Backend(Enum):
    """What llama.cpp computes on."""

    CPU = "cpu"
    CUDA = "cuda"
    VULKAN = "vulkan"
    METAL = "metal"


@dataclass(frozen=True)
class Attempt:
    """One way to obtain llama.cpp; `index` names a package index for a ready-made wheel, else it is compiled."""

    backend: Backend
    index: str | None = None
    cmake: tuple[str, ...] = ()
    identity: str = ""
    on_failure: str = ""


@dataclass(frozen=True)
class Plan:
    """The attempts in order, and what people should know about the choice."""

    attempts: tuple[Attempt, ...]
    notes: tuple[str, ...] = ()


def dotted(version: Version) -> str:
    """Return "12.4" for (12, 4)."""
    return f"{version[0]}.{version[1]}"


def choose(machine: Machine, wanted: str = AUTO) -> Plan:
    """Return what to try on this machine, most capable first; the CPU is always last unless a backend is demanded."""
    if wanted == AUTO:
        return _automatic(machine)
    if wanted == "cpu":
        return Plan((_cpu(machine),))
    if wanted == "cuda":
        return _demanded_cuda(machine)
    if wanted == "vulkan":
        return _demanded_vulkan(machine)
    if wanted == "metal":
        if machine.system != "Darwin":
            raise Problem(f"Metal exists on a Mac only: run `{AGAIN} auto` to let the set-up choose.")
        return Plan((_metal(),))
    raise Problem(f"There is no backend called {wanted}: choose one of {', '.join(CHOICES)}.")


def _automatic(machine: Machine) -> Plan:
    if machine.system == "Darwin":
        if machine.architecture == "arm64":
            return Plan((_metal(), _cpu(machine)))
        return Plan(
            (_cpu(machine),),
            (
                (
                    "The CPU is used: Metal on Intel Macs is slower than their processors and gives wrong answers"
                    f" on some; to try it, run `{AGAIN} metal`."
                ),
            ),
        )
    attempts, reason = _cuda(machine)
    notes = (f"The CPU is used: {reason}",) if reason else ()
    other = next((name for name in (AMD, INTEL) if name in machine.vendors), None)
    if not attempts and not notes and other is not None:
        notes = (
            (
                f"The CPU is used: the {other} graphics processor needs Vulkan, which is not chosen by itself;"
                f" to try it, run `{AGAIN} vulkan`."
            ),
        )
    return Plan((*attempts, _cpu(machine)), notes)


def _demanded_cuda(machine: Machine) -> Plan:
    attempts, reason = _cuda(machine)
    if attempts:
        return Plan(attempts)
    reason = reason or (
        f"no NVIDIA driver was found; install the driver for your card, or run `{AGAIN} auto` to let the set-up choose."
    )
    raise Problem(f"CUDA cannot be used: {reason}")


def _demanded_vulkan(machine: Machine) -> Plan:
    if not machine.shader_compiler:
        raise Problem(
            "Vulkan needs the shader compiler glslc and the Vulkan headers: install them"
            " (Debian and Ubuntu: glslc libvulkan-dev spirv-headers; Fedora: glslc vulkan-headers"
            " vulkan-loader-devel spirv-headers-devel; Arch: shaderc vulkan-headers vulkan-icd-loader"
            " spirv-headers; elsewhere the Vulkan SDK) and run this command again."
        )
    return Plan((Attempt(Backend.VULKAN, cmake=("-DGGML_VULKAN=ON",)),))


def _cpu(machine: Machine) -> Attempt:
    return Attempt(Backend.CPU, cmake=("-DGGML_METAL=OFF",) if machine.system == "Darwin" else ())


def _metal() -> Attempt:
    return Attempt(
        Backend.METAL,
        cmake=("-DGGML_METAL=ON", "-DGGML_METAL_EMBED_LIBRARY=ON"),
        on_failure="The CPU is used: llama.cpp could not be built for Metal.",
    )


def _cuda(machine: Machine) -> tuple[tuple[Attempt, ...], str]:
    """Return the CUDA attempts, or none and the sentence that says why."""
    driver = machine.driver
    if driver is None or driver.error != 0 or not driver.gpus:
        return (), _driver_fault(machine)
    compute = min(gpu.compute_capability for gpu in driver.gpus)
    attempts: list[Attempt] = []
    toolkit = machine.toolkit
    fits = toolkit is not None and toolkit.version[0] <= driver.cuda[0] and _runs(toolkit.version, compute)
    if toolkit is not None and fits:
        attempts.append(
            Attempt(
                Backend.CUDA,
                cmake=(
                    "-DGGML_CUDA=ON",
                    "-DCMAKE_CUDA_ARCHITECTURES=native",
                    f"-DCMAKE_CUDA_COMPILER={toolkit.nvcc.as_posix()}",
                ),
                identity=f"toolkit {dotted(toolkit.version)} compute {_computes(driver)}",
                on_failure=f"llama.cpp could not be built with the CUDA {dotted(toolkit.version)} toolkit.",
            )
        )
    version = next((each for each in PREBUILT_CUDA if each <= driver.cuda and _runs(each, compute)), None)
    if version is not None and machine.architecture in ("x86_64", "amd64"):
        name = f"cu{version[0]}{version[1]}"
        attempts.append(
            Attempt(
                Backend.CUDA,
                index=PREBUILT_INDEX + name,
                identity=name,
                on_failure=(
                    f"No ready-made llama.cpp for CUDA {dotted(version)} could be used;"
                    f" {_next_step(toolkit, fits, version)} and run `{AGAIN} cuda` to build one."
                ),
            )
        )
    if attempts:
        return tuple(attempts), ""
    return (), (
        f"the NVIDIA driver supports CUDA {dotted(driver.cuda)} and nothing ready-made fits it;"
        f" install a newer driver or a matching CUDA toolkit and run `{AGAIN} cuda`."
    )


def _next_step(toolkit: Toolkit | None, fits: bool, version: Version) -> str:
    """Say how to build for CUDA after all; a toolkit that fits was tried and has failed by then."""
    # Not the newest: the driver and the card may need an older major version.
    matching = f"a CUDA {version[0]} toolkit"
    if toolkit is None:
        return f"install {matching}"
    if fits:
        return f"put right what kept the CUDA {dotted(toolkit.version)} toolkit from building it"
    return f"the CUDA {dotted(toolkit.version)} toolkit does not suit the driver or the card: install {matching}"


def _driver_fault(machine: Machine) -> str:
    driver = machine.driver
    if driver is None:
        if NVIDIA in machine.vendors:
            return (
                "there is an NVIDIA graphics card, but its driver was not found;"
                f" install NVIDIA's driver and run `{AGAIN} auto`."
            )
        return ""
    if driver.error in (0, 100):
        # Error 100 is "no device": the driver's library is often there without a card, as in containers.
        return "the NVIDIA driver finds no graphics card that it can use." if NVIDIA in machine.vendors else ""
    return (
        f"the NVIDIA driver does not start (its error is {driver.error});"
        f" restart the computer or install the driver again, then run `{AGAIN} auto`."
    )


def _runs(toolkit: Version, compute: Version) -> bool:
    return toolkit < (13, 0) or compute >= OLDEST_COMPUTE_FOR_CUDA_13


def _computes(driver: Driver) -> str:
    return " ".join(sorted({dotted(gpu.compute_capability) for gpu in driver.gpus}))

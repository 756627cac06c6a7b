"""Why a build of llama.cpp cannot be loaded on this machine, as a value and as sentences."""

from __future__ import annotations

from typing import Literal

import msgspec

from app.core.words import Sentence, translate

FaultKind = Literal[
    "not_installed", "driver", "runtime", "dependency", "incomplete", "processor", "unfit", "misdirected"
]
"""“driver” is a library that only a GPU's driver brings, “runtime” one of CUDA's own, “incomplete” a file of llama.cpp
that is missing or not whole, “processor” a build that uses instructions which this processor lacks, “unfit” a build
that the loader refuses although nothing is missing, as on a system older than the one it was made on, “misdirected” a
folder that the environment names and that holds no whole llama.cpp of the right version."""
FOLDER_VARIABLE = "LLAMA_CPP_LIB_PATH"
"""Names another folder of libraries than the package's own; the binding reads it too."""

_DRIVERS = {
    "libcuda.": "CUDA",
    "nvcuda.": "CUDA",
    "libvulkan.": "Vulkan",
    "vulkan-1.": "Vulkan",
    "libamdhip64.": "HIP",
    "amdhip64": "HIP",
    "libze_loader.": "SYCL",
}
"""How the names begin of libraries that drivers bring, and whose driver it is."""
_RUNTIMES = ("libcudart.", "libcublas", "cudart64", "cublas64", "cublasLt64")
_OWN_PARTS = ("libggml", "ggml", "libllama", "llama")
_SPOKEN = {"cuda": "CUDA", "hip": "HIP", "sycl": "SYCL", "musa": "MUSA", "cann": "CANN", "rpc": "RPC", "blas": "BLAS"}


class LibraryFault(msgspec.Struct, frozen=True):
    """What is wrong with a build of llama.cpp on this machine."""

    kind: FaultKind
    backend: str = ""
    """What the build computes on beside the processor, such as “CUDA”: of several the one that is meant, or empty."""
    libraries: tuple[str, ...] = ()
    """What is missing or damaged."""
    folder: str = ""
    """Where the build lies, as far as it was looked for; text that can be printed."""


def backend_name(name: str) -> str:
    """Return what people call a backend of ggml, from its name in files such as `libggml-vulkan.so`."""
    return _SPOKEN.get(name.lower(), name.capitalize())


def fault_for(missing: tuple[str, ...], damaged: tuple[str, ...], backends: tuple[str, ...]) -> LibraryFault:
    """Return the fault that these missing names and damaged files are; the one that needs most decides.

    `backends` is what the build computes on beside the processor.
    """
    only = backends[0] if len(backends) == 1 else ""
    own = tuple(name for name in missing if name.startswith(_OWN_PARTS))
    if own or damaged:
        return LibraryFault("incomplete", only, own + damaged)
    drivers = tuple(name for name in missing if name.startswith(tuple(_DRIVERS)))
    if drivers:
        of_driver = next(spoken for start, spoken in _DRIVERS.items() if drivers[0].startswith(start))
        return LibraryFault("driver", only or of_driver, drivers)
    if runtimes := tuple(name for name in missing if name.startswith(_RUNTIMES)):
        return LibraryFault("runtime", only or "CUDA", runtimes)
    return LibraryFault("dependency" if missing else "unfit", only, missing)


_WHY: dict[FaultKind, Sentence] = {
    "not_installed": translate("Library", "llama.cpp is not installed. Set Tokenlight up again."),
    "driver": translate(
        "Library",
        "llama.cpp was built for {backend}, whose driver is missing on this machine ({libraries}). "
        "Install the driver of the GPU, or set Tokenlight up again to use the processor.",
    ),
    "runtime": translate(
        "Library",
        "llama.cpp was built for {backend}, and libraries of {backend} are missing on this machine ({libraries}). "
        "Set Tokenlight up again.",
    ),
    "dependency": translate(
        "Library",
        "llama.cpp needs libraries that are missing on this machine ({libraries}). "
        "Install the packages that hold them, or set Tokenlight up again.",
    ),
    "incomplete": translate(
        "Library", "Files of llama.cpp are missing or damaged ({libraries}). Set Tokenlight up again."
    ),
    "processor": translate(
        "Library",
        "llama.cpp was built for another processor and uses instructions that this one lacks. "
        "Set Tokenlight up again on this machine.",
    ),
    "unfit": translate(
        "Library",
        "llama.cpp was built for another system and cannot be loaded on this one. "
        "Set Tokenlight up again on this machine.",
    ),
    "misdirected": translate(
        "Library",
        "{variable} points to “{folder}”, where there is no usable llama.cpp: unset it, or point it to the libraries of "
        "a build that fits this program.",
    ),
}
_INSTEAD: dict[FaultKind, Sentence] = {
    "driver": translate(
        "Library",
        "The {backend} build of llama.cpp cannot run here because its driver is missing ({libraries}); "
        "the processor is used instead. Install the driver of the GPU to use it.",
    ),
    "runtime": translate(
        "Library",
        "The {backend} build of llama.cpp cannot run here because libraries of {backend} are missing ({libraries}); "
        "the processor is used instead. Set Tokenlight up again to use the GPU.",
    ),
    "dependency": translate(
        "Library",
        "The build of llama.cpp that was made for this machine lacks libraries ({libraries}); "
        "a plain one for the processor is used instead. Install the packages that hold them.",
    ),
    "incomplete": translate(
        "Library",
        "Files of llama.cpp are missing or damaged ({libraries}); a plain build for the processor is used instead. "
        "Set Tokenlight up again.",
    ),
    "processor": translate(
        "Library",
        "llama.cpp was built for another processor and uses instructions that this one lacks; "
        "a plain build is used instead. Set Tokenlight up again on this machine.",
    ),
    "unfit": translate(
        "Library",
        "llama.cpp was built for another system and cannot be loaded on this one; "
        "a plain build for the processor is used instead. Set Tokenlight up again on this machine.",
    ),
    "misdirected": translate(
        "Library",
        "{variable} points to “{folder}”, where there is no usable llama.cpp; a plain build for the processor is used "
        "instead. Unset it, or point it to the libraries of a build that fits this program.",
    ),
}
_ABSENT: dict[FaultKind, Sentence] = {
    "driver": translate(
        "Library",
        "llama.cpp's part for {backend} is installed, but the driver that it needs is missing ({libraries}). "
        "Install the driver of the GPU, then start Tokenlight again.",
    ),
    "runtime": translate(
        "Library",
        "llama.cpp's part for {backend} is installed, but libraries of {backend} are missing ({libraries}). "
        "Set Tokenlight up again.",
    ),
    "dependency": translate(
        "Library",
        "llama.cpp's part for {backend} is installed, but it needs libraries that are missing ({libraries}). "
        "Install the packages that hold them, then start Tokenlight again.",
    ),
    "incomplete": translate(
        "Library",
        "llama.cpp's part for {backend} is damaged or lacks a file ({libraries}). Set Tokenlight up again.",
    ),
    "unfit": translate(
        "Library",
        "llama.cpp's part for {backend} is installed, but it found no driver that it can use. "
        "Install or update the driver of the GPU, then start Tokenlight again.",
    ),
}


def says_why(fault: LibraryFault) -> Sentence:
    """Return why llama.cpp cannot be loaded at all, and the next step."""
    return _filled(_WHY[fault.kind], fault)


def says_instead(fault: LibraryFault) -> Sentence:
    """Return why a plain build for the processor is used instead, and what would change that."""
    return _filled(_INSTEAD.get(fault.kind) or _WHY[fault.kind], fault)


def says_absent(fault: LibraryFault) -> Sentence:
    """Return why a part of llama.cpp that lies in its folder was not loaded; the others work without it."""
    return _filled(_ABSENT.get(fault.kind) or _WHY[fault.kind], fault)


def _filled(sentence: Sentence, fault: LibraryFault) -> Sentence:
    values: dict[str, str | int | float] = {"backend": fault.backend, "libraries": ", ".join(fault.libraries)}
    if fault.kind == "misdirected":
        values = {"variable": FOLDER_VARIABLE, "folder": fault.folder}
    return msgspec.structs.replace(sentence, values=values)

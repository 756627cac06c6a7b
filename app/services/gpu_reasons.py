"""Why a GPU is used or not: pure rules over what the engine's build, the driver and the bus say.

Looks at nothing itself.
"""

from __future__ import annotations

import msgspec

from app.core.devices import GPU_KINDS, Device, Gpu, GpuReport, LibraryFacts, gpu_of
from app.core.library_fault import FOLDER_VARIABLE, LibraryFault, says_instead
from app.core.words import translate
from app.services.findings import Finding
from app.services.remedies import Remedies
from app.system.gpus import VISIBLE
from app.system.graphics_cards import Maker


class GpuClues(msgspec.Struct, frozen=True):
    """Everything that decides whether a GPU is used."""

    library: LibraryFacts
    devices: tuple[Device, ...]
    gpus: GpuReport
    cards: tuple[Maker, ...] = ()
    """Makers of the cards on the bus."""
    hidden_by: str | None = None
    """The value of CUDA_VISIBLE_DEVICES; None where it is not set."""
    cuda_needed: int | None = None
    """Major version of CUDA that the build was made with, where its files tell."""

    @property
    def used(self) -> tuple[Device, ...]:
        """The engine's devices that are GPUs."""
        return tuple(device for device in self.devices if device.kind in GPU_KINDS)


def gpu_findings(clues: GpuClues, remedies: Remedies) -> tuple[Finding, ...]:
    """Return what people should know about their GPUs; the first finding says whether one is used, and why not."""
    absent = tuple(
        Finding("engine", "note", note)
        for note in clues.library.notes
        if clues.library.instead is None or note != says_instead(clues.library.instead)
    )
    if clues.used:
        names = ", ".join(f"{device.name} ({device.description})" for device in clues.used)
        sentence = translate("Doctor", "A GPU is used: {names}.", names=names)
        unused = tuple(
            _hidden(gpu, clues) for gpu in clues.gpus.gpus if gpu.visible is False and not _runs(gpu, clues)
        )
        return (Finding("gpu", "ok", sentence), *unused, *absent)
    return (_reason(clues, remedies), *absent)


def library_remedy(fault: LibraryFault, remedies: Remedies) -> str:
    """Return the command that mends a build of llama.cpp which cannot be loaded."""
    if fault.kind == "misdirected":
        return remedies.unset(FOLDER_VARIABLE)
    if fault.kind == "dependency":
        return remedies.install_libraries(fault.libraries) or remedies.set_up()
    if fault.kind == "driver" and fault.backend == "Vulkan":
        return remedies.install_libraries(fault.libraries) or remedies.set_up()
    return remedies.set_up()


def _reason(clues: GpuClues, remedies: Remedies) -> Finding:
    fault = clues.library.instead
    if fault is not None:
        return Finding("gpu", "note", says_instead(fault), library_remedy(fault, remedies))
    if clues.gpus.gpus:
        return _with_driver(clues, remedies)
    if clues.gpus.fault in ("no_library", None) and "NVIDIA" in clues.cards:
        sentence = translate(
            "Doctor",
            "No GPU is used: there is an NVIDIA card, but its driver is not installed. "
            "Install NVIDIA's driver, restart, and set Tokenlight up again.",
        )
        return Finding("gpu", "note", sentence, remedies.set_up())
    if clues.gpus.fault == "no_gpu" and "NVIDIA" in clues.cards:
        sentence = translate(
            "Doctor",
            "No GPU is used: there is an NVIDIA card, and its driver finds no GPU. "
            "Restart the computer, or install a driver that supports this card.",
        )
        return Finding("gpu", "note", sentence)
    if clues.gpus.fault not in ("no_library", "no_gpu", None) and clues.gpus.reason is not None:
        return Finding("gpu", "note", translate("Doctor", "No GPU is used."), reason=clues.gpus.reason)
    return _without_nvidia(clues, remedies)


def _with_driver(clues: GpuClues, remedies: Remedies) -> Finding:
    gpus = clues.gpus
    names = ", ".join(gpu.name for gpu in gpus.gpus)
    if all(gpu.visible is False for gpu in gpus.gpus):
        sentence = translate(
            "Doctor",
            "No GPU is used: CUDA_VISIBLE_DEVICES is “{value}”, which hides every GPU of this machine ({names}). "
            "Remove this variable and start Tokenlight again to use them.",
            value=clues.hidden_by or "",
            names=names,
        )
        return Finding("gpu", "note", sentence, remedies.unset(VISIBLE))
    if "CUDA" not in clues.library.backends:
        sentence = translate(
            "Doctor",
            "No GPU is used: there is an NVIDIA GPU ({names}), but this build of llama.cpp was made without CUDA. "
            "Set Tokenlight up again with CUDA.",
            names=names,
        )
        return Finding("gpu", "note", sentence, remedies.set_up("cuda"))
    if clues.cuda_needed is not None and gpus.cuda is not None and gpus.cuda[0] < clues.cuda_needed:
        sentence = translate(
            "Doctor",
            "No GPU is used: the NVIDIA driver {driver} runs CUDA {runs}, and this build of llama.cpp needs CUDA "
            "{needs}. Update the driver, or set Tokenlight up again for the driver that is there.",
            driver=gpus.driver or "",
            runs=f"{gpus.cuda[0]}.{gpus.cuda[1]}",
            needs=clues.cuda_needed,
        )
        return Finding("gpu", "note", sentence, remedies.set_up())
    sentence = translate(
        "Doctor",
        "No GPU is used: this build of llama.cpp has CUDA, and found no GPU that it can use among {names}. "
        "Update the driver, or set Tokenlight up again for this machine.",
        names=names,
    )
    return Finding("gpu", "note", sentence, remedies.set_up())


def _without_nvidia(clues: GpuClues, remedies: Remedies) -> Finding:
    other = next((maker for maker in ("AMD", "Intel") if maker in clues.cards), None)
    if other is not None and "Vulkan" not in clues.library.backends:
        sentence = translate(
            "Doctor",
            "No GPU is used: the one of {maker} needs Vulkan, which is not chosen by itself. "
            "To try it, set Tokenlight up again with Vulkan.",
            maker=other,
        )
        return Finding("gpu", "note", sentence, remedies.set_up("vulkan"))
    if other is not None:
        sentence = translate(
            "Doctor",
            "No GPU is used: this build of llama.cpp has Vulkan, and found no driver for the GPU of {maker}. "
            "Install its Vulkan driver.",
            maker=other,
        )
        return Finding("gpu", "note", sentence, remedies.install_libraries(("libvulkan.so.1",)))
    sentence = translate("Doctor", "No GPU was found that this build can use; models run on the processor.")
    return Finding("gpu", "ok", sentence)


def _hidden(gpu: Gpu, clues: GpuClues) -> Finding:
    sentence = translate(
        "Doctor",
        "{name} ({bus_id}) is not used: CUDA_VISIBLE_DEVICES is “{value}”, which hides it. "
        "Add it there, or remove this variable, and start Tokenlight again to use it.",
        name=gpu.name,
        bus_id=gpu.bus_id,
        value=clues.hidden_by or "",
    )
    return Finding("gpu", "note", sentence)


def _runs(gpu: Gpu, clues: GpuClues) -> bool:
    return any(gpu_of(device, (gpu,)) is not None for device in clues.used)

"""The lines of facts that the doctor shows: what there is, without a judgement."""

from __future__ import annotations

from collections.abc import Iterator

from app.core.devices import Device, Gpu, LibraryFacts
from app.core.model import FoundModel
from app.core.words import Sentence, counted, translate
from app.services.findings import Fact, plain
from app.services.surroundings import FolderKey, Surroundings
from app.services.units import byte_size, milliseconds
from app.system.model_files import shown
from app.system.qt_probe import UNKNOWN, QtFacts

_FOLDERS: dict[FolderKey, Sentence] = {
    "settings": translate("Doctor", "settings"),
    "data": translate("Doctor", "data"),
    "models": translate("Doctor", "models"),
    "logs": translate("Doctor", "logs"),
    "cache": translate("Doctor", "cache"),
}


def facts_of(
    around: Surroundings,
    library: LibraryFacts | None,
    devices: tuple[Device, ...],
    ready_ms: float | None,
    models: tuple[FoundModel, ...],
    libraries: str = "",
) -> tuple[Fact, ...]:
    """Return every fact, section by section; `libraries` is the folder of a build that could not be loaded."""
    return (
        *_program(around),
        *_processor(around),
        *_engine(library, devices, ready_ms, libraries),
        *_gpus(around),
        *_window(around),
        *_files(around, models),
    )


def _program(around: Surroundings) -> Iterator[Fact]:
    yield Fact("program", translate("Doctor", "version"), plain(around.version))
    place = {
        "checkout": translate("Doctor", "from the checkout {path}", path=shown(around.place)),
        "package": translate("Doctor", "as a package in {path}", path=shown(around.place)),
        "frozen": translate("Doctor", "as an application in {path}", path=shown(around.place)),
    }
    yield Fact("program", translate("Doctor", "installed"), place[around.remedies.installation])
    yield Fact("program", plain("Python"), plain(around.python))
    yield Fact("program", translate("Doctor", "system"), plain(around.system))


def _processor(around: Surroundings) -> Iterator[Fact]:
    yield Fact("processor", translate("Doctor", "processor"), plain(around.processor))
    yield Fact(
        "processor",
        translate("Doctor", "cores"),
        counted(
            around.threads,
            translate(
                "Doctor",
                "{physical} physical, {usable} usable; 1 thread computes",
                physical=around.physical_cores or "–",
                usable=around.usable_cores,
            ),
            translate(
                "Doctor",
                "{physical} physical, {usable} usable; {threads} threads compute",
                physical=around.physical_cores or "–",
                usable=around.usable_cores,
                threads=around.threads,
            ),
        ),
    )
    memory = around.memory
    if memory.total < memory.machine_total:
        text = translate(
            "Doctor",
            "{available} available of {total} that the container allows; the machine has {machine}",
            available=byte_size(memory.available),
            total=byte_size(memory.total),
            machine=byte_size(memory.machine_total),
        )
    else:
        text = translate(
            "Doctor",
            "{available} available of {total}",
            available=byte_size(memory.available),
            total=byte_size(memory.total),
        )
    yield Fact("processor", translate("Doctor", "memory"), text)


def _engine(
    library: LibraryFacts | None, devices: tuple[Device, ...], ready_ms: float | None, libraries: str
) -> Iterator[Fact]:
    if library is None:
        yield Fact("engine", translate("Doctor", "engine"), translate("Doctor", "does not start"))
        if libraries:
            yield Fact("engine", translate("Doctor", "libraries"), plain(libraries))
        return
    yield Fact(
        "engine",
        translate("Doctor", "engine"),
        translate("Doctor", "ready after {time}", time=milliseconds(ready_ms)),
    )
    yield Fact("engine", plain("llama-cpp-python"), plain(library.version))
    yield Fact("engine", translate("Doctor", "libraries"), plain(shown(library.folder)))
    yield Fact("engine", translate("Doctor", "backends"), plain(", ".join(library.backends) or "–"))
    yield Fact("engine", translate("Doctor", "features"), plain(" ".join(library.features) or "–"))
    for device in devices:
        yield Fact("engine", plain(device.name), _described(device))


def _described(device: Device) -> Sentence:
    if device.free is None:
        return plain(device.description)
    return translate(
        "Doctor",
        "{name}, {free} free of {total}",
        name=device.description,
        free=byte_size(device.free),
        total=byte_size(device.total),
    )


def _gpus(around: Surroundings) -> Iterator[Fact]:
    gpus = around.gpus
    if not gpus.gpus:
        none = gpus.fault == "no_library" and "NVIDIA" not in around.cards
        yield Fact("gpu", plain("NVIDIA"), translate("Doctor", "none") if none else gpus.reason or plain("–"))
    if gpus.driver is not None:
        yield Fact("gpu", translate("Doctor", "driver"), _driver(gpus.driver, gpus.cuda))
    for gpu in gpus.gpus:
        yield Fact("gpu", translate("Doctor", "GPU"), plain(f"{gpu.name}, {gpu.bus_id}"))
        yield Fact("gpu", translate("Doctor", "memory"), _memory_of(gpu))
    if around.cards:
        yield Fact("gpu", translate("Doctor", "cards"), plain(", ".join(around.cards)))
    if around.hidden_by is not None:
        yield Fact(
            "gpu",
            plain("CUDA_VISIBLE_DEVICES"),
            plain(around.hidden_by) if around.hidden_by else translate("Doctor", "(empty)"),
        )


def _driver(version: str, cuda: tuple[int, int] | None) -> Sentence:
    if cuda is None:
        return translate("Doctor", "NVIDIA {version}", version=version)
    runs = f"{cuda[0]}.{cuda[1]}"
    return translate("Doctor", "NVIDIA {version}, CUDA {cuda}", version=version, cuda=runs)


def _memory_of(gpu: Gpu) -> Sentence:
    if gpu.total is None:
        return gpu.reason or plain("–")
    return translate(
        "Doctor",
        "{total}, of which {used} are used by programs and the driver, {free} are free",
        total=byte_size(gpu.total),
        used=byte_size(gpu.used),
        free=byte_size(gpu.free),
    )


def _window(around: Surroundings) -> Iterator[Fact]:
    yield Fact("window", plain("Qt"), plain(around.qt.version or "–"))
    yield Fact("window", translate("Doctor", "platform"), _platform(around.qt))


def _platform(qt: QtFacts) -> Sentence:
    """Return the plugin that Qt starts on."""
    if qt.fault is None:
        return plain(qt.platform)
    if qt.fault in UNKNOWN:
        return translate("Doctor", "not known")
    return translate("Doctor", "none that starts")


def _files(around: Surroundings, models: tuple[FoundModel, ...]) -> Iterator[Fact]:
    for key, folder in around.folders:
        yield Fact("files", _FOLDERS[key], plain(shown(folder.path)))
        if key == "models":
            usable = sum(model.problem is None for model in models)
            counted = translate(
                "Doctor",
                "{usable} usable, {broken} that cannot be used; {free} free on the disk",
                usable=usable,
                broken=len(models) - usable,
                free=byte_size(folder.free),
            )
            yield Fact("files", translate("Doctor", "model files"), counted)

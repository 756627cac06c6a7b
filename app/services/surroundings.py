"""Looks at everything around the program that can keep it from working, and returns it as one value.

Judges nothing: the doctor does. Takes a second or two, since Qt and the GPU's driver are tried in processes of their own.
"""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import msgspec

from app.core.devices import GpuReport, MainMemory
from app.core.version import VERSION
from app.services.remedies import INSTALLERS, PACKAGE, Installation, Remedies, Shell
from app.system.folders import Folder, look_at
from app.system.gpu_probe import GpuProbe
from app.system.gpus import VISIBLE
from app.system.graphics_cards import Maker, card_makers
from app.system.hardware import decode_threads, physical_cores, usable_cores
from app.system.memory import main_memory
from app.system.paths import HOME_VARIABLE, Paths
from app.system.processor import processor_features, processor_name
from app.system.qt_probe import QtFacts, look_at_qt
from app.system.resources import checkout_folder, is_frozen

FolderKey = Literal["settings", "data", "models", "logs", "cache"]
"""What a folder of the program is for."""


class Surroundings(msgspec.Struct, frozen=True):
    """What there is on this machine, and of this program."""

    version: str
    python: str
    system: str
    place: Path
    """The checkout, the package's folder, or the frozen program."""
    remedies: Remedies
    processor: str
    features: frozenset[str] | None
    """Instruction sets of the processor, by ggml's names; None where the system does not tell."""
    physical_cores: int | None
    usable_cores: int
    threads: int
    memory: MainMemory
    gpus: GpuReport
    cards: tuple[Maker, ...]
    hidden_by: str | None
    """The value of CUDA_VISIBLE_DEVICES."""
    qt: QtFacts
    qt_is_told: bool
    """Whether QT_QPA_PLATFORM names a plugin."""
    folders: tuple[tuple[FolderKey, Folder], ...]
    home: str | None = None
    """The folder that TOKENLIGHT_HOME names; None where it is not set."""


def look_around(paths: Paths, window_check: str, environment: Mapping[str, str] = os.environ) -> Surroundings:
    """Look at this machine now; `window_check` is the name of the module that tries what a window needs."""
    probe = GpuProbe()
    try:
        gpus = probe.read()
    finally:
        probe.close()
    return Surroundings(
        version=VERSION,
        python=f"{platform.python_version()}, {sys.executable}",
        system=platform.platform(),
        place=checkout_folder()
        or (Path(sys.executable).parent if is_frozen() else Path(__file__).resolve().parents[1]),
        remedies=_remedies(),
        processor=processor_name(),
        features=processor_features(),
        physical_cores=physical_cores(),
        usable_cores=usable_cores(),
        threads=decode_threads(),
        memory=main_memory(),
        gpus=gpus,
        cards=card_makers(),
        hidden_by=environment.get(VISIBLE),
        qt=look_at_qt(window_check, environment),
        qt_is_told=bool(environment.get("QT_QPA_PLATFORM")),
        folders=(
            ("settings", look_at(paths.settings_file.parent)),
            ("data", look_at(paths.data)),
            ("models", look_at(paths.models)),
            ("logs", look_at(paths.logs)),
            ("cache", look_at(paths.cache)),
        ),
        home=environment.get(HOME_VARIABLE, "").strip() or None,
    )


def _remedies() -> Remedies:
    # It brings a dozen modules along, which the start of the window need not wait for.
    from importlib import metadata  # noqa: PLC0415

    installation: Installation = "frozen" if is_frozen() else "checkout" if checkout_folder() else "package"
    installer = next((name for name in INSTALLERS if shutil.which(name)), None)
    try:
        version = metadata.version(PACKAGE)
    except metadata.PackageNotFoundError:
        version = ""
    shell: Shell = "windows" if sys.platform == "win32" else "posix"
    return Remedies(installation, sys.executable, version, installer, shell)

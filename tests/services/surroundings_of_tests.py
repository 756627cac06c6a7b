"""A machine on which nothing is wrong, for tests to change one thing of."""

from __future__ import annotations

from pathlib import Path

from app.core.devices import Device, GpuReport, LibraryFacts, MainMemory
from app.core.words import translate
from app.services.remedies import Remedies
from app.services.surroundings import FolderKey, Surroundings
from app.system.folders import Folder
from app.system.qt_probe import QtFacts

GIB = 1 << 30
CHECKOUT = Remedies("checkout", "/usr/bin/python3", "0.3.36", "apt-get")
LIBRARY = LibraryFacts("0.3.36", "/nowhere/lib", False, ("CPU",), ("AVX", "AVX2", "OPENMP", "SVE_CNT=16"))
PROCESSOR = Device("CPU", "Some CPU", "cpu", "CPU", 16 * GIB, None)


def healthy(folder: Path = Path("/home/me")) -> Surroundings:
    """Return a machine on which a chat can be had."""
    keys: tuple[FolderKey, ...] = ("settings", "data", "models", "logs", "cache")
    return Surroundings(
        version="0.1.0",
        python="3.11.7, /usr/bin/python3",
        system="Linux",
        place=folder,
        remedies=CHECKOUT,
        processor="Some CPU",
        features=frozenset({"AVX", "AVX2"}),
        physical_cores=4,
        usable_cores=8,
        threads=4,
        memory=MainMemory(16 * GIB, 8 * GIB, 16 * GIB),
        gpus=GpuReport(fault="no_library", reason=translate("Test", "No driver.")),
        cards=(),
        hidden_by=None,
        qt=QtFacts(version="6.11.3", platform="xcb"),
        qt_is_told=False,
        folders=tuple((key, Folder(folder / key, True, True, 90 * GIB)) for key in keys),
    )

"""The folder that `dev.py gpu-pack` prepared: sources, the binding and wheels, unpacked where they are needed.

Works without a network and without pip. It must not build anything.
"""

from __future__ import annotations

import importlib.machinery
import platform
import shutil
import sys
import tarfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

from devtools.console import Problem
from devtools.gpu_pack import SOURCES, TOOLS, WHEELS

PACK_FIRST = "Run `python3 packaging/dev.py gpu-pack` where there is a network, and carry build/gpu_check along."
TOO_LARGE = "numpy"
"""Not carried: wheels for every Python would be most of the pack."""
NEEDED = ("gguf", "jinja2", "llama_cpp", "msgspec", "numpy", "psutil")
STAMP = ".unpacked-from"


def suits(wheel: str, version: tuple[int, int]) -> bool:
    """Return whether a wheel's tags fit CPython of this version (Linux on x86-64 is all that is carried)."""
    python, abi = wheel.removesuffix(".whl").split("-")[-3:-1]
    ours = f"cp{version[0]}{version[1]}"
    if abi == "none":
        return any(each == ours or each == f"py{version[0]}" for each in python.split("."))
    if abi == "abi3":
        return int(python.removeprefix(f"cp{version[0]}")) <= version[1]
    return python == abi == ours


@dataclass(frozen=True)
class Pack:
    """What was carried to this machine, or a folder that is not there."""

    folder: Path

    @property
    def is_there(self) -> bool:
        """Whether there is anything in it."""
        return (self.folder / SOURCES).is_file()

    def sources(self, work: Path) -> Path:
        """Unpack llama.cpp's sources and return their folder; raises `Problem` where they were not carried."""
        if not self.is_there:
            raise Problem(f"The sources of llama.cpp are not here. {PACK_FIRST}")
        self._unpack_sources(work / "sources")
        return work / "sources" / "llama.cpp"

    def site(self, work: Path) -> Path | None:
        """Unpack what Python needs and return the folder for its path; None where nothing was carried that fits."""
        if not self.is_there or platform.machine().lower() not in ("x86_64", "amd64"):
            return None
        site = work / "site"
        if site.exists():
            shutil.rmtree(site)
        version = (sys.version_info[0], sys.version_info[1])
        for wheel in sorted((self.folder / WHEELS).glob("*.whl")):
            if suits(wheel.name, version):
                with zipfile.ZipFile(wheel) as archive:
                    archive.extractall(site)
        self._unpack_sources(work / "sources")
        self._place_binding(work / "sources", site)
        return site

    def tool(self, name: str, work: Path) -> str | None:
        """Return the command of a build tool: this machine's, else the carried one."""
        found = shutil.which(name)
        if found is not None:
            return found
        folder = work / "tools" / name
        for wheel in (self.folder / TOOLS).glob(f"{name}-*.whl"):
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(folder)
        program = next((path for path in sorted(folder.rglob(name)) if path.parent.name in ("bin", "scripts")), None)
        if program is None:
            return None
        program.chmod(0o755)
        return str(program)

    def _unpack_sources(self, target: Path) -> None:
        """Unpack once for each pack: files keep their times, so that a build that was begun goes on."""
        about = (self.folder / SOURCES).stat()
        stamp, pack = target / STAMP, f"{about.st_size} {about.st_mtime_ns}"
        if stamp.exists() and stamp.read_text(encoding="utf-8") == pack:
            return
        if target.exists():
            shutil.rmtree(target)
        with tarfile.open(self.folder / SOURCES) as archive:
            archive.extractall(target, filter="data")
        stamp.write_text(pack, encoding="utf-8")

    @staticmethod
    def _place_binding(sources: Path, site: Path) -> None:
        """Put the C API where it is imported from, with the package's name and version and none of its helpers."""
        package = site / "llama_cpp"
        shutil.copytree(sources / "llama_cpp", package)
        (package / "__init__.py").touch()
        about = (sources / "PKG-INFO").read_text(encoding="utf-8")
        version = next(line.split(": ")[1] for line in about.splitlines() if line.startswith("Version: "))
        description = site / f"llama_cpp_python-{version}.dist-info"
        description.mkdir()
        (description / "METADATA").write_text(about, encoding="utf-8")


def require_modules(site: Path | None) -> None:
    """Raise `Problem` where this Python, with the carried packages, lacks what the checks import."""
    path = [str(site), *sys.path] if site is not None else sys.path
    missing = [name for name in NEEDED if importlib.machinery.PathFinder.find_spec(name, path) is None]
    if TOO_LARGE in missing:
        raise Problem(f"This Python lacks {TOO_LARGE}: install it, or name another Python with PYTHON=...")
    if missing:
        raise Problem(f"This Python lacks {', '.join(missing)}. {PACK_FIRST}")

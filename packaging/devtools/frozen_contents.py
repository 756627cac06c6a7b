"""What belongs into the frozen folder and what does not, as plain lists; PyInstaller's spec and hooks ask here.

It must not import PyInstaller, and must not build anything.
"""

from __future__ import annotations

import os
import posixpath
import re
import sys
from dataclasses import dataclass
from importlib import util
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    Entry = tuple[str, str, str]
    """Where it goes in the bundle, where it comes from (for a link: what it points to), and PyInstaller's kind."""

LLAMA_FOLDER = "llama_cpp/lib"
# `app.system.resources` looks there for the build that stands in where the usual one cannot be loaded.
PLAIN_FOLDER = "llama_cpu/lib"
# Modules that are reached only by name at run time; those of the application are all listed.
HIDDEN = ("llama_cpp.llama_cpp", "pynvml", "ziamath.fonts")
# What draws formulas reads these beside its modules.
FORMULA_FILES = ("ziamath/fonts/STIXTwoMath-Regular.ttf", "latex2mathml/unimathsymbols.txt")
# The binding's own high level would bring a disk cache, SQLite and a web server along, and files come over our own
# connections without hf_xet; the rest is of the tools.
EXCLUDED = (
    "llama_cpp.llama",
    *(() if sys.platform == "linux" else ("PySide6.QtDBus",)),  # there, task bars are told of downloads over it
    "PySide6.QtNetwork",
    "PySide6.QtOpenGL",
    "PySide6.QtQml",
    "_pytest",
    "gguf",
    "hf_xet",
    "hypothesis",
    "mypy",
    "numpy.f2py",
    "pip",
    "pytest",
    "readline",
    "setuptools",
    "tkinter",
)
# The first would load Qt into every process, the others what only tools need, all before the first line of ours.
RUN_TIME_HOOKS_LEFT_OUT = ("pyi_rth_pyside6", "pyi_rth_inspect", "pyi_rth_pkgutil")
# Half of a GTK is worse than none, the virtual keyboard brings QML along, the others draw without a desktop.
UNUSED_PLUGINS = re.compile(
    r"""/plugins/(?: generic/ | egldeviceintegrations/ | networkinformation/ | tls/ | vectorimageformats/
    | imageformats/ (?! (?:lib)? q (?:svg|jpeg|gif|ico|webp) \b)
    | platforms/ (?:lib)? q (?:eglfs|linuxfb|minimal|minimalegl|vkkhrdisplay|vnc|ios|direct2d) \b
    | platformthemes/ (?:lib)? qgtk3 | platforminputcontexts/ (?:lib)? qtvirtualkeyboard )""",
    re.VERBOSE,
)
# The driver's own libraries must be those of the machine that it runs on; NVIDIA's runtime is a part of its own.
OF_THE_MACHINE = re.compile(
    r"^(?:lib)?(?:cuda|nvcuda|cudart|cublas|vulkan|nvidia-|nvml|amdhip64)[-\w]*\.(?:so|dll|dylib)"
)
VERSIONED = re.compile(r"^(?P<stem>lib.+?)(?:\.so(?P<so>(?:\.\d+)*)|(?P<dylib>(?:\.\d+)*)\.dylib)$")
LIBRARY_SUFFIX = re.compile(r"\.(?:dll|dylib|so(?:\.\d+)*)$")
OPENMP_OF_WINDOWS = "vcomp140.dll"


@dataclass(frozen=True)
class Build:
    """A build of llama.cpp: its folder in the bundle, its libraries, each once, and links that are their other names."""

    place: str
    libraries: tuple[Path, ...]
    links: Mapping[str, str]

    @property
    def names(self) -> set[str]:
        """Every name that one of its libraries goes by."""
        return {path.name for path in self.libraries} | set(self.links)

    @property
    def places(self) -> set[str]:
        """Where its libraries go in the bundle."""
        return {f"{self.place}/{path.name}" for path in self.libraries}


def application_modules(root: Path) -> list[str]:
    """List every module of the application, because some are loaded by their names."""
    files = sorted((root / "app").rglob("*.py"))
    names = [".".join(path.relative_to(root).with_suffix("").parts) for path in files]
    return [name.removesuffix(".__init__") for name in names]


def without_unused_plugins(binaries: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Drop the Qt plugins (source, folder in the bundle) that the application never loads."""
    return [
        (source, folder)
        for source, folder in binaries
        if not UNUSED_PLUGINS.search(f"{PurePosixPath(folder.replace(os.sep, '/'))}/{Path(source).name}")
    ]


def build_in(folder: Path, place: str = LLAMA_FOLDER) -> Build:
    """Return the build of llama.cpp that lies in a folder.

    A wheel holds no links, so there a library lies under up to three names. The file that stays is the one whose name
    the others ask for (`libggml.so.0`): a second copy would have a registry of its own.
    """
    files = [path for path in sorted(folder.iterdir()) if path.is_file() and LIBRARY_SUFFIX.search(path.name)]
    families: dict[str, list[Path]] = {}
    for path in files:
        match = VERSIONED.match(path.name)
        families.setdefault(match["stem"] if match else path.name, []).append(path)
    kept: list[Path] = []
    links: dict[str, str] = {}
    for family in families.values():
        chosen = min(family, key=lambda path: (abs(_numbers(path.name) - 1), path.name))
        kept.append(chosen)
        # The longest name only tells the version; nobody opens it.
        links.update({path.name: chosen.name for path in family if path != chosen and _numbers(path.name) < 2})
    return Build(place, tuple(kept), links)


def _numbers(name: str) -> int:
    """Count the numbers of a library's version: 1 in `libggml.so.0`."""
    match = VERSIONED.match(name)
    return len(re.findall(r"\.\d+", (match["so"] or match["dylib"] or ""))) if match else 0


def arranged(binaries: Iterable[Entry], builds: Sequence[Build]) -> list[Entry]:
    """Return the binaries of the bundle: llama.cpp's once and in their folder, nothing of the graphics driver's."""
    result = [entry for entry in only_in_place(binaries, builds) if _is_ours(entry, builds)]
    for build in builds:
        result += [(f"{build.place}/{name}", target, "SYMLINK") for name, target in sorted(build.links.items())]
    return [*result, *_openmp_at_the_top(result)]


def only_in_place(entries: Iterable[Entry], builds: Sequence[Build]) -> list[Entry]:
    """Drop what PyInstaller would put of llama.cpp at the top, where the loader looks before a build's own folder."""
    names = set[str]().union(*(build.names for build in builds))
    places = set[str]().union(*(build.places for build in builds))
    return [entry for entry in entries if Path(entry[0]).name not in names or _slashed(entry[0]) in places]


def _is_ours(entry: Entry, builds: Sequence[Build]) -> bool:
    in_a_build = any(_slashed(entry[0]) in build.places for build in builds)
    return in_a_build or not OF_THE_MACHINE.match(Path(entry[0]).name)


def _slashed(place: str) -> str:
    return place.replace(os.sep, "/")


def _openmp_at_the_top(binaries: list[Entry]) -> list[Entry]:
    """On Windows llama.dll looks for its OpenMP library only beside the program."""
    found = [entry for entry in binaries if Path(entry[0]).name.lower() == OPENMP_OF_WINDOWS]
    if not found or any(entry[0].lower() == OPENMP_OF_WINDOWS for entry in found):
        return []
    return [(OPENMP_OF_WINDOWS, found[0][1], "BINARY")]


def without_dangling(entries: Sequence[Entry], others: Iterable[Entry]) -> list[Entry]:
    """Drop links to what was left out; PyInstaller lists them among the binaries and among the data."""
    there = {_slashed(place) for place, _, kind in (*entries, *others) if kind != "SYMLINK"}

    def leads_somewhere(place: str, target: str) -> bool:
        folder = posixpath.dirname(_slashed(place))
        return posixpath.normpath(posixpath.join(folder, _slashed(target))) in there

    return [entry for entry in entries if entry[2] != "SYMLINK" or leads_somewhere(entry[0], entry[1])]


def resource_files(root: Path) -> list[tuple[str, str]]:
    """List (file, folder in the bundle) of the application's data, where `app.system.resources` looks for them."""
    files = sorted(path for path in (root / "resources").rglob("*") if path.is_file())
    data = Path("app/_data")
    placed = [(str(path), (data / path.parent.relative_to(root / "resources")).as_posix()) for path in files]
    return [*placed, (str(root / "models" / "catalogue.toml"), data.as_posix())]


def formula_files() -> list[tuple[str, str]]:
    """List (file, folder in the bundle) of the data that draw formulas."""
    found = []
    for name in FORMULA_FILES:
        package, inner = name.split("/", 1)
        spec = util.find_spec(package)
        if spec is None or spec.origin is None:
            raise FileNotFoundError(name)
        found.append((str(Path(spec.origin).parent / inner), str(PurePosixPath(name).parent)))
    return found

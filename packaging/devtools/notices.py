"""The licence texts of everything that goes into the frozen folder, and the list of what is inside.

Texts come with the packages; those that a package does not bring lie in `packaging/licences`. What was taken from the
system brings the text of its own package. It must not decide what goes in; that is `frozen_contents`.
"""

from __future__ import annotations

import os
import platform
import posixpath
import re
import shutil
import sysconfig
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from devtools.console import Problem, listing
from devtools.processes import quiet

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from devtools.frozen_contents import Entry

FOLDER = "licences"
KEPT = Path(__file__).resolve().parents[1] / "licences"
"""Texts by the name of their package, which does not bring them."""
VERSIONS, SYSTEM = "VERSIONS.txt", "SYSTEM-LIBRARIES.txt"
NOTICE_NAME = re.compile(r"^(?:licen[cs]e|copying|notice|copyright|authors)", re.IGNORECASE)
COMMON = Path("/usr/share/common-licenses")
"""Where Debian keeps the texts that many packages' own only name."""
COMMON_NAME = re.compile(rf"{COMMON}/([\w.+-]*[\w+])")
DOCUMENTS = Path("/usr/share/doc")
Packages = dict[str, metadata.Distribution]


@dataclass(frozen=True)
class SystemPackage:
    """A package of the system, and the libraries that were taken from it."""

    name: str
    version: str
    libraries: tuple[str, ...]

    @property
    def text(self) -> Path:
        """The file that holds its licence."""
        return DOCUMENTS / self.name / "copyright"


def shipped_packages(entries: Iterable[Entry]) -> Packages:
    """Return the installed packages that files of the bundle came from, by name."""
    sources = {os.path.realpath(source) for _, source, kind in entries if kind != "SYMLINK" and source}
    found = {}
    for package in metadata.distributions():
        if any(os.path.realpath(str(file.locate())) in sources for file in package.files or ()):
            found[re.sub(r"[-_.]+", "-", package.metadata["Name"]).lower()] = package
    return dict(sorted(found.items()))


def notice_files(packages: Packages, kept: Path = KEPT) -> list[Entry]:
    """List the licence texts of Python and of its packages; raises Problem where one has none."""
    result: list[Entry] = [(f"{FOLDER}/python-{platform.python_version()}/LICENSE.txt", _text_of_python(), "DATA")]
    without = []
    for name, package in packages.items():
        place = PurePosixPath(FOLDER, f"{name}-{package.version}")
        found = [(place / inner, source) for inner, source in _own_texts(package)]
        found += [(place / text.name, text) for text in sorted((kept / name).glob("*"))]
        result += [(str(where), str(source), "DATA") for where, source in found]
        if not found:
            without.append(name)
    if without:
        raise Problem(
            f"These packages bring no licence text: {listing(without)}. Put each into {kept}, in a folder of its name."
        )
    return result


def _own_texts(package: metadata.Distribution) -> list[tuple[PurePosixPath, Path]]:
    """List the texts that a package was installed with, and their places among its own."""
    found = []
    for file in package.files or ():
        in_description = any(part.endswith(".dist-info") for part in file.parts)
        if in_description and ("licenses" in file.parts or NOTICE_NAME.match(file.name)):
            inner = PurePosixPath(*(part for part in file.parts[1:-1] if part != "licenses"), file.name)
            found.append((inner, Path(str(file.locate()))))
    return found


def _text_of_python() -> str:
    """Return the file that Python came with; each way to install it has another place."""
    library = Path(sysconfig.get_path("stdlib"))
    version = f"python{sysconfig.get_python_version()}"
    places = (library / "LICENSE.txt", library.parent / "LICENSE.txt", DOCUMENTS / version / "copyright")
    found = next((place for place in places if place.is_file()), None)
    if found is None:
        raise Problem(f"The licence of Python is in none of these places: {', '.join(map(str, places))}.")
    return str(found)


def system_packages(binaries: Iterable[Entry]) -> list[SystemPackage]:
    """Return the packages of the system that libraries were taken from; none where it has no dpkg, which knows them."""
    if shutil.which("dpkg-query") is None:
        return []
    files = {str(Path(source).resolve()) for _, source, kind in binaries if kind != "SYMLINK" and source}
    files = {file for file in files if file.startswith(("/usr/lib", "/lib"))}
    # What is under /usr now may be known by its place before /lib became a link.
    places = sorted(files | {file.removeprefix("/usr") for file in files})
    libraries = owners(quiet(["dpkg-query", "-S", *places]).output if places else "")
    versions = _versions(libraries)
    return [SystemPackage(name, versions.get(name, ""), found) for name, found in libraries.items()]


def owners(dpkg_output: str) -> dict[str, tuple[str, ...]]:
    """Read which package has which files, from `dpkg-query -S`; returns the files' names."""
    found: dict[str, set[str]] = {}
    for packages, path in re.findall(r"^(\S+): (/.+)$", dpkg_output, re.MULTILINE):
        found.setdefault(packages.partition(":")[0], set()).add(posixpath.basename(path))
    return {name: tuple(sorted(found[name])) for name in sorted(found)}


def _versions(names: Iterable[str]) -> dict[str, str]:
    answer = quiet(["dpkg-query", "-W", "-f", "${Package} ${Version}\n", *names])
    return dict(line.split(" ", 1) for line in answer.output.splitlines() if " " in line)


def system_notice_files(packages: Iterable[SystemPackage]) -> list[Entry]:
    """List the licence texts of system packages, and the common texts that these name."""
    result, common = [], set[str]()
    for package in packages:
        if package.text.is_file():
            result.append((f"{FOLDER}/system/{package.name}/copyright", str(package.text), "DATA"))
            common |= set(COMMON_NAME.findall(package.text.read_text("utf-8", "replace")))
    there = (COMMON / name for name in sorted(common) if (COMMON / name).is_file())
    return [*result, *((f"{FOLDER}/system/common/{path.name}", str(path.resolve()), "DATA") for path in there)]


def version_list(application: str, packages: Mapping[str, metadata.Distribution]) -> str:
    """Return a text that names what is inside: ours, Python, each package, with versions and the stated licences."""
    lines = [f"Tokenlight {application}", f"Python {platform.python_version()}: PSF-2.0"]
    for name, package in packages.items():
        fields = [field for field in ("License-Expression", "License") if field in package.metadata]
        stated = package.metadata[fields[0]] if fields else ""
        licence = stated.strip().splitlines()[0] if stated.strip() else "see its folder"
        lines.append(f"{name} {package.version}: {licence}")
    return "\n".join(lines) + "\n"


def system_list(packages: Iterable[SystemPackage]) -> str:
    """Return a text that names the system packages inside, and what was taken from each."""
    return "".join(f"{each.name} {each.version}: {', '.join(each.libraries)}\n" for each in packages)

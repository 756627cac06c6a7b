"""The licence texts of what goes into the frozen folder: of packages, of Python, of the system's libraries."""

from __future__ import annotations

import platform
from email.message import Message
from importlib import metadata
from importlib.metadata import PackagePath
from pathlib import Path

import msgspec
import pytest

from devtools import notices
from devtools.console import Problem
from devtools.notices import SystemPackage, notice_files, owners


def test_a_package_is_inside_if_one_of_its_files_is() -> None:
    assert msgspec.__file__ is not None
    found = notices.shipped_packages(
        [("msgspec", msgspec.__file__, "PYMODULE"), ("builtin", "", "BUILTIN"), ("x", "y", "SYMLINK")]
    )
    assert list(found) == ["msgspec"]
    assert found["msgspec"].version == metadata.version("msgspec")


class Package(metadata.Distribution):
    """A package as a wheel installs it."""

    def __init__(self, folder: Path, licence: dict[str, str], *names: str) -> None:
        self._folder, self._licence, self._names = folder, licence, names

    @property
    def metadata(self) -> metadata.PackageMetadata:
        message = Message()
        message["Name"], message["Version"] = "Some.Thing", "1.2"
        for name, value in self._licence.items():
            message[name] = value
        return message  # type: ignore[return-value]

    @property
    def version(self) -> str:
        return "1.2"

    @property
    def files(self) -> list[PackagePath]:
        paths = [PackagePath(name) for name in self._names]
        for path in paths:
            path.dist = self
        return paths

    def read_text(self, filename: str) -> str | None:
        return None

    def locate_file(self, path: object) -> Path:
        return self._folder / str(path)


def test_licence_texts_keep_their_names_under_their_package(tmp_path: Path) -> None:
    package = Package(
        tmp_path,
        {"License": "MIT\n\nThe whole text"},
        *("thing/LICENSE.py", "some-1.2.dist-info/LICENSE", "some-1.2.dist-info/licenses/part/COPYING"),
        *("some-1.2.dist-info/METADATA", "some-1.2.dist-info/licenses/free text.md"),
    )
    of_python, *placed = [place for place, _, _ in notice_files({"some-thing": package}, tmp_path / "kept")]
    assert of_python == f"licences/python-{platform.python_version()}/LICENSE.txt"
    assert placed == [
        "licences/some-thing-1.2/LICENSE",
        "licences/some-thing-1.2/part/COPYING",
        "licences/some-thing-1.2/free text.md",
    ]
    told = notices.version_list("0.1.0", {"some-thing": package}).splitlines()
    assert told[0] == "Tokenlight 0.1.0"
    assert told[1].startswith("Python 3.")
    assert told[2] == "some-thing 1.2: MIT"
    silent = notices.version_list("0.1.0", {"some-thing": Package(tmp_path, {})})
    assert silent.splitlines()[2] == "some-thing 1.2: see its folder"


def test_a_text_that_a_package_does_not_bring_is_kept_here(tmp_path: Path) -> None:
    (tmp_path / "kept" / "some-thing").mkdir(parents=True)
    (tmp_path / "kept" / "some-thing" / "OFL.txt").write_text("words")
    bare = Package(tmp_path, {}, "thing/__init__.py")
    of_python, kept = notice_files({"some-thing": bare}, tmp_path / "kept")
    assert Path(of_python[1]).is_file()
    assert kept == ("licences/some-thing-1.2/OFL.txt", str(tmp_path / "kept" / "some-thing" / "OFL.txt"), "DATA")


def test_a_package_without_a_text_stops_the_freezing(tmp_path: Path) -> None:
    with pytest.raises(Problem, match="bring no licence text: some-thing"):
        notice_files({"some-thing": Package(tmp_path, {}, "thing/__init__.py")}, tmp_path / "kept")


def test_the_owners_of_the_systems_libraries_are_read() -> None:
    answer = (
        "libcups2:amd64: /usr/lib/x86_64-linux-gnu/libcups.so.2\n"
        "libssl3:amd64: /usr/lib/x86_64-linux-gnu/libcrypto.so.3\n"
        "libssl3:amd64: /usr/lib/x86_64-linux-gnu/libssl.so.3\n"
        "dpkg-query: no path found matching pattern /lib/x86_64-linux-gnu/libssl.so.3\n"
        "diversion by glx-diversions from: /usr/lib/x86_64-linux-gnu/libGL.so.1\n"
    )
    assert owners(answer) == {"libcups2": ("libcups.so.2",), "libssl3": ("libcrypto.so.3", "libssl.so.3")}


def test_a_system_package_brings_its_text_and_those_that_this_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notices, "DOCUMENTS", tmp_path / "doc")
    (tmp_path / "doc" / "libone").mkdir(parents=True)
    (tmp_path / "doc" / "libone" / "copyright").write_text("see “/usr/share/common-licenses/LGPL-2.1”, and others.")
    monkeypatch.setattr(notices, "COMMON", tmp_path / "common")
    (tmp_path / "common").mkdir()
    (tmp_path / "common" / "LGPL-2.1").write_text("the text")
    packages = [SystemPackage("libone", "1.0", ("libone.so.1",)), SystemPackage("libtwo", "2.0", ("libtwo.so.2",))]
    assert notices.system_notice_files(packages) == [
        ("licences/system/libone/copyright", str(tmp_path / "doc" / "libone" / "copyright"), "DATA"),
        ("licences/system/common/LGPL-2.1", str(tmp_path / "common" / "LGPL-2.1"), "DATA"),
    ]
    assert notices.system_list(packages) == "libone 1.0: libone.so.1\nlibtwo 2.0: libtwo.so.2\n"

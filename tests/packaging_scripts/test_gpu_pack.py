"""What is carried to a machine with a GPU: chosen, packed, not too much, and unpacked there."""

from __future__ import annotations

import io
import json
import os
import platform
import shutil
import sys
import tarfile
import zipfile
from importlib.metadata import distributions
from pathlib import Path

import pytest

from devtools import gpu_pack, interpreter, setup_steps
from devtools.command_line import main
from devtools.console import Problem
from devtools.layout import Layout
from devtools.setup_steps import Request
from gpu_check.carried import Pack, require_modules, suits

ROOT = Path(__file__).resolve().parents[2]

needs_shell = pytest.mark.skipif(os.name != "posix", reason="only Linux packages are carried")


@pytest.mark.parametrize(
    ("member", "place"),
    [
        ("llama_cpp_python-1/PKG-INFO", "PKG-INFO"),
        ("llama_cpp_python-1/llama_cpp/llama_cpp.py", "llama_cpp/llama_cpp.py"),
        ("llama_cpp_python-1/llama_cpp/server/app.py", None),
        ("llama_cpp_python-1/vendor/llama.cpp/src/models/llama.cpp", "llama.cpp/src/models/llama.cpp"),
        ("llama_cpp_python-1/vendor/llama.cpp/ggml/src/ggml.c", "llama.cpp/ggml/src/ggml.c"),
        ("llama_cpp_python-1/vendor/llama.cpp/ggml/src/ggml-cuda/a/b.cu", "llama.cpp/ggml/src/ggml-cuda/a/b.cu"),
        ("llama_cpp_python-1/vendor/llama.cpp/ggml/src/ggml-sycl/a.cpp", None),
        ("llama_cpp_python-1/vendor/llama.cpp/vendor/stb/CMakeLists.txt", "llama.cpp/vendor/stb/CMakeLists.txt"),
        ("llama_cpp_python-1/vendor/llama.cpp/vendor/stb/stb_image.h", None),
        ("llama_cpp_python-1/vendor/llama.cpp/tools/server/server.cpp", None),
    ],
)
def test_only_what_the_build_and_the_engine_need_is_carried(member: str, place: str | None) -> None:
    assert gpu_pack.place_of(member) == place


def test_files_with_long_names_lie_in_the_pack_where_they_are_looked_for(tmp_path: Path) -> None:
    deep = "vendor/llama.cpp/ggml/src/ggml-cuda/template-instances/" + "a" * 90 + ".cu"
    with tarfile.open(tmp_path / "sdist.tar.gz", "w:gz", format=tarfile.PAX_FORMAT) as archive:
        for name in (deep, "vendor/llama.cpp/tools/main.cpp"):
            file = tarfile.TarInfo(f"llama_cpp_python-1/{name}")
            file.size = 3
            archive.addfile(file, io.BytesIO(b"abc"))
    assert gpu_pack.repack(tmp_path / "sdist.tar.gz", tmp_path / "kept.tar.xz") == 1
    with tarfile.open(tmp_path / "kept.tar.xz") as archive:
        assert archive.getnames() == ["llama.cpp/" + deep.removeprefix("vendor/llama.cpp/")]


def test_a_pack_that_is_too_large_to_be_carried_is_refused(tmp_path: Path) -> None:
    for name, size in (("sources.tar.xz", 2_000_000), ("large.whl", 58_000_000)):
        with (tmp_path / name).open("wb") as file:
            file.truncate(size)
    listed = gpu_pack.manifest(tmp_path, "1")
    assert listed["total"] == 60_000_000 == gpu_pack.LIMIT_BYTES
    (tmp_path / "one_more").write_bytes(b"x")
    with pytest.raises(Problem, match=r"more than the 60 MB.* leave large\.whl out"):
        gpu_pack.manifest(tmp_path, "1")


def test_everything_that_is_carried_has_a_pinned_version() -> None:
    constraints = (ROOT / "packaging" / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pinned = {line.partition("==")[0] for line in constraints}
    assert {*gpu_pack.BUILD_TOOLS, *gpu_pack.FOR_EVERY_PYTHON, *gpu_pack.FOR_EACH_PYTHON} <= pinned


@pytest.mark.skipif(not (ROOT / gpu_pack.FOLDER / gpu_pack.MANIFEST).is_file(), reason="no pack was prepared")
def test_the_pack_that_lies_here_can_be_carried() -> None:
    listed = json.loads((ROOT / gpu_pack.FOLDER / gpu_pack.MANIFEST).read_text())
    assert sum(listed["files"].values()) == listed["total"] <= gpu_pack.LIMIT_BYTES


@pytest.mark.parametrize(
    ("wheel", "version", "fits"),
    [
        ("jinja2-3.1.6-py3-none-any.whl", (3, 12), True),
        ("psutil-7-cp36-abi3-manylinux2014_x86_64.whl", (3, 13), True),
        ("new-7-cp313-abi3-manylinux2014_x86_64.whl", (3, 12), False),
        ("msgspec-1-cp312-cp312-manylinux2014_x86_64.manylinux_2_17_x86_64.whl", (3, 12), True),
        ("msgspec-1-cp312-cp312-manylinux2014_x86_64.whl", (3, 11), False),
        ("old-1-py2-none-any.whl", (3, 11), False),
        ("six-1-py2.py3-none-any.whl", (3, 11), True),
    ],
)
def test_a_wheel_is_taken_where_its_tags_fit(wheel: str, version: tuple[int, int], fits: bool) -> None:
    assert suits(wheel, version) is fits


@needs_shell
def test_what_was_carried_is_unpacked_for_this_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "pack"
    ours, other = f"cp{sys.version_info[0]}{sys.version_info[1]}", "cp39"
    for name, inside in (
        (f"wheels/msgspec-1-{ours}-{ours}-manylinux.whl", "msgspec/ours.py"),
        (f"wheels/msgspec-1-{other}-{other}-manylinux.whl", "msgspec/other.py"),
        ("tools/ninja-1-py3-none-manylinux.whl", "ninja-1.data/scripts/ninja"),
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(folder / name, "w") as archive:
            archive.writestr(inside, "")
    with tarfile.open(folder / gpu_pack.SOURCES, "w:xz") as sources:
        for name in ("llama.cpp/CMakeLists.txt", "llama_cpp/llama_cpp.py", "PKG-INFO"):
            file, text = tarfile.TarInfo(name), b"Name: llama-cpp-python\nVersion: 9.8\n"
            file.size = len(text)
            sources.addfile(file, io.BytesIO(text))
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(shutil, "which", lambda name: None)
    pack, work = Pack(folder), tmp_path / "work"
    site = pack.site(work)
    assert site is not None
    assert [path.name for path in (site / "msgspec").iterdir()] == ["ours.py"]
    assert {path.name for path in (site / "llama_cpp").iterdir()} == {"__init__.py", "llama_cpp.py"}
    assert (site / "llama_cpp" / "__init__.py").read_text() == ""
    assert [found.version for found in distributions(name="llama-cpp-python", path=[str(site)])] == ["9.8"]
    assert (pack.sources(work) / "CMakeLists.txt").is_file()
    tool = pack.tool("ninja", work)
    assert tool is not None
    assert os.access(tool, os.X_OK)
    assert pack.tool("cmake", work) is None


def test_without_a_pack_the_packages_of_this_python_are_used(tmp_path: Path) -> None:
    pack = Pack(tmp_path)
    assert pack.site(tmp_path / "work") is None
    require_modules(None)
    with pytest.raises(Problem, match="gpu-pack"):
        pack.sources(tmp_path / "work")


def test_what_a_python_lacks_is_said_with_what_helps(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    with pytest.raises(Problem, match=r"lacks numpy: install it, or name another Python"):
        require_modules(None)
    (tmp_path / "numpy.py").touch()
    with pytest.raises(Problem, match=r"lacks gguf, jinja2, .*gpu-pack"):
        require_modules(None)


def test_the_pack_is_a_command_of_the_set_up(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Request] = []
    made: list[Path] = []
    monkeypatch.setattr(interpreter, "runs_inside", lambda layout: False)
    monkeypatch.setattr(setup_steps, "ensure", lambda layout, request: asked.append(request))

    def make(layout: Layout) -> int:
        made.append(layout.root)
        return 0

    monkeypatch.setattr(gpu_pack, "make", make)
    assert main(["gpu-pack"]) == 0
    assert made == [ROOT]
    assert [(request.extras, request.opens_window) for request in asked] == [((), False)]

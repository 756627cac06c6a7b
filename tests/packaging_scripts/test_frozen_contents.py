"""What goes into the frozen folder: modules, data, Qt's plugins, llama.cpp's libraries once, notices."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.engine import entry
from app.system import resources
from devtools import frozen_contents as contents
from devtools.frozen_contents import (
    Build,
    arranged,
    build_in,
    only_in_place,
    without_dangling,
    without_unused_plugins,
)

ROOT = Path(__file__).resolve().parents[2]
PLUGINS = "PySide6/Qt/plugins"


def files(folder: Path, *names: str) -> Path:
    folder.mkdir()
    for name in names:
        (folder / name).write_text(name)
    return folder


def test_every_module_is_listed_also_those_that_are_loaded_by_name() -> None:
    names = contents.application_modules(ROOT)
    assert len(set(names)) == len(names)
    assert {"app", "app.__main__", "app.gui.chat", "app.engine.worker", "app.engine.scripted"} <= set(names)
    assert "app.engine.worker" in Path(entry.__file__).read_text(encoding="utf-8")


def test_data_go_where_the_program_looks_for_them() -> None:
    placed = {f"{folder}/{Path(source).name}" for source, folder in contents.resource_files(ROOT)}
    assert {
        "app/_data/catalogue.toml",
        "app/_data/gpus.json",
        "app/_data/starter_prompts.json",
        "app/_data/themes/dark.json",
        "app/_data/icons/tokenlight.svg",
    } <= placed
    assert len(placed) == 1 + sum(1 for path in (ROOT / "resources").rglob("*") if path.is_file())


def test_the_font_and_the_signs_of_formulas_come_along() -> None:
    placed = {f"{folder}/{Path(source).name}": Path(source) for source, folder in contents.formula_files()}
    assert set(placed) == {"ziamath/fonts/STIXTwoMath-Regular.ttf", "latex2mathml/unimathsymbols.txt"}
    assert all(source.stat().st_size > 100_000 for source in placed.values())
    assert "ziamath.fonts" in contents.HIDDEN


def test_the_program_looks_where_data_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "app" / "_data" / "themes").mkdir(parents=True)
    monkeypatch.setattr("sys.frozen", True, raising=False)
    monkeypatch.setattr("sys._MEIPASS", str(tmp_path), raising=False)
    assert resources.find_resources().folder == tmp_path / "app" / "_data"


@pytest.mark.parametrize(
    ("plugin", "stays"),
    [
        ("platforms/libqxcb.so", True),
        ("platforms/libqoffscreen.so", True),
        ("platforms/libqwayland.so", True),
        ("platforms/qwindows.dll", True),
        ("platforms/libqcocoa.dylib", True),
        ("platforms/libqminimal.so", False),
        ("platforms/libqminimalegl.so", False),
        ("platforms/libqvnc.so", False),
        ("platforms/qdirect2d.dll", False),
        ("platformthemes/libqgtk3.so", False),
        ("platformthemes/libqxdgdesktopportal.so", True),
        ("platforminputcontexts/libibusplatforminputcontextplugin.so", True),
        ("platforminputcontexts/libqtvirtualkeyboardplugin.so", False),
        ("imageformats/libqsvg.so", True),
        ("imageformats/qjpeg.dll", True),
        ("imageformats/libqpdf.so", False),
        ("imageformats/libqicns.so", False),
        ("wayland-shell-integration/libxdg-shell.so", True),
        ("styles/qmodernwindowsstyle.dll", True),
        ("tls/libqopensslbackend.so", False),
        ("generic/libqevdevkeyboardplugin.so", False),
    ],
)
def test_only_the_plugins_that_are_used_come_along(plugin: str, stays: bool) -> None:
    folder, name = plugin.split("/")
    entry_ = (f"/wheel/{plugin}", f"{PLUGINS}/{folder}")
    assert without_unused_plugins([entry_]) == ([entry_] if stays else []), name


def test_a_library_under_three_names_is_kept_under_the_one_that_others_ask_for(tmp_path: Path) -> None:
    folder = files(
        tmp_path / "lib",
        *("libggml.so", "libggml.so.0", "libggml.so.0.25.3", "libllama.so", "libllama.so.0", "libllama.so.0.5.0"),
        *("libggml-cpu-haswell.so", "libggml-cpu.so", "libcublas.so.13", "notes.txt", "llama.lib"),
    )
    (folder / "cmake").mkdir()
    build = build_in(folder)
    assert {path.name for path in build.libraries} == {
        "libggml.so.0", "libllama.so.0", "libggml-cpu-haswell.so", "libggml-cpu.so", "libcublas.so.13"
    }  # fmt: skip
    assert build.links == {"libggml.so": "libggml.so.0", "libllama.so": "libllama.so.0"}


@pytest.mark.parametrize(
    ("names", "kept", "links"),
    [
        (("ggml.dll", "llama.dll"), {"ggml.dll", "llama.dll"}, {}),
        (
            ("libggml.dylib", "libggml.0.dylib", "libggml.0.25.3.dylib"),
            {"libggml.0.dylib"},
            {"libggml.dylib": "libggml.0.dylib"},
        ),
        (("libggml.so.0.25.3",), {"libggml.so.0.25.3"}, {}),
    ],
)
def test_libraries_of_other_systems_and_odd_folders(
    tmp_path: Path, names: tuple[str, ...], kept: set[str], links: dict[str, str]
) -> None:
    build = build_in(files(tmp_path / "lib", *names))
    assert ({path.name for path in build.libraries}, build.links) == (kept, links)


NO_BUILD = Build("llama_cpp/lib", (), {})


def test_llama_is_there_once_and_the_graphics_driver_never(tmp_path: Path) -> None:
    build = build_in(files(tmp_path / "lib", "libggml.so", "libggml.so.0", "libcudart.so.13"))
    found = [
        ("llama_cpp/lib/libggml.so.0", "/other/libggml.so.0", "BINARY"),
        ("llama_cpp/lib/libcudart.so.13", "/other/libcudart.so.13", "BINARY"),
        ("libggml.so.0", "/other/libggml.so.0", "BINARY"),
        ("libvulkan.so.1", "/usr/lib/libvulkan.so.1", "BINARY"),
        ("libcublasLt.so.13", "/usr/local/cuda/libcublasLt.so.13", "BINARY"),
        ("libnvidia-ml.so.1", "/usr/lib/libnvidia-ml.so.1", "BINARY"),
        ("libcuda.so.1", "/usr/lib/libcuda.so.1", "BINARY"),
        ("nvml.dll", "C:/Windows/System32/nvml.dll", "BINARY"),
        ("libgomp.so.1", "/usr/lib/libgomp.so.1", "BINARY"),
    ]
    assert arranged(found, [build]) == [
        *found[:2],
        found[-1],
        ("llama_cpp/lib/libggml.so", "libggml.so.0", "SYMLINK"),
    ]


def test_two_builds_never_share_a_library(tmp_path: Path) -> None:
    usual = build_in(files(tmp_path / "usual", "libggml.so", "libggml.so.0"))
    plain = build_in(files(tmp_path / "plain", "libggml.so", "libggml.so.0"), contents.PLAIN_FOLDER)
    inside = [(f"{place}/libggml.so.0", "/x", "BINARY") for place in (contents.LLAMA_FOLDER, contents.PLAIN_FOLDER)]
    at_the_top = ("libggml.so.0", "llama_cpp/lib/libggml.so.0", "SYMLINK")
    other = ("libz.so.1", "/usr/lib/libz.so.1", "BINARY")
    assert only_in_place([at_the_top, other], [usual, plain]) == [other]
    assert arranged([*inside, at_the_top], [usual, plain]) == [
        *inside,
        ("llama_cpp/lib/libggml.so", "libggml.so.0", "SYMLINK"),
        ("llama_cpu/lib/libggml.so", "libggml.so.0", "SYMLINK"),
    ]


def test_the_program_looks_for_the_plain_build_where_it_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / contents.PLAIN_FOLDER).mkdir(parents=True)
    monkeypatch.setattr("sys.frozen", True, raising=False)
    monkeypatch.setattr("sys._MEIPASS", str(tmp_path), raising=False)
    assert resources.find_plain_library() == tmp_path / contents.PLAIN_FOLDER


def test_windows_finds_openmp_beside_the_program() -> None:
    inside = ("shiboken6/VCOMP140.DLL", "C:/x/VCOMP140.DLL", "BINARY")
    assert arranged([inside], [NO_BUILD])[1:] == [("vcomp140.dll", "C:/x/VCOMP140.DLL", "BINARY")]
    at_the_top = ("vcomp140.dll", "C:/x/vcomp140.dll", "BINARY")
    assert arranged([inside, at_the_top], [NO_BUILD]) == [inside, at_the_top]


def test_links_to_what_was_left_out_are_left_out_too() -> None:
    library = ("PySide6/Qt/lib/libQt6Core.so.6", "/wheel/libQt6Core.so.6", "BINARY")
    good = ("libQt6Core.so.6", "PySide6/Qt/lib/libQt6Core.so.6", "SYMLINK")
    upwards = ("a/b/libQt6Core.so.6", "../../PySide6/Qt/lib/libQt6Core.so.6", "SYMLINK")
    bad = ("libQt6Qml.so.6", "PySide6/Qt/lib/libQt6Qml.so.6", "SYMLINK")
    data = ("app/_data/x.svg", "/checkout/x.svg", "DATA")
    assert without_dangling([good, bad, upwards, data], [library]) == [good, upwards, data]
    assert without_dangling([library, good, bad], []) == [library, good]

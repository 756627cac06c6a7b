"""The launcher in the user's menu: its text, its quoting, its icon."""

from __future__ import annotations

import configparser
import os
import plistlib
import shlex
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from PySide6.QtGui import QImage

from devtools import icon_files, launcher
from devtools.layout import Layout, this_layout

SPACED = Path('/home/Jörg $5 100%/to`ken"light')


def unquoted(value: str) -> str:
    """Undo both levels of quoting of the first argument, as a desktop does."""
    line = value.replace("\\\\", "\\")
    assert line.startswith('"')
    inner = line[1 : line.index('" -m')]
    for character in '"`$\\':
        inner = inner.replace("\\" + character, character)
    return inner.replace("%%", "%")


def entry_of(text: str) -> dict[str, str]:
    reader = configparser.RawConfigParser()
    reader.optionxform = str  # type: ignore[assignment,method-assign]
    reader.read_string(text)
    return dict(reader["Desktop Entry"])


def test_the_entry_starts_the_checkouts_own_python() -> None:
    entry = entry_of(launcher.desktop_entry(Path("/opt/tokenlight/.venv/bin/python"), Path("/opt/tokenlight")))
    assert entry["Exec"] == "/opt/tokenlight/.venv/bin/python -m app %F"
    assert entry["Path"] == "/opt/tokenlight"
    assert entry["Terminal"] == "false"
    assert entry["MimeType"] == "application/x-gguf;"


def test_a_path_with_everything_in_it_survives_the_quoting() -> None:
    entry = entry_of(launcher.desktop_entry(SPACED / "python", SPACED))
    assert entry["Exec"].endswith('" -m app %F')
    assert unquoted(entry["Exec"]) == str(SPACED / "python")


def test_the_users_data_folder_is_honoured(tmp_path: Path) -> None:
    home = tmp_path / "home"
    assert launcher.data_home({}, home) == home / ".local" / "share"
    assert launcher.data_home({"XDG_DATA_HOME": str(tmp_path / "data")}, home) == tmp_path / "data"
    assert launcher.data_home({"XDG_DATA_HOME": "relative"}, home) == home / ".local" / "share"


def test_on_linux_entry_and_icon_are_put_where_menus_look(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert launcher.install(this_layout(), "linux") == 0
    assert launcher.install(this_layout(), "linux") == 0
    entry = entry_of((tmp_path / "applications" / "tokenlight.desktop").read_text(encoding="utf-8"))
    icon = tmp_path / "icons" / "hicolor" / "scalable" / "apps" / f"{entry['Icon']}.svg"
    assert icon.read_bytes() == icon_files.svg_in(this_layout()).read_bytes()


def test_the_start_menu_script_quotes_what_people_call_their_folders() -> None:
    layout = Layout(Path("C:/Users/O'Neil/tokenlight"), Path("C:/cache"), windows=True)
    script = launcher.shortcut_script(layout, Path("C:/i.ico"))
    assert f"$link.WorkingDirectory = '{str(layout.root).replace(chr(39), chr(39) * 2)}'" in script
    assert "pythonw.exe'" in script
    assert "$link.Arguments = '-m app'" in script


def test_the_mac_script_quotes_its_paths() -> None:
    layout = Layout(Path("/Users/jo hn's/tokenlight"), Path("/cache"), windows=False)
    lines = launcher.mac_script(layout).splitlines()
    assert shlex.split(lines[1])[:2] == ["cd", str(layout.root)]
    assert shlex.split(lines[2])[:4] == ["exec", str(layout.python), "-m", "app"]


def test_the_mac_bundle_opens_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(icon_files, "png", lambda layout, side, target: b"\x89PNG")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    assert launcher.install(this_layout(), "darwin") == 0
    contents = tmp_path / "Applications" / "Tokenlight.app" / "Contents"
    information = plistlib.loads((contents / "Info.plist").read_bytes())
    assert information["CFBundleDocumentTypes"][0]["CFBundleTypeExtensions"] == ["gguf"]
    assert (contents / "Resources" / f"{information['CFBundleIconFile']}.icns").is_file()
    assert os.access(contents / "MacOS" / information["CFBundleExecutable"], os.X_OK)


def test_the_icon_is_a_drawing_with_a_title() -> None:
    root = ET.parse(icon_files.svg_in(this_layout())).getroot()
    assert root.attrib["viewBox"] == "0 0 128 128"
    assert root.findtext("{http://www.w3.org/2000/svg}title") == "Tokenlight"


def test_windows_gets_an_icon_that_is_one(tmp_path: Path) -> None:
    image = QImage(icon_files.ICO_SIDE, icon_files.ICO_SIDE, QImage.Format.Format_ARGB32)
    image.fill(0xFFFFA25C)
    assert image.save(str(tmp_path / "icon.png"))
    (tmp_path / "icon.ico").write_bytes(icon_files.ico((tmp_path / "icon.png").read_bytes()))
    read = QImage(str(tmp_path / "icon.ico"))
    assert (read.width(), read.height()) == (256, 256)
    assert read.pixelColor(100, 100).name() == "#ffa25c"


def test_a_mac_icon_holds_its_picture_and_its_own_length() -> None:
    content = icon_files.icns(b"picture")
    assert content[:4] == b"icns"
    assert int.from_bytes(content[4:8], "big") == len(content)
    assert content[8:12] == b"ic09"
    assert int.from_bytes(content[12:16], "big") == 8 + len(b"picture")
    assert content[16:] == b"picture"

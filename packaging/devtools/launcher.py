"""Puts a launcher into the user's menu, so that a checkout can be opened by a click.

It must not need rights beyond the user's own, and changes nothing outside the user's folders.
"""

from __future__ import annotations

import os
import plistlib
import re
import shlex
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from devtools import icon_files
from devtools.console import Problem, say
from devtools.processes import quiet

if TYPE_CHECKING:
    from collections.abc import Mapping

    from devtools.layout import Layout

APPLICATION_ID = "tokenlight"
NAME = "Tokenlight"
COMMENT = "Chat with local models and see what the machine does"
RESERVED = re.compile(r"""[\s"'\\><~|&;$*?#()`%]""")


def install(layout: Layout, platform: str) -> int:
    """Make the launcher for this platform."""
    if platform == "win32":
        return _install_windows(layout)
    if platform == "darwin":
        return _install_mac(layout, Path.home() / "Applications")
    return _install_linux(layout, data_home(os.environ, Path.home()))


def data_home(environment: Mapping[str, str], home: Path) -> Path:
    """Return the user's data folder of a Linux desktop."""
    chosen = environment.get("XDG_DATA_HOME", "")
    return Path(chosen) if Path(chosen).is_absolute() else home / ".local" / "share"


def quoted(argument: str) -> str:
    """Quote one argument of a desktop entry's Exec line."""
    plain = argument.replace("%", "%%")
    if not RESERVED.search(argument):
        return plain
    inner = re.sub(r'(["`$\\])', r"\\\1", plain)
    # The line itself is a string value, in which each backslash is written twice.
    return '"' + inner.replace("\\", "\\\\") + '"'


def desktop_entry(python: Path, root: Path) -> str:
    """Return the text of the desktop entry."""
    return "\n".join(
        (
            "[Desktop Entry]",
            "Type=Application",
            "Version=1.0",
            f"Name={NAME}",
            "GenericName=Local AI chat",
            f"Comment={COMMENT}",
            f"Exec={quoted(str(python))} -m app %F",
            f"Path={str(root).replace(chr(92), chr(92) * 2)}",
            f"Icon={APPLICATION_ID}",
            "Terminal=false",
            "Categories=Utility;",
            "Keywords=LLM;GGUF;llama.cpp;chat;model;",
            "MimeType=application/x-gguf;",
            f"StartupWMClass={APPLICATION_ID}",
            "StartupNotify=true",
            "",
        )
    )


def _install_linux(layout: Layout, data: Path) -> int:
    entry = data / "applications" / f"{APPLICATION_ID}.desktop"
    icon = data / "icons" / "hicolor" / "scalable" / "apps" / f"{APPLICATION_ID}.svg"
    for path in (entry, icon):
        path.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(icon_files.svg_in(layout), icon)
    entry.write_text(desktop_entry(layout.python, layout.root), encoding="utf-8")
    if shutil.which("update-desktop-database"):
        quiet(["update-desktop-database", entry.parent])
    say(f"{NAME} is in your menu now ({entry}).")
    return 0


def shortcut_script(layout: Layout, icon: Path) -> str:
    """Return the PowerShell text that makes the Start menu entry; single quotes are doubled inside."""

    def text(value: object) -> str:
        return "'" + str(value).replace("'", "''") + "'"

    return "\n".join(
        (
            "$ErrorActionPreference = 'Stop'",
            "$menu = [Environment]::GetFolderPath('Programs')",
            f"$link = (New-Object -ComObject WScript.Shell).CreateShortcut((Join-Path $menu '{NAME}.lnk'))",
            f"$link.TargetPath = {text(layout.scripts / 'pythonw.exe')}",
            "$link.Arguments = '-m app'",
            f"$link.WorkingDirectory = {text(layout.root)}",
            f"$link.IconLocation = {text(icon)}",
            f"$link.Description = {text(COMMENT)}",
            "$link.Save()",
        )
    )


def _install_windows(layout: Layout) -> int:
    icon = layout.venv / f"{APPLICATION_ID}.ico"
    icon.write_bytes(icon_files.ico(icon_files.png(layout, icon_files.ICO_SIDE, layout.venv / "icon.png")))
    shell = ["powershell", "-NoProfile", "-NonInteractive", "-Command", shortcut_script(layout, icon)]
    done = quiet(shell)
    if not done.ok:
        raise Problem(f"The Start menu entry could not be made: {done.output.strip()}")
    say(f"{NAME} is in your Start menu now.")
    return 0


def mac_information() -> dict[str, object]:
    """Return the content of the bundle's Info.plist."""
    return {
        "CFBundleName": NAME,
        "CFBundleDisplayName": NAME,
        "CFBundleIdentifier": APPLICATION_ID,
        "CFBundleExecutable": APPLICATION_ID,
        "CFBundleIconFile": APPLICATION_ID,
        "CFBundlePackageType": "APPL",
        "NSHighResolutionCapable": True,
        "NSRequiresAquaSystemAppearance": False,
        "CFBundleDocumentTypes": [
            {
                "CFBundleTypeName": "GGUF model",
                "CFBundleTypeExtensions": ["gguf"],
                "CFBundleTypeRole": "Viewer",
            }
        ],
    }


def mac_script(layout: Layout) -> str:
    """Return the bundle's shell script, which becomes the application."""
    return f'#!/bin/sh\ncd {shlex.quote(str(layout.root))} || exit 1\nexec {shlex.quote(str(layout.python))} -m app "$@"\n'


def _install_mac(layout: Layout, applications: Path) -> int:
    bundle = applications / f"{NAME}.app"
    contents = bundle / "Contents"
    if bundle.exists():
        shutil.rmtree(bundle)
    for folder in ("MacOS", "Resources"):
        (contents / folder).mkdir(parents=True)
    image = icon_files.png(layout, icon_files.ICNS_SIDE, layout.venv / "icon.png")
    (contents / "Resources" / f"{APPLICATION_ID}.icns").write_bytes(icon_files.icns(image))
    (contents / "Info.plist").write_bytes(plistlib.dumps(mac_information()))
    script = contents / "MacOS" / APPLICATION_ID
    script.write_text(mac_script(layout), encoding="utf-8")
    script.chmod(0o755)
    say(f"{NAME} is in {applications} now.")
    return 0

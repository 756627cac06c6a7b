"""Which of Qt's system libraries are missing, and what the packages that hold them are called here.

It must not install anything; `system_install` does.
"""

from __future__ import annotations

import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from devtools.processes import quiet

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

MANAGERS = ("apt", "dnf", "pacman")
INSTALL_COMMANDS = {"apt": "sudo apt install", "dnf": "sudo dnf install", "pacman": "sudo pacman -S"}

# Library: its package for apt, dnf and pacman. "a|b": the newer name first, the older one where that is unknown.
PACKAGES: dict[str, tuple[str, str, str]] = {
    "libGL.so.1": ("libgl1", "libglvnd-glx", "libglvnd"),
    "libEGL.so.1": ("libegl1", "libglvnd-egl", "libglvnd"),
    "libOpenGL.so.0": ("libopengl0", "libglvnd-opengl", "libglvnd"),
    "libglib-2.0.so.0": ("libglib2.0-0t64|libglib2.0-0", "glib2", "glib2"),
    "libgthread-2.0.so.0": ("libglib2.0-0t64|libglib2.0-0", "glib2", "glib2"),
    "libfontconfig.so.1": ("libfontconfig1", "fontconfig", "fontconfig"),
    "libfreetype.so.6": ("libfreetype6", "freetype", "freetype2"),
    "libdbus-1.so.3": ("libdbus-1-3", "dbus-libs", "dbus"),
    "libcups.so.2": ("libcups2t64|libcups2", "cups-libs", "libcups"),
    "libgssapi_krb5.so.2": ("libgssapi-krb5-2", "krb5-libs", "krb5"),
    "libxkbcommon.so.0": ("libxkbcommon0", "libxkbcommon", "libxkbcommon"),
    "libxkbcommon-x11.so.0": ("libxkbcommon-x11-0", "libxkbcommon-x11", "libxkbcommon-x11"),
    "libX11.so.6": ("libx11-6", "libX11", "libx11"),
    "libX11-xcb.so.1": ("libx11-xcb1", "libX11-xcb", "libx11"),
    "libxcb.so.1": ("libxcb1", "libxcb", "libxcb"),
    "libxcb-cursor.so.0": ("libxcb-cursor0", "xcb-util-cursor", "xcb-util-cursor"),
    "libxcb-icccm.so.4": ("libxcb-icccm4", "xcb-util-wm", "xcb-util-wm"),
    "libxcb-image.so.0": ("libxcb-image0", "xcb-util-image", "xcb-util-image"),
    "libxcb-keysyms.so.1": ("libxcb-keysyms1", "xcb-util-keysyms", "xcb-util-keysyms"),
    "libxcb-randr.so.0": ("libxcb-randr0", "libxcb", "libxcb"),
    "libxcb-render.so.0": ("libxcb-render0", "libxcb", "libxcb"),
    "libxcb-render-util.so.0": ("libxcb-render-util0", "xcb-util-renderutil", "xcb-util-renderutil"),
    "libxcb-shape.so.0": ("libxcb-shape0", "libxcb", "libxcb"),
    "libxcb-shm.so.0": ("libxcb-shm0", "libxcb", "libxcb"),
    "libxcb-sync.so.1": ("libxcb-sync1", "libxcb", "libxcb"),
    "libxcb-util.so.1": ("libxcb-util1", "xcb-util", "xcb-util"),
    "libxcb-xfixes.so.0": ("libxcb-xfixes0", "libxcb", "libxcb"),
    "libxcb-xkb.so.1": ("libxcb-xkb1", "libxcb", "libxcb"),
    "libgomp.so.1": ("libgomp1", "libgomp", "gcc-libs"),
    "libstdc++.so.6": ("libstdc++6", "libstdc++", "gcc-libs"),
    "libz.so.1": ("zlib1g", "zlib", "zlib"),
}

# The parts of Qt that a window needs: the modules always, the plugin for X11 unless the session is Wayland.
MODULES = ("QtCore", "QtGui", "QtWidgets", "QtSvg")
X11_PLUGIN = "Qt/plugins/platforms/libqxcb.so"
PRINTER_PLUGIN = "Qt/plugins/printsupport/libcupsprintersupport.so"
NOT_FOUND = re.compile(r"^\s*(\S+) => not found", re.MULTILINE)


@dataclass(frozen=True)
class Missing:
    """Libraries that were not found: those without which Qt cannot start, those for X11 alone, those for printers."""

    always: tuple[str, ...] = ()
    x11: tuple[str, ...] = ()
    printing: tuple[str, ...] = ()

    @property
    def anything(self) -> bool:
        """Whether any library is missing."""
        return bool(self.always or self.x11 or self.printing)


def not_found(ldd_output: str) -> list[str]:
    """Return the libraries that `ldd` did not find."""
    return sorted(set(NOT_FOUND.findall(ldd_output)))


def look(python: Path) -> Missing:
    """Ask `ldd` what the installed Qt lacks; nothing is missing where there is no `ldd`."""
    if sys.platform != "linux" or shutil.which("ldd") is None:
        return Missing()
    where = quiet([python, "-c", "import importlib.util as u; print(u.find_spec('PySide6').origin)"])
    if not where.ok:
        return Missing()
    folder = Path(where.output.strip().splitlines()[-1]).parent
    modules = [folder / f"{module}.abi3.so" for module in MODULES]
    always = not_found(quiet(["ldd", *modules]).output)
    x11 = not_found(quiet(["ldd", folder / X11_PLUGIN]).output)
    printing = not_found(quiet(["ldd", folder / PRINTER_PLUGIN]).output)
    return Missing(
        tuple(always),
        tuple(name for name in x11 if name not in always),
        tuple(name for name in printing if name not in always),
    )


def package_manager() -> str:
    """Return "apt", "dnf" or "pacman", or an empty text where none of them is known."""
    names = {"apt": "apt-get", "dnf": "dnf", "pacman": "pacman"}
    return next((name for name in MANAGERS if shutil.which(names[name])), "")


def packages_for(libraries: Iterable[str], manager: str) -> list[str]:
    """Return the packages that hold these libraries; an unknown library stands for itself."""
    column = MANAGERS.index(manager)
    found = {PACKAGES[name][column] if name in PACKAGES else name for name in libraries}
    return sorted(found)


def remedy(libraries: Iterable[str], manager: str) -> str:
    """Return the command that installs these libraries, or the names for each package manager."""
    wanted = list(libraries)
    if manager:
        names = " ".join(name.split("|")[-1] for name in packages_for(wanted, manager))
        return f"{INSTALL_COMMANDS[manager]} {names}"
    each = (f"{name}: {' '.join(packages_for(wanted, name)).replace('|', ' or ')}" for name in MANAGERS)
    return "; ".join(each)


def complaint(missing: Missing, manager: str, environment: Mapping[str, str]) -> tuple[str, bool]:
    """Return a sentence about what is missing (empty if nothing is) and whether a window cannot open without it."""
    if not missing.anything:
        return "", False
    libraries = (*missing.always, *missing.x11, *missing.printing)
    names = ", ".join(libraries)
    fatal = bool(missing.always) or (bool(missing.x11) and not environment.get("WAYLAND_DISPLAY"))
    effect = "The window needs" if fatal else "Windows under X11 need" if missing.x11 else "Printing needs"
    return (
        f"{effect} system libraries that are missing ({names}). To install them: {remedy(libraries, manager)}",
        fatal,
    )

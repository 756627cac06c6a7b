"""The commands that mend what the doctor finds; they depend on how the program was installed.

Knows nothing of what is wrong.
"""

from __future__ import annotations

import shlex
from typing import Literal

import msgspec

Installation = Literal["checkout", "package", "frozen"]
"""A checkout of the source, a package in some Python, or an application that brings its own Python."""
Installer = Literal["apt-get", "dnf"]
INSTALLERS: tuple[Installer, ...] = ("apt-get", "dnf")

Shell = Literal["posix", "windows"]
"""Whose words and quotes a command is written with; “windows” is its command prompt."""
_SET_UP: dict[Shell, str] = {
    "posix": "python3 packaging/dev.py setup",
    "windows": "py packaging\\dev.py setup",
}
PACKAGE = "llama-cpp-python"
_SPECIAL_ON_WINDOWS = set(" &|<>^()%!,;='`")
_FLAGS = {"cuda": "-DGGML_CUDA=ON", "vulkan": "-DGGML_VULKAN=ON"}

# A library of Qt's or of a window system, and the package that holds it on Debian and Ubuntu.
_PACKAGES = {
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libOpenGL.so.0": "libopengl0",
    "libX11-xcb.so.1": "libx11-xcb1",
    "libX11.so.6": "libx11-6",
    "libcups.so.2": "libcups2",
    "libdbus-1.so.3": "libdbus-1-3",
    "libfontconfig.so.1": "libfontconfig1",
    "libfreetype.so.6": "libfreetype6",
    "libglib-2.0.so.0": "libglib2.0-0",
    "libgomp.so.1": "libgomp1",
    "libgssapi_krb5.so.2": "libgssapi-krb5-2",
    "libgthread-2.0.so.0": "libglib2.0-0",
    "libstdc++.so.6": "libstdc++6",
    "libvulkan.so.1": "libvulkan1",
    "libwayland-client.so.0": "libwayland-client0",
    "libwayland-cursor.so.0": "libwayland-cursor0",
    "libwayland-egl.so.1": "libwayland-egl1",
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-image.so.0": "libxcb-image0",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-randr.so.0": "libxcb-randr0",
    "libxcb-render-util.so.0": "libxcb-render-util0",
    "libxcb-render.so.0": "libxcb-render0",
    "libxcb-shape.so.0": "libxcb-shape0",
    "libxcb-shm.so.0": "libxcb-shm0",
    "libxcb-sync.so.1": "libxcb-sync1",
    "libxcb-util.so.1": "libxcb-util1",
    "libxcb-xfixes.so.0": "libxcb-xfixes0",
    "libxcb-xkb.so.1": "libxcb-xkb1",
    "libxcb.so.1": "libxcb1",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
    "libxkbcommon.so.0": "libxkbcommon0",
    "libz.so.1": "zlib1g",
}


class Remedies(msgspec.Struct, frozen=True):
    """What can be typed here."""

    installation: Installation
    python: str
    """The interpreter's path."""
    llama_version: str
    installer: Installer | None = None
    """The system's package manager, as far as its command is known."""
    shell: Shell = "posix"

    def set_up(self, backend: str = "") -> str:
        """Return what installs llama.cpp again, for a backend or for what suits the machine; empty if nothing does."""
        if self.installation == "checkout":
            return f"{_SET_UP[self.shell]} --backend {backend}" if backend else _SET_UP[self.shell]
        if self.installation == "package" and self.llama_version:
            flags = self._told("CMAKE_ARGS", _FLAGS[backend]) if backend in _FLAGS else ""
            options = f"--force-reinstall --no-deps --no-cache-dir --no-binary {PACKAGE}"
            return f"{flags}{self._quoted(self.python)} -m pip install {options} {PACKAGE}=={self.llama_version}"
        return ""

    def install_python_package(self, requirement: str) -> str:
        """Return what installs a package of Python's that is missing."""
        if self.installation == "checkout":
            return _SET_UP[self.shell]
        if self.installation == "package":
            return f"{self._quoted(self.python)} -m pip install {self._quoted(requirement)}"
        return ""

    def unset(self, variable: str) -> str:
        """Return what removes a variable from the environment of the shell that it is typed in."""
        return f"set {variable}=" if self.shell == "windows" else f"unset {variable}"

    def install_libraries(self, names: tuple[str, ...]) -> str:
        """Return what installs the packages that hold these libraries; empty where a name is not known."""
        if self.installer == "apt-get" and all(name in _PACKAGES for name in names):
            return f"sudo apt-get install {' '.join(dict.fromkeys(_PACKAGES[name] for name in names))}"
        if self.installer == "dnf":
            return "sudo dnf install " + " ".join(f"'{name}()(64bit)'" for name in names)
        return ""

    def _told(self, variable: str, value: str) -> str:
        """Return what sets a variable for the command that follows."""
        return f'set "{variable}={value}" && ' if self.shell == "windows" else f"{variable}={shlex.quote(value)} "

    def _quoted(self, word: str) -> str:
        if self.shell == "posix":
            return shlex.quote(word)
        return f'"{word}"' if set(word) & _SPECIAL_ON_WINDOWS else word

"""Checks, before anything long begins, that this machine can compile C++.

It must not install anything.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from devtools.console import Problem
from devtools.processes import quiet

if TYPE_CHECKING:
    from collections.abc import Mapping

# Uses the standard library and a thread: a compiler without its headers or its linker fails here, in a second.
PROGRAM = "#include <string>\n#include <thread>\nint main() { std::thread t([]{}); t.join(); return 0; }\n"
C_PROGRAM = "#include <stdlib.h>\nint main(void) { return EXIT_SUCCESS; }\n"

HOW_TO_INSTALL = {
    "apt": "sudo apt install build-essential",
    "dnf": "sudo dnf install gcc-c++ make",
    "pacman": "sudo pacman -S base-devel",
    "mac": "xcode-select --install",
    "windows": 'install "Build Tools for Visual Studio" with the part "Desktop development with C++"',
}
# Where no package manager has to be asked: the system alone says what to install.
BY_SYSTEM = {"darwin": "mac", "win32": "windows"}


def _command(variable: str, names: tuple[str, ...], environment: Mapping[str, str]) -> list[str] | None:
    chosen = environment.get(variable, "")
    if chosen:
        return shlex.split(chosen)
    found = next((path for path in map(shutil.which, names) if path), None)
    return [found] if found else None


def fault(environment: Mapping[str, str]) -> str:
    """Return what is wrong with the C and C++ compilers, or an empty text."""
    tasks = (
        ("C", "CC", ("cc", "gcc", "clang"), "check.c", C_PROGRAM, ()),
        ("C++", "CXX", ("c++", "g++", "clang++"), "check.cpp", PROGRAM, ("-std=c++17", "-pthread")),
    )
    with tempfile.TemporaryDirectory() as folder:
        for language, variable, names, file_name, text, flags in tasks:
            command = _command(variable, names, environment)
            if command is None:
                return f"there is no {language} compiler"
            source = Path(folder, file_name)
            source.write_text(text)
            done = quiet([*command, *flags, str(source), "-o", str(Path(folder, "check"))])
            if not done.ok:
                return f"the {language} compiler {Path(command[0]).name} cannot build a small program"
    return ""


def windows_fault(environment: Mapping[str, str]) -> str:
    """Return what is wrong with Visual Studio's compiler, or an empty text."""
    if environment.get("VCINSTALLDIR"):
        return ""
    installer = Path(environment.get("ProgramFiles(x86)", r"C:\Program Files (x86)"), "Microsoft Visual Studio")
    part = "Microsoft.VisualStudio.Component.VC.Tools.x86.x64"
    found = quiet(
        [
            installer / "Installer" / "vswhere.exe",
            "-products",
            "*",
            "-requires",
            part,
            "-property",
            "installationPath",
        ]
    )
    return "" if found.ok and found.output.strip() else "there is no C++ compiler"


def remedy(platform: str, manager: str) -> str:
    """Return what to do about a missing compiler on this system, with this package manager if it has one."""
    return HOW_TO_INSTALL.get(BY_SYSTEM.get(platform, manager), "install a C and C++ compiler")


def check(manager: str) -> None:
    """Raise a problem that says what to install if nothing can be compiled here."""
    wrong = windows_fault(os.environ) if sys.platform == "win32" else fault(os.environ)
    if wrong:
        raise Problem(
            f"llama.cpp has to be compiled once, but {wrong}:"
            f" {remedy(sys.platform, manager)}, then run this command again."
        )

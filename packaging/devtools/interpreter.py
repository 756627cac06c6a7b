"""The virtual environment: which Python makes it, and making it.

It must not install anything into it.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from devtools.console import Problem, say
from devtools.processes import quiet

if TYPE_CHECKING:
    from devtools.layout import Layout


def base_python() -> Path:
    """Return the Python that virtual environments are made with, never one that lies in such an environment."""
    return Path(getattr(sys, "_base_executable", "") or sys.executable)


def has_ensurepip() -> bool:
    """Tell whether this Python can put pip into a virtual environment; Debian splits that off."""
    importlib.invalidate_caches()
    return importlib.util.find_spec("ensurepip") is not None and importlib.util.find_spec("venv") is not None


def version_text() -> str:
    """Return the full version of this Python, which the virtual environment will have too."""
    return f"{sys.implementation.name} {sys.version.split()[0]}"


def make(layout: Layout, manager: str) -> None:
    """Make the virtual environment anew."""
    if not has_ensurepip():
        package = f"python{sys.version_info[0]}.{sys.version_info[1]}-venv"
        how = f"sudo apt install {package}" if manager == "apt" else "install its venv and ensurepip modules"
        raise Problem(f"This Python cannot make virtual environments: {how}, then run this command again.")
    say(f"Making a virtual environment with Python {sys.version.split()[0]} in {layout.venv}.")
    if layout.venv.exists():
        shutil.rmtree(layout.venv)
    done = quiet([base_python(), "-m", "venv", layout.venv], timeout_s=600)
    if not done.ok or not layout.python.exists():
        last = (done.output.strip().splitlines() or ["no message"])[-1]
        raise Problem(
            f"The virtual environment could not be made ({last}): check that {layout.root} can be written to."
        )


def runs_inside(layout: Layout) -> bool:
    """Tell whether this process runs in the virtual environment that it may have to replace."""
    return sys.prefix != sys.base_prefix and os.path.realpath(sys.prefix) == os.path.realpath(layout.venv)

"""Where things lie: the checkout, its virtual environment, and the cache that all checkouts share.

It must not create, read or write anything.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

CACHE_VARIABLE = "TOKENLIGHT_BUILD_CACHE"


@dataclass(frozen=True)
class Layout:
    """The folders that the set-up works with."""

    root: Path
    cache: Path
    windows: bool

    @property
    def venv(self) -> Path:
        """The checkout's virtual environment."""
        return self.root / ".venv"

    @property
    def scripts(self) -> Path:
        """The folder of the virtual environment's commands."""
        return self.venv / ("Scripts" if self.windows else "bin")

    @property
    def python(self) -> Path:
        """The virtual environment's Python."""
        return self.scripts / ("python.exe" if self.windows else "python")

    @property
    def stamp(self) -> Path:
        """The file that says what the virtual environment was made for."""
        return self.venv / "tokenlight-setup.json"

    @property
    def models(self) -> Path:
        """The checkout's folder of models."""
        return self.root / "models"

    @property
    def wheels(self) -> Path:
        """The cache of compiled llama.cpp wheels."""
        return self.cache / "wheels"

    @property
    def logs(self) -> Path:
        """The folder of the set-up's logs."""
        return self.cache / "logs"


def cache_folder(environment: Mapping[str, str], platform: str, home: Path) -> Path:
    """Return the platform's cache folder for builds, or the one that the environment names."""
    override = environment.get(CACHE_VARIABLE)
    if override:
        return Path(override).expanduser().resolve()
    if platform == "win32":
        local = environment.get("LOCALAPPDATA")
        return (Path(local) if local else home / "AppData" / "Local") / "tokenlight" / "build"
    if platform == "darwin":
        return home / "Library" / "Caches" / "tokenlight"
    chosen = environment.get("XDG_CACHE_HOME", "")
    return (Path(chosen) if Path(chosen).is_absolute() else home / ".cache") / "tokenlight"


def this_layout() -> Layout:
    """Return the layout of the checkout that holds this file."""
    root = Path(__file__).resolve().parents[2]
    return Layout(root, cache_folder(os.environ, sys.platform, Path.home()), sys.platform == "win32")

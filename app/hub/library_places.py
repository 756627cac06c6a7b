"""Where other programs keep their models, by their settings and by habit; most of it is not there on any one machine."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

MOST_SETTINGS_BYTES = 1 << 20


class Places:
    """Folders of this machine that may hold models of other programs."""

    def __init__(self, environment: Mapping[str, str], platform: str = sys.platform) -> None:
        self._environment = environment
        self._platform = platform
        home = environment.get("USERPROFILE" if platform == "win32" else "HOME", "").strip()
        self._home = Path(home) if home and os.path.isabs(home) else None  # noqa: PTH117

    def hub_caches(self) -> list[Path]:
        """Return the folders with downloads of huggingface_hub and of whatever uses it."""
        named = [*self._named("HF_HUB_CACHE"), *self._named("HUGGINGFACE_HUB_CACHE"), *self._named("HF_HOME", "hub")]
        return [
            *named,
            *self._named("XDG_CACHE_HOME", "huggingface", "hub"),
            *self._at_home(".cache", "huggingface", "hub"),
        ]

    def lm_studio(self) -> list[Path]:
        """Return LM Studio's folders of models."""
        homes = [*self._at_home(".lmstudio"), *self._at_home(".cache", "lm-studio")]
        for pointer in self._at_home(".lmstudio-home-pointer"):
            homes += _absolute([_text(pointer).strip()])
        chosen = [_setting(home / "settings.json", "downloadsFolder") for home in homes]
        return [*_absolute(chosen), *(home / "models" for home in homes)]

    def jan(self) -> list[Path]:
        """Return Jan's folders of models."""
        roots, configurations = self._application_data(), [*self._named("XDG_CONFIG_HOME"), *self._at_home(".config")]
        settings = [root / name / "settings.json" for root in roots for name in ("jan.ai.app", "Jan")]
        settings += [folder / "Jan" / "settings.json" for folder in configurations]
        chosen = [_setting(file, "data_folder") for file in settings]
        folders = [*_absolute(chosen), *(root / "Jan" / "data" for root in roots), *self._at_home("jan")]
        return [folder / below for folder in folders for below in (Path("llamacpp", "models"), Path("models"))]

    def ollama(self) -> list[Path]:
        """Return Ollama's stores: that of whoever runs this, and that of the system's service."""
        service = [Path("/usr/share/ollama/.ollama/models")] if self._platform.startswith("linux") else []
        return [*self._named("OLLAMA_MODELS"), *self._at_home(".ollama", "models"), *service]

    def _application_data(self) -> list[Path]:
        if self._platform == "win32":
            return self._named("APPDATA")
        if self._platform == "darwin":
            return self._at_home("Library", "Application Support")
        return [*self._named("XDG_DATA_HOME"), *self._at_home(".local", "share")]

    def _named(self, variable: str, *below: str) -> list[Path]:
        value = self._environment.get(variable, "").strip()
        if self._home is not None and (value == "~" or value.startswith("~/")):
            value = str(self._home) + value[1:]
        return [folder.joinpath(*below) for folder in _absolute([value])]

    def _at_home(self, *below: str) -> list[Path]:
        return [self._home.joinpath(*below)] if self._home is not None else []


def _absolute(paths: Iterable[str]) -> list[Path]:
    """Return those that say where they are, wherever this program was started."""
    return [Path(path) for path in paths if path and "\0" not in path and os.path.isabs(path)]  # noqa: PTH117


def read_small(file: Path, limit: int) -> bytes:
    """Return a small file of another program; nothing where it is not there, is no file, or is none of a sane size."""
    try:
        if not file.is_file():
            return b""
        with file.open("rb") as opened:
            content = opened.read(limit + 1)
    except (OSError, ValueError):
        return b""
    return content if len(content) <= limit else b""


def _text(file: Path) -> str:
    return read_small(file, MOST_SETTINGS_BYTES).decode("utf-8", "replace")


def _setting(file: Path, name: str) -> str:
    """Return one text out of another program's settings; empty where there is none."""
    content = read_small(file, MOST_SETTINGS_BYTES)
    try:
        values = msgspec.json.decode(content) if content else None
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return ""
    value = values.get(name) if isinstance(values, dict) else None
    return value.strip() if isinstance(value, str) else ""

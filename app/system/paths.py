"""Where the program keeps its files on this machine; knows no file's content.

`TOKENLIGHT_HOME` moves every one of them under one folder.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import platformdirs

APP_NAME = "tokenlight"
HOME_VARIABLE = "TOKENLIGHT_HOME"


@dataclass(frozen=True)
class Paths:
    """The folders and files of one installation; nothing is created before it is needed."""

    settings_file: Path
    data: Path
    models: Path
    logs: Path
    cache: Path

    @property
    def window_log(self) -> Path:
        """The log of the window and of its engine's parent side."""
        return self.logs / "tokenlight.log"

    @property
    def command_log(self) -> Path:
        """The log of the command line, apart because several commands may run at once."""
        return self.logs / "commands.log"

    @property
    def engine_log(self) -> Path:
        """Where the engine process writes what llama.cpp says."""
        return self.logs / "engine.log"

    @property
    def crash_log(self) -> Path:
        """Where the interpreter writes the stacks when the process dies on a signal."""
        return self.logs / "crash.log"


def find_paths(environment: Mapping[str, str]) -> Paths:
    """Return the folders for this user, or those under `TOKENLIGHT_HOME` when it is set."""
    home = environment.get(HOME_VARIABLE, "").strip()
    if home:
        root = Path(os.path.expanduser(home)).absolute()  # noqa: PTH111  Path.expanduser raises for ~nobody
        return Paths(root / "settings.json", root, root / "models", root / "logs", root / "cache")
    folders = platformdirs.PlatformDirs(APP_NAME, appauthor=False, ensure_exists=False)
    data = folders.user_data_path
    return Paths(
        settings_file=folders.user_config_path / "settings.json",
        data=data,
        models=data / "models",
        logs=folders.user_log_path,
        cache=folders.user_cache_path,
    )

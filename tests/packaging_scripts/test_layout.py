"""Where the cache of builds lies on each system."""

from __future__ import annotations

from pathlib import Path

import pytest

from devtools.layout import Layout, cache_folder, this_layout

HOME = Path("/home/user").absolute()
ELSEWHERE = Path("/elsewhere").absolute()


@pytest.mark.parametrize(
    ("environment", "platform", "folder"),
    [
        ({}, "linux", HOME / ".cache" / "tokenlight"),
        ({"XDG_CACHE_HOME": str(ELSEWHERE)}, "linux", ELSEWHERE / "tokenlight"),
        ({"XDG_CACHE_HOME": "relative"}, "linux", HOME / ".cache" / "tokenlight"),
        ({}, "darwin", HOME / "Library" / "Caches" / "tokenlight"),
        ({"LOCALAPPDATA": str(ELSEWHERE)}, "win32", ELSEWHERE / "tokenlight" / "build"),
        ({}, "win32", HOME / "AppData" / "Local" / "tokenlight" / "build"),
        ({"TOKENLIGHT_BUILD_CACHE": str(ELSEWHERE)}, "linux", ELSEWHERE),
        ({"TOKENLIGHT_BUILD_CACHE": str(ELSEWHERE), "XDG_CACHE_HOME": "/x"}, "darwin", ELSEWHERE),
    ],
)
def test_the_cache_lies_where_the_system_keeps_caches(
    environment: dict[str, str], platform: str, folder: Path
) -> None:
    assert cache_folder(environment, platform, HOME) == folder


def test_the_checkout_is_the_one_that_holds_the_scripts() -> None:
    assert (this_layout().root / "packaging" / "dev.py").is_file()


def test_windows_keeps_its_commands_elsewhere() -> None:
    assert Layout(HOME, ELSEWHERE, windows=True).python == HOME / ".venv" / "Scripts" / "python.exe"
    assert Layout(HOME, ELSEWHERE, windows=False).python == HOME / ".venv" / "bin" / "python"

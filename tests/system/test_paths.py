from __future__ import annotations

from pathlib import Path

import pytest

from app.system.paths import Paths, find_paths


def every_path(paths: Paths) -> list[Path]:
    return [
        paths.settings_file,
        paths.data,
        paths.models,
        paths.logs,
        paths.cache,
        paths.window_log,
        paths.command_log,
        paths.engine_log,
        paths.crash_log,
    ]


def test_the_home_variable_moves_every_file_under_one_folder(tmp_path: Path) -> None:
    home = tmp_path / "sp ace ümlaut 日本"
    paths = find_paths({"TOKENLIGHT_HOME": str(home)})
    assert all(path.is_relative_to(home) for path in every_path(paths))


def test_a_relative_home_does_not_depend_on_the_folder_at_the_time(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    paths = find_paths({"TOKENLIGHT_HOME": "here"})
    assert paths.settings_file == tmp_path / "here" / "settings.json"


def test_without_a_home_the_folders_are_the_users_own() -> None:
    paths = find_paths({"TOKENLIGHT_HOME": "  "})
    assert all("tokenlight" in str(path).lower() for path in every_path(paths))


def test_asking_for_paths_creates_nothing(tmp_path: Path) -> None:
    find_paths({"TOKENLIGHT_HOME": str(tmp_path / "none")})
    assert list(tmp_path.iterdir()) == []


def test_a_home_of_nobody_is_a_folder_like_any_other() -> None:
    assert find_paths({"TOKENLIGHT_HOME": "~nobody-has-this-name"}).data.name == "~nobody-has-this-name"

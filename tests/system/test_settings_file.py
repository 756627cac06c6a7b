from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from app.core.events import Event
from app.core.job_events import JobFailed
from app.core.model import LoadOptions
from app.core.sampling import SamplingSettings
from app.system.settings_file import MAX_BYTES, ModelSettings, Settings, SettingsFile


class Later:
    """Keeps what was handed to a background thread until the test runs it."""

    def __init__(self) -> None:
        self.works: list[Callable[[], Event | None]] = []

    def __call__(self, _name: str, work: Callable[[], Event | None]) -> None:
        self.works.append(work)

    def run(self) -> list[Event | None]:
        works, self.works = self.works, []
        return [work() for work in works]


@pytest.fixture
def later() -> Later:
    return Later()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "folder" / "settings.json"


def test_a_fresh_installation_has_the_defaults_and_no_file(path: Path, later: Later) -> None:
    settings = SettingsFile(path, later)
    assert settings.values == Settings()
    assert settings.problems == ()
    assert not path.exists()


def test_only_differences_are_written(path: Path, later: Later) -> None:
    settings = SettingsFile(path, later)
    settings.change(theme="dark", sampling=SamplingSettings(temperature=0.3))
    settings.remember_model("12-ab", ModelSettings("Small", LoadOptions(context=512)))
    later.run()
    assert json.loads(path.read_text(encoding="utf-8")) == {
        "theme": "dark",
        "sampling": {"temperature": 0.3},
        "models": {"12-ab": {"name": "Small", "options": {"context": 512}}},
    }


def test_what_was_written_is_read_again(path: Path, later: Later) -> None:
    settings = SettingsFile(path, later)
    settings.change(last_model="/models/日本 ü.gguf", system_prompt="Be brief.\nPlease.", model_folders=("/a", "/b"))
    settings.remember_model("12-ab", ModelSettings("Small", LoadOptions(gpu_layers=0, mmap=False), "chatml"))
    later.run()
    again = SettingsFile(path, later)
    assert again.values == settings.values
    assert again.problems == ()


def test_many_changes_before_the_writing_cost_one_writing(path: Path, later: Later) -> None:
    settings = SettingsFile(path, later)
    for number in range(50):
        settings.change(system_prompt=str(number))
    assert len(later.works) == 1
    later.run()
    assert json.loads(path.read_text()) == {"system_prompt": "49"}


def test_a_change_to_the_same_value_writes_nothing(path: Path, later: Later) -> None:
    SettingsFile(path, later).change(theme="system")
    assert later.works == []


def test_a_bad_value_costs_that_value_only_and_is_named(path: Path, later: Later) -> None:
    path.parent.mkdir()
    path.write_text(
        json.dumps(
            {
                "theme": "pink",
                "system_prompt": "kept",
                "sampling": {"temperature": "hot", "top_k": 99},
                "models": {"1-a": {"options": {"context": "big", "threads": 3}}, "2-b": 7},
            }
        )
    )
    settings = SettingsFile(path, later)
    assert settings.values.theme == "system"
    assert settings.values.system_prompt == "kept"
    assert settings.values.sampling == SamplingSettings(top_k=99)
    assert settings.model("1-a").options == LoadOptions(threads=3)
    named = " ".join(problem.english() for problem in settings.problems)
    assert all(
        name in named for name in ("theme", "sampling.temperature", "models.1-a.options.context", "models.2-b")
    )


def test_a_value_out_of_range_from_another_version_is_held_in_range(path: Path, later: Later) -> None:
    path.parent.mkdir()
    path.write_text(json.dumps({"sampling": {"temperature": 1e9, "top_p": -3}}))
    sampling = SettingsFile(path, later).values.sampling
    assert (sampling.temperature, sampling.top_p) == (5.0, 0.0)


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe{}", b"[1, 2]", b"null"])
def test_a_damaged_file_is_kept_aside_and_the_defaults_are_in_force(path: Path, later: Later, content: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(content)
    settings = SettingsFile(path, later)
    assert settings.values == Settings()
    assert len(settings.problems) == 1
    assert path.with_name("settings.json.unreadable").read_bytes() == content


def test_a_writing_that_fails_says_so_and_leaves_the_old_file(
    path: Path, later: Later, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = SettingsFile(path, later, lambda _seconds, _call: None)
    settings.change(system_prompt="first")
    later.run()
    before = path.read_bytes()

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    settings.change(system_prompt="second")
    (told,) = later.run()
    assert isinstance(told, JobFailed)
    assert "No space left on device" in told.sentence.english()
    assert path.read_bytes() == before
    assert [found.name for found in path.parent.iterdir()] == ["settings.json"]


def test_nesting_without_end_costs_the_file(path: Path, later: Later) -> None:
    path.parent.mkdir()
    path.write_text("[" * 200_000)
    settings = SettingsFile(path, later)
    assert settings.values == Settings()
    assert "damaged" in settings.problems[0].english()


@pytest.mark.parametrize("field", ["temperature", "top_k", "seed"])
def test_a_number_without_end_costs_that_value(path: Path, later: Later, field: str) -> None:
    path.parent.mkdir()
    path.write_text('{"system_prompt": "kept", "sampling": {"%s": %s}}' % (field, "9" * 400))  # noqa: UP031
    settings = SettingsFile(path, later)
    assert settings.values == Settings(system_prompt="kept")
    assert f"sampling.{field}" in settings.problems[0].english()


def test_settings_that_held_a_number_without_end_can_be_written_again(path: Path, later: Later) -> None:
    path.parent.mkdir()
    path.write_text('{"models": {"1-a": {"options": {"threads": 2, "context": ' + "9" * 400 + "}}}}")
    settings = SettingsFile(path, later)
    settings.change(system_prompt="new")
    assert later.run() == [None]
    assert json.loads(path.read_text())["models"] == {"1-a": {"options": {"threads": 2}}}


def test_a_folder_that_cannot_exist_is_left_out(path: Path, later: Later) -> None:
    path.parent.mkdir()
    path.write_text(json.dumps({"model_folders": ["/a", "/b\0c"]}))
    settings = SettingsFile(path, later)
    assert settings.values.model_folders == ("/a",)
    assert "model_folders" in settings.problems[0].english()


@pytest.mark.parametrize("target", ["fifo", "/dev/zero", "folder"])
def test_what_is_no_ordinary_file_is_not_read(path: Path, later: Later, tmp_path: Path, target: str) -> None:
    path.parent.mkdir(exist_ok=True)
    place = tmp_path / target
    if target == "fifo":
        os.mkfifo(place)
    path.symlink_to(place)
    settings = SettingsFile(path, later)
    assert settings.values == Settings()
    assert "no ordinary file" in settings.problems[0].english()
    assert path.is_symlink()


def test_a_file_that_is_too_large_is_not_taken(path: Path, later: Later) -> None:
    path.parent.mkdir()
    with path.open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    settings = SettingsFile(path, later)
    assert settings.values == Settings()
    assert "16 MiB" in settings.problems[0].english()


def test_the_policy_of_a_full_context_is_kept_and_a_bad_one_costs_only_itself(path: Path, later: Later) -> None:
    settings = SettingsFile(path, later)
    assert settings.values.when_full == "stop"
    settings.change(when_full="drop_oldest")
    later.run()
    assert json.loads(path.read_text(encoding="utf-8")) == {"when_full": "drop_oldest"}
    assert SettingsFile(path, later).values.when_full == "drop_oldest"
    for bad in ("shift", None, 3, ["stop"]):
        path.write_text(json.dumps({"when_full": bad, "theme": "dark"}), encoding="utf-8")
        again = SettingsFile(path, later)
        assert (again.values.when_full, again.values.theme) == ("stop", "dark")
        assert again.problems[0].values == {"name": "when_full"}

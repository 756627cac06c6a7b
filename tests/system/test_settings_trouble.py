"""Settings of which a part cannot be read, and settings that cannot be written for a while."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from app.core.events import Event
from app.core.job_events import JobFailed
from app.system.settings_file import RETRY_SECONDS, SettingsFile
from app.system.settings_words import MOST_NAMED

BROKEN = {"theme": "pink", "keep_record": 7, "panel_shown": "maybe", "folded": 1.5}


class Hands:
    """Keeps what was handed to another thread, and what is to be called later, until the test does it."""

    def __init__(self) -> None:
        self.works: list[Callable[[], Event | None]] = []
        self.calls: list[tuple[float, Callable[[], None]]] = []

    def submit(self, _name: str, work: Callable[[], Event | None]) -> None:
        self.works.append(work)

    def later(self, seconds: float, call: Callable[[], None]) -> None:
        self.calls.append((seconds, call))

    def work(self) -> list[Event | None]:
        works, self.works = self.works, []
        return [work() for work in works]

    def wait(self) -> None:
        calls, self.calls = self.calls, []
        for _, call in calls:
            call()


class Disk:
    """A disk that is full when the test says so."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.problem: OSError | None = OSError(28, "No space left on device")
        self._sync = os.fsync
        monkeypatch.setattr(os, "fsync", self._try)

    def _try(self, descriptor: int) -> None:
        if self.problem is not None:
            raise self.problem
        self._sync(descriptor)


@pytest.fixture
def hands() -> Hands:
    return Hands()


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    return Disk(monkeypatch)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "settings.json"


def opened(path: Path, hands: Hands) -> SettingsFile:
    return SettingsFile(path, hands.submit, hands.later)


def test_all_that_could_not_be_read_is_named_at_once_and_the_file_is_kept(path: Path, hands: Hands) -> None:
    content = json.dumps({**BROKEN, "system_prompt": "kept"})
    path.write_text(content)
    settings = opened(path, hands)
    named, kept = (problem.english() for problem in settings.problems)
    assert all(f"“{name}”" in named for name in BROKEN) and "more" not in named
    assert kept.endswith("settings.json.unreadable.")
    settings.change(theme="dark")
    assert hands.work() == [None]
    assert json.loads(path.read_text()) == {"theme": "dark", "system_prompt": "kept"}
    assert path.with_name("settings.json.unreadable").read_text() == content


def test_of_very_many_the_first_are_named(path: Path, hands: Hands) -> None:
    path.write_text(json.dumps({"models": {f"model {number}": 1 for number in range(40)}}))
    named = opened(path, hands).problems[0].english()
    assert "“models.model 5”" in named and "model 6" not in named
    assert named.endswith(f"and {40 - MOST_NAMED} more.")


def test_a_copy_that_cannot_be_made_is_told(path: Path, hands: Hands, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_source: Path, _target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(shutil, "copyfile", refuse)
    path.write_text(json.dumps(BROKEN))
    told = opened(path, hands).problems[1].english()
    assert "No space left on device" in told and f"copy {path} before" in told


def test_a_writing_that_failed_is_tried_again_after_a_while(path: Path, hands: Hands, disk: Disk) -> None:
    settings = opened(path, hands)
    settings.change(theme="dark")
    assert isinstance(hands.work()[0], JobFailed)
    assert [seconds for seconds, _ in hands.calls] == [RETRY_SECONDS]
    hands.wait()
    assert hands.work() == [None] and not settings.is_saved  # people know it
    disk.problem = None
    hands.wait()
    assert hands.work() == [None] and settings.is_saved
    assert json.loads(path.read_text()) == {"theme": "dark"}
    assert hands.calls == []


def test_a_writing_that_failed_is_tried_again_with_the_next_change_and_at_the_end(
    path: Path, hands: Hands, disk: Disk
) -> None:
    settings = opened(path, hands)
    settings.change(theme="dark")
    hands.work()
    settings.change(reduce_motion=True)
    assert isinstance(hands.work()[0], JobFailed)
    assert len(hands.calls) == 1
    disk.problem = None
    assert settings.write() is None
    assert json.loads(path.read_text()) == {"theme": "dark", "reduce_motion": True}


def test_another_reason_is_told_by_the_next_try(path: Path, hands: Hands, disk: Disk) -> None:
    settings = opened(path, hands)
    settings.change(theme="dark")
    hands.work()
    disk.problem = PermissionError(13, "Permission denied")
    hands.wait()
    (told,) = hands.work()
    assert isinstance(told, JobFailed) and "Permission denied" in told.sentence.english()

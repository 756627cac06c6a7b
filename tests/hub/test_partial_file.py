"""The partial file while two processes want it: what one of them finishes or deletes, the other one never empties."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from app.core.errors import UserError
from app.hub import partial_file
from app.hub.partial_file import PART, PartialFile, PartState

CONTENT = b"GGUF" + b"x" * 996
STATE = PartState("org/repo", "main", "m.gguf", len(CONTENT), "ab" * 32)
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no open file is renamed there")


@pytest.fixture
def goal(tmp_path: Path) -> Path:
    return tmp_path / "m.gguf"


def whole(goal: Path) -> PartialFile:
    made = PartialFile(goal)
    made.begin(STATE)
    made.append(CONTENT)
    return made


def test_nobody_else_may_write_it_before_it_has_its_name(goal: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made, replace, tried = whole(goal), Path.replace, list[str]()

    def try_then_replace(this: Path, to: Path) -> Path:
        for moment in ("before", "after"):
            try:
                PartialFile(goal).close()
            except UserError as error:
                tried.append(f"{moment}: {error.sentence.english()}")
            if moment == "before":
                replace(this, to)
        return to

    monkeypatch.setattr(Path, "replace", try_then_replace)
    made.finish()
    assert len(tried) == 1 and tried[0].startswith("before") and "by another Tokenlight" in tried[0]
    assert goal.read_bytes() == CONTENT


@pytest.mark.parametrize("end", [PartialFile.finish, PartialFile.delete])
def test_what_was_opened_before_it_had_its_name_is_not_written_after_that(
    goal: Path, monkeypatch: pytest.MonkeyPatch, end: object
) -> None:
    """The other process has opened it, and gets the lock when the first one is done with it."""
    made, lock = whole(goal), partial_file._lock
    assert callable(end)

    def finish_first(number: int) -> None:
        monkeypatch.setattr(partial_file, "_lock", lock)
        end(made)
        lock(number)

    monkeypatch.setattr(partial_file, "_lock", finish_first)
    other = PartialFile(goal)
    try:
        other.begin(STATE)
        other.append(b"GGUF")
        assert other.path.read_bytes() == b"GGUF"
        assert not goal.exists() or goal.read_bytes() == CONTENT
    finally:
        other.close()


def test_a_disk_that_never_gives_one_file_is_not_tried_for_ever(goal: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = list[Path]()

    def never(_: object, path: Path) -> bool:
        opened.append(path)
        return False

    monkeypatch.setattr(partial_file, "_is_at", never)
    with pytest.raises(UserError, match="another Tokenlight"):
        PartialFile(goal)
    assert 1 < len(opened) < 10


def test_a_disk_without_locks_takes_it_all_the_same(goal: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_locks(_: int) -> None:
        raise OSError(95, os.strerror(95))

    monkeypatch.setattr(partial_file, "_lock", no_locks)
    made = whole(goal)
    made.finish()
    assert goal.read_bytes() == CONTENT and not goal.with_name(goal.name + PART).exists()

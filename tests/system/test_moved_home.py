"""A data folder that is moved away under the window that has it, and is made anew where it was."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.core.events import Event
from app.core.job_events import Summoned
from app.system import instance as module
from app.system.doorbell import Doorbell
from app.system.doorbell_limits import Answer
from app.system.instance import ADDRESS_NAME, LOCK_NAME, Instance, claim

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows moves no folder in which a file is open")
GUARD_S = 60.0


class First:
    """The one that had the folder first; the test says when it looks after its claim."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.look: Callable[[], None]
        self.told: list[Event] = []

        def make_door(answer: Answer, look: Callable[[], None]) -> Doorbell:
            self.look = look
            return Doorbell(answer, lambda: None)

        monkeypatch.setattr(module, "Doorbell", make_door)
        self.instance = Instance(folder)
        assert self.instance.acquire()
        self.instance.deliver_to(self.told.append)
        monkeypatch.undo()

    def move_away(self) -> Path:
        """Move its folder, as people do in a file manager."""
        return self.folder.rename(self.folder.with_name("elsewhere"))


@pytest.fixture
def first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[First]:
    made = First(tmp_path / "home", monkeypatch)
    yield made
    made.instance.close()


def test_a_folder_that_is_there_anew_is_claimed_again_and_the_moved_one_let_go(first: First) -> None:
    moved = first.move_away()
    first.folder.mkdir()
    first.look()
    assert claim(first.folder, None, patience_s=GUARD_S) is None
    assert first.told == [Summoned()]
    (moved / ADDRESS_NAME).unlink()
    other = Instance(moved)
    assert other.acquire() and (moved / ADDRESS_NAME).exists()
    other.close()
    first.instance.close()
    assert not (first.folder / ADDRESS_NAME).exists()


def test_an_address_that_was_removed_is_written_again(first: First) -> None:
    (first.folder / ADDRESS_NAME).unlink()
    first.look()
    assert claim(first.folder, None, patience_s=GUARD_S) is None


def test_a_folder_that_nobody_made_anew_is_not_made_for_a_lock(first: First) -> None:
    first.move_away()
    first.look()
    assert not first.folder.exists()


def test_a_later_start_that_has_the_folder_keeps_it(first: First) -> None:
    first.move_away()
    later = claim(first.folder, None)
    assert later is not None
    address = (first.folder / ADDRESS_NAME).read_bytes()
    first.look()
    assert (first.folder / ADDRESS_NAME).read_bytes() == address
    later.close()
    first.look()
    assert claim(first.folder, None, patience_s=GUARD_S) is None


def test_a_claim_that_stands_is_left_as_it_is_and_none_is_made_after_the_end(first: First) -> None:
    before = [(first.folder / name).stat() for name in (LOCK_NAME, ADDRESS_NAME)]
    first.look()
    assert [(first.folder / name).stat().st_ino for name in (LOCK_NAME, ADDRESS_NAME)] == [
        known.st_ino for known in before
    ]
    first.instance.hang_up()
    first.look()
    assert not (first.folder / ADDRESS_NAME).exists()

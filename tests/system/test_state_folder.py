"""The folder of kept states: what was used least recently goes first, and nothing that is not its own is touched."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from app.system.state_folder import ABANDONED_S, LONGEST_S, StateFolder, StatesLook


@pytest.fixture
def folder(tmp_path: Path) -> StateFolder:
    return StateFolder(tmp_path / "states")


def put(path: Path, size: int, age_s: float) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(bytes(size))
    then = time.time() - age_s
    os.utime(path, (then, then))
    return path


def test_each_conversation_has_a_file_for_each_model(folder: StateFolder) -> None:
    places = {folder.place(chat, model) for chat in (1, 2, 11) for model in ("a", "b/c", "é")}
    assert len(places) == 9
    assert folder.place(1, "a") == folder.place(1, "a")


def test_what_was_used_least_recently_goes_first(folder: StateFolder) -> None:
    old, middle, new = (put(folder.place(chat, "m"), 100, age) for chat, age in ((3, 500), (1, 300), (2, 100)))
    assert folder.tidy(250) == StatesLook(2, 200)
    assert [path.exists() for path in (old, middle, new)] == [False, True, True]
    os.utime(middle)
    assert folder.tidy(100) == StatesLook(1, 100)
    assert [path.exists() for path in (middle, new)] == [True, False]
    assert folder.tidy(0) == StatesLook(0, 0)


def test_the_order_is_that_of_their_last_use_whatever_they_are_called(folder: StateFolder) -> None:
    ages = {chat: (chat * 37) % 101 + 1 for chat in range(30)}
    paths = {chat: put(folder.place(chat, "m"), 10, age) for chat, age in ages.items()}
    assert folder.tidy(100) == StatesLook(10, 100)
    latest = sorted(ages, key=lambda chat: ages[chat])[:10]
    assert {chat for chat, path in paths.items() if path.exists()} == set(latest)


def test_what_was_not_used_for_long_goes_whatever_there_is_room_for(folder: StateFolder) -> None:
    put(folder.place(1, "m"), 10, LONGEST_S + 60)
    assert folder.tidy(1000) == StatesLook(0, 0)


def test_what_is_being_written_stays_and_what_was_abandoned_goes(folder: StateFolder) -> None:
    place = folder.place(1, "m")
    written = put(place.with_name(place.name + ".partial"), 10, 5)
    place = folder.place(2, "m")
    abandoned = put(place.with_name(place.name + ".partial"), 10, ABANDONED_S + 60)
    assert folder.tidy(1000) == StatesLook(0, 0)
    assert (written.exists(), abandoned.exists()) == (True, False)


def test_nothing_stays_where_nothing_may_be_kept(folder: StateFolder) -> None:
    place = folder.place(1, "m")
    written = put(place.with_name(place.name + ".partial"), 10, 5)
    whole = put(place, 0, 5)
    assert folder.tidy(0) == StatesLook(0, 0)
    assert not written.exists() and not whole.exists()


def test_the_states_of_one_conversation_are_removed_or_all(folder: StateFolder) -> None:
    one, eleven = put(folder.place(1, "m"), 10, 5), put(folder.place(11, "m"), 10, 5)
    other = put(folder.place(1, "m").with_name("notes.txt"), 10, 5)
    folder.remove(1)
    assert (one.exists(), eleven.exists(), other.exists()) == (False, True, True)
    folder.remove()
    assert (eleven.exists(), other.exists()) == (False, True)


def test_a_folder_that_is_not_there_holds_nothing(folder: StateFolder) -> None:
    folder.remove()
    assert folder.tidy(10) == StatesLook(0, 0)

"""What lies around a model's file: its parts, links, and what is beside it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from app.core.found_file import FoundFile
from app.system.own_models import FileLook, look_around

fcntl = pytest.importorskip("fcntl", reason="links and locks are made otherwise there")


@pytest.fixture
def own(tmp_path: Path) -> Path:
    made = tmp_path / "own"
    (made / "org" / "repo").mkdir(parents=True)
    return made


def look(path: Path, own: Path, *others: FoundFile, known: tuple[str, ...] = ()) -> FileLook:
    return look_around(str(path), own, [own, own.parent / "added"], others, known)


def test_a_file_alone(own: Path) -> None:
    path = own / "org" / "repo" / "a.gguf"
    path.write_bytes(b"12345")
    (own / "org" / "repo" / "B.gguf").touch()
    found = look(path, own)
    assert found == FileLook("own", files=(str(path),), size=5, taken=frozenset({"b.gguf"}), same=frozenset())


def test_all_parts_belong_to_it_and_those_of_others_do_not(own: Path) -> None:
    names = ["m-00001-of-00003.gguf", "m-00003-of-00003.gguf", "m-00001-of-00002.gguf", "n-00002-of-00003.gguf"]
    for name in (*names, "m-00002-of-00003.gguf.part", "m-00002-of-00003.gguf.part.json", "n.gguf.part"):
        (own / name).write_bytes(b"12")
    found = look(own / names[0], own)
    assert found.files == (str(own / names[0]), str(own / names[1])) and found.size == 4
    assert found.partials == tuple(str(own / f"m-00002-of-00003.gguf.part{end}") for end in ("", ".json"))
    assert not found.is_written


def test_a_partial_file_that_another_process_writes_is_noticed(own: Path) -> None:
    (own / "a.gguf").touch()
    with (own / "a.gguf.part").open("wb") as file:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX)
        assert look(own / "a.gguf", own).is_written
    assert not look(own / "a.gguf", own).is_written


def test_what_lies_elsewhere_is_not_ours_whatever_links_lead_to_it(own: Path, tmp_path: Path) -> None:
    added = tmp_path / "added"
    added.mkdir()
    (added / "a.gguf").touch()
    (own / "behind").symlink_to(added)
    assert look(added / "a.gguf", own).place == "elsewhere"
    assert look(own / "behind" / "a.gguf", own).place == "elsewhere"
    assert look(own / "gone.gguf", own).place == "gone"


def test_a_folder_of_another_program_stays_its_own_behind_a_link(own: Path, tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "a.gguf").touch()
    linked = tmp_path / "linked"
    linked.symlink_to(theirs)
    found = look_around(
        str(linked / "a.gguf"), linked, [], [FoundFile(str(theirs / "a.gguf"), 0, 0, "lm_studio")], ()
    )
    assert (found.place, found.owner) == ("elsewhere", "lm_studio")


def test_links_to_it_and_from_it_and_other_names_are_told(own: Path, tmp_path: Path) -> None:
    path, added = own / "a.gguf", tmp_path / "added"
    path.write_bytes(b"12")
    added.mkdir()
    (added / "link.gguf").symlink_to(path)
    (added / "other.gguf").symlink_to("nowhere")
    found = look(path, own, known=(str(path), str(added / "link.gguf"), str(added / "none.gguf")))
    assert found.links == (str(added / "link.gguf"),) and not found.has_other_names
    assert found.same == {str(path), str(added / "link.gguf")}
    os.link(path, added / "hard.gguf")
    assert look(path, own).has_other_names
    (own / "to.gguf").symlink_to(added / "hard.gguf")
    linked = look(own / "to.gguf", own)
    assert linked.place == "own" and linked.link_to == str(added / "hard.gguf") and linked.size == 0

"""How it stands with a model that can be downloaded: on its way in some version, here already, or here once."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from app.core.download import DownloadChanged, DownloadFile, DownloadState, DownloadWanted
from app.core.model import FoundModel
from app.core.words import translate
from app.services.download_ends import watch_ends
from app.services.downloads import Downloads
from tests.desk import Desk
from tests.services.test_downloads import MODELS, made

DIGEST, OTHER_DIGEST = "1" * 64, "2" * 64
PATH = str(MODELS / "org" / "repo" / "a.gguf")


def wanted(revision: str = "1a" * 20, *, sha256: str = DIGEST, size: int = 1000) -> DownloadWanted:
    return DownloadWanted("org/repo", revision, (DownloadFile("a.gguf", size, sha256),))


FIRST, LATER = wanted(), wanted("2b" * 20, sha256=OTHER_DIGEST)


def found(size: int = 1000, **more: object) -> FoundModel:
    return FoundModel(PATH, size, "A", **more)  # type: ignore[arg-type]


def test_what_nobody_wants_and_nobody_has_can_be_downloaded() -> None:
    downloads, _ = made()
    standing = downloads.standing(FIRST)
    assert standing.is_free and (standing.row, standing.found, standing.path) == (None, None, "")


@pytest.mark.parametrize("state", ["waiting", "running", "retrying", "checking", "paused"])
def test_one_on_its_way_stands_for_every_version_of_its_file(state: DownloadState) -> None:
    downloads, _ = made()
    downloads.take(DownloadChanged(FIRST, state, 100, path=PATH))
    for each, is_other in ((FIRST, False), (LATER, True), (wanted("3c" * 20), False)):
        standing = downloads.standing(each)
        assert standing.row == downloads.rows[0] and not standing.is_free, "two never write one file"
        assert standing.is_other is is_other, "with one checksum it is the same in any commit"
    assert downloads.standing(wanted("3c" * 20, sha256="")).is_other, "without one nobody knows"


def test_a_version_that_failed_gives_its_place_to_another_one() -> None:
    downloads, _ = made()
    downloads.take(DownloadChanged(FIRST, "failed", 100, path=PATH))
    assert downloads.standing(FIRST).is_free, "it is tried again"
    assert downloads.standing(LATER).is_free
    downloads.take(DownloadChanged(LATER, "waiting", path=PATH))
    assert [row.wanted for row in downloads.rows] == [LATER]


@pytest.mark.parametrize("is_found_first", [False, True])
def test_what_another_program_completed_is_looked_at_once_and_only_then(is_found_first: bool) -> None:
    downloads, port = made()
    told = DownloadChanged(FIRST, "paused", 100, path=PATH)
    if is_found_first:
        downloads.note_found([found()])
        downloads.take(told)
    else:
        downloads.take(told)
        downloads.note_found([found(size=999)])
        assert not port.asked, "what is shorter is not it"
        downloads.note_found([])
        downloads.note_found([found()])
    assert port.asked == [("resume", FIRST.key)]
    downloads.take(DownloadChanged(FIRST, "checking", 1000, path=PATH))
    downloads.take(told)
    downloads.note_found([found()])
    assert port.asked == [("resume", FIRST.key)], "what people pause then stays so"


def test_a_file_that_a_search_has_found_needs_no_download() -> None:
    downloads, _ = made()
    told: list[bool] = []
    downloads.changed.connect(lambda: told.append(True))
    downloads.note_found([found()])
    standing = downloads.standing(FIRST)
    assert (standing.is_free, standing.is_other, standing.path) == (False, False, PATH) and told == [True]
    assert downloads.standing(wanted(size=1001)).is_other
    downloads.note_found([found(problem=translate("Download", "It is damaged."))])
    assert not downloads.standing(FIRST).is_free and downloads.standing(FIRST).path == ""
    downloads.note_found([found(parts=1, parts_wanted=2)])
    assert downloads.standing(FIRST).is_free, "the download brings the others"
    downloads.note_found([])
    assert downloads.standing(FIRST).is_free and len(told) == 4


def test_what_was_downloaded_in_another_version_of_the_same_size_is_told_apart_by_its_checksum() -> None:
    downloads, _ = made()
    downloads.take(DownloadChanged(FIRST, "done", 1000, path=PATH))
    downloads.note_found([found()])
    assert not downloads.standing(FIRST).is_other and not downloads.standing(wanted("3c" * 20)).is_other
    assert downloads.standing(LATER).is_other


def test_the_same_commit_in_the_hugging_face_cache_needs_no_download() -> None:
    downloads, _ = made()
    path = f"/cache/models--org--repo/snapshots/{FIRST.revision}/a.gguf"
    cached = FoundModel(path, 1000, "A", origin="hub_cache")
    downloads.note_found([cached])
    assert (downloads.standing(FIRST).is_free, downloads.standing(FIRST).path) == (False, path)
    assert not downloads.standing(FIRST).is_other
    assert downloads.standing(LATER).is_free, "another commit may be another file, and has another place"
    for other in (
        msgspec.structs.replace(cached, size=999),
        msgspec.structs.replace(cached, parts_wanted=2),
        msgspec.structs.replace(cached, origin="own"),
        msgspec.structs.replace(cached, path=path.replace("org--repo", "org--other")),
    ):
        downloads.note_found([other])
        assert downloads.standing(FIRST).is_free


def test_a_path_that_cannot_be_kept_is_no_file_here() -> None:
    downloads, _ = made()
    downloads.note_found([FoundModel(str(MODELS / "org" / "a.gguf"), 1000, "A")])
    climbing = DownloadWanted("org/repo", "main", (DownloadFile("../a.gguf", 1000),))
    assert downloads.standing(climbing).found is None


def test_what_was_downloaded_and_is_deleted_can_be_downloaded_again() -> None:
    downloads, port = made()
    downloads.take(DownloadChanged(FIRST, "done", 1000, path=PATH))
    downloads.note_found([])
    assert not downloads.rows[0].is_away, "no search has seen it yet"
    downloads.note_found([found()])
    downloads.note_found([])
    assert downloads.rows[0].is_away and downloads.rows[0].actions == ("again", "dismiss")
    assert downloads.standing(FIRST).is_free and downloads.standing(FIRST).path == ""
    downloads.act(FIRST.key, "again")
    assert port.asked == [("add", FIRST)]
    downloads.note_found([found()])
    assert not downloads.rows[0].is_away and downloads.standing(FIRST).path == PATH


def test_a_deleted_file_is_noticed_by_the_next_search(
    desk: Desk, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = desk.program
    monkeypatch.setattr(program.models, "_folders", (program.paths.models,))
    watch_ends(program.downloads, program.models, program.notices, program.session)
    goal = program.paths.models / "org" / "repo" / "a.gguf"
    goal.parent.mkdir(parents=True)
    goal.write_bytes(model.read_bytes())
    downloads: Downloads = program.downloads
    here = wanted(size=goal.stat().st_size)
    program.models.refresh()
    desk.until(lambda: downloads.standing(here).path == str(goal))
    program.dispatch(DownloadChanged(here, "done", here.size, path=str(goal)))
    goal.unlink()
    program.models.refresh()
    desk.until(lambda: downloads.standing(here).is_free)
    assert downloads.rows[0].is_away


def test_after_a_restart_the_version_of_a_model_is_known_by_the_download_that_it_came_of() -> None:
    downloads, _ = made()
    downloads.note_found([found(source=FIRST)])
    assert not downloads.standing(FIRST).is_other and not downloads.standing(wanted("3c" * 20)).is_other
    assert downloads.standing(LATER).is_other and downloads.standing(LATER).found is not None


def test_what_was_given_another_name_since_need_not_be_downloaded_again() -> None:
    downloads, _ = made()
    renamed = FoundModel(str(MODELS / "org" / "repo" / "mine.gguf"), 1000, "Mine", source=FIRST)
    downloads.note_found([renamed])
    assert downloads.standing(FIRST).path == renamed.path and downloads.standing(LATER).is_free
    downloads.note_found([msgspec.structs.replace(renamed, parts_wanted=2)])
    assert downloads.standing(FIRST).is_free

"""What a download never touches: files that another program, or somebody, has put where it is going."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from app.core.download import DownloadWanted
from app.core.errors import UserError
from app.hub import download
from app.hub.partial_file import PART, STATE, PartialFile
from tests.hub.download_hub import CONTENT, HALF, NAME, Downloader, DownloadHub, downloader

OWN = b"GGUF which is my own"
renamed_open = pytest.mark.skipif(sys.platform == "win32", reason="no open file is deleted there")
NAMES = (NAME, "m-00001-of-00002.gguf", "m-00002-of-00002.gguf")


def paused(hub: DownloadHub, made: Downloader, wanted: DownloadWanted) -> None:
    """Leave half of the last file of a download, paused."""
    hub.hang_at, hub.hang_after_next = (HALF, None) if len(wanted.files) == 1 else (None, HALF)
    made.queue.add(wanted)
    while made.until("running").done < wanted.size - len(CONTENT) + HALF:
        pass
    made.queue.pause(wanted.key)
    made.until("paused")
    made.queue.close()  # until then its thread may still end
    hub.hang_at = None


def cancelled(made: Downloader, wanted: DownloadWanted) -> None:
    """Give it up; what is deleted is so when this returns."""
    made.queue.cancel(wanted.key)
    made.until(None)
    made.queue.close()


@pytest.mark.parametrize("names", [NAMES[:1], NAMES[1:]])
def test_what_another_program_completed_stays_when_it_is_given_up(
    hub: DownloadHub, tmp_path: Path, names: tuple[str, ...]
) -> None:
    wanted = hub.wanted(*names)
    with downloader(hub, tmp_path) as made:
        paused(hub, made, wanted)
        with downloader(hub, tmp_path) as other:
            other.queue.add(wanted)
            other.until("done")
        cancelled(made, wanted)
    assert made.files() == sorted(names)


def test_a_file_that_somebody_put_at_the_goal_stays_when_it_is_given_up(hub: DownloadHub, tmp_path: Path) -> None:
    wanted = hub.wanted(NAME)
    with downloader(hub, tmp_path) as made:
        paused(hub, made, wanted)
        made.goal(hub, NAME).write_bytes(OWN)
        made.queue.resume(wanted.key)
        problem = made.until("failed").problem
        assert problem is not None and "another file called" in problem.english()
        cancelled(made, wanted)
    assert made.files() == [NAME] and made.goal(hub, NAME).read_bytes() == OWN


def test_a_part_that_somebody_put_there_since_stays_when_it_is_given_up(hub: DownloadHub, tmp_path: Path) -> None:
    wanted = hub.wanted(*NAMES[1:])
    with downloader(hub, tmp_path) as made:
        paused(hub, made, wanted)
        made.goal(hub, NAMES[1]).unlink()
        made.goal(hub, NAMES[1]).write_bytes(OWN)
        cancelled(made, wanted)
    assert made.files() == [NAMES[1]]


def test_what_another_program_is_writing_stays_when_it_is_given_up_and_at_the_next_start(
    hub: DownloadHub, tmp_path: Path
) -> None:
    kept, models, wanted = tmp_path / "data" / "downloads.json", tmp_path / "models", hub.wanted(NAME)
    with downloader(hub, models, kept) as made:
        paused(hub, made, wanted)
        held = PartialFile(made.goal(hub, NAME))
        cancelled(made, wanted)
    held.close()
    with downloader(hub, models, kept) as made:
        made.queue.open()
        made.queue.add(hub.wanted(*NAMES[1:]))
        made.until("done")
    assert NAME + PART in made.files() and NAME + STATE in made.files()


def test_the_part_of_another_version_stays_when_the_first_is_given_up(hub: DownloadHub, tmp_path: Path) -> None:
    first = hub.wanted(NAME, size=len(CONTENT))
    with downloader(hub, tmp_path) as made:
        paused(hub, made, first)
        hub.files = {**hub.files, NAME: CONTENT[:-1] + b"!"}
        later = hub.wanted(NAME, revision="1a" * 20)
        with downloader(hub, tmp_path) as other:
            paused(hub, other, later)
        cancelled(made, first)
    assert NAME + PART in made.files()


@renamed_open
def test_what_was_deleted_while_it_was_written_is_told_and_nothing_gets_the_name(
    hub: DownloadHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(download, "CHECK_EVERY", 1)
    goal, read_some = tmp_path / hub.repository / NAME, download._Fetch._read_some

    def delete_then_read(this: download._Fetch, *asked: object) -> bytes:
        goal.with_name(NAME + PART).unlink(missing_ok=True)
        return read_some(this, *asked)  # type: ignore[arg-type]

    monkeypatch.setattr(download._Fetch, "_read_some", delete_then_read)
    with downloader(hub, tmp_path) as made:
        made.queue.add(hub.wanted(NAME))
        problem = made.until("failed").problem
    assert problem is not None and "deleted or moved while" in problem.english()
    assert not goal.exists() and NAME + PART not in made.files()


@renamed_open
def test_the_half_file_of_another_program_never_gets_the_name_of_the_goal(tmp_path: Path) -> None:
    goal = tmp_path / NAME
    first = PartialFile(goal)
    first.append(CONTENT)
    first.path.unlink()
    second = PartialFile(goal)
    second.append(CONTENT[:HALF])
    with pytest.raises(UserError, match="deleted or moved while"):
        first.finish()
    first.delete()
    assert not goal.exists() and second.path.read_bytes() == CONTENT[:HALF]
    second.close()

"""A models folder in which nothing may be written: what is there is used, and all that would change it says so."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.desk import Desk
from tests.ggufs import write_tiny_llama
from tests.hub.download_hub import CONTENT, NAME, DownloadHub, downloader
from tests.ordinary_user import ordinary_user
from tests.services.own_files import begin, done, found

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a folder has no such mark there")


@pytest.fixture
def ordinary() -> Iterator[None]:
    with ordinary_user():
        yield


@pytest.fixture
def closed(ordinary: None, tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "home" / "models"
    folder.mkdir(parents=True)
    write_tiny_llama(folder / "apple.gguf")
    folder.chmod(0o555)
    yield folder
    folder.chmod(0o755)


@pytest.fixture
def desk(closed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    made = Desk(closed.parent, monkeypatch)
    made.program.models._folders = (closed,)
    yield made
    made.program.stop()


def test_a_download_into_it_fails_with_the_reason_and_goes_on_once_it_may(hub: DownloadHub, closed: Path) -> None:
    with downloader(hub, closed) as made:
        made.queue.add(hub.wanted())
        told = made.until("failed")
        assert told.problem is not None
        assert "cannot be written to (Permission denied)" in told.problem.english()
        assert [path.name for path in closed.iterdir()] == ["apple.gguf"]
        closed.chmod(0o755)
        made.queue.resume(told.wanted.key)
        made.until("done")
        assert made.goal(hub, NAME).read_bytes() == CONTENT


def test_a_model_in_it_is_used_and_is_neither_renamed_nor_moved(desk: Desk, closed: Path) -> None:
    assert found(desk, "apple.gguf").is_usable
    files = desk.program.library_files
    deeds: list[Callable[[], None]] = [lambda: files.rename("pear")]
    if os.geteuid() != 0:  # of whoever began as an administrator systems say that they may write
        deeds.append(files.move_to_trash)
    for deed in deeds:
        begin(desk)
        deed()
        said = done(desk)
        assert "could not be moved (Permission denied)" in said and "check who may write in its folder" in said
        assert [path.name for path in closed.iterdir()] == ["apple.gguf"]
    desk.load(closed / "apple.gguf")
    assert desk.loaded_path == str(closed / "apple.gguf")

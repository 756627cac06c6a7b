from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.core.job_events import FoldersLooked, ModelsListed
from app.core.model import FoundModel
from app.services import folder_watch, models
from app.services.folder_watch import LOOK_S, MOST_S, FolderWatch
from app.system.jobs import Jobs
from tests.desk import Desk


@pytest.fixture
def watched(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Let the folders be looked at without a pause."""
    monkeypatch.setattr(folder_watch, "LOOK_S", 0.001)
    monkeypatch.setattr(folder_watch, "SHARE", 0)
    folder = desk.program.paths.models
    folder.mkdir(parents=True)
    desk.program.models.watch.start(is_in_front=True)
    desk.program.models.watch.follow(folder)
    yield folder
    desk.program.models.watch.stop()


def own(desk: Desk) -> list[FoundModel]:
    folder = desk.program.paths.models
    return [found for found in desk.program.models.found if Path(found.path).parent == folder]


def test_a_file_that_appears_changes_or_vanishes_is_noticed(desk: Desk, watched: Path, model: Path) -> None:
    path = watched / "new.gguf"
    path.write_bytes(b"GGUF")
    desk.until(lambda: [found.problem is None for found in own(desk)] == [False])
    shutil.copy(model, watched / "copy")
    (watched / "copy").replace(path)
    desk.until(lambda: [found.problem is None for found in own(desk)] == [True])
    path.unlink()
    desk.until(lambda: own(desk) == [])


def test_a_drive_that_goes_and_comes_back_is_no_error(desk: Desk, watched: Path, model: Path, tmp_path: Path) -> None:
    shutil.copy(model, watched / "a.gguf")
    desk.until(lambda: own(desk))
    watched.rename(tmp_path / "away")
    desk.until(lambda: not own(desk))
    (tmp_path / "away").rename(watched)
    desk.until(lambda: own(desk))
    assert desk.program.notices.latest is None


class _Jobs(Jobs):
    """Keeps what is submitted, and when."""

    def __init__(self) -> None:
        super().__init__(lambda _event: None)
        self.kept: list[tuple[Callable[[], object], Callable[[], object] | None, float]] = []

    def submit(
        self,
        _name: str,
        work: Callable[[], object],
        on_error: Callable[[], object] | None = None,
        *,
        after_s: float = 0.0,
    ) -> None:
        self.kept.append((work, on_error, after_s))


def watch_of(jobs: Jobs, *, has_changed: bool = False, searches: list[int] | None = None) -> FolderWatch:
    """Return a watch that was begun and is followed."""
    told = [] if searches is None else searches
    watch = FolderWatch(lambda: has_changed, lambda: told.append(1), jobs)
    watch.start(is_in_front=True)
    watch.follow("page")
    return watch


def test_folders_that_stayed_are_not_searched_again_and_slow_ones_are_looked_at_less() -> None:
    jobs, searches = _Jobs(), list[int]()
    watch = watch_of(jobs, searches=searches)
    watch.follow("page")
    assert [after_s for _, _, after_s in jobs.kept] == [LOOK_S]
    for took, pause in ((0.0, LOOK_S), (1.0, 20.0), (100.0, MOST_S)):
        watch.take(FoldersLooked(False, took))
        assert jobs.kept[-1][2] == pause
    assert searches == []
    watch.take(FoldersLooked(True))
    assert searches == [1]
    assert len(jobs.kept) == 5


def test_a_look_that_breaks_is_followed_by_another() -> None:
    jobs = _Jobs()
    watch = watch_of(jobs)
    on_error = jobs.kept[0][1]
    assert on_error is not None
    event = on_error()
    assert isinstance(event, FoldersLooked)
    watch.take(event)
    assert jobs.kept[1][2] == MOST_S


def test_a_watch_that_was_ended_looks_and_searches_no_more() -> None:
    jobs, searches = _Jobs(), list[int]()
    watch = watch_of(jobs, has_changed=True, searches=searches)
    watch.stop()
    watch.take(FoldersLooked(True))
    watch.set_in_front(False)
    watch.set_in_front(True)
    assert (len(jobs.kept), searches) == (1, [])


def test_where_nobody_sees_the_models_nothing_is_looked_at() -> None:
    jobs = _Jobs()
    watch = FolderWatch(lambda: False, lambda: None, jobs)
    watch.follow("page")
    assert jobs.kept == [], "it was not begun"
    watch.rest("page")
    watch.start(is_in_front=True)
    assert jobs.kept == [], "no page shows them"
    watch.follow("page")
    watch.follow("dialog")
    watch.rest("dialog")
    watch.take(FoldersLooked(False))
    assert len(jobs.kept) == 2
    watch.rest("page")
    watch.take(FoldersLooked(False))
    assert len(jobs.kept) == 2


def test_a_window_that_comes_to_the_front_looks_once_and_goes_on_where_models_are_shown() -> None:
    jobs = _Jobs()
    watch = FolderWatch(lambda: False, lambda: None, jobs)
    watch.start(is_in_front=False)
    watch.set_in_front(True)
    watch.set_in_front(True)
    assert [after_s for _, _, after_s in jobs.kept] == [0.0]
    watch.take(FoldersLooked(False))
    assert len(jobs.kept) == 1, "nobody shows them"
    watch.set_in_front(False)
    watch.follow("page")
    assert len(jobs.kept) == 1, "nobody sees them"
    watch.set_in_front(True)
    watch.take(FoldersLooked(False))
    assert [after_s for _, _, after_s in jobs.kept] == [0.0, 0.0, LOOK_S]
    watch.set_in_front(False)
    watch.set_in_front(True)
    watch.take(FoldersLooked(False))
    assert len(jobs.kept) == 4, "the one that waits is enough"


@pytest.fixture
def many(desk: Desk, model: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Lay more models into the folder than are read at once."""
    monkeypatch.setattr(models, "AT_ONCE", 2)
    monkeypatch.setattr(models, "NAMES_FIRST_S", 0.001)
    folder = desk.program.paths.models
    folder.mkdir(parents=True)
    (folder / "0.gguf").write_bytes(b"GGUF")
    (folder / "1.gguf").write_bytes(b"GGUF")
    paths = [folder / f"{number}.gguf" for number in range(2, 6)]
    for path in paths:
        shutil.copy(model, path)
    return paths


def test_of_many_files_names_come_first_and_headers_follow(desk: Desk, many: list[Path]) -> None:
    lists: list[list[FoundModel]] = []
    desk.program.models.changed.connect(lambda: lists.append(own(desk)))
    desk.program.models.refresh()
    desk.until(lambda: lists and not desk.program.models.is_reading)
    first = lists[0]
    assert [found.name for found in first] == [str(number) for number in range(6)]
    assert not any(found.is_read or found.is_usable for found in first)
    assert [found.size for found in first[2:]] == [path.stat().st_size for path in many]
    assert [found.is_usable for found in lists[-1]] == [False, False, True, True, True, True]
    assert len(lists) > 3


def test_a_start_waits_for_the_first_usable_model_of_many(desk: Desk, many: list[Path]) -> None:
    desk.program.models._folders = desk.program.models._folders[:1]
    desk.program.start(None)
    desk.until(lambda: desk.engine.sent)
    assert desk.engine.load.path == str(many[0])
    desk.until(lambda: not desk.program.models.is_reading)


def test_what_an_earlier_search_says_late_is_passed_over(desk: Desk, model: Path) -> None:
    found = desk.program.models
    found.refresh()
    found.refresh()
    desk.settle()
    before = found.found
    found.take(ModelsListed((FoundModel(str(model), 1, "old"),), request=1))
    assert found.found == before

"""Downloads as people see them: rows, time left, what can be done, and what was done about it."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.core.commands import Load
from app.core.download import DownloadChanged, DownloadFile, DownloadGone, DownloadState, DownloadWanted
from app.core.hub_model import HubModel, HubReference
from app.core.hub_watch import HubWatch
from app.core.words import translate
from app.services import models
from app.services.downloads import DownloadRow, Downloads
from app.services.first_model import lacks_model
from app.system.settings_file import SettingsFile
from tests.desk import Desk
from tests.ggufs import write_vocab_only

MODELS = Path("/models")
WANTED = DownloadWanted("org/repo", "main", (DownloadFile("a.gguf", 1000),))


class Port:
    """Notes what it is asked for."""

    def __init__(self) -> None:
        self.asked: list[tuple[object, ...]] = []

    def open(self) -> None:
        self.asked.append(("open",))

    def add(self, wanted: DownloadWanted) -> None:
        self.asked.append(("add", wanted))

    def pause(self, key: str) -> None:
        self.asked.append(("pause", key))

    def resume(self, key: str) -> None:
        self.asked.append(("resume", key))

    def first(self, key: str) -> None:
        self.asked.append(("first", key))

    def cancel(self, key: str) -> None:
        self.asked.append(("cancel", key))

    def look(self) -> None:
        self.asked.append(("look",))

    def set_at_once(self, count: int) -> None:
        self.asked.append(("at once", count))

    def close(self) -> None:
        self.asked.append(("close",))

    def models(self, wanted: HubReference, watch: HubWatch | None = None) -> tuple[HubModel, ...]:
        raise NotImplementedError


def made() -> tuple[Downloads, Port]:
    port = Port()
    settings = SettingsFile(Path("nowhere.json"), lambda *_: None)
    return Downloads(port, MODELS, port, settings), port


def test_a_row_says_how_far_it_is_and_how_long_it_takes() -> None:
    downloads, _ = made()
    downloads.take(DownloadChanged(WANTED, "running", 250, 50.0, path="/m/a.gguf"))
    (row,) = downloads.rows
    assert (row.share, row.seconds_left, row.total, row.path) == (0.25, 15.0, 1000, "/m/a.gguf")
    assert downloads.share == 0.25
    downloads.take(DownloadChanged(WANTED, "running", 250, 0.0))
    assert (downloads.rows[0].bytes_per_s, downloads.rows[0].seconds_left) == (0.0, None)


def test_the_end_is_told_once_and_stays_until_it_is_dismissed() -> None:
    downloads, port = made()
    ended: list[DownloadRow] = []
    downloads.ended.connect(ended.append)
    for _ in range(2):
        downloads.take(DownloadChanged(WANTED, "done", 1000))
    assert len(ended) == 1 and downloads.share is None
    downloads.act(WANTED.key, "dismiss")
    assert downloads.rows == () and port.asked == []


def test_what_failed_in_an_earlier_run_is_no_news_until_it_fails_again() -> None:
    downloads, _ = made()
    ended: list[DownloadRow] = []
    downloads.ended.connect(ended.append)
    downloads.take(DownloadChanged(WANTED, "failed"))
    assert ended == [] and downloads.rows[0].state == "failed"
    downloads.take(DownloadChanged(WANTED, "running"))
    downloads.take(DownloadChanged(WANTED, "failed"))
    assert len(ended) == 1


def test_what_fails_at_once_is_news() -> None:
    downloads, _ = made()
    ended: list[DownloadRow] = []
    downloads.ended.connect(ended.append)
    downloads.add(WANTED)
    downloads.take(DownloadChanged(WANTED, "failed"))
    assert len(ended) == 1


@pytest.mark.parametrize("state", ["waiting", "running", "retrying", "checking", "paused", "failed"])
def test_only_what_is_possible_now_is_asked_for(state: DownloadState) -> None:
    downloads, port = made()
    downloads.take(DownloadChanged(WANTED, state))
    for action in ("pause", "resume", "first", "cancel", "dismiss"):
        downloads.act(WANTED.key, action)
    assert port.asked == [
        (action, WANTED.key)
        for action in ("pause", "resume", "first", "cancel")
        if action in downloads.rows[0].actions
    ]
    downloads.take(DownloadGone(WANTED.key))
    assert downloads.rows == ()


@pytest.mark.parametrize(("typed", "count"), [(3, 3), (0, 1), (99, 8)])
def test_how_many_run_at_once_is_remembered(typed: int, count: int) -> None:
    downloads, port = made()
    downloads.set_at_once(typed)
    downloads.start()
    assert port.asked == [("at once", count), ("at once", count), ("open",)]
    assert downloads.at_once == count


def test_a_model_that_is_downloaded_is_among_the_models(desk: Desk, model: Path) -> None:
    program = desk.program
    program.start(None)
    goal = program.paths.models / "org" / "repo" / "a.gguf"
    goal.parent.mkdir(parents=True)
    goal.write_bytes(model.read_bytes())
    assert str(goal) not in [found.path for found in program.models.found]
    for _ in range(2):
        program.dispatch(DownloadChanged(WANTED, "done", 1000, path=str(goal)))
    desk.until(lambda: str(goal) in [found.path for found in program.models.found])
    assert desk.told == "a.gguf is downloaded: it is among your models now."
    assert desk.notice.level == "hint"


def test_a_download_that_fails_is_told_with_its_name(desk: Desk) -> None:
    desk.program.start(None)
    why = translate("Download", "The disk is full.")
    desk.program.dispatch(DownloadChanged(WANTED, "running", 10))
    desk.program.dispatch(DownloadChanged(WANTED, "failed", 10, problem=why))
    assert (desk.told, desk.notice.file, desk.notice.level) == ("The disk is full.", "a.gguf", "error")


@pytest.mark.parametrize(
    ("is_damaged", "words", "level"),
    [
        (True, "a.gguf is downloaded, but cannot be used.", "error"),
        (False, "a.gguf is downloaded, but is no model to chat with.", "hint"),
    ],
)
def test_what_is_downloaded_and_of_no_use_for_a_chat_is_not_promised(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, is_damaged: bool, words: str, level: str
) -> None:
    program = desk.program
    monkeypatch.setattr(program.models, "_folders", (program.paths.models,))
    monkeypatch.setattr(models, "AT_ONCE", 1)
    monkeypatch.setattr(models, "NAMES_FIRST_S", 0.0)
    program.start(None)
    desk.until(lambda: program.models.has_looked)
    goal = program.paths.models / "a.gguf"
    goal.parent.mkdir(parents=True, exist_ok=True)
    goal.with_name("0.gguf").write_bytes(b"no model")  # is read before it
    if is_damaged:
        goal.write_bytes(b"GGUF" + b"\xff" * 999)
    else:
        write_vocab_only(goal)
    assert lacks_model(program.session, program.models)
    program.dispatch(DownloadChanged(WANTED, "done", 1000, path=str(goal)))
    desk.until(lambda: program.notices.latest)
    assert (desk.told, desk.notice.level) == (words, level)
    found = program.models.found[-1]
    assert found.path == str(goal) and found.problem is not None and desk.notice.more == (found.problem,)
    assert program.downloads.rows[0].unusable == found.problem
    assert desk.engine.all(Load) == [] and program.session.name is None


def test_what_was_deleted_meanwhile_is_not_said_to_be_among_the_models(desk: Desk, tmp_path: Path) -> None:
    desk.program.start(None)
    desk.program.dispatch(DownloadChanged(WANTED, "done", 1000, path=str(tmp_path / "gone.gguf")))
    desk.until(lambda: desk.program.notices.latest)
    assert desk.told == "a.gguf is downloaded."

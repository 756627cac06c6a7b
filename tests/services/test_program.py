from __future__ import annotations

import errno
import json
import os
import shutil
from pathlib import Path

import pytest

from app.core.job_events import JobFailed
from app.core.words import translate
from app.services.notices import Notice
from app.services.wishes import Wish
from app.system import settings_file
from tests.desk import Desk


def test_a_named_model_is_loaded_at_the_start(desk: Desk, model: Path) -> None:
    desk.program.start(model)
    desk.until(lambda: desk.engine.sent)
    assert desk.engine.load.path == str(model)


def test_a_model_that_was_asked_for_before_the_start_stays(desk: Desk, model: Path, tmp_path: Path) -> None:
    newer = Path(shutil.copy(model, tmp_path / "newer.gguf"))
    desk.program.session.use(Wish(newer))
    desk.program.start(model)
    desk.until(lambda: desk.engine.sent)
    assert desk.engine.load.path == str(newer)
    assert desk.program.session.name == "newer"


def test_the_last_model_is_loaded_at_the_start(desk: Desk, model: Path) -> None:
    desk.program.settings.change(last_model=str(model))
    desk.program.start(None)
    desk.until(lambda: desk.engine.sent)
    assert desk.engine.load.path == str(model)


def test_else_the_first_usable_model_is_loaded(desk: Desk, model: Path) -> None:
    folder = desk.program.paths.models
    folder.mkdir(parents=True)
    (folder / "a.gguf").touch()
    shutil.copy(model, folder / "b.gguf")
    desk.program.start(None)
    desk.until(lambda: desk.engine.sent)
    assert desk.engine.load.path == str(folder / "b.gguf")


def test_a_broken_job_is_told(desk: Desk) -> None:
    desk.program.dispatch(JobFailed("x", translate("Test", "The disk is full.")))
    assert desk.told == "The disk is full."


def test_stopping_ends_the_engine_and_keeps_the_settings(desk: Desk, model: Path) -> None:
    desk.load(model)
    desk.program.sampling.change(temperature=1.25)
    desk.program.chat.send("Hi")
    desk.program.stop()
    assert desk.engine.closed
    assert desk.engine.cancelled == [desk.engine.question.request]
    assert "1.25" in desk.program.paths.settings_file.read_text(encoding="utf-8")


@pytest.mark.parametrize("path", ["x" * 5000, "a\0b", "locked/m.gguf"])
def test_a_last_model_that_cannot_even_be_looked_for_is_passed_over(
    desk: Desk, model: Path, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    look = os.stat

    def refuse(wanted: str | Path, **how: bool) -> os.stat_result:
        if "locked" in str(wanted):
            raise PermissionError(errno.EACCES, "no", str(wanted))
        return look(wanted, **how)

    monkeypatch.setattr(os, "stat", refuse)
    folder = desk.program.paths.models
    folder.mkdir(parents=True)
    shutil.copy(model, folder / "b.gguf")
    desk.program.settings.change(last_model=path)
    assert desk.program.models.to_start_with() == folder / "b.gguf"
    desk.program.start(None)
    desk.until(lambda: desk.engine.sent)
    assert desk.engine.load.path == str(folder / "b.gguf")


def test_settings_that_could_not_be_read_are_one_notice_that_lasts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: Path
) -> None:
    (tmp_path / "home").mkdir()
    broken = {"theme": "pink", "keep_record": 7, "panel_shown": "maybe", "folded": 1.5, "last_model": "/gone.gguf"}
    (tmp_path / "home" / "settings.json").write_text(json.dumps(broken), encoding="utf-8")
    desk = Desk(tmp_path / "home", monkeypatch)
    try:
        told: list[Notice | None] = []
        desk.program.notices.changed.connect(lambda: told.append(desk.program.notices.latest))
        desk.program.start(None)
        assert len(told) == 1
        assert all(name in desk.told for name in ("theme", "keep_record", "panel_shown", "folded"))
        assert "settings.json.unreadable" in desk.notice.more[0].english()
        desk.until(lambda: len(told) > 1)
        assert "/gone.gguf" in desk.told
        desk.program.notices.clear_passing()
        assert "theme" in desk.told
    finally:
        desk.program.stop()


def test_settings_that_cannot_be_saved_are_told_until_they_are(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    settings, shows = desk.program.settings, desk.program.notices
    monkeypatch.setattr(settings_file, "RETRY_SECONDS", 0.1)  # whose thread is waited for at the end
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        settings.change(theme="dark")
        desk.until(lambda: shows.latest)
        assert "No space left" in desk.told
        shows.clear_passing()
        assert "No space left" in desk.told
    assert settings.write() is None
    desk.program.dispatch(JobFailed("x", translate("Test", "By the way.")))
    shows.dismiss()
    assert shows.latest is None

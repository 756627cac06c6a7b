"""The end of a download: a notice with what can be done now, and word for whoever looks at another program."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QApplication, QSystemTrayIcon

from app.core.commands import Load
from app.core.download import DownloadChanged, DownloadFile, DownloadWanted
from app.core.words import translate
from app.services.download_ends import watch_ends
from app.services.notices import Notice
from tests.ggufs import write_tiny_llama
from tests.gui.conftest import Stage

pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support|systemTrayWindowChanged")
NEWS = Notice(translate("Test", "It is here."), level="hint", news=True)


@pytest.fixture
def told(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the system was asked to show while another program is in front."""
    shown: list[str] = []
    monkeypatch.setattr(QApplication, "activeWindow", lambda: None)
    monkeypatch.setattr(QApplication, "alert", lambda window: shown.append(f"alert {window is stage.window}"))
    for name in ("isSystemTrayAvailable", "supportsMessages"):
        monkeypatch.setattr(QSystemTrayIcon, name, lambda: True)
    monkeypatch.setattr(
        QSystemTrayIcon, "showMessage", lambda _tray, title, words, _icon: shown.append(f"{title}: {words}")
    )
    return shown


def test_what_is_whole_can_be_loaded_from_its_notice(ready: Stage, tmp_path: Path) -> None:
    program, path = ready.desk.program, tmp_path / "new.gguf"
    write_tiny_llama(path, layers=3)
    program.settings.change(model_folders=(str(tmp_path),))
    watch_ends(program.downloads, program.models, program.notices, program.session)
    wanted = DownloadWanted("org/repo", "main", (DownloadFile("new.gguf", 1000),))
    program.downloads.take(DownloadChanged(wanted, "done", 1000, path=str(path)))
    ready.desk.until(lambda: program.notices.latest)
    assert ready.reads("notice_text") == "new.gguf is downloaded: it is among your models now."
    ready.triggers("models_action")
    before = len(ready.desk.engine.all(Load))
    ready.clicks("notice_action")
    ready.desk.until(lambda: len(ready.desk.engine.all(Load)) > before)
    assert ready.desk.engine.load.path == str(path) and ready.window.page == "chat"
    assert not ready.sees("notice_text"), "what it offered is done"


def test_whoever_looks_at_another_program_is_told_the_words_of_the_notice(stage: Stage, told: list[str]) -> None:
    stage.desk.program.notices.post(NEWS)
    assert told == ["alert True", "Tokenlight: It is here."]
    (tray,) = stage.window.findChildren(QSystemTrayIcon)
    assert tray.isVisible()
    QApplication.sendEvent(stage.window, QEvent(QEvent.Type.WindowActivate))
    assert not tray.isVisible(), "people have come: nothing stays in the tray"


def test_without_a_tray_the_window_alone_asks_for_attention(
    stage: Stage, told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(QSystemTrayIcon, "isSystemTrayAvailable", lambda: False)
    stage.desk.program.notices.post(NEWS)
    assert told == ["alert True"] and not stage.window.findChildren(QSystemTrayIcon)


def test_news_is_told_behind_an_error_too_and_what_is_no_news_is_not(stage: Stage, told: list[str]) -> None:
    stage.desk.program.notices.post(Notice(translate("Test", "It broke.")))
    assert told == []
    stage.desk.program.notices.post(NEWS)
    assert told and stage.reads("notice_text") == "It broke."


def test_whoever_has_the_window_in_front_reads_the_notice_there(
    stage: Stage, told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(QApplication, "activeWindow", lambda: stage.window)
    stage.desk.program.notices.post(NEWS)
    assert told == [] and stage.reads("notice_text") == "It is here."

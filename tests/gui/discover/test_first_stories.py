"""Somebody without any model, and a first download that goes wrong: it says why and what to do, offers nothing half, and goes on."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit

from app.core.commands import Load
from app.core.devices import MainMemory
from app.gui.discover.token_dialog import TokenDialog
from app.services.download_ends import watch_ends
from app.system.resources import Resources
from tests.ggufs import write_tiny_llama
from tests.gui.conftest import Stage
from tests.gui.discover.looking import rests
from tests.hub.catalogue_of_one import catalogue_of
from tests.hub.download_hub import DownloadHub
from tests.hub.keyrings import Memory
from tests.hub.loopback_hub import Request

pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")
GIB = 1 << 30
NAME = "starter.gguf"


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keys: Memory) -> Iterator[DownloadHub]:
    """A hub with the one model of a catalogue."""
    content = write_tiny_llama(tmp_path / NAME).read_bytes()
    told = catalogue_of(NAME, content)
    monkeypatch.setattr(Resources, "catalogue", lambda _resources: told)
    for name in ("TOKENLIGHT_OFFLINE", "HF_HUB_OFFLINE", "HF_TOKEN", "http_proxy", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with DownloadHub({NAME: content}) as made:
        monkeypatch.setenv("HF_ENDPOINT", made.endpoint)
        yield made


@pytest.fixture
def first(hub: DownloadHub, stage: Stage, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    """The window of the first start."""
    program = stage.desk.program
    monkeypatch.setattr(program.planner.devices, "_main_memory", lambda: MainMemory(16 * GIB, 8 * GIB, 16 * GIB))
    monkeypatch.setattr(program.models, "_folders", (program.paths.models,))
    monkeypatch.setattr(program.models, "_others", None)
    program.planner.fits.note(())
    watch_ends(program.downloads, program.models, program.notices, program.session)
    program.downloads.start()
    program.models.refresh()
    stage.desk.until(lambda: program.planner.recommending.models.recommended)
    assert stage.reads("first_model_title") == "Starter"
    yield stage
    program.downloads.stop()


def fails(stage: Stage, sentence: str) -> None:
    """Press Download and read why nothing came of it, in the chat and on the downloads' card; nothing half is a model."""
    program = stage.desk.program
    stage.clicks("first_model_download_button")
    stage.desk.until(lambda: program.downloads.rows and program.downloads.rows[0].state == "failed")
    said = stage.reads("first_model_download_state")
    assert said.startswith("Its download has failed. ") and sentence in said
    assert sentence in stage.reads("notice_text")
    stage.clicks("first_model_downloads_button")
    assert sentence in stage.reads("download_problem") and stage.reads("download_resume_button") == "Try again"
    program.models.refresh()
    stage.settle()
    assert not list(program.paths.models.rglob("*.gguf")) and not program.models.found
    assert not stage.sees("download_load_button") and not stage.desk.engine.all(Load)


def goes_on(stage: Stage) -> None:
    """Press Try again: the model comes."""
    stage.clicks("download_resume_button")
    comes(stage)


def comes(stage: Stage) -> None:
    """Wait until the model is here, and is loaded, as there was none."""
    program = stage.desk.program
    stage.desk.until(lambda: stage.desk.engine.all(Load))
    assert program.downloads.rows[0].state == "done" and Path(stage.desk.engine.load.path).name == NAME
    assert stage.reads("notice_text") == f"{NAME} is downloaded: it is among your models now.", "the failure is over"
    assert stage.sees("download_load_button") and not stage.sees("download_problem")


def test_offline_it_waits_and_comes_by_itself_afterwards(first: Stage, hub: DownloadHub) -> None:
    program = first.desk.program
    program.offline.set(True)
    first.clicks("first_model_download_button")
    first.desk.until(lambda: program.downloads.rows and program.downloads.rows[0].state == "paused")
    said = first.reads("first_model_download_state")
    assert said.startswith(
        "It is among the downloads: 0 % are here. Tokenlight is offline because “Stay offline” is on"
    )
    first.clicks("first_model_downloads_button")
    assert "Stay offline" in first.reads("download_problem") and not first.sees("download_resume_button")
    assert hub.asked == []
    program.offline.set(False)
    comes(first)


def test_what_was_asked_too_early_is_no_error_once_the_model_comes_and_the_keyboard_writes(first: Stage) -> None:
    first.sends("Hello")
    assert "No model is open" in first.reads("notice_text")
    first.find("first_model_download_button").setFocus()
    QTest.keyClick(first.find("first_model_download_button"), Qt.Key.Key_Space)
    first.desk.until(lambda: first.desk.engine.all(Load))
    first.settle()
    assert first.desk.program.notices.latest is None and not first.sees("first_model_card")
    assert first.window.focusWidget() is first.composer


@pytest.mark.parametrize("status", [401, 403])
def test_a_gated_model_comes_once_a_token_is_given(first: Stage, hub: DownloadHub, status: int) -> None:
    def gate(request: Request) -> None:
        if request.headers.get("Authorization") == "Bearer hf_secret":
            hub.resolving = None
            hub.deliver(request)
        else:
            request.send_text("", status, X_Error_Code="GatedRepo")

    hub.resolving = gate
    fails(first, "accept")
    hub.info["gated"] = "auto"
    first.clicks("download_page_button")
    rests(first)
    assert first.sees("discover_gate")
    first.clicks("discover_token_button")
    first.desk.until(lambda: not first.desk.program.hub_token.is_busy)
    QTest.keyClicks(first.find_as(QLineEdit, "token_line"), "hf_secret")
    QTest.keyClick(first.find_as(QLineEdit, "token_line"), Qt.Key.Key_Return)
    first.desk.until(lambda: not first.desk.program.hub_token.is_busy)
    first.find_as(TokenDialog).close()
    first.clicks("models_downloads_tab")
    goes_on(first)


def test_other_bytes_than_the_checksum_says(first: Stage, hub: DownloadHub) -> None:
    whole = hub.files[NAME]
    hub.files[NAME] = whole[:-1] + bytes([whole[-1] ^ 1])
    fails(first, "checksum")
    hub.files[NAME], hub.etag = whole, '"two"'
    goes_on(first)


def test_a_full_disk(first: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    free = shutil.disk_usage("/")._replace(free=100)
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "disk_usage", lambda _path: free)
        fails(first, "free")
    goes_on(first)

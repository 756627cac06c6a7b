"""Offline, all of the page Models is gone through and no socket is opened; an audit hook of the interpreter sees each."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QListWidget

from app.core.hub_page import HubPage
from tests.gui.conftest import Stage
from tests.gui.discover.looking import rests, searches
from tests.hub.loopback_hub import LoopbackHub

# The offscreen platform says this of every dialog and hint.
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")
_LOOKED_UP = ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr", "socket.getnameinfo")
_REACHED = ("socket.connect", "socket.sendto", "socket.sendmsg")


class Sockets:
    """What was looked up or reached by way of the internet's addresses, those of this machine included."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.is_watched = True

    def hear(self, event: str, told: tuple[Any, ...]) -> None:
        if self.is_watched and (event in _LOOKED_UP or (event in _REACHED and isinstance(told[1], tuple))):
            self.seen.append(f"{event} {told[1:]}")


@pytest.fixture
def sockets() -> Iterator[Sockets]:
    made = Sockets()
    sys.addaudithook(made.hear)  # it stays, and hears nothing more afterwards
    yield made
    made.is_watched = False


def visits(stage: Stage, application: QApplication) -> None:
    """Do on the page Models what somebody can do there without a file of their own."""
    program = stage.desk.program
    program.models.refresh()
    stage.triggers("models_action")
    for name in ("library", "downloads", "inspect", "find"):
        stage.clicks(f"models_{name}_tab")
        application.processEvents()
    rows = stage.find_as(QListWidget, "catalogue_list")
    stage.desk.until(rows.count)
    for row in range(rows.count()):
        rows.setCurrentRow(row)
    stage.clicks("catalogue_download_button")
    stage.clicks("catalogue_repository_button")
    rests(stage)
    searches(stage, "tiny")
    stage.clicks("discover_search_button")
    rests(stage)
    program.discovering.open("org/tiny-GGUF")
    rests(stage)
    application.processEvents()
    header = program.planner.recommending._header
    stage.desk.until(lambda: not header.known.is_under_way)
    for button in ("discover_page_retry_button", "discover_token_button"):
        if stage.sees(button):
            QTest.keyClick(stage.find(button), Qt.Key.Key_Space)
            rests(stage)
    for dialog in stage.window.findChildren(QDialog):
        dialog.reject()
    stage.clicks("models_downloads_tab")
    stage.desk.until(lambda: program.downloads.rows)


@pytest.fixture
def known(stage: Stage) -> Iterator[Stage]:
    """A window whose machine is known, so that models are recommended; downloads end before the hub does."""
    stage.desk.program.planner.fits.note(())
    stage.desk.program.downloads.start()
    yield stage
    stage.desk.program.downloads.stop()


def test_offline_the_page_models_opens_no_socket(
    hub: LoopbackHub, sockets: Sockets, known: Stage, qapp: QApplication, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOKENLIGHT_OFFLINE", "1")
    sockets.seen.clear()
    visits(known, qapp)
    assert known.desk.program.downloads.rows[0].is_held
    assert (sockets.seen, hub.asked) == ([], [])


def test_the_same_visits_are_seen_where_the_program_is_online(
    hub: LoopbackHub, sockets: Sockets, known: Stage, qapp: QApplication
) -> None:
    sockets.seen.clear()
    visits(known, qapp)
    assert isinstance(known.desk.program.discovering.page, HubPage)
    assert any("connect" in each for each in sockets.seen) and hub.asked

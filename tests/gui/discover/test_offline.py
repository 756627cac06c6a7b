"""“Stay offline” in the preferences: what it does to downloads and searches in the window, at once and back again."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QCheckBox, QLabel, QPushButton

from app.gui.discover.download_card import DownloadCard
from app.gui.preferences.dialog import PreferencesDialog
from app.system.offline_switch import VARIABLES
from tests.gui.conftest import Stage
from tests.gui.discover.looking import rests, searches
from tests.hub.download_hub import CONTENT, HALF, NAME, DownloadHub
from tests.hub.keyrings import Memory
from tests.hub.loopback_hub import GUARD_S

# The offscreen platform says this of every dialog and hint.
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, keys: Memory) -> Iterator[DownloadHub]:
    for name in (*VARIABLES, "HF_TOKEN", "http_proxy", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with DownloadHub({NAME: CONTENT}) as made:
        made.found = [{"id": "org/tiny-GGUF"}]
        monkeypatch.setenv("HF_ENDPOINT", made.endpoint)
        yield made


@pytest.fixture
def window(hub: DownloadHub, stage: Stage) -> Iterator[Stage]:
    """The page Models, with the preferences open; downloads end before the hub does."""
    stage.triggers("models_action")
    stage.clicks("preferences_button")
    yield stage
    stage.desk.program.downloads.stop()


def tick(stage: Stage) -> None:
    """Press the space bar on the switch."""
    QTest.keyClick(stage.find("offline_option"), Qt.Key.Key_Space)


def card(stage: Stage) -> DownloadCard:
    (found,) = stage.window.findChildren(DownloadCard)
    return found


def can(stage: Stage) -> list[str]:
    """Return what the download's visible buttons say."""
    return [each.text() for each in card(stage).findChildren(QPushButton) if not each.isHidden()]


def test_a_download_that_runs_pauses_says_why_and_goes_on_by_itself(window: Stage, hub: DownloadHub) -> None:
    downloads, wanted = window.desk.program.downloads, hub.wanted()
    window.clicks("models_downloads_tab")
    hub.hang_at = HALF
    downloads.add(wanted)
    assert hub.at_hold.wait(GUARD_S)
    tick(window)
    window.desk.until(lambda: (row := downloads.row(wanted.key)) is not None and row.state == "paused")
    assert card(window).problem.text() == (
        "Tokenlight is offline because “Stay offline” is on: turn it off in the preferences of the window, or name a"
        " model on this machine."
    )
    assert not card(window).problem.isHidden() and can(window) == ["Cancel"]
    asked, hub.hang_at = len(hub.asked), None
    assert window.desk.program.settings.values.offline
    tick(window)
    window.desk.until(lambda: (row := downloads.row(wanted.key)) is not None and row.state == "done")
    assert len(hub.asked) > asked and card(window).problem.isHidden()
    assert not window.desk.program.settings.values.offline


def test_what_was_found_stays_with_its_age_until_the_program_is_online_again(window: Stage, hub: DownloadHub) -> None:
    searches(window)
    asked = len(hub.asked)
    tick(window)
    rests(window)
    assert window.reads("discover_state") == "1 model, found 1 minute ago."
    assert "“Stay offline” is on" in window.reads("discover_problem") and len(hub.asked) == asked
    tick(window)
    rests(window)
    assert window.reads("discover_state") == "1 model" and not window.sees("discover_problem")


def test_the_defaults_are_online(window: Stage) -> None:
    tick(window)
    window.clicks("defaults_button")
    assert not window.desk.program.offline.is_on and not window.find_as(QCheckBox, "offline_option").isChecked()


@pytest.mark.parametrize("variable", VARIABLES)
def test_where_the_environment_decides_the_switch_is_on_and_says_so(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv(variable, "1")
    stage.clicks("preferences_button")
    box = stage.find_as(QCheckBox, "offline_option")
    why = (
        f"This is on because {variable} is set: take the variable away and start Tokenlight again to change it here."
    )
    assert box.isChecked() and not box.isEnabled() and box.accessibleDescription() == why
    (dialog,) = stage.window.findChildren(PreferencesDialog)
    assert why in [each.text() for each in dialog.findChildren(QLabel)]
    stage.clicks("defaults_button")
    assert box.isChecked() and not stage.desk.program.settings.values.offline

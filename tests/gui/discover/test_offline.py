"""“Stay offline” in the preferences: what it does to downloads and searches in the window, at once and back again."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QCheckBox, QLabel, QPushButton

from app.core.download import DownloadWanted
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
        "Tokenlight is offline because “Stay offline” is on: turn it off in the preferences."
    )
    assert not card(window).problem.isHidden() and can(window) == ["Pause", "Cancel"]
    assert card(window).figures.text().endswith("waits\u00a0to\u00a0be\u00a0online")
    asked, hub.hang_at = len(hub.asked), None
    assert window.desk.program.settings.values.offline
    tick(window)
    window.desk.until(lambda: (row := downloads.row(wanted.key)) is not None and row.state == "done")
    assert len(hub.asked) > asked and card(window).problem.isHidden()
    assert not window.desk.program.settings.values.offline


def test_who_pauses_what_waits_to_be_online_has_it_stay_so(window: Stage, hub: DownloadHub) -> None:
    downloads, wanted = window.desk.program.downloads, hub.wanted()
    window.clicks("models_downloads_tab")
    tick(window)
    downloads.add(wanted)
    window.desk.until(lambda: (row := downloads.row(wanted.key)) is not None and row.is_held)
    next(each for each in card(window).findChildren(QPushButton) if each.text() == "Pause").click()
    window.desk.until(lambda: (row := downloads.row(wanted.key)) is not None and not row.is_held)
    assert can(window) == ["Resume", "Cancel"] and card(window).figures.text().endswith("paused")
    tick(window)
    later = DownloadWanted("org/other", "main", wanted.files)
    downloads.add(later)  # its end is told behind whatever would have gone on
    window.desk.until(lambda: (row := downloads.row(later.key)) is not None and row.state in ("failed", "done"))
    row = downloads.row(wanted.key)
    assert row is not None and (row.state, row.done) == ("paused", 0)


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


def test_who_stays_offline_does_so_when_the_defaults_come_back(window: Stage) -> None:
    tick(window)
    window.desk.program.settings.change(unfold_thinking=True)
    window.clicks("defaults_button")
    assert window.desk.program.offline.is_on and window.find_as(QCheckBox, "offline_option").isChecked()
    assert not window.desk.program.settings.values.unfold_thinking
    assert "except “Stay offline”" in window.find("defaults_button").toolTip()


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

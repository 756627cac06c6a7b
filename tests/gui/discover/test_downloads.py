"""The list of downloads in the window: what each says in every state, what its buttons do, and where the keyboard goes."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QDoubleSpinBox, QMessageBox, QProgressBar, QPushButton

from app.core.commands import Load
from app.core.download import DownloadChanged, DownloadFile, DownloadGone, DownloadState, DownloadWanted
from app.core.model import FoundModel
from app.core.words import translate
from app.gui.discover.download_card import DownloadCard
from tests.gui.conftest import Stage

# The offscreen platform says this of every dialog and hint.
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")
MIB = 1 << 20
ONE = DownloadWanted("org/repo", "main", (DownloadFile("one-Q4_K_M.gguf", 400 * MIB),))
TWO = DownloadWanted("org/repo", "main", (DownloadFile("two-Q8_0.gguf", 800 * MIB),))
LOST = translate("Hub", "The connection to {host} was lost: try again.", host="hub.example")


@pytest.fixture
def listed(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> Stage:
    stage.triggers("models_action")
    stage.clicks("models_downloads_tab")
    return stage


def tells(stage: Stage, event: DownloadChanged | DownloadGone) -> None:
    stage.desk.program.dispatch(event)


def cards(stage: Stage) -> list[DownloadCard]:
    return [each for each in stage.window.findChildren(DownloadCard) if each.isVisible()]


def buttons(card: DownloadCard) -> list[str]:
    return [each.text() for each in card.findChildren(QPushButton) if each.isVisible()]


def figures(card: DownloadCard) -> str:
    return card.figures.text().replace("\u00a0", " ")


def test_where_nothing_is_on_its_way_it_says_what_to_do(listed: Stage) -> None:
    assert listed.reads("downloads_nothing").startswith("Nothing is on its way: find a model")
    tells(listed, DownloadChanged(ONE, "waiting"))
    assert not listed.sees("downloads_nothing") and len(cards(listed)) == 1
    tells(listed, DownloadGone(ONE.key))
    assert listed.sees("downloads_nothing") and cards(listed) == []


@pytest.mark.parametrize(
    ("state", "words", "can"),
    [
        ("waiting", "100 MiB of 400 MiB · waits for its turn", ["Download first", "Pause", "Cancel"]),
        ("running", "100 MiB of 400 MiB · 5.0 MiB/s · 1 min left", ["Pause", "Cancel"]),
        ("retrying", "100 MiB of 400 MiB · tries again in 8 s", ["Pause", "Try again", "Cancel"]),
        ("checking", "400 MiB · is compared with the hub's checksum", ["Pause", "Cancel"]),
        ("paused", "100 MiB of 400 MiB · paused", ["Resume", "Cancel"]),
        ("failed", "100 MiB of 400 MiB · stopped", ["Show its page", "Try again", "Cancel"]),
        ("done", "400 MiB · downloaded: it is among your models", ["Remove from the list"]),
    ],
)
def test_each_state_says_how_far_it_is_and_what_can_be_done(
    listed: Stage, state: DownloadState, words: str, can: list[str]
) -> None:
    speed = 5.0 * MIB if state == "running" else None
    problem = LOST if state in ("retrying", "failed") else None
    tells(listed, DownloadChanged(ONE, state, 100 * MIB, speed, problem, 8.2 if state == "retrying" else None))
    (card,) = cards(listed)
    assert figures(card) == words and buttons(card) == can
    assert card.problem.isVisible() is (problem is not None)
    if problem is not None:
        assert card.problem.text() == "The connection to hub.example was lost: try again."
    bar = card.findChild(QProgressBar)
    assert bar is not None and bar.isVisible() is (state != "done") and bar.value() == 250
    assert all("one-Q4_K_M.gguf" in each.accessibleName() for each in card.findChildren(QPushButton))


def test_one_of_which_nothing_comes_says_so(listed: Stage) -> None:
    tells(listed, DownloadChanged(ONE, "running", 100 * MIB))
    assert figures(cards(listed)[0]) == "100 MiB of 400 MiB · begins"
    tells(listed, DownloadChanged(ONE, "running", 100 * MIB, 5.0 * MIB))
    tells(listed, DownloadChanged(ONE, "running", 100 * MIB, 0.0))
    assert figures(cards(listed)[0]) == "100 MiB of 400 MiB · waits for the server"


def test_a_chat_is_not_offered_with_what_cannot_have_one(listed: Stage) -> None:
    tells(listed, DownloadChanged(ONE, "done", 400 * MIB, path="/m/one.gguf"))
    (card,) = cards(listed)
    assert card.load.isVisible() and not card.problem.isVisible()
    listed.desk.program.downloads.say_unusable(ONE.key, LOST)
    assert not card.load.isVisible() and card.problem.text() == "The connection to hub.example was lost: try again."
    assert figures(card) == "400 MiB · downloaded, but there is no chat with it"


def test_what_was_deleted_since_says_so_and_is_offered_again(listed: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[DownloadWanted] = []
    downloads = listed.desk.program.downloads
    monkeypatch.setattr(downloads._port, "add", asked.append)
    tells(listed, DownloadChanged(ONE, "done", 400 * MIB, path="/m/one.gguf"))
    downloads.note_found([FoundModel("/m/one.gguf", 400 * MIB, "One")])
    (card,) = cards(listed)
    card.load.setFocus()
    downloads.note_found([])
    assert figures(card) == "400 MiB · downloaded, and deleted or moved since"
    assert buttons(card) == ["Download again", "Remove from the list"]
    assert listed.window.focusWidget() is card.buttons["again"]
    card.buttons["again"].click()
    assert asked == [ONE]


def test_a_button_asks_for_what_it_says_of_its_own_download(listed: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, str]] = []
    downloads = listed.desk.program.downloads
    for name in ("pause", "resume", "first", "cancel"):
        monkeypatch.setattr(downloads._port, name, lambda key, name=name: asked.append((name, key)))
    tells(listed, DownloadChanged(ONE, "waiting"))
    tells(listed, DownloadChanged(TWO, "waiting"))
    for name in ("first", "pause", "cancel"):
        cards(listed)[1].buttons[name].click()  # type: ignore[index]
    tells(listed, DownloadChanged(TWO, "paused"))
    cards(listed)[1].buttons["resume"].click()
    assert asked == [(name, TWO.key) for name in ("first", "pause", "cancel", "resume")]


def test_the_keyboard_stays_where_a_button_goes_and_where_a_card_goes(listed: Stage) -> None:
    for wanted in (ONE, TWO):
        tells(listed, DownloadChanged(wanted, "running"))
    first, second = cards(listed)
    first.buttons["pause"].setFocus()
    tells(listed, DownloadChanged(ONE, "paused"))
    assert listed.window.focusWidget() is first.buttons["resume"]
    tells(listed, DownloadGone(ONE.key))
    assert listed.window.focusWidget() is second.buttons["pause"]
    tells(listed, DownloadGone(TWO.key))
    assert listed.window.focusWidget() is listed.find("downloads_at_once")


def test_a_card_stays_the_same_while_its_download_goes_on(listed: Stage) -> None:
    tells(listed, DownloadChanged(ONE, "running", 1))
    before = cards(listed)
    tells(listed, DownloadChanged(ONE, "running", 200 * MIB))
    assert cards(listed) == before and before[0].bar.value() == 500


def test_how_many_run_at_once_is_chosen_here(listed: Stage) -> None:
    box = listed.find_as(QDoubleSpinBox, "downloads_at_once")
    assert box.value() == listed.desk.program.downloads.at_once == 2
    box.setValue(5)
    assert listed.desk.program.downloads.at_once == 5 == listed.desk.program.settings.values.downloads_at_once
    box.setValue(99)
    assert listed.desk.program.downloads.at_once == 8


@pytest.mark.parametrize(("button", "asked"), [("keep_download_button", []), ("cancel_anyway_button", [ONE.key])])
def test_what_took_long_to_come_is_deleted_only_once_somebody_said_so(
    listed: Stage, monkeypatch: pytest.MonkeyPatch, button: str, asked: list[str]
) -> None:
    cancelled: list[str] = []
    monkeypatch.setattr(listed.desk.program.downloads._port, "cancel", cancelled.append)
    tells(listed, DownloadChanged(TWO, "running", MIB))
    tells(listed, DownloadChanged(ONE, "running", 300 * MIB, 5.0 * MIB))
    first, second = cards(listed)
    first.buttons["cancel"].click()
    assert cancelled == [TWO.key], "a moment's worth is cancelled at once"
    cancelled.clear()
    second.buttons["cancel"].click()
    box = listed.find_as(QMessageBox, "cancel_question")
    assert "300 MiB of it are here" in box.text().replace("\u00a0", " ") and cancelled == []
    assert box.defaultButton() is listed.find("keep_download_button")
    listed.clicks(button)
    assert cancelled == asked


def test_what_is_to_come_first_stands_first(listed: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listed.desk.program.downloads._port, "first", lambda _key: None)
    for wanted in (ONE, TWO):
        tells(listed, DownloadChanged(wanted, "waiting"))
    first, second = cards(listed)
    second.buttons["first"].setFocus()
    second.buttons["first"].click()
    listed.bot.waitUntil(lambda: second.y() < first.y())
    assert listed.window.focusWidget() is second.buttons["first"]
    assert [row.key for row in listed.desk.program.downloads.rows] == [TWO.key, ONE.key]


def test_fewer_at_once_says_that_those_that_run_go_on(listed: Stage) -> None:
    for wanted in (ONE, TWO):
        tells(listed, DownloadChanged(wanted, "running", 1))
    assert not listed.sees("downloads_still")
    listed.find_as(QDoubleSpinBox, "downloads_at_once").setValue(1)
    assert listed.sees("downloads_still") and listed.reads("downloads_still").startswith("2 still run")
    tells(listed, DownloadChanged(ONE, "done", 400 * MIB))
    assert not listed.sees("downloads_still")


def test_a_chat_with_what_is_loaded_loads_it_no_second_time(listed: Stage, model: Path) -> None:
    listed.load(model)
    loads = len(listed.desk.engine.all(Load))
    tells(listed, DownloadChanged(ONE, "done", 400 * MIB, path=str(model)))
    cards(listed)[0].load.click()
    listed.settle()
    assert listed.window.page == "chat" and len(listed.desk.engine.all(Load)) == loads
    assert listed.window.focusWidget() is listed.composer

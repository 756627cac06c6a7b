"""Searching the hub in the window: every state that a search can be in, and what is said of it."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QComboBox, QLineEdit, QListWidget

from app.gui.discover import quantisation_list
from tests.gui.conftest import Stage
from tests.gui.discover.looking import found_by, opens, rests, searches
from tests.gui.fitting import cut_off
from tests.hub.loopback_hub import LoopbackHub

# The offscreen platform says this of every dialog and hint.
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")


def chooses(stage: Stage, name: str, words: str) -> None:
    box = stage.find_as(QComboBox, name)
    row = box.findText(words)
    assert row >= 0
    box.setCurrentIndex(row)
    box.activated.emit(row)
    rests(stage)


def test_nothing_is_asked_of_the_hub_before_somebody_searches(discover: Stage, hub: LoopbackHub) -> None:
    discover.settle()
    assert discover.window.page == "models" and hub.asked == []
    assert discover.reads("discover_state").startswith("These Tokenlight knows itself.")
    assert not discover.sees("discover_list") and not discover.sees("discover_more_button")
    line = discover.find("discover_line")
    assert discover.window.focusWidget() is line, "people begin by typing"


def test_what_is_found_stands_in_a_list_and_more_comes_below_it(discover: Stage, hub: LoopbackHub) -> None:
    searches(discover)
    assert found_by(discover)[:2] == ["org/tiny-GGUF", "org/number-0"] and len(found_by(discover)) == 20
    assert discover.reads("discover_state") == "20 models, and there are more"
    rows = discover.find_as(QListWidget, "discover_list")
    assert rows.item(0).text().replace("\u00a0", " ") == "org/tiny-GGUF\n1.5B · llama · mit · 12 downloads"
    assert "search=tiny" in hub.asked[0][1] and not rows.selectedItems()
    rows.setCurrentRow(1)
    discover.find("discover_more_button").setFocus()
    discover.clicks("discover_more_button")
    rests(discover)
    assert len(found_by(discover)) == 25 and discover.reads("discover_state") == "25 models"
    assert not discover.sees("discover_more_button") and rows.currentRow() == 1
    assert discover.window.focusWidget() is rows, "the keyboard stays here when the button goes"


def test_while_it_is_searched_that_is_said(discover: Stage) -> None:
    discover.desk.program.discovering.query = None
    QTest.keyClick(discover.find("discover_line"), Qt.Key.Key_Return)
    assert discover.reads("discover_state") == "Searching …"
    rests(discover)


def test_filters_narrow_what_was_searched_for_at_once(discover: Stage, hub: LoopbackHub) -> None:
    chooses(discover, "discover_license_box", "mit")
    rests(discover)
    assert "license%3Amit" in hub.asked[0][1], "what is wanted of the hub is a search"
    searches(discover)
    chooses(discover, "discover_language_box", "Deutsch")
    chooses(discover, "discover_sort_box", "Most likes")
    chooses(discover, "discover_architecture_box", "llama")
    chooses(discover, "discover_size_box", "1B to 4B")
    query = discover.desk.program.discovering.query
    assert query is not None
    assert (query.text, query.license, query.language, query.sort) == ("tiny", "mit", "de", "likes")
    assert (query.architecture, query.least_parameters, query.most_parameters) == ("llama", 10**9, 4 * 10**9)


def test_where_nothing_is_found_it_says_what_to_try(discover: Stage, hub: LoopbackHub) -> None:
    hub.found = []
    searches(discover)
    assert discover.reads("discover_state") == "No model was found: try a shorter name."
    chooses(discover, "discover_license_box", "mit")
    assert discover.reads("discover_state").endswith("or leave out less.")
    assert not discover.sees("discover_list") and not discover.sees("discover_retry_button")


def test_a_search_that_fails_says_why_and_can_be_tried_again(discover: Stage, hub: LoopbackHub) -> None:
    hub.searching = lambda request: request.send_text("", 503)
    searches(discover)
    assert "has trouble of its own (503)" in discover.reads("discover_problem")
    assert discover.sees("discover_problem") and not discover.sees("discover_state")
    hub.searching = None
    discover.clicks("discover_retry_button")
    rests(discover)
    assert len(found_by(discover)) == 20 and not discover.sees("discover_problem")
    assert not discover.sees("discover_retry_button")


def test_the_keyboard_stays_in_the_search_while_it_is_tried_again(discover: Stage, hub: LoopbackHub) -> None:
    hub.searching = lambda request: request.send_text("", 503)
    searches(discover)
    retry = discover.find("discover_retry_button")
    retry.setFocus()
    QTest.keyClick(retry, Qt.Key.Key_Space)
    assert discover.desk.program.discovering.is_searching and discover.window.focusWidget() is retry
    rests(discover)
    assert discover.window.focusWidget() is retry
    hub.searching = None
    QTest.keyClick(retry, Qt.Key.Key_Space)
    rests(discover)
    assert discover.window.focusWidget() is discover.find("discover_list")


def test_where_more_fails_what_is_there_stays_and_more_is_tried_again(discover: Stage, hub: LoopbackHub) -> None:
    searches(discover)
    hub.searching = lambda request: request.send_text("", 503)
    discover.clicks("discover_more_button")
    rests(discover)
    assert len(found_by(discover)) == 20 and discover.sees("discover_problem")
    hub.searching = None
    discover.clicks("discover_retry_button")
    rests(discover)
    assert len(found_by(discover)) == 25


def test_offline_the_same_search_is_shown_with_its_age(
    discover: Stage, hub: LoopbackHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    searches(discover)
    monkeypatch.setenv("TOKENLIGHT_OFFLINE", "1")
    asked = len(hub.asked)
    discover.clicks("discover_search_button")
    rests(discover)
    assert discover.reads("discover_state") == "20 models, found 1 minute ago."
    assert "TOKENLIGHT_OFFLINE is set" in discover.reads("discover_problem") and len(hub.asked) == asked


def test_offline_another_search_says_so(discover: Stage, hub: LoopbackHub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKENLIGHT_OFFLINE", "1")
    searches(discover)
    assert "TOKENLIGHT_OFFLINE is set" in discover.reads("discover_problem")
    assert hub.asked == [] and not discover.sees("discover_list")


def test_what_a_hub_tells_turns_nothing_round_and_is_no_markup(discover: Stage, hub: LoopbackHub) -> None:
    hub.found = [{"id": "org/tiny-GGUF", "tags": ["license:<b>\u202efdp\u202c"]}]
    searches(discover)
    item = discover.find_as(QListWidget, "discover_list").item(0)
    assert "\u202e" not in item.text() and "<b>" not in item.toolTip().replace("<qt>", "")


def test_everything_has_a_name_and_nothing_is_cut(discover: Stage, hub: LoopbackHub, qapp: QApplication) -> None:
    searches(discover)
    for width in (1280, 900):
        discover.window.resize(width, 640)
        qapp.processEvents()
        found = cut_off(discover.find("discover_part"))
        assert [each for each in found if each.startswith(("QLabel", "QPushButton"))] == []
    for name in ("line", "search_button", "list", "more_button", "sort_box", "size_box", "license_box"):
        assert discover.find(f"discover_{name}").accessibleName(), name


def test_the_key_that_finds_goes_to_the_search_of_what_is_shown(
    discover: Stage, hub: LoopbackHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quantisation_list, "MOST_ROWS", 1)
    hub.files |= {f"tiny-{number}-Q4_K_M.gguf": b"x" * 100 for number in range(3)}
    discover.clicks("models_find_tab")
    line = discover.find_as(QLineEdit, "discover_line")
    searches(discover)
    opens(discover)
    discover.find("discover_list").setFocus()
    discover.triggers("find_action")
    assert discover.window.page == "models" and discover.window.focusWidget() is line
    assert line.selectedText() == "tiny"
    discover.triggers("find_action")
    assert discover.window.focusWidget() is discover.find("discover_quantisations_line"), "once more is the next one"
    discover.clicks("models_library_tab")
    discover.triggers("find_action")
    assert discover.window.focusWidget() is discover.find("library_line")
    discover.clicks("models_downloads_tab")
    discover.triggers("find_action")
    assert discover.window.page == "chat", "nothing is searched there"

"""A hub that takes the access token for none refuses everything: the window says so, and gives the way out where that is."""

from __future__ import annotations

import pytest
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit

from app.core.download import DownloadChanged, DownloadFile, DownloadWanted
from app.core.words import translate
from app.gui.discover.download_card import DownloadCard
from app.gui.discover.token_dialog import TokenDialog
from tests.gui.conftest import Stage
from tests.gui.discover.looking import found_by, opens, rests, searches
from tests.hub.keyrings import Memory
from tests.hub.loopback_hub import LoopbackHub, Request

# The offscreen platform says this of every dialog and hint.
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")
WANTED = DownloadWanted("org/tiny-GGUF", "main", (DownloadFile("one-Q4_K_M.gguf", 400),))
PROBLEM = translate("Hub", "{host} does not show this.", host="hub.example")


@pytest.fixture
def ended(discover: Stage, hub: LoopbackHub, keys: Memory) -> Stage:
    """A token lies in the keyring that the hub does not take any more."""
    program = discover.desk.program
    program.hub_token.keep("hf_ended")
    discover.desk.until(lambda: not program.hub_token.is_busy)
    hub.searching = hub.describing = _refuse
    return discover


def _refuse(request: Request) -> None:
    request.send_text("", 401)


def forgets(stage: Stage, hub: LoopbackHub, button: str) -> None:
    """Press the button and forget the token: the hub answers again."""
    stage.clicks(button)
    stage.desk.until(lambda: not stage.desk.program.hub_token.is_busy)
    hub.searching = hub.describing = None
    stage.clicks("token_forget_button")
    stage.desk.until(lambda: not stage.desk.program.hub_token.is_busy)
    stage.find_as(TokenDialog).close()
    rests(stage)


def test_the_search_says_so_and_goes_on_once_the_token_is_forgotten(ended: Stage, hub: LoopbackHub) -> None:
    searches(ended)
    assert "does not accept your access token" in ended.reads("discover_problem") and found_by(ended) == []
    forgets(ended, hub, "discover_search_token_button")
    assert found_by(ended)[0] == "org/tiny-GGUF" and not ended.sees("discover_problem")
    assert not ended.sees("discover_search_token_button")


def test_what_a_search_found_before_is_shown_beside_the_way_out(discover: Stage, hub: LoopbackHub) -> None:
    searches(discover)
    program = discover.desk.program
    program.hub_token.keep("hf_ended")
    discover.desk.until(lambda: not program.hub_token.is_busy)
    hub.searching = _refuse
    discover.clicks("discover_search_button")
    rests(discover)
    assert found_by(discover)[0] == "org/tiny-GGUF", "found without any token, so anybody may see it"
    assert "does not accept" in discover.reads("discover_problem") and discover.sees("discover_search_token_button")


def test_a_page_of_before_has_the_way_out_too(discover: Stage, hub: LoopbackHub) -> None:
    searches(discover)
    opens(discover)
    program = discover.desk.program
    assert not discover.sees("discover_age_token_button")
    program.hub_token.keep("hf_ended")
    discover.desk.until(lambda: not program.hub_token.is_busy)
    rests(discover)
    hub.describing = _refuse
    program.discovering.close()
    program.discovering.open("org/tiny-GGUF")
    rests(discover)
    assert discover.sees("discover_title") and "does not accept" in discover.reads("discover_page_age")
    forgets(discover, hub, "discover_age_token_button")
    assert not discover.sees("discover_age_token_button") and not discover.sees("discover_page_age")


def test_a_download_that_was_refused_goes_on_with_another_token(
    discover: Stage, keys: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    downloads, resumed = discover.desk.program.downloads, list[str]()
    monkeypatch.setattr(downloads._port, "resume", resumed.append)
    discover.clicks("models_downloads_tab")
    discover.desk.program.dispatch(DownloadChanged(WANTED, "failed", 0, None, PROBLEM))
    assert not discover.sees("download_token_button"), "no token would help"
    discover.desk.program.dispatch(DownloadChanged(WANTED, "failed", 0, None, PROBLEM, wants_token=True))
    card = discover.find_as(DownloadCard, "download_card")
    assert "one-Q4_K_M.gguf" in card.token.accessibleName()
    discover.clicks("download_token_button")
    discover.desk.until(lambda: not discover.desk.program.hub_token.is_busy)
    QTest.keyClicks(discover.find_as(QLineEdit, "token_line"), "hf_secret")
    discover.clicks("token_keep_button")
    discover.desk.until(lambda: not discover.desk.program.hub_token.is_busy)
    assert resumed == [WANTED.key]


def test_the_preferences_have_a_way_to_the_token(stage: Stage, keys: Memory) -> None:
    stage.triggers("preferences_action")
    stage.clicks("preferences_token_button")
    assert stage.sees("token_dialog")
    stage.find_as(TokenDialog).close()

"""Giving and forgetting an access token in the window; it goes into the keyring and stays nowhere else."""

from __future__ import annotations

import pytest
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit

from app.gui.discover.token_dialog import TokenDialog
from tests.gui.conftest import Stage
from tests.gui.discover.looking import opens, rests, searches
from tests.gui.fitting import cut_off
from tests.hub.keyrings import Memory
from tests.hub.loopback_hub import LoopbackHub

# The offscreen platform says this of every dialog and hint.
pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")
TOKEN = "hf_secret"


@pytest.fixture
def dialog(discover: Stage, hub: LoopbackHub) -> TokenDialog:
    """The dialog over the page of a gated model."""
    hub.info["gated"] = "auto"
    searches(discover)
    opens(discover)
    discover.clicks("discover_token_button")
    made = discover.window.findChild(TokenDialog)
    assert made is not None
    ends(discover)
    return made


def ends(stage: Stage) -> None:
    """Wait for the keyring."""
    stage.desk.until(lambda: not stage.desk.program.hub_token.is_busy)


def types(stage: Stage, text: str) -> QLineEdit:
    line = stage.find_as(QLineEdit, "token_line")
    line.setFocus()
    QTest.keyClicks(line, text)
    return line


def test_a_token_goes_into_the_keyring_and_the_page_is_read_anew(
    dialog: TokenDialog, discover: Stage, hub: LoopbackHub, keys: Memory
) -> None:
    host = hub.endpoint.removeprefix("http://")
    assert discover.reads("token_state") == f"There is no token for {host}."
    assert not discover.find("token_keep_button").isEnabled() and not discover.find("token_forget_button").isEnabled()
    line = types(discover, f" {TOKEN}")
    assert line.echoMode() is QLineEdit.EchoMode.Password
    asked = len(hub.asked)
    discover.clicks("token_keep_button")
    ends(discover)
    rests(discover)
    assert keys.kept == {("Tokenlight", host): TOKEN} and line.text() == ""
    assert discover.reads("token_state") == f"The token for {host} is in this system's keyring."
    assert any(headers.get("authorization") == f"Bearer {TOKEN}" for _, _, headers in hub.asked[asked:])
    discover.clicks("token_forget_button")
    ends(discover)
    assert keys.kept == {} and not discover.find("token_forget_button").isEnabled()


def test_what_is_no_token_is_said_and_not_given(dialog: TokenDialog, discover: Stage, keys: Memory) -> None:
    types(discover, "not a token")
    assert discover.sees("token_problem") and "copy it again" in discover.reads("token_problem")
    assert not discover.find("token_keep_button").isEnabled() and keys.kept == {}


def test_a_keyring_that_is_locked_says_what_to_do_and_what_was_typed_stays(
    dialog: TokenDialog, discover: Stage, keys: Memory
) -> None:
    keys.is_locked = True
    line = types(discover, TOKEN)
    discover.clicks("token_keep_button")
    ends(discover)
    assert "unlock it" in discover.reads("token_problem") and line.text() == TOKEN
    keys.is_locked = False
    discover.clicks("token_keep_button")
    ends(discover)
    assert list(keys.kept.values()) == [TOKEN] and not discover.sees("token_problem")


def test_nothing_of_it_is_cut_off_and_closing_forgets_what_was_typed(dialog: TokenDialog, discover: Stage) -> None:
    line = types(discover, TOKEN)
    assert cut_off(dialog) == []
    dialog.close()
    assert line.text() == ""

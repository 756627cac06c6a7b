"""Giving and taking an access token away from the window's thread: what is told of it, and what comes after a failure."""

from __future__ import annotations

from app.core.errors import UserError
from app.core.hub_token import HubToken, TokenPlace
from app.core.words import translate
from app.services.hub_token import HubTokenKeeping
from tests.desk import Desk

LOCKED = translate("Hub", "The keyring is locked.")


class Port:
    """A keyring for one token."""

    def __init__(self) -> None:
        self.kept, self.is_locked = "", False

    def token(self) -> HubToken:
        place: TokenPlace = "keyring" if self.kept else "none"
        return HubToken(place, "hub.example")

    def keep_token(self, token: str) -> None:
        if self.is_locked:
            raise UserError(LOCKED)
        self.kept = token

    def forget_token(self) -> None:
        self.kept = ""


def ended(desk: Desk, keeping: HubTokenKeeping) -> HubTokenKeeping:
    """Wait for what is being done."""
    desk.program.hub_token.take = keeping.take  # type: ignore[method-assign]
    desk.until(lambda: not keeping.is_busy)
    return keeping


def test_who_holds_a_token_is_told_after_each_step(desk: Desk) -> None:
    keeping, told = HubTokenKeeping(port := Port(), desk.program.jobs), []
    keeping.kept.connect(lambda: told.append(port.kept))
    keeping.look()
    assert keeping.is_busy and keeping.state is None
    assert ended(desk, keeping).state == HubToken("none", "hub.example") and told == []
    keeping.keep("hf_secret")
    assert ended(desk, keeping).state == HubToken("keyring", "hub.example") and told == ["hf_secret"]
    keeping.forget()
    assert ended(desk, keeping).state == HubToken("none", "hub.example") and told == ["hf_secret", ""]


def test_what_fails_is_told_and_gone_with_the_next_try(desk: Desk) -> None:
    keeping, told = HubTokenKeeping(port := Port(), desk.program.jobs), []
    keeping.kept.connect(lambda: told.append(1))
    port.is_locked = True
    keeping.keep("hf_secret")
    assert ended(desk, keeping).problem == LOCKED and told == []
    port.is_locked = False
    keeping.keep("hf_secret")
    assert keeping.problem is None
    assert ended(desk, keeping).state == HubToken("keyring", "hub.example") and told == [1]


def test_while_a_keyring_is_waited_for_nothing_else_is_begun(desk: Desk) -> None:
    keeping = HubTokenKeeping(port := Port(), desk.program.jobs)
    keeping.keep("hf_first")
    keeping.keep("hf_second")
    ended(desk, keeping)
    assert port.kept == "hf_first"

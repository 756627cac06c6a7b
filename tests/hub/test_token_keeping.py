from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from pathlib import Path

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.backends import chainer, fail, null

from app.core.errors import ExitCode, UserError
from app.core.hub_model import HubReference
from app.core.hub_search import HubQuery
from app.hub.reading import HubReader
from app.hub.token_keeping import NOTE
from tests.hub.keyrings import Forgetful, Memory, plain
from tests.hub.loopback_hub import LoopbackHub

TOKEN = "hf_secret"


@pytest.fixture
def desk() -> Iterator[Memory]:
    made, before = Memory(), keyring.get_keyring()
    keyring.set_keyring(made)
    yield made
    keyring.set_keyring(before)


def opened(hub: LoopbackHub, tmp_path: Path, **environment: str) -> HubReader:
    return HubReader({"HF_ENDPOINT": hub.endpoint, **environment}, 8, tmp_path / "cache", tmp_path)


def test_a_token_is_kept_in_the_keyring_for_its_hub_and_sent_to_it(
    hub: LoopbackHub, tmp_path: Path, desk: Memory, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    first = opened(hub, tmp_path)
    assert first.token.state().place == "none"
    first.token.keep(f" {TOKEN}\n")
    host = hub.endpoint.removeprefix("http://")
    assert desk.kept == {("Tokenlight", host): TOKEN}
    later = opened(hub, tmp_path)
    assert (later.token.state().place, later.token.state().host) == ("keyring", host)
    (model,) = later.models(HubReference(hub.repository))
    later.headers(model)
    later.search(HubQuery("tiny"))
    shown = {(where, headers.get("authorization")) for where, _, headers in hub.asked}
    assert shown == {("hub", f"Bearer {TOKEN}"), ("store", None)}
    for file in (each for each in tmp_path.rglob("*") if each.is_file()):
        assert TOKEN.encode() not in file.read_bytes() and TOKEN not in file.name
    assert TOKEN not in caplog.text


def test_another_hub_does_not_get_it(hub: LoopbackHub, tmp_path: Path, desk: Memory) -> None:
    HubReader({}, data=tmp_path).token.keep(TOKEN)
    assert list(desk.kept) == [("Tokenlight", "huggingface.co")]
    mirror = opened(hub, tmp_path)
    assert mirror.token.state().place == "none"
    mirror.search(HubQuery("tiny"))
    assert "authorization" not in hub.asked[0][2]


def test_a_keyring_that_nobody_put_anything_in_is_left_alone(hub: LoopbackHub, tmp_path: Path, desk: Memory) -> None:
    opened(hub, tmp_path).search(HubQuery("tiny"))
    opened(hub, tmp_path).token.forget()
    assert desk.asked == 0


def test_offline_the_keyring_is_not_asked(hub: LoopbackHub, tmp_path: Path, desk: Memory) -> None:
    opened(hub, tmp_path).token.keep(TOKEN)
    before = desk.asked
    with pytest.raises(UserError, match="offline"):
        opened(hub, tmp_path, HF_HUB_OFFLINE="1").search(HubQuery("tiny"))
    assert desk.asked == before


def test_the_variable_goes_before_the_keyring(hub: LoopbackHub, tmp_path: Path, desk: Memory) -> None:
    opened(hub, tmp_path).token.keep(TOKEN)
    reading = opened(hub, tmp_path, HF_TOKEN="hf_other")
    assert reading.token.state().place == "environment"
    reading.search(HubQuery("tiny"))
    assert hub.asked[0][2]["authorization"] == "Bearer hf_other"


def test_a_token_that_is_forgotten_is_gone_at_once(hub: LoopbackHub, tmp_path: Path, desk: Memory) -> None:
    reading = opened(hub, tmp_path)
    reading.token.keep(TOKEN)
    reading.token.forget()
    reading.search(HubQuery("tiny"))
    assert "authorization" not in hub.asked[0][2]
    assert desk.kept == {} and reading.token.state().place == "none"
    reading.token.forget()


def test_what_was_deleted_by_hand_can_be_forgotten(hub: LoopbackHub, tmp_path: Path, desk: Memory) -> None:
    reading = opened(hub, tmp_path)
    reading.token.keep(TOKEN)
    desk.kept.clear()
    reading.token.forget()
    assert (tmp_path / NOTE).read_bytes() == b"[]"


@pytest.mark.parametrize("text", ["", "  ", "a b", "ä", "a\nb", "x" * 501])
def test_what_is_no_token_is_not_kept(hub: LoopbackHub, tmp_path: Path, desk: Memory, text: str) -> None:
    with pytest.raises(UserError, match="no access token") as caught:
        opened(hub, tmp_path).token.keep(text)
    assert caught.value.exit_code == ExitCode.WRONG_USE and desk.kept == {}


@pytest.mark.parametrize("kind", ["fail", "null", "plain", "chain"])
def test_a_keyring_that_keeps_no_secret_is_not_used(
    hub: LoopbackHub, tmp_path: Path, desk: Memory, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    written = plain()
    monkeypatch.setattr(chainer.ChainerBackend, "backends", [written])
    made: dict[str, Callable[[], KeyringBackend]]
    made = {"fail": fail.Keyring, "null": null.Keyring, "plain": lambda: written, "chain": chainer.ChainerBackend}
    keyring.set_keyring(made[kind]())
    with pytest.raises(UserError, match="no keyring that keeps a secret"):
        opened(hub, tmp_path).token.keep(TOKEN)
    assert isinstance(written, Memory) and written.kept == {}
    assert not (tmp_path / NOTE).exists()


def test_a_keyring_that_forgets_is_told(hub: LoopbackHub, tmp_path: Path, desk: Memory) -> None:
    keyring.set_keyring(Forgetful())
    with pytest.raises(UserError, match="did not keep"):
        opened(hub, tmp_path).token.keep(TOKEN)
    assert opened(hub, tmp_path).token.state().place == "none"


def test_a_locked_keyring_is_told_and_searches_go_on_without_a_token(
    hub: LoopbackHub, tmp_path: Path, desk: Memory, caplog: pytest.LogCaptureFixture
) -> None:
    opened(hub, tmp_path).token.keep(TOKEN)
    desk.is_locked = True
    reading = opened(hub, tmp_path)
    reading.search(HubQuery("tiny"))
    assert "authorization" not in hub.asked[0][2]
    state = reading.token.state()
    assert state.place == "none" and state.problem is not None and "does not give" in state.problem.english()
    with pytest.raises(UserError, match="unlock it"):
        reading.token.keep(TOKEN)
    with pytest.raises(UserError, match="unlock it"):
        reading.token.forget()
    assert TOKEN not in caplog.text
    desk.is_locked = False
    assert reading.token.state().place == "keyring"


def test_a_damaged_note_has_the_keyring_asked(
    hub: LoopbackHub, tmp_path: Path, desk: Memory, caplog: pytest.LogCaptureFixture
) -> None:
    opened(hub, tmp_path).token.keep(TOKEN)
    (tmp_path / NOTE).write_bytes(b"{")
    assert opened(hub, tmp_path).token.state().place == "keyring"
    assert "cannot be read" in caplog.text

from __future__ import annotations

import getpass
import io
import sys
from collections.abc import Callable, Iterator

import keyring
import pytest

from app.core.errors import ExitCode
from tests.cli.conftest import CommandLine
from tests.hub.keyrings import Memory

HOST = "hub.example"


@pytest.fixture(autouse=True)
def _hub(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", f"https://{HOST}")


@pytest.fixture
def desk_keyring() -> Iterator[Memory]:
    made, before = Memory(), keyring.get_keyring()
    keyring.set_keyring(made)
    yield made
    keyring.set_keyring(before)


def test_a_token_is_kept_shown_by_its_place_and_forgotten(
    line: CommandLine, desk_keyring: Memory, feed: Callable[[bytes], None]
) -> None:
    assert line.run("models", "token") == 0 and line.out == f"There is no access token for {HOST}.\n"
    feed(b"hf_secret\n")
    assert line.run("models", "token", "--set") == 0
    assert line.out == f"The access token for {HOST} is in this system's keyring.\n" and "hf_secret" not in line.err
    assert desk_keyring.kept == {("Tokenlight", HOST): "hf_secret"}
    assert line.run("models", "token", "--forget") == 0 and "no access token" in line.out
    assert desk_keyring.kept == {}


def test_a_program_is_told_where_the_token_is_and_never_which(
    line: CommandLine, desk_keyring: Memory, feed: Callable[[bytes], None]
) -> None:
    assert line.run("models", "token", "--json") == 0
    assert line.lines() == [{"host": HOST, "place": "none", "problem": None}]
    feed(b"hf_secret\n")
    assert line.run("models", "token", "--set", "--json") == 0
    assert line.lines()[-1]["place"] == "keyring" and "hf_secret" not in line.out


def test_the_variable_is_named_where_it_holds_the_token(line: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    assert line.run("models", "token") == 0
    assert line.out == f"The access token for {HOST} is that of HF_TOKEN.\n"


def test_without_a_keyring_nothing_is_kept_and_the_variable_is_named(
    line: CommandLine, feed: Callable[[bytes], None]
) -> None:
    feed(b"hf_secret\n")
    assert line.run("models", "token", "--set") != 0
    assert "no keyring" in line.err and "HF_TOKEN" in line.err
    feed(b"no token\n")
    assert line.run("models", "token", "--set") == ExitCode.WRONG_USE
    assert "no token" not in line.err + line.out


def test_an_end_of_input_in_place_of_a_token_keeps_none(line: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    def ended(_: str) -> str:
        raise EOFError

    monkeypatch.setattr(sys, "stdin", io.StringIO())
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
    monkeypatch.setattr(getpass, "getpass", ended)
    assert line.run("models", "token", "--set") == ExitCode.WRONG_USE
    assert line.err.startswith("That is no access token") and line.out == ""

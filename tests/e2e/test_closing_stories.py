"""The window is closed while its words cannot be written: told by processes, with a real database."""

from __future__ import annotations

import os
import signal
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.e2e.remote_window import GUARD_SECONDS, RemoteWindow
from tests.store.shelf import locked

DATABASE = "tokenlight.sqlite3"
READY = "program.session.phase == 'ready'"
DONE = "program.chat.turns and not program.chat.busy"
ASKED = "[box for box in window.children() if box.objectName() == 'closing_question' and box.isVisible()] != []"


class EndingWindow(RemoteWindow):
    """A window that ends without being led to it."""

    def end(self) -> tuple[int, str]:
        """Wait for its end; return the exit code and what was said on standard error."""
        _, errors = self._process.communicate(timeout=GUARD_SECONDS)
        return self._process.returncode, errors

    def signal(self, number: signal.Signals) -> None:
        """Send a signal as the session does at its end."""
        self._process.send_signal(number)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def window(home: Path) -> Iterator[EndingWindow]:
    with EndingWindow(home, "--fake-engine") as opened:
        opened.until(READY)
        opened.sends("One")
        opened.until(DONE)
        yield opened


def questions(home: Path) -> list[str]:
    """Return what was asked, as it is on disk."""
    with closing(sqlite3.connect(home / DATABASE)) as connection:
        rows = connection.execute("SELECT text FROM message WHERE role = 'user' ORDER BY id").fetchall()
    return [text for (text,) in rows]


def ask_and_close(window: EndingWindow) -> None:
    """Ask what cannot be kept, and close the window over it."""
    window.sends("Two")
    window.until("program.chat.busy")
    assert window.ask("window.close()") is False
    window.until(ASKED)


def test_a_question_that_is_not_kept_holds_the_window_and_is_kept_where_people_wait(
    home: Path, window: EndingWindow
) -> None:
    with locked(home / DATABASE):
        ask_and_close(window)
        told = window.ask("find('closing_question').text()")
        assert "another program is using the file with the chats" in told
        window.clicks("keep_open_button")
    window.until("program.notices.latest is None")
    window.until(DONE)
    assert window.close() == (0, "")
    assert questions(home) == ["One", "Two"]


def has_it_back(home: Path) -> None:
    """The next start takes over what could not be kept, and says so."""
    assert questions(home) == ["One"]
    assert "could not be written" in (home / "logs" / "tokenlight.log").read_text(encoding="utf-8")
    with EndingWindow(home, "--fake-engine") as later:
        later.until("[turn.text for turn in program.chat.turns if turn.role == 'user'] == ['One', 'Two']")
        later.until("'What was missing is in your chats now' in find('notice_text').text()")
        assert later.close() == (0, "")
    assert questions(home) == ["One", "Two"]
    assert list(home.glob("tokenlight-unsaved-*")) == []


def test_who_closes_anyway_has_what_could_not_be_kept_at_the_next_start(home: Path, window: EndingWindow) -> None:
    with locked(home / DATABASE):
        ask_and_close(window)
        window.clicks("close_anyway_button")
        code, told = window.end()
    assert code == 0
    assert f"It is kept as {home / 'tokenlight-unsaved-'}" in told
    has_it_back(home)


@pytest.mark.skipif(os.name == "nt", reason="there are no such signals there")
@pytest.mark.parametrize("name", ["SIGTERM", pytest.param("SIGHUP", marks=pytest.mark.slow)])
def test_a_session_that_ends_is_not_held_up_by_a_question(home: Path, window: EndingWindow, name: str) -> None:
    with locked(home / DATABASE):
        window.sends("Two")
        window.until("program.chat.busy")
        window.signal(getattr(signal, name))
        code, told = window.end()
    assert code == 0
    assert f"It is kept as {home / 'tokenlight-unsaved-'}" in told
    has_it_back(home)


@pytest.mark.skipif(os.name == "nt", reason="an open file cannot be deleted there")
def test_a_database_that_is_deleted_under_the_window_is_there_again_with_every_word(
    home: Path, window: EndingWindow
) -> None:
    for path in home.glob(f"{DATABASE}*"):
        path.unlink()
    window.sends("Two")
    window.until(DONE)
    assert window.close() == (0, "")
    assert questions(home) == ["One", "Two"]

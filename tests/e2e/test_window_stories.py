"""Stories of the window with the real engine, the real model and a real store, told by processes."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.e2e.remote_window import RemoteWindow

LONG = "Write a very long story about a lighthouse keeper, with every detail."
WRITING = "program.chat.turns and program.chat.turns[-1].state == 'writing' and len(program.chat.turns[-1].text) > 20"
READY = "program.session.phase == 'ready'"
DONE = "not program.chat.busy"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def window(home: Path, starter_model: Path) -> Iterator[RemoteWindow]:
    with RemoteWindow(home, str(starter_model)) as opened:
        opened.until(READY)
        # The most likely tokens go round in circles, so that no answer ends before the test has looked.
        opened.ask("program.sampling.use_preset('Greedy')")
        yield opened


def kept(home: Path) -> list[tuple[str, str]]:
    """Return role and text of every message on disk, oldest first."""
    with closing(sqlite3.connect(home / "tokenlight.sqlite3")) as connection:
        return connection.execute("SELECT role, text FROM message WHERE deleted_ms IS NULL ORDER BY id").fetchall()


def letters(text: str) -> str:
    """Return what no markup adds to or takes from."""
    return "".join(filter(str.isalpha, text))


def test_an_engine_that_is_killed_in_mid_answer_costs_nothing_that_was_written(
    home: Path, window: RemoteWindow, starter_model: Path
) -> None:
    window.sends(LONG)
    window.until(WRITING)
    window.engine.kill()
    window.until("program.notices.latest and program.notices.latest.remedy == 'restart_engine'")
    (_, _, _), (_, written, state) = window.turns()
    assert (state, len(written) > 20) == ("interrupted", True)
    window.clicks("notice_action")
    window.until(READY)
    assert window.turns()[1][1] == written
    assert window.close() == (0, "")
    assert kept(home) == [("user", LONG), ("assistant", written)]


def test_a_stopped_answer_on_disk_is_what_the_screen_shows(home: Path, window: RemoteWindow) -> None:
    window.sends(LONG)
    window.until(WRITING)
    window.clicks("stop_button")
    window.until(DONE)
    window.ask("find('transcript').select_all()")
    shown = window.ask("''.join(find('transcript')._selected_pieces())")
    (_, question, _), (_, answer, _) = window.turns()
    # A moment later it is the same: what the engine still had is nobody's any more.
    window.sends("Thank you.")
    window.until("program.chat.turns[-1].state == 'writing'")
    assert window.turns()[1] == ("assistant", answer, "done")
    assert kept(home)[:2] == [("user", question), ("assistant", answer)]
    assert letters(shown) == letters(question + answer)
    assert window.close() == (0, "")
    assert kept(home)[:2] == [("user", question), ("assistant", answer)]


def test_an_application_that_is_killed_in_mid_answer_loses_the_last_second_at_most(
    home: Path, window: RemoteWindow, starter_model: Path
) -> None:
    window.sends(LONG)
    window.until(WRITING)
    # more than a second after this moment: what stands now must be on disk by then
    earlier, now = window.ask("(program.chat.turns[-1].text, __import__('time').monotonic())")
    window.until(f"__import__('time').monotonic() > {now} + 1.2 or not program.chat.busy")
    engine = window.engine
    window.kill()
    engine.wait(10)
    with RemoteWindow(home, str(starter_model)) as again:
        again.until("len(program.chat.turns) == 2")
        (_, question, _), (_, answer, state) = again.turns()
        assert question == LONG
        assert answer.startswith(earlier)
        assert state in ("interrupted", "done")
        again.until(READY)
        again.ask("program.sampling.change(max_tokens=20)")
        again.sends("Thank you.")
        again.until(DONE + " and len(program.chat.turns) == 4")
        assert again.close() == (0, "")
    assert [role for role, _ in kept(home)] == ["user", "assistant", "user", "assistant"]


def test_an_answer_lands_in_its_own_conversation_while_another_is_shown(home: Path, window: RemoteWindow) -> None:
    window.ask("program.sampling.change(max_tokens=60)")
    window.sends("Tell a story.")
    window.until(WRITING)
    first = window.ask("program.conversations.open_id")
    window.triggers("new_chat_action")
    assert window.turns() == []
    window.sends("And something else.")
    window.until(DONE + " and len(program.chat.turns) == 2")
    second = window.turns()
    window.ask(f"program.conversations.open({first})")
    window.until(f"program.conversations.open_id == {first}")
    story = window.turns()
    assert story[0][1] == "Tell a story."
    assert second[0][1] == "And something else."
    assert {state for _, _, state in (*story, *second)} == {"done"}
    assert window.close() == (0, "")
    assert sorted(kept(home)) == sorted((role, text) for role, text, _ in (*story, *second))


def test_a_conversation_that_is_deleted_while_it_is_answered_stops_and_stays_deleted(
    home: Path, window: RemoteWindow, starter_model: Path
) -> None:
    window.sends(LONG)
    window.until(WRITING)
    window.ask("program.conversations.delete(program.conversations.open_id)")
    window.until(READY)
    assert window.turns() == []
    assert window.close() == (0, "")
    with RemoteWindow(home, str(starter_model)) as again:
        again.until(READY)
        assert again.ask("len(program.conversations.heads)") == 0


def test_a_window_that_is_closed_in_mid_answer_keeps_the_answer_as_stopped(
    home: Path, window: RemoteWindow, starter_model: Path
) -> None:
    window.sends(LONG)
    window.until(WRITING)
    written = window.ask("program.chat.turns[-1].text")
    assert window.close() == (0, "")
    with RemoteWindow(home, str(starter_model)) as again:
        again.until("len(program.chat.turns) == 2")
        _, (_, answer, state) = again.turns()
        assert answer.startswith(written)
        assert state == "done"
        assert again.ask("program.chat.turns[-1].finished.stop_reason") == "cancelled"
        assert again.ask("program.chat.can_go_on")


def test_numbers_are_written_alike_wherever_they_stand_in_any_country(home: Path) -> None:
    with RemoteWindow(home, LANG="de_DE.UTF-8", LC_ALL="de_DE.UTF-8") as window:
        assert window.ask("find('temperature_box').text()") == "0.80"
        window.ask("find('temperature_box').lineEdit().setText('1,25')")
        window.ask("find('temperature_box').interpretText()")
        assert window.ask("program.sampling.values.temperature") == 1.25
        assert window.ask("find('temperature_box').text()") == "1.25"
        assert window.close()[0] == 0

"""An application that is killed while an answer is written again or goes on: nothing that was there is lost."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.e2e.remote_window import GUARD_SECONDS, RemoteWindow

QUESTION = "Why is the sky blue?"
READY = "program.session.phase == 'ready'"
WRITING = "program.chat.turns[-1].state == 'writing' and len(program.chat.turns[-1].text) > {}"
OVER = "not program.chat.busy"
DEATH = "__import__('os').kill(__import__('os').getpid(), 9)"
MOMENTS = {
    "asked": f"program.session.sent.connect(lambda *_: {DEATH}) and None",
    "begun": f"program.answers.changed.connect(lambda _, turn: turn.state == 'writing' and {DEATH}) and None",
}
"""What kills the application: that the model gets the question, and that the first text is about to be shown."""


class Answer(NamedTuple):
    """An answer on disk."""

    text: str
    state: str


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "script.json"
    answers = [f"{word} " * 400 for word in ("red", "green", "blue")]
    path.write_text(json.dumps({"answers": answers, "tokens_per_s": 100}), encoding="utf-8")
    return path


def window_of(home: Path, script: Path) -> RemoteWindow:
    return RemoteWindow(home, "--fake-engine", str(script))


def ask(window: RemoteWindow) -> str:
    """Have a first answer written, stop it, and return what is on the screen of it."""
    window.until(READY)
    window.sends(QUESTION)
    window.until(WRITING.format(20))
    window.clicks("stop_button")
    window.until(OVER)
    return str(window.ask("program.chat.turns[-1].text"))


def stored(home: Path) -> list[Answer]:
    """Return the answers on disk, oldest first, as a program that was started again left them."""
    with closing(sqlite3.connect(home / "tokenlight.sqlite3")) as connection:
        rows = connection.execute(
            "SELECT text, state FROM answer JOIN message ON message.id = answer.message "
            "WHERE deleted_ms IS NULL ORDER BY message.id"
        ).fetchall()
    return [Answer(*row) for row in rows]


def killed(window: RemoteWindow, moment: str, action: str) -> None:
    """Let an action end in the death of the application, at a moment or once a second of it is written."""
    engine = window.engine
    if moment == "written":
        window.triggers(action)
        before = len(window.ask("program.chat.turns[-1].text"))
        window.until(WRITING.format(before + 120))
        window.kill()
    else:
        window.ask(MOMENTS[moment])
        window.triggers(action)
    engine.wait(GUARD_SECONDS)  # it ends with the application


@pytest.mark.parametrize("moment", [*MOMENTS, "written"])
def test_an_answer_that_was_being_written_again_leaves_the_old_one(home: Path, script: Path, moment: str) -> None:
    with window_of(home, script) as window:
        old = ask(window)
        killed(window, moment, "answer_again_action")
    with window_of(home, script) as again:
        again.until("len(program.chat.turns) == 2")
        (_, question, _), (_, shown, state) = again.turns()
        assert question == QUESTION
        earlier, new = stored(home)
        assert earlier == Answer(old, "done")
        assert new.state == "interrupted"
        assert (shown, state) in [(old, "done"), (new.text, "interrupted")]
        assert moment != "written" or (shown == new.text and len(new.text) > 20)
        again.until(READY)
        assert again.close() == (0, "")


@pytest.mark.parametrize("moment", ["written", pytest.param("asked", marks=pytest.mark.slow)])
def test_an_answer_that_was_going_on_keeps_its_first_part(home: Path, script: Path, moment: str) -> None:
    with window_of(home, script) as window:
        old = ask(window)
        killed(window, moment, "go_on_action")
    with window_of(home, script) as again:
        again.until("len(program.chat.turns) == 2")
        _, (_, shown, state) = again.turns()
        (kept,) = stored(home)
        assert kept == Answer(shown, "done" if moment == "asked" else "interrupted")
        assert (shown.startswith(old), state) == (True, kept.state)
        assert moment != "written" or len(shown) > len(old)
        again.until(READY)
        assert again.ask("program.chat.can_go_on")
        assert again.close() == (0, "")


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_question_is_on_disk_before_anything_is_said_to_it(home: Path, script: Path, moment: str) -> None:
    with window_of(home, script) as window:
        window.until(READY)
        engine = window.engine
        window.ask(MOMENTS[moment])
        window.sends(QUESTION)
        engine.wait(GUARD_SECONDS)
    with window_of(home, script) as again:
        again.until(f"{READY} and not program.conversations.is_opening and len(program.conversations.heads)")
        again.ask("program.conversations.open(program.conversations.heads[0].id)")  # which was shown may be newer
        again.until("len(program.chat.turns)")
        (_, asked, _), *answers = again.turns()
        assert asked == QUESTION
        assert [state for _, _, state in answers] in ([], ["interrupted"])
        assert again.close() == (0, "")


def test_what_has_ended_and_what_was_set_for_the_chat_outlive_a_kill(home: Path, script: Path) -> None:
    with window_of(home, script) as window:
        shown = ask(window)
        window.ask("program.sampling.change(temperature=0.35)")
        window.ask("program.system_prompt.save('Be brief.')")
        window.ask("program.settings.change(text_size=120)")
        database, file = str(home / "tokenlight.sqlite3"), str(home / "settings.json")
        look = (
            f"__import__('sqlite3').connect({database!r}).execute('SELECT settings, system_prompt FROM conversation')"
        )
        window.until(f"any('0.35' in str(row[0]) and row[1] for row in {look})")
        window.until(f"'120' in open({file!r}).read()")
        engine = window.engine
        window.kill()
        engine.wait(GUARD_SECONDS)
    with window_of(home, script) as again:
        again.until("len(program.chat.turns) == 2")
        assert again.turns() == [("user", QUESTION, "done"), ("assistant", shown, "done")]
        assert again.ask("program.sampling.values.temperature") == 0.35
        assert again.ask("program.system_prompt.text") == "Be brief."
        assert again.ask("program.settings.values.text_size") == 120
        assert again.close() == (0, "")

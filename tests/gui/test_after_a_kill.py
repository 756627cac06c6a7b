"""What is said of an answer that the end of the whole program cut off: only what is true of it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.gui.chat.footer import parts
from app.gui.widgets.gauge import Gauge
from tests.desk import Desk
from tests.gui.live_panel import PanelStage

LOST = "The answer was interrupted after its first letters"


@pytest.fixture
def killed(desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: Path) -> Iterator[Callable[[], Desk]]:
    """Return what starts the program on what one that is killed now leaves on disk, with its chat and a model."""
    started: list[Desk] = []

    def restart() -> Desk:
        home = tmp_path / f"left {len(started)}"
        home.mkdir()
        for file in (tmp_path / (f"left {len(started) - 1}" if started else "home")).glob("tokenlight.sqlite3*"):
            shutil.copy(file, home)
        made = Desk(home, monkeypatch)
        started.append(made)
        made.program.conversations.start()
        made.program.conversations.open(made.program.conversations.heads[0].id)
        made.load(model)
        return made

    desk.program.conversations.start()
    desk.load(model)
    yield restart
    for made in started:
        made.program.stop()


def test_an_answer_of_which_nothing_was_written_says_so(desk: Desk, killed: Callable[[], Desk]) -> None:
    desk.program.chat.send("Blue sky")
    desk.engine.prompt()
    desk.settle()
    turn = killed().program.chat.turns[-1]
    assert (turn.text, turn.state) == ("", "interrupted")
    assert parts(turn) == ["Interrupted before anything was written: answer again."]


def test_an_answer_of_which_something_was_written_says_that_it_stays(desk: Desk, killed: Callable[[], Desk]) -> None:
    desk.program.chat.send("Blue sky")
    desk.engine.prompt()
    desk.engine.write("Half")
    desk.settle()
    turn = killed().program.chat.turns[-1]
    assert (turn.text, turn.state) == ("Half", "interrupted")
    assert parts(turn) == ["Interrupted: what was written stays."]


def test_a_time_to_the_first_token_that_nobody_kept_is_unknown_in_value_and_bar(
    desk: Desk, killed: Callable[[], Desk], qtbot: QtBot, qapp: QApplication
) -> None:
    desk.program.chat.send("Blue sky")
    desk.engine.prompt()
    desk.engine.write("Half", 3)
    desk.settle()

    def check(live: PanelStage) -> None:
        live.settle()
        assert (live.reads("ttft_value"), live.reads("ttft_value_beside")) == ("–", "")
        assert live.find_as(Gauge, "ttft_bar").segments == ()
        assert LOST in live.hint("ttft_value")
        assert LOST.lower()[4:] in live.hint("ttft_bar") and live.names("ttft_bar") == live.hint("ttft_bar")

    later = killed()
    live = PanelStage(later, qtbot, qapp)
    live.show()
    later.program.chat.opened.emit()
    check(live)
    later.program.chat.go_on()
    later.settle()
    later.engine.prompt(answer=(0, 1, 2))
    check(live)
    later.engine.write(" an answer", 3)
    check(live)
    later.engine.finish()
    check(live)
    live.panel.disconnect_services()
    last = PanelStage(killed(), qtbot, qapp)
    last.show()
    last.desk.program.chat.opened.emit()
    check(last)
    assert last.live.figures.itl_ms is None, "the gaps of one part are not those of the whole"
    assert "unknown, as the answer was written in parts" in last.hint("itl_chart")
    last.panel.disconnect_services()
    qapp.setStyleSheet("")

"""Going on with an answer that another model or another prompt began, and what is on disk before there is more of it."""

from __future__ import annotations

import shutil
from array import array
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.core.commands import Reproduce
from app.services.chat import Chat
from app.services.turns import Turn
from tests.desk import Desk
from tests.services.asking import half_an_answer, say, shown, texts


@pytest.fixture
def killed(desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], Chat]]:
    """Return what starts the program on what one that is killed now leaves on disk."""
    started: list[Desk] = []

    def restart() -> Chat:
        home = tmp_path / f"left {len(started)}"
        half_written = shutil.ignore_patterns("*.new")  # the settings are written beside their file, then renamed
        shutil.copytree(tmp_path / "home", home, ignore=half_written)
        made = Desk(home, monkeypatch)
        started.append(made)
        made.program.conversations.start()
        made.program.conversations.open(made.program.conversations.heads[0].id)
        made.settle()
        return made.program.chat

    yield restart
    for made in started:
        made.program.stop()


def reread(desk: Desk) -> Turn:
    """Leave the chat that is shown and come back; return its last turn."""
    shown_first = desk.program.chat.conversation_id
    desk.program.conversations.new()
    desk.program.conversations.open(shown_first)
    desk.settle()
    return desk.program.chat.turns[-1]


def go_on(desk: Desk, *, tokens: int = 40) -> Turn:
    """Go on behind a prompt of so many tokens, to the end."""
    desk.program.chat.go_on()
    desk.settle()
    desk.engine.prompt(tokens, answer=(0, 1))
    desk.engine.write("wer", count=3)
    desk.engine.finish()
    desk.settle()
    return desk.program.chat.turns[-1]


def reproduced(desk: Desk, turn: Turn) -> Reproduce:
    """Return what the engine is asked to write once more."""
    assert desk.program.reproducing.begin(turn)
    desk.settle()
    command = desk.engine.all(Reproduce)[-1]
    desk.program.reproducing.cancel()
    desk.engine.fail("cancelled", command.request)
    desk.settle()
    return command


def places(command: Reproduce) -> tuple[int, int, list[int]]:
    """Return the tokens before an answer and in it, and those from which settings held."""
    return len(command.prompt) // 4, len(command.ids) // 4, [change.token for change in command.settings]


@pytest.mark.parametrize("is_read_again", [False, True])
def test_another_prompt_makes_another_version_and_both_can_be_written_again(
    desk: Desk, chat: Chat, is_read_again: bool
) -> None:
    half_an_answer(desk)
    if is_read_again:
        reread(desk)
    more = go_on(desk, tokens=55)
    assert (more.text, desk.program.branches.version(more)) == ("Half an answer", (2, 2))
    assert more.finished is not None and more.finished.metrics.sampled_tokens == 3
    assert places(reproduced(desk, more)) == (55, 5, [2])
    assert desk.program.branches.step(more, -1)
    first = chat.turns[-1]
    assert (first.text, first.state, chat.can_go_on) == ("Half an ans", "done", True)
    assert places(reproduced(desk, first)) == (40, 2, [0])
    again = reread(desk)
    assert desk.program.branches.version(again) == (1, 2)
    assert places(reproduced(desk, again)) == (40, 2, [0])


@pytest.mark.parametrize("is_read_again", [False, True])
def test_the_same_prompt_and_model_make_one_answer(desk: Desk, chat: Chat, is_read_again: bool) -> None:
    half_an_answer(desk)
    if is_read_again:
        reread(desk)
    more = go_on(desk)
    assert (more.text, desk.program.branches.version(more)) == ("Half an answer", (1, 1))
    assert places(reproduced(desk, more)) == (40, 5, [0])
    chat.send("Two")
    desk.settle()
    desk.engine.prompt()
    assert shown(chat)[1] == "Half an answer"


def test_another_model_makes_another_version_under_its_own_name(desk: Desk, chat: Chat, other_model: Path) -> None:
    half_an_answer(desk)
    wrote = chat.turns[-1].author
    desk.load(other_model)
    more = go_on(desk)
    assert more.author != wrote
    assert places(reproduced(desk, more)) == (40, 5, [2])
    desk.program.branches.step(more, -1)
    first = reread(desk)
    assert (first.text, first.author, desk.program.branches.version(first)) == ("Half an ans", wrote, (1, 2))


def test_a_prompt_that_is_not_kept_counts_as_another_one(desk: Desk, chat: Chat) -> None:
    half_an_answer(desk)
    reread(desk)
    connection = desk.store.work.database.connection
    assert connection is not None
    connection.execute("DELETE FROM answer_prompt")
    more = go_on(desk)
    assert desk.program.branches.version(more) == (2, 2)
    assert places(reproduced(desk, more)) == (40, 5, [2])


def test_a_version_that_went_on_apart_goes_on_as_one(desk: Desk, chat: Chat) -> None:
    half_an_answer(desk)
    chat.go_on()
    desk.settle()
    desk.engine.prompt(55, answer=(0, 1))
    desk.engine.write("w", count=1)
    desk.engine.finish("length")
    desk.settle()
    reread(desk)
    chat.go_on()
    desk.settle()
    desk.engine.prompt(55, answer=(0, 1, 0))
    desk.engine.write("er", count=2)
    desk.engine.finish()
    desk.settle()
    more = chat.turns[-1]
    assert (more.text, desk.program.branches.version(more)) == ("Half an answer", (2, 2))
    assert places(reproduced(desk, more)) == (55, 5, [2])


@pytest.mark.parametrize("tokens", [40, 55])
@pytest.mark.parametrize("end", ["stopped", "died"])
def test_going_on_that_comes_to_nothing_leaves_all_that_is_kept(
    desk: Desk, chat: Chat, tokens: int, end: str
) -> None:
    half_an_answer(desk)
    before = chat.turns[-1]
    chat.go_on()
    desk.settle()
    desk.engine.prompt(tokens, answer=(0, 1), dropped=(0, 1))
    desk.engine.write("")  # a token without a text is none that anybody saw
    desk.settle()
    assert chat.turns[-1].state == "waiting"
    if end == "stopped":
        desk.engine.finish("cancelled")
    else:
        desk.engine.die(desk.engine.question.request)
    desk.settle()
    turn = reread(desk)
    assert desk.program.branches.version(turn) == (1, 1)
    assert (turn.text, turn.ids, turn.state, turn.dropped) == (before.text, array("i", [0, 1]).tobytes(), "done", 0)
    assert turn.finished is not None and before.finished is not None
    assert turn.finished.metrics == before.finished.metrics
    if end == "stopped":
        command = reproduced(desk, turn)
        assert (*places(command), command.given) == (40, 2, [0], 0)


@pytest.mark.parametrize("tokens", [40, 55])
def test_a_kill_before_the_first_new_text_leaves_a_finished_answer_finished(
    desk: Desk, chat: Chat, killed: Callable[[], Chat], tokens: int
) -> None:
    half_an_answer(desk)
    before = chat.turns[-1].finished
    chat.go_on()
    desk.settle()
    for _ in range(2):
        (_, turn) = killed().turns
        assert (turn.text, turn.state, turn.reason) == ("Half an ans", "done", None)
        assert turn.finished is not None and before is not None
        assert (turn.finished.stop_reason, turn.finished.metrics) == ("length", before.metrics)
        desk.engine.prompt(tokens, answer=(0, 1))
        desk.engine.write("")
        desk.settle()


def test_a_kill_while_an_edited_answer_waits_to_go_on_leaves_it(
    desk: Desk, chat: Chat, killed: Callable[[], Chat]
) -> None:
    say(desk, "One", "1")
    desk.program.branches.edit(chat.turns[-1], "Mine")
    chat.go_on()
    desk.settle()
    desk.engine.prompt(answer=(5,))
    desk.settle()
    later = killed()
    assert texts(desk.program)[1][1] == "Mine"
    assert [(turn.text, turn.state, turn.edited) for turn in later.turns[1:]] == [("Mine", "done", True)]


def test_a_kill_behind_the_first_new_text_leaves_both_parts(
    desk: Desk, chat: Chat, killed: Callable[[], Chat]
) -> None:
    half_an_answer(desk)
    chat.go_on()
    desk.settle()
    desk.engine.prompt(answer=(0, 1))
    desk.engine.write("")
    desk.engine.write("wer")
    desk.settle()
    (_, turn) = killed().turns
    assert (turn.text, turn.state, len(turn.ids) // 4) == ("Half an answer", "interrupted", 4)


def test_an_answer_that_waits_to_go_on_is_deleted_as_it_was(desk: Desk, chat: Chat) -> None:
    say(desk, "One", "1")
    half_an_answer(desk)
    chat.go_on()
    desk.settle()
    desk.program.branches.delete(chat.turns[-1])
    assert shown(chat) == ["One", "1", "One"]
    assert not chat.busy


def test_what_an_answer_thought_before_is_measured_by_the_clock_of_its_own_version(desk: Desk, chat: Chat) -> None:
    half_an_answer(desk, "<think>hm</think>Half an ans")
    thoughts = chat.turns[-1].thoughts
    assert thoughts is not None and thoughts.thinking is not None
    before = thoughts.thinking
    chat.go_on()
    desk.settle()
    desk.engine.prompt(55, answer=(0, 1))
    desk.engine.write("wer", step_ms=9_000)
    desk.engine.finish()
    desk.settle()
    more = chat.turns[-1]
    assert more.thoughts is not None and more.thoughts.thinking is not None
    assert more.thoughts.thinking.tokens == before.tokens
    first_ms = more.thoughts.thinking.first_answer_ms
    assert first_ms is not None and first_ms > 9_000  # by the engine's clock, which the test leads


def test_a_stored_answer_is_open_from_its_first_new_text_on(desk: Desk, chat: Chat) -> None:
    half_an_answer(desk)
    states: list[str] = []

    def note() -> None:
        connection = desk.store.work.database.connection
        assert connection is not None
        states.extend(state for (state,) in connection.execute("SELECT state FROM answer"))

    chat.go_on()
    note()
    desk.engine.prompt(answer=(0, 1))
    desk.settle()
    note()
    desk.engine.write("wer")
    desk.settle()
    note()
    assert states == ["done", "done", "open"]

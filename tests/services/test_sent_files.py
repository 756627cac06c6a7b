"""Files of sent messages are counted again where nobody knows their tokens any more."""

from __future__ import annotations

from pathlib import Path

from app.core.attached_files import framed
from app.core.commands import Tokenize
from app.core.events import Tokenized
from app.services.turns import Turn
from tests.desk import Desk
from tests.services.asking import say

FILES = (framed("a.txt", "some words"), framed("b.txt", "other words"))


def ask_with_files(desk: Desk) -> Turn:
    desk.program.conversations.start()
    say(desk, "\n\n".join((*FILES, "What is this?")), "Text.")
    return desk.program.chat.turns[0]


def count_all(desk: Desk) -> None:
    """Let the engine count what it is asked, as many tokens as letters."""
    done: list[str] = []
    while len(
        asked := [each for each in desk.engine.sent if isinstance(each, Tokenize) and each.text in FILES]
    ) > len(done):
        question = asked[len(done)]
        done.append(question.text)
        desk.engine.say(Tokenized(question.request, bytes(4 * len(question.text))))
        desk.settle()


def asked_for(desk: Desk) -> int:
    return len([each for each in desk.engine.sent if isinstance(each, Tokenize) and each.text in FILES])


def test_files_have_their_tokens_again_after_another_chat(desk: Desk, model: Path) -> None:
    desk.load(model)
    ask_with_files(desk)
    count_all(desk)
    chat, told = desk.program.chat, list[Turn]()
    place = chat.shown.head.id
    desk.program.conversations.new()
    desk.program.answers.changed.connect(lambda _conversation, turn: told.append(turn))
    desk.program.conversations.open(place)
    desk.until(lambda: bool(chat.turns))
    count_all(desk)
    assert chat.turns[0].file_tokens == tuple(map(len, FILES))
    assert chat.turns[0] in told
    before = asked_for(desk)
    chat.opened.emit()
    assert asked_for(desk) == before  # what is known is not asked again


def test_nothing_is_asked_while_an_answer_is_written(desk: Desk, model: Path) -> None:
    desk.load(model)
    turn = ask_with_files(desk)
    count_all(desk)
    desk.program.chat.send("And?")
    turn.file_tokens = ()
    before = asked_for(desk)
    desk.program.chat.opened.emit()
    assert asked_for(desk) == before
    desk.engine.prompt()
    desk.engine.write("So.")
    desk.engine.finish()
    desk.settle()
    count_all(desk)
    assert turn.file_tokens == tuple(map(len, FILES))


def test_files_of_an_earlier_run_are_counted_once_a_model_is_there(desk: Desk, model: Path) -> None:
    desk.load(model)
    turn = ask_with_files(desk)
    count_all(desk)
    turn.file_tokens = ()
    before = asked_for(desk)
    desk.load(model)
    assert asked_for(desk) > before

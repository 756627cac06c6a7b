"""Whatever goes wrong while an answer ends, its chat can be used, and the error is told."""

from __future__ import annotations

import pytest

from app.services.chat import Chat
from app.services.open_conversation import OpenConversation
from app.services.turns import Turn
from tests.desk import Desk
from tests.services.asking import shown


def begin_to_write(desk: Desk) -> None:
    desk.engine.prompt()
    desk.engine.write("Half")
    desk.settle()


def test_a_chat_can_be_used_whatever_goes_wrong_when_its_answer_ends(
    desk: Desk, chat: Chat, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat.send("One")
    begin_to_write(desk)
    told: list[str] = []
    chat.changed.connect(lambda turn: told.append(turn.state))

    def refuse(_conversation: OpenConversation, _turn: Turn) -> None:
        raise RuntimeError("a mistake")

    with monkeypatch.context() as patch:
        patch.setattr(desk.program.answers._keeper, "keep_answer", refuse)
        desk.engine.finish()
        with pytest.raises(RuntimeError, match="a mistake"):
            desk.settle()
    assert (shown(chat), told, chat.busy) == (["One", "Half"], ["done"], False)
    assert chat.send("Two")
    desk.answer("2")
    assert shown(chat) == ["One", "Half", "Two", "2"]


def test_an_answer_says_so_when_its_end_could_not_be_taken_in(
    desk: Desk, chat: Chat, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat.send("One")
    begin_to_write(desk)
    with monkeypatch.context() as patch:
        patch.setattr("app.services.turns.Beginning.joined", lambda _self, _rest: 1 // 0)
        desk.engine.finish()
        with pytest.raises(ZeroDivisionError):
            desk.settle()
    assert (chat.turns[1].text, chat.turns[1].state, chat.busy) == ("Half", "interrupted", False)
    assert chat.turns[1].reason is not None and "went wrong" in chat.turns[1].reason.english()
    assert chat.send("Two")

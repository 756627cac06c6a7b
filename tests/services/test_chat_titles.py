"""What a chat is called: by its first question, until somebody says otherwise."""

from __future__ import annotations

from collections.abc import Callable

from app.services.chat import Chat
from tests.desk import Desk
from tests.services.asking import say


def test_a_chat_that_began_with_a_greeting_is_called_by_the_next_question(desk: Desk, chat: Chat) -> None:
    say(desk, "Hi", "Hello!")
    assert [head.title for head in desk.program.conversations.heads] == ["Hi"]
    say(desk, "Hey, why is the sky blue?", "Because.")
    assert [head.title for head in desk.program.conversations.heads] == ["Why is the sky blue?"]
    say(desk, "And the sea?", "So.")
    assert chat.shown.head.title == "Why is the sky blue?"


def test_a_title_that_somebody_gave_is_never_another_one(desk: Desk, chat: Chat) -> None:
    say(desk, "Hi", "Hello!")
    desk.program.conversations.rename(chat.conversation_id, "Mine")
    say(desk, "Why is the sky blue?", "Because.")
    assert [head.title for head in desk.program.conversations.heads] == ["Mine"]


def test_the_title_of_the_second_question_and_one_that_was_given_are_kept(
    desk: Desk, chat: Chat, again: Callable[[], Desk]
) -> None:
    say(desk, "Hi", "Hello!")
    say(desk, "Why is the sky blue?", "Because.")
    desk.program.conversations.new()
    say(desk, "Hi", "Hello!")
    desk.program.conversations.rename(chat.conversation_id, "Mine")
    titles = {head.title for head in again().program.conversations.heads}
    assert titles == {"Mine", "Why is the sky blue?"}

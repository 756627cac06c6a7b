"""The token whose attention was asked for is chosen again where its text is shown again, and nowhere else."""

from __future__ import annotations

from tests.desk import Desk
from tests.services.looked_at import PROMPT, ask, desk
from tests.services.test_attention import end, open_example, service

__all__ = ["desk"]


def goes_to(desk: Desk, conversation: int) -> None:
    desk.program.conversations.open(conversation)
    desk.until(lambda: desk.program.chat.conversation_id == conversation)
    desk.until(lambda: not desk.program.inspecting.is_busy and desk.program.inspecting.prompt is not None)


def test_the_token_that_is_read_is_chosen_again_with_its_text(desk: Desk) -> None:
    ask(desk)
    first = desk.program.chat.conversation_id
    service(desk).select(PROMPT + 1)
    assert service(desk).begin()
    desk.program.conversations.new()
    assert service(desk).token is None
    goes_to(desk, first)
    assert service(desk).token == PROMPT + 1 and service(desk).hindrance is None
    desk.program.conversations.new()
    end(desk)
    goes_to(desk, first)
    assert service(desk).token == PROMPT + 1 and service(desk).rows is not None, "also once it has ended"
    service(desk).select(5)
    assert service(desk).begin()
    open_example(desk)
    service(desk).leave_example()
    assert service(desk).token == 5


def test_a_text_that_begins_with_the_same_tokens_is_another_one(desk: Desk) -> None:
    ask(desk)
    service(desk).select(5)
    service(desk).begin()
    end(desk)
    ask(desk, "And now?", tokens=PROMPT + 3)
    assert service(desk).text is not None and service(desk).token is None
    service(desk).select(5)
    assert service(desk).rows is not None

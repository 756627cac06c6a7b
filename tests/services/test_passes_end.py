"""Passes over an answer's tokens end with the chat, or the branch of it, that they were asked in; and with nothing else."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from app.core.commands import Cancel
from app.services.attention import Attention
from app.services.operations import Operations
from app.services.prompt_scores import PromptScores
from tests.desk import Desk
from tests.services.looked_at import PROMPT, ask, desk
from tests.services.test_attention import open_example

__all__ = ["desk"]

Pass = Attention | PromptScores | Operations
PASSES: tuple[Callable[[Desk], Pass], ...] = (
    lambda desk: desk.program.views.attention,
    lambda desk: desk.program.prompt_scores,
    lambda desk: desk.program.views.operations,
)
whatever = pytest.mark.parametrize("of", PASSES, ids=("attention", "scores", "operations"))


def begin(desk: Desk, service: Pass) -> int:
    """Begin over the answer that is looked at; return its chat."""
    desk.program.views.attention.select(PROMPT + 1)
    assert service.begin() and not service.begin(), "one at a time"
    return desk.program.chat.conversation_id


@whatever
def test_it_goes_on_while_another_chat_is_shown_and_ends_with_its_own(desk: Desk, of: Callable[[Desk], Pass]) -> None:
    service = of(desk)
    ask(desk)
    chat = begin(desk, service)
    desk.program.conversations.new()
    ask_in = desk.program.chat.conversation_id
    assert service.progress is not None and not desk.engine.all(Cancel)
    desk.program.conversations.delete(ask_in)
    assert not desk.engine.all(Cancel), "that was another one"
    desk.program.conversations.delete(chat)
    desk.settle()
    assert len(desk.engine.all(Cancel)) == 1


@whatever
def test_it_ends_with_the_branch_that_it_reads(desk: Desk, of: Callable[[Desk], Pass]) -> None:
    service = of(desk)
    ask(desk)
    ask(desk, "And now?", PROMPT + 3)
    begin(desk, service)
    desk.program.branches.delete(desk.program.chat.turns[2])
    desk.settle()
    assert len(desk.engine.all(Cancel)) == 1


def test_the_example_is_nobodys_and_is_read_on(desk: Desk) -> None:
    ask(desk)
    open_example(desk)
    service = desk.program.views.attention
    assert service.progress is not None
    desk.program.conversations.delete(desk.program.chat.conversation_id)
    desk.settle()
    assert not desk.engine.all(Cancel) and service.progress_of() == "this"


def test_whose_tokens_are_read_is_known_wherever_one_looks(desk: Desk) -> None:
    service = desk.program.views.attention
    ask(desk)
    begin(desk, service)
    found: list[str] = [service.progress_of()]
    service.select(3)
    found.append(service.progress_of())
    service.show_example()
    found.append(service.progress_of())
    desk.program.conversations.new()
    found.append(service.progress_of())
    service.leave_example()
    assert [*found, service.progress_of()] == [
        "this",
        "this",
        "answer",
        "another",
        "another",
    ] and service.text is None

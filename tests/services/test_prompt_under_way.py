"""What the line under the draft is told from the moment a question is sent: what is kept of this prompt, not of another."""

from __future__ import annotations

from array import array
from pathlib import Path

import pytest

from app.core.commands import Render
from app.core.events import PrefillProgress, PromptReady, Rendered
from app.services.next_send import Shares
from app.services.prompt_count import PromptCount
from tests.desk import Desk
from tests.services.counting import ids, tokenize

CELLS = 4096


@pytest.fixture
def counted(desk: Desk, model: Path) -> PromptCount:
    """Return what counts, while the cells hold 43 tokens of a chat that is not shown any more."""
    desk.load(model)
    desk.program.chat.send("First")
    desk.engine.prompt(40)
    desk.engine.write("Hello", 3)
    desk.engine.finish()
    desk.settle()
    desk.program.conversations.new()
    desk.program.prompt_count.set_draft("")
    return desk.program.prompt_count


def other_ids(count: int, shared: int = 0) -> bytes:
    """Return a prompt that begins as the one in the cells does."""
    return array("i", [*range(shared), *(9_000 + at for at in range(count - shared))]).tobytes()


def ready(desk: Desk, tokens: int, cached: int) -> None:
    request = desk.engine.question.request
    desk.engine.say(PromptReady(request, other_ids(tokens, cached), (), cached, 0))
    desk.settle()


def test_what_is_kept_of_a_prompt_is_its_own_from_the_moment_it_is_ready(desk: Desk, counted: PromptCount) -> None:
    desk.program.chat.send("Second")
    ready(desk, 500, 24)
    assert (counted.count.in_cache, counted.count.shares) == (24, Shares(476, 24, CELLS - 500))
    desk.engine.say(PrefillProgress(desk.engine.question.request, 300, 500, 24, 0))
    desk.settle()
    assert counted.count.shares == Shares(200, 300, CELLS - 500)
    desk.engine.say(PrefillProgress(desk.engine.question.request, 500, 500, 24, 0))
    desk.settle()
    assert counted.count.shares == Shares(0, 500, CELLS - 500)


def test_a_question_on_its_way_is_told_as_it_was_counted(desk: Desk, counted: PromptCount) -> None:
    counted.set_draft("Second")
    tokenize(desk, 480)
    desk.engine.say(Rendered(desk.engine.all(Render)[-1].request, "", other_ids(500, 24), ()))
    desk.settle()
    before = counted.count.shares
    assert before == Shares(476, 24, CELLS - 500)
    desk.program.chat.send("Second")
    counted.set_draft("")
    assert counted.count.shares == before
    ready(desk, 500, 24)
    assert counted.count.shares == before


def test_a_question_that_was_not_counted_tells_nothing_of_another_chat(desk: Desk, counted: PromptCount) -> None:
    desk.program.chat.send("Second")
    assert (counted.count.in_cache, counted.count.shares, counted.count.reused) == (43, None, None)
    counted.set_draft("Third")
    tokenize(desk, 5)
    assert (counted.count.draft, counted.count.shares, counted.count.reused) == (5, None, None)


def test_another_text_than_the_one_that_was_counted_is_not_told_as_that_one(desk: Desk, counted: PromptCount) -> None:
    counted.set_draft("Second")
    desk.engine.say(Rendered(desk.engine.all(Render)[-1].request, "", ids(500), ()))
    desk.settle()
    desk.program.chat.send("Second thoughts")
    assert counted.count.shares is None


def test_an_answer_elsewhere_leaves_what_is_told_of_the_question_behind_it(desk: Desk, counted: PromptCount) -> None:
    desk.program.chat.send("Second")
    first = desk.program.chat.conversation_id
    ready(desk, 500, 24)
    desk.program.conversations.new()
    desk.program.chat.send("Third")
    desk.engine.say(PrefillProgress(desk.engine.question.request, 300, 500, 24, 0))
    desk.settle()
    assert (counted.count.in_cache, counted.count.shares) == (300, None)
    desk.program.conversations.open(first)
    assert counted.count.shares == Shares(200, 300, CELLS - 500)


def test_a_chat_that_is_opened_and_not_counted_yet_tells_nothing_of_another_one(
    desk: Desk, counted: PromptCount
) -> None:
    first = desk.program.conversations.heads[0].id
    desk.program.chat.send("Second")
    desk.engine.prompt(70, 0)
    desk.engine.finish()
    desk.settle()
    assert (counted.count.prompt, counted.count.reused) == (None, 40)
    desk.program.conversations.open(first)
    assert (counted.count.prompt, counted.count.in_cache, counted.count.reused) == (None, 40, None)

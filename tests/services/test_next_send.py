"""What is known of the next send: the shares of the context, and what cannot be left out of a prompt."""

from __future__ import annotations

from array import array
from pathlib import Path

import msgspec
import pytest

from app.core.commands import Render
from app.core.events import Failed, FailureKind, Finished, PrefillProgress, PromptReady, Rendered
from app.core.metrics import KVUse
from app.core.words import translate
from app.services.prompt_count import PromptCount
from tests.desk import Desk
from tests.fake_engine import metrics
from tests.services.counting import asked, ids, render


@pytest.fixture
def counted(desk: Desk, model: Path) -> PromptCount:
    """Return what counts, with a model loaded and somebody who types."""
    desk.load(model)
    return desk.program.prompt_count


@pytest.mark.parametrize("written", ["", "And then?"])
def test_what_the_context_is_used_for_adds_up(desk: Desk, counted: PromptCount, written: str) -> None:
    counted.set_draft(written)
    desk.program.chat.send("Hi")
    desk.engine.prompt(40)
    desk.engine.write("Hello", 3)
    desk.settle()
    cells = counted.count.cells
    while_answering = counted.count.shares
    assert while_answering is not None and while_answering.cached == 43
    assert sum(while_answering) == cells
    desk.engine.finish()
    desk.settle()
    render(desk, 60)
    shares = counted.count.shares
    assert shares is not None and sum(shares) == cells


def test_only_what_the_next_prompt_begins_with_counts_as_cached(desk: Desk, counted: PromptCount) -> None:
    desk.program.chat.send("Hi")
    desk.engine.prompt(40)
    desk.engine.write("Hello", 3)  # the tokens 0, 1, 2 after the prompt's 0 to 39
    desk.engine.finish()
    desk.settle()
    counted.set_draft("And then?")
    cells = array("i", (*range(40), 0, 1, 9, 9)).tobytes()
    desk.engine.say(Rendered(desk.engine.all(Render)[-1].request, "", cells, ()))
    desk.settle()
    desk.engine.say(Rendered(desk.engine.all(Render)[-1].request, "", cells, ()))
    desk.settle()
    assert counted.count.in_cache == 43
    assert counted.count.shares == (2, 42, 4096 - 44)
    desk.program.conversations.new()
    desk.engine.say(Rendered(desk.engine.all(Render)[-1].request, "", array("i", [7] * 30).tobytes(), ()))
    desk.settle()
    assert counted.count.shares == (30, 0, 4066)


def test_a_chat_is_counted_while_another_one_is_being_answered(desk: Desk, counted: PromptCount) -> None:
    desk.program.chat.send("Hi")
    desk.engine.prompt(40)
    desk.settle()
    desk.program.conversations.new()
    counted.set_draft("Second")
    render(desk, 50)
    assert counted.count.prompt == 50


def dropping(desk: Desk, counted: PromptCount) -> None:
    """Have a chat in which the oldest turns go, with a message on the way."""
    desk.program.settings.change(when_full="drop_oldest", system_prompt="Be brief.")
    desk.program.chat.send("Hi")
    desk.answer("Hello")
    counted.set_draft("Long")


def test_what_cannot_go_is_counted_by_itself_and_known_together_with_the_whole(
    desk: Desk, counted: PromptCount
) -> None:
    dropping(desk, counted)
    while [each.text for each in desk.engine.all(Render)[-1].prompt.messages][-1:] != ["Long"]:
        render(desk, 60)
    render(desk, 5000)
    assert counted.count.prompt != 5000
    stays = [each.text for each in desk.engine.all(Render)[-1].prompt.messages]
    assert stays == ["Be brief.", "Long"]
    render(desk, 4000)
    assert (counted.count.prompt, counted.count.least) == (5000, 4000)
    assert counted.count.too_long and not counted.count.refuses
    renders = asked(desk, Render)
    counted.look_again()
    assert asked(desk, Render) == renders


@pytest.mark.parametrize(("kind", "needed"), [("prompt_too_long", None), ("template", 5000)])
def test_what_cannot_go_and_is_not_even_counted_is_refused(
    desk: Desk, counted: PromptCount, kind: FailureKind, needed: int | None
) -> None:
    dropping(desk, counted)
    while [each.text for each in desk.engine.all(Render)[-1].prompt.messages][-1:] != ["Long"]:
        render(desk, 60)
    render(desk, 5000)
    desk.engine.say(Failed(desk.engine.all(Render)[-1].request, kind, translate("Test", "No.")))
    desk.settle()
    assert counted.count.refuses is (kind == "prompt_too_long")
    assert counted.count.needed == needed


def test_another_policy_asks_for_what_it_needs(desk: Desk, counted: PromptCount) -> None:
    desk.program.chat.send("Hi")
    desk.answer("Hello")
    counted.set_draft("Long")
    while [each.text for each in desk.engine.all(Render)[-1].prompt.messages][-1:] != ["Long"]:
        render(desk, 60)
    render(desk, 5000)
    assert counted.count.refuses
    desk.program.settings.change(when_full="drop_oldest")
    counted.look_again()
    render(desk, 5000)
    render(desk, 100)
    assert not counted.count.refuses


def test_the_last_token_of_a_prompt_is_always_read_again(desk: Desk, counted: PromptCount) -> None:
    desk.program.chat.send("Hi")
    desk.engine.prompt(40)
    desk.engine.finish()
    desk.settle()
    desk.program.conversations.new()
    for tokens, cached in ((40, 39), (30, 29), (41, 40)):
        counted.set_draft(f"{tokens} tokens")
        render(desk, tokens)
        assert (counted.count.prompt, counted.count.cached) == (tokens, cached)


def test_nothing_is_new_where_the_whole_chat_is_in_the_cache_and_nothing_is_written(
    desk: Desk, counted: PromptCount
) -> None:
    desk.program.chat.send("Hi")
    desk.engine.prompt(40)
    desk.engine.finish()
    desk.settle()
    counted.set_draft("")
    render(desk, 40)
    assert counted.count.shares == (0, 40, 4056)


def test_a_prompt_that_was_read_only_in_part_leaves_the_rest_to_be_read(desk: Desk, counted: PromptCount) -> None:
    desk.program.chat.send("Hi")
    request = desk.engine.question.request
    desk.engine.say(PromptReady(request, ids(60), (), 0, 0))
    desk.engine.say(PrefillProgress(request, 20, 60, 0, 0))
    figures = msgspec.structs.replace(metrics(0), kv=KVUse(20, 4096, 0))
    desk.engine.say(Finished(request, "", b"", "cancelled", figures, 7, ()))
    desk.settle()
    counted.set_draft("")
    render(desk, 60)
    assert counted.count.in_cache == 20
    assert counted.count.shares == (40, 20, 4036)

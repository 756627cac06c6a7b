"""What is known of the next send: the shares of the context, and what cannot be left out of a prompt."""

from __future__ import annotations

from array import array
from pathlib import Path

import msgspec
import pytest

from app.core.commands import Render
from app.core.events import Failed, Finished, PrefillProgress, PromptReady, Rendered
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
    assert while_answering is not None and while_answering.cached == 42, "the token drawn last is in no cell yet"
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
    counted.set_draft("And then?")
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


def count_as_written(desk: Desk) -> None:
    """Let everything be counted that comes before what is written now."""
    while [each.text for each in desk.engine.all(Render)[-1].prompt.messages][-1:] != ["Long"]:
        render(desk, 60)


def numbers(desk: Desk) -> tuple[int, ...]:
    return tuple(turn.number for turn in desk.program.chat.turns)


def test_what_is_left_out_is_the_engines_to_say(desk: Desk, counted: PromptCount) -> None:
    desk.program.sampling.change(max_tokens=300)
    dropping(desk, counted)
    count_as_written(desk)
    asked_last = desk.engine.all(Render)[-1]
    assert (asked_last.when_full, asked_last.max_tokens) == ("drop_oldest", 300)
    render(desk, 3700, dropped=(1, 2))
    assert counted.count.left_out == numbers(desk)
    assert (counted.count.prompt, counted.count.left, counted.count.refused) == (3700, 396, False)
    renders = asked(desk, Render)
    counted.look_again()
    assert asked(desk, Render) == renders


def test_a_system_prompt_and_turns_without_text_shift_nothing(desk: Desk, counted: PromptCount) -> None:
    desk.program.settings.change(when_full="drop_oldest")
    for question in ("One", "Two"):
        desk.program.chat.send(question)
        desk.answer("" if question == "One" else "2")
    counted.set_draft("Long")
    count_as_written(desk)
    render(desk, 3700, dropped=(0, 1))
    one, _empty, two, _answer = numbers(desk)
    assert counted.count.left_out == (one, two)


@pytest.mark.parametrize(("tokens", "excess"), [(None, None), (4096, 1), (5000, 905)])
def test_what_cannot_be_made_to_fit_is_refused_with_the_numbers(
    desk: Desk, counted: PromptCount, tokens: int | None, excess: int | None
) -> None:
    dropping(desk, counted)
    count_as_written(desk)
    request = desk.engine.all(Render)[-1].request
    desk.engine.say(Failed(request, "prompt_too_long", translate("Test", "No."), tokens=tokens))
    desk.settle()
    count = counted.count
    assert (count.refused, count.needed, count.excess, count.left_out) == (True, tokens, excess, ())


def test_another_policy_and_another_length_of_the_answer_are_asked_about(desk: Desk, counted: PromptCount) -> None:
    desk.program.chat.send("Hi")
    desk.answer("Hello")
    counted.set_draft("Long")
    count_as_written(desk)
    render(desk, 5000)
    assert counted.count.refused
    desk.program.sampling.change(max_tokens=700)
    renders = asked(desk, Render)
    desk.program.settings.change(when_full="drop_oldest")
    counted.look_again()
    render(desk, 100, dropped=(0,))
    assert not counted.count.refused and counted.count.left_out == numbers(desk)[:1]
    assert asked(desk, Render) == renders + 1
    desk.program.sampling.change(temperature=0.1)
    assert asked(desk, Render) == renders + 1
    desk.program.sampling.change(max_tokens=50)
    assert desk.engine.all(Render)[-1].max_tokens == 50


def test_what_is_left_out_stays_told_from_the_draft_to_its_answer(desk: Desk, counted: PromptCount) -> None:
    dropping(desk, counted)
    count_as_written(desk)
    render(desk, 3700, dropped=(1, 2))
    told: list[tuple[int, ...]] = []
    counted.changed.connect(lambda: told.append(counted.count.left_out))
    gone = counted.count.left_out
    desk.program.chat.send("Long")
    counted.set_draft("")
    desk.engine.prompt(3700, 0, dropped=(1, 2))
    desk.engine.write("So")
    desk.settle()
    assert told and set(told) == {gone}
    desk.engine.finish()
    desk.settle()
    render(desk, 3720, dropped=(1, 2))
    assert set(told) == {gone}


def test_while_an_answer_is_written_a_draft_tells_what_will_go_at_least(desk: Desk, counted: PromptCount) -> None:
    dropping(desk, counted)
    count_as_written(desk)
    render(desk, 60)
    desk.program.chat.send("Long")
    assert counted.count.left_out == ()
    renders = asked(desk, Render)
    counted.set_draft("Next")
    assert [each.text for each in desk.engine.all(Render)[-1].prompt.messages][-2:] == ["Long", "Next"]
    render(desk, 3700, dropped=(1, 2))
    first_two = numbers(desk)[:2]
    assert (counted.count.left_out, counted.count.prompt) == (first_two, None)
    desk.engine.prompt(3000, 0)
    desk.engine.write("So")
    desk.settle()
    assert counted.count.left_out == first_two
    assert asked(desk, Render) == renders + 1
    counted.set_draft("")
    assert counted.count.left_out == ()


def test_another_version_is_counted_anew(desk: Desk, counted: PromptCount) -> None:
    desk.program.chat.send("Hi")
    desk.answer("Hello")
    desk.program.chat.answer_again()
    desk.answer("Hello, again")
    counted.set_draft("Why?")
    while [each.text for each in desk.engine.all(Render)[-1].prompt.messages][1:] != ["Hello, again", "Why?"]:
        render(desk, 60)
    render(desk, 60)
    desk.program.branches.step(desk.program.chat.turns[-1], -1)
    assert [each.text for each in desk.engine.all(Render)[-1].prompt.messages] == ["Hi", "Hello", "Why?"]


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

"""What a system prompt costs while it is written: tokens, what is read again, and what the chat template says of it."""

from __future__ import annotations

from array import array
from pathlib import Path

import msgspec
import pytest

from app.core.chat import PromptMessage
from app.core.commands import Render, Tokenize
from app.core.events import Failed, Loaded, Rendered
from app.core.model import MemoryKind
from app.core.words import translate
from app.services.prompt_cost import PromptCosts
from tests.desk import Desk
from tests.fake_engine import CONTEXT, model_info
from tests.services.counting import asked, ids, render, tokenize

BRIEF = "Be brief."


@pytest.fixture
def costs(desk: Desk, model: Path) -> PromptCosts:
    desk.program.conversations.start()
    desk.load(model)
    return desk.program.prompt_costs


def ask(desk: Desk) -> None:
    desk.program.chat.send("Hi")
    desk.answer("Hello")


def test_in_a_new_chat_a_text_is_counted_and_read_with_the_first_message(desk: Desk, costs: PromptCosts) -> None:
    costs.watch(BRIEF)
    assert desk.engine.all(Tokenize)[-1].text == BRIEF
    (question,) = desk.engine.all(Render)
    assert question.prompt.messages == (PromptMessage("system", BRIEF), PromptMessage("user", "?"))
    assert (costs.cost.tokens, costs.cost.reads) == (None, "first")
    tokenize(desk, 4)
    assert (costs.cost.tokens, costs.cost.cells) == (4, CONTEXT)


def test_an_empty_text_is_no_token_and_asks_nothing(desk: Desk, costs: PromptCosts) -> None:
    costs.watch("")
    assert costs.cost.tokens == 0
    assert (asked(desk, Tokenize), asked(desk, Render)) == (0, 0)


def said(desk: Desk, first: int, *tokens: int) -> None:
    """Let the engine say that the prompt it was asked for last begins with other tokens than `first` and up."""
    request = desk.engine.all(Render)[-1].request
    desk.engine.say(Rendered(request, "", array("i", (*range(first), *tokens)).tobytes(), ()))
    desk.settle()


def test_in_mid_chat_it_is_read_again_from_the_change_on(desk: Desk, costs: PromptCosts) -> None:
    ask(desk)
    desk.program.prompt_count.set_draft("")
    render(desk, 41)  # all of which the cells hold, and one token more
    costs.watch(BRIEF)
    assert [message.role for message in desk.engine.all(Render)[-1].prompt.messages] == ["user", "assistant"]
    render(desk, 41)
    sent = desk.engine.all(Render)[-1].prompt.messages
    assert [(message.role, message.text) for message in sent] == [
        ("system", BRIEF),
        ("user", "Hi"),
        ("assistant", "Hello"),
    ]
    assert sent[2].ids == array("i", [0]).tobytes()
    tokenize(desk, 4)
    said(desk, 3, *range(100, 149))
    cost = costs.cost
    assert (cost.tokens, cost.whole, cost.again, cost.reads, cost.refused) == (4, 52, 49, "again", False)


def test_a_text_that_goes_on_where_it_ended_leaves_what_was_before_in_the_cache(
    desk: Desk, costs: PromptCosts
) -> None:
    ask(desk)
    desk.program.prompt_count.set_draft("")
    render(desk, 41)
    costs.watch(BRIEF)
    render(desk, 41)
    said(desk, 20, *range(100, 130))
    assert (costs.cost.whole, costs.cost.again) == (50, 30)


@pytest.mark.parametrize("kind", ["window", "recurrent", "hybrid"])
def test_a_cache_that_cannot_go_back_is_of_no_use(
    desk: Desk, costs: PromptCosts, kind: MemoryKind, other_model: Path
) -> None:
    desk.begin_load(other_model)
    model = msgspec.structs.replace(model_info(str(other_model)), memory_kind=kind)
    desk.engine.say(Loaded(desk.engine.load.request, model))
    desk.settle()
    ask(desk)
    desk.program.prompt_count.set_draft("")
    render(desk, 41)
    costs.watch(BRIEF)
    render(desk, 41)
    said(desk, 20, *range(100, 130))
    assert (costs.cost.whole, costs.cost.again) == (50, 50)


def test_the_text_in_force_costs_nothing_more(desk: Desk, costs: PromptCosts) -> None:
    desk.program.system_prompt.save(BRIEF)
    ask(desk)
    costs.watch(BRIEF)
    assert costs.cost.reads == "nothing"
    costs.watch("")
    assert costs.cost.reads != "nothing"


def test_what_the_cache_does_not_hold_is_read_anyway(desk: Desk, costs: PromptCosts, other_model: Path) -> None:
    ask(desk)
    desk.load(other_model)
    costs.watch(BRIEF)
    render(desk, 41)
    said(desk, 20, *range(100, 130))
    assert (costs.cost.reads, costs.cost.whole, costs.cost.again) == ("anyway", 50, 50)


def test_one_question_of_each_kind_is_open_and_the_newest_text_comes_next(desk: Desk, costs: PromptCosts) -> None:
    for text in ("B", "Be", BRIEF):
        costs.watch(text)
    assert (asked(desk, Tokenize), asked(desk, Render)) == (1, 1)
    tokenize(desk, 1)
    assert costs.cost.tokens is None
    assert [question.text for question in desk.engine.all(Tokenize)] == ["B", BRIEF]
    tokenize(desk, 4)
    render(desk, 10)
    assert [question.prompt.messages[0].text for question in desk.engine.all(Render)] == ["B", BRIEF]
    assert costs.cost.tokens == 4


def test_while_an_answer_is_written_the_whole_is_counted_once_it_has_ended(desk: Desk, costs: PromptCosts) -> None:
    desk.program.chat.send("Hi")
    desk.engine.prompt()
    costs.watch(BRIEF)
    tokenize(desk, 4)
    assert (costs.cost.tokens, costs.cost.whole) == (4, None)
    assert asked(desk, Render) == 0
    desk.engine.write("Hello")
    desk.engine.finish()
    desk.settle()
    assert asked(desk, Render) == 1


def test_a_chat_that_does_not_fit_with_it_is_told_with_the_numbers(desk: Desk, costs: PromptCosts) -> None:
    ask(desk)
    costs.watch(BRIEF)
    render(desk, 41)
    render(desk, 5000)
    assert (costs.cost.refused, costs.cost.whole) == (True, 5000)


def test_what_the_chat_template_makes_of_it_is_told(desk: Desk, costs: PromptCosts) -> None:
    note = translate("Test", "It was put before the message.")
    costs.watch(BRIEF)
    request = desk.engine.all(Render)[-1].request
    desk.engine.say(Rendered(request, "", ids(9), (), (note,)))
    desk.settle()
    assert costs.cost.notes == (note,)
    refused = translate("Test", "The chat template refuses this conversation.")
    costs.watch("Be long.")
    desk.engine.say(Failed(desk.engine.all(Render)[-1].request, "template", refused))
    desk.settle()
    assert costs.cost.notes == (refused,)


def test_without_a_model_the_tokens_are_unknown(desk: Desk) -> None:
    costs = desk.program.prompt_costs
    costs.watch(BRIEF)
    assert (costs.cost.tokens, costs.cost.cells) == (None, None)


def test_of_another_model_everything_is_asked_anew(desk: Desk, costs: PromptCosts, other_model: Path) -> None:
    costs.watch(BRIEF)
    tokenize(desk, 4)
    render(desk, 12)
    desk.load(other_model)
    assert costs.cost.tokens is None
    assert desk.engine.all(Tokenize)[-1].text == BRIEF
    tokenize(desk, 6)
    assert costs.cost.tokens == 6


def test_what_nobody_watches_is_not_asked(desk: Desk, costs: PromptCosts, other_model: Path) -> None:
    costs.watch(BRIEF)
    tokenize(desk, 4)
    render(desk, 12)
    costs.watch(None)
    desk.load(other_model)
    assert asked(desk, Tokenize) == 1

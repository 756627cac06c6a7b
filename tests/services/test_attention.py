"""Attention on request: which token it is of, what is asked of the engine and when, what is kept, and why it is refused."""

from __future__ import annotations

from array import array
from pathlib import Path

import pytest

from app.core.attention import AttentionProgress
from app.core.commands import Cancel, ReadAttention, Tokenize
from app.core.events import Tokenized
from app.core.words import Sentence
from app.services import attention as attention_module
from app.services.attention import Attention
from app.services.attention_text import EXAMPLE
from app.services.wishes import Wish
from tests.desk import Desk
from tests.made_up_attention import HEADS, attention
from tests.services.looked_at import PROMPT, ask, desk

__all__ = ["desk"]

EXAMPLE_IDS = tuple(range(100, 111))


def service(desk: Desk) -> Attention:
    return desk.program.views.attention


def command(desk: Desk) -> ReadAttention:
    return desk.engine.all(ReadAttention)[-1]


def end(desk: Desk, **changes: object) -> None:
    sent = command(desk)
    desk.engine.say(attention(sent.request, len(sent.ids) // 4, **changes))  # type: ignore[arg-type]
    desk.settle()


def refusal(desk: Desk) -> str:
    found = service(desk).hindrance
    assert isinstance(found, Sentence)
    return found.english()


def open_example(desk: Desk) -> None:
    """Open the example, and have it turned into tokens."""
    assert service(desk).show_example()
    asked = desk.engine.all(Tokenize)[-1]
    assert (asked.text, asked.as_prompt) == (EXAMPLE, True)
    desk.engine.say(Tokenized(asked.request, array("i", EXAMPLE_IDS).tobytes()))
    desk.settle()


def test_the_token_that_is_looked_at_on_the_page_is_the_one_that_is_read(desk: Desk) -> None:
    ask(desk)
    assert service(desk).token is None and "Choose a token" in refusal(desk)
    desk.program.inspecting.look_at(1)
    assert service(desk).token == PROMPT + 1
    assert service(desk).begin()
    assert command(desk).ids == array("i", (*range(PROMPT), 0, 1)).tobytes()
    assert command(desk).main_memory is not None
    assert service(desk).progress == (0, PROMPT + 2)
    desk.engine.say(AttentionProgress(command(desk).request, 32, PROMPT + 2))
    desk.settle()
    assert service(desk).progress == (32, PROMPT + 2)
    end(desk)
    rows = service(desk).rows
    assert rows is not None and rows.tokens == PROMPT + 2
    assert service(desk).progress is None and desk.program.session.phase == "ready"


def test_a_token_of_the_prompt_can_be_chosen_too(desk: Desk) -> None:
    ask(desk)
    service(desk).select(5)
    service(desk).begin()
    assert command(desk).ids == array("i", range(6)).tobytes()
    for nowhere in (-1, PROMPT + 2):
        service(desk).select(nowhere)
        assert service(desk).token == 5


def test_what_was_found_is_kept_for_the_same_tokens(desk: Desk) -> None:
    ask(desk)
    service(desk).select(5)
    service(desk).begin()
    end(desk)
    kept = service(desk).rows
    service(desk).select(6)
    assert service(desk).rows is None
    service(desk).select(5)
    assert service(desk).rows is kept and kept is not None
    assert not service(desk).begin(), "it is known"


def test_only_so_many_bytes_are_kept(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    ask(desk)
    monkeypatch.setattr(attention_module, "KEPT_BYTES", 4 * 4 * (HEADS + 1) * (6 + 7))
    known = []
    for token in (5, 6, 7):
        service(desk).select(token)
        service(desk).begin()
        end(desk)
    for token in (5, 6, 7):
        service(desk).select(token)
        known.append(service(desk).rows is not None)
    assert known == [False, False, True]


def test_the_example_needs_no_chat_and_is_read_at_once(desk: Desk) -> None:
    assert "Send a message" in refusal(desk)
    open_example(desk)
    text = service(desk).text
    assert text is not None and text.ids == EXAMPLE_IDS and service(desk).shows_example
    assert service(desk).token == len(EXAMPLE_IDS) - 1, "no token says “it” here"
    assert command(desk).ids == array("i", EXAMPLE_IDS).tobytes()
    end(desk)
    assert service(desk).rows is not None
    service(desk).leave_example()
    assert service(desk).text is None and service(desk).rows is None


def test_an_answer_comes_back_with_its_token_behind_the_example(desk: Desk) -> None:
    ask(desk)
    desk.program.inspecting.look_at(1)
    open_example(desk)
    desk.program.inspecting.look_at(0)
    assert service(desk).token == len(EXAMPLE_IDS) - 1
    service(desk).leave_example()
    assert service(desk).token == PROMPT


def test_an_example_that_cannot_be_tokenised_says_why(desk: Desk) -> None:
    service(desk).show_example()
    assert "turned into tokens" in refusal(desk)
    desk.engine.fail("engine", desk.engine.all(Tokenize)[-1].request, "No.")
    desk.settle()
    assert service(desk).text is None
    problem = service(desk).problem
    assert problem is not None and problem.english() == "No."
    service(desk).leave_example()
    assert service(desk).token is None and service(desk).problem is None, "it was the example's alone"


def test_without_a_model_there_is_no_example(desk: Desk, model: Path) -> None:
    open_example(desk)
    end(desk)
    desk.program.session.unload()
    desk.settle()
    found = service(desk).example_hindrance
    assert found is not None and found.english().startswith("No model is loaded")
    assert not service(desk).show_example()
    assert refusal(desk).startswith("No model is loaded. Load “")
    assert service(desk).rows is not None, "what was found stays"


def test_an_engine_that_ends_before_the_example_has_tokens_is_asked_again(desk: Desk, model: Path) -> None:
    service(desk).show_example()
    desk.program.session.unload()
    desk.settle()
    assert refusal(desk).startswith("No model is loaded")
    asked = len(desk.engine.all(Tokenize))
    desk.load(model)
    assert len(desk.engine.all(Tokenize)) > asked


def test_another_model_makes_tokens_of_the_example_and_reads_it_where_somebody_asks(
    desk: Desk, other_model: Path
) -> None:
    open_example(desk)
    end(desk)
    desk.program.session.use(Wish(other_model))
    desk.until(lambda: desk.program.session.phase == "loading")
    desk.engine.loaded()
    desk.settle()
    assert service(desk).text is None and "turned into tokens" in refusal(desk)
    asked = [each for each in desk.engine.all(Tokenize) if each.text == EXAMPLE]
    assert len(asked) == 2
    reads = len(desk.engine.all(ReadAttention))
    desk.engine.say(Tokenized(asked[-1].request, array("i", range(11)).tobytes()))
    desk.settle()
    assert service(desk).text is not None and len(desk.engine.all(ReadAttention)) == reads
    assert desk.program.session.phase == "ready", "the first question waits for nothing"
    assert service(desk).begin() and len(desk.engine.all(ReadAttention)) == reads + 1


def test_a_pass_that_is_cancelled_leaves_nothing_and_can_begin_anew(desk: Desk) -> None:
    ask(desk)
    service(desk).select(5)
    service(desk).begin()
    request = command(desk).request
    service(desk).cancel()
    assert desk.engine.all(Cancel)[-1].request == request
    desk.engine.fail("cancelled", request)
    desk.settle()
    assert (service(desk).progress, service(desk).rows, service(desk).problem) == (None, None, None)
    assert service(desk).begin() and command(desk).request != request


def test_why_it_came_to_nothing_is_said_of_that_token_alone(desk: Desk) -> None:
    ask(desk)
    service(desk).select(5)
    service(desk).begin()
    desk.engine.fail("memory", command(desk).request, "There is no memory.")
    desk.settle()
    problem = service(desk).problem
    assert problem is not None and problem.english() == "There is no memory."
    service(desk).select(6)
    assert service(desk).problem is None


def test_while_one_token_is_read_another_one_waits(desk: Desk) -> None:
    ask(desk)
    service(desk).select(5)
    service(desk).begin()
    assert service(desk).hindrance is None
    service(desk).select(6)
    assert service(desk).progress == (0, 6) and "another token" in refusal(desk)
    assert not service(desk).begin()


def test_an_engine_that_dies_or_is_unloaded_ends_the_pass(desk: Desk, model: Path) -> None:
    ask(desk)
    service(desk).select(5)
    service(desk).begin()
    desk.engine.die(command(desk).request)
    desk.settle()
    assert service(desk).progress is None and refusal(desk).startswith("No model is loaded. Load “")
    desk.load(model)
    assert service(desk).begin()
    desk.program.session.unload()
    desk.settle()
    assert service(desk).progress is None and not service(desk).begin()


def test_an_answer_that_is_being_written_is_waited_for(desk: Desk) -> None:
    ask(desk)
    desk.program.chat.send("Two")
    desk.settle()
    desk.engine.prompt(PROMPT)
    desk.settle()
    assert "still being written" in refusal(desk)
    desk.engine.finish()
    desk.settle()


def test_a_token_that_the_context_does_not_hold_is_refused_with_the_numbers(desk: Desk, model: Path) -> None:
    ask(desk)
    service(desk).select(PROMPT)
    desk.begin_load(model)
    desk.engine.loaded(context=PROMPT)
    desk.settle()
    assert "41 tokens up to this one, and the context holds 40" in refusal(desk)
    service(desk).select(PROMPT - 1)
    assert service(desk).hindrance is None


def test_only_the_model_that_wrote_the_answer_is_asked(desk: Desk, other_model: Path) -> None:
    ask(desk)
    service(desk).select(3)
    desk.program.session.use(Wish(other_model))
    assert "being loaded" in refusal(desk)
    desk.until(lambda: desk.program.session.phase == "loading")
    desk.engine.loaded()
    desk.settle()
    assert "Another model is loaded" in refusal(desk)

"""How surprising a prompt was: what is asked of the engine, in which turn, what is kept, and why it is refused."""

from __future__ import annotations

import math
from array import array
from pathlib import Path

import pytest

from app.core.commands import Cancel, Generate, ScorePrompt
from app.core.prompt_scores import PromptScored, ScoreProgress
from app.core.words import Sentence
from app.services.inspection import InspectedPrompt
from app.services.prompt_scores import KEPT_PROMPTS, PromptScores
from app.services.scored_prompt import ScoredPrompt, TokenScore, columns_of
from app.services.wishes import Wish
from tests.desk import Desk
from tests.services.looked_at import PROMPT, ask, desk

__all__ = ["desk"]


def service(desk: Desk) -> PromptScores:
    return desk.program.prompt_scores


def command(desk: Desk) -> ScorePrompt:
    return desk.engine.all(ScorePrompt)[-1]


def scored(request: int = 0, log_probabilities: tuple[float, ...] = (-1.0,) * (PROMPT - 1)) -> PromptScored:
    count = len(log_probabilities)
    return PromptScored(
        request,
        array("f", log_probabilities).tobytes(),
        array("I", range(1, count + 1)).tobytes(),
        array("f", (0.5,) * count).tobytes(),
    )


def end(desk: Desk) -> None:
    desk.engine.say(scored(command(desk).request))
    desk.settle()


def refusal(desk: Desk) -> str:
    found = service(desk).hindrance
    assert isinstance(found, Sentence)
    return found.english()


def test_the_prompt_of_the_answer_that_is_looked_at_is_scored_on_request(desk: Desk) -> None:
    ask(desk)
    heard = []
    service(desk).changed.connect(lambda: heard.append(service(desk).progress))
    assert (service(desk).hindrance, service(desk).scores, service(desk).progress) == (None, None, None)
    assert service(desk).begin()
    assert command(desk).ids == array("i", range(PROMPT)).tobytes()
    assert command(desk).main_memory is not None
    assert service(desk).progress == (0, PROMPT)
    desk.engine.say(ScoreProgress(command(desk).request, 17, PROMPT))
    desk.settle()
    assert heard[-1] == (17, PROMPT)
    end(desk)
    scores = service(desk).scores
    assert scores is not None and len(scores) == PROMPT
    assert service(desk).progress is None and heard[-1] is None
    assert desk.program.session.phase == "ready"


def test_what_was_found_is_kept_for_the_same_prompt_and_model_alone(desk: Desk) -> None:
    ask(desk)
    first = desk.program.inspecting.turn
    assert first is not None
    service(desk).begin()
    end(desk)
    kept = service(desk).scores
    ask(desk, "And the sea?", PROMPT + 3)
    assert service(desk).scores is None
    desk.program.inspecting.open(first)
    desk.until(lambda: not desk.program.inspecting.is_busy)
    assert service(desk).scores is kept


def test_only_the_last_few_prompts_are_kept(desk: Desk) -> None:
    turns = []
    for number in range(KEPT_PROMPTS + 1):
        ask(desk, f"Question {number}", PROMPT + number)
        turns.append(desk.program.inspecting.turn)
        service(desk).begin()
        desk.engine.say(scored(command(desk).request, (-1.0,) * (PROMPT + number - 1)))
        desk.settle()
    known = []
    for turn in turns:
        assert turn is not None
        desk.program.inspecting.open(turn)
        desk.until(lambda: not desk.program.inspecting.is_busy)
        known.append(service(desk).scores is not None)
    assert known == [False, *[True] * KEPT_PROMPTS]


def test_a_question_that_is_asked_meanwhile_waits_for_it(desk: Desk) -> None:
    ask(desk)
    service(desk).begin()
    assert desk.program.session.phase == "busy"
    questions = len(desk.engine.all(Generate))
    desk.program.chat.send("Two")
    desk.settle()
    assert len(desk.engine.all(Generate)) == questions
    waiting = desk.program.chat.turns[-1]
    assert waiting.doing is not None and waiting.doing.english().startswith(
        "Waits until the prompt in Inside is read"
    )
    end(desk)
    assert len(desk.engine.all(Generate)) == questions + 1
    assert waiting.doing is None


def test_a_pass_that_is_cancelled_leaves_nothing_and_can_begin_anew(desk: Desk) -> None:
    ask(desk)
    service(desk).begin()
    request = command(desk).request
    service(desk).cancel()
    assert desk.engine.all(Cancel)[-1].request == request
    assert service(desk).progress is not None, "the engine has not ended it yet"
    desk.engine.fail("cancelled", request)
    desk.settle()
    assert (service(desk).progress, service(desk).scores, service(desk).problem) == (None, None, None)
    assert service(desk).begin()
    assert command(desk).request != request


def fail(desk: Desk) -> None:
    desk.engine.fail("memory", command(desk).request, "There is no memory.")
    desk.settle()


def test_why_it_came_to_nothing_stands_there_until_it_begins_again(desk: Desk) -> None:
    ask(desk)
    service(desk).begin()
    fail(desk)
    problem = service(desk).problem
    assert problem is not None and problem.english() == "There is no memory."
    assert service(desk).begin()
    assert service(desk).problem is None


def test_why_it_came_to_nothing_is_said_of_that_prompt_alone(desk: Desk) -> None:
    ask(desk)
    service(desk).begin()
    fail(desk)
    ask(desk, "Another one", PROMPT + 1)
    assert service(desk).problem is None


def test_what_is_said_of_an_earlier_pass_is_nobodys(desk: Desk) -> None:
    ask(desk)
    service(desk).begin()
    early = command(desk).request
    end(desk)
    ask(desk, "And the sea?", PROMPT + 3)
    service(desk).begin()
    desk.program.session.scored.emit(scored(early))
    assert (service(desk).progress, service(desk).scores) == ((0, PROMPT + 3), None)


def test_whoever_shows_it_hears_that_it_can_be_asked_for_or_no_longer(desk: Desk) -> None:
    ask(desk)
    heard = []
    service(desk).changed.connect(lambda: heard.append(service(desk).hindrance))
    desk.program.session.unload()
    desk.settle()
    assert heard[-1] is not None
    heard.clear()
    desk.program.inspecting.watch(False)
    desk.program.inspecting.watch(True)
    desk.until(lambda: not desk.program.inspecting.is_busy)
    assert heard


def test_an_engine_that_dies_ends_the_pass(desk: Desk) -> None:
    ask(desk)
    service(desk).begin()
    desk.engine.die(command(desk).request)
    desk.settle()
    assert service(desk).progress is None
    assert "No model is loaded" in refusal(desk)
    assert not service(desk).begin()


def test_without_an_answer_there_is_nothing_to_score(desk: Desk) -> None:
    assert "Send a message first" in refusal(desk)
    assert not service(desk).begin()
    assert not desk.engine.all(ScorePrompt)


def test_an_answer_that_is_being_written_is_waited_for(desk: Desk) -> None:
    ask(desk)
    first = desk.program.inspecting.turn
    assert first is not None
    desk.program.chat.send("Two")
    desk.settle()
    desk.engine.prompt(PROMPT)
    desk.settle()
    assert "still being written" in refusal(desk)
    desk.program.inspecting.open(first)
    desk.until(lambda: not desk.program.inspecting.is_busy)
    assert "Ask again when it has ended" in refusal(desk)
    assert not service(desk).begin()
    desk.engine.finish()
    desk.settle()
    assert service(desk).hindrance is None


def test_a_pass_over_another_prompt_is_waited_for(desk: Desk) -> None:
    ask(desk)
    first = desk.program.inspecting.turn
    assert first is not None
    ask(desk, "And the sea?", PROMPT + 3)
    service(desk).begin()
    assert service(desk).hindrance is None
    desk.program.inspecting.open(first)
    desk.until(lambda: not desk.program.inspecting.is_busy)
    assert service(desk).progress == (0, PROMPT + 3) and service(desk).is_of_another
    assert "Another prompt" in refusal(desk)


def test_only_the_model_that_wrote_the_answer_is_asked(desk: Desk, other_model: Path) -> None:
    ask(desk)
    desk.program.session.unload()
    desk.settle()
    assert "No model is loaded. Load “" in refusal(desk)
    desk.program.session.use(Wish(other_model))
    assert "being loaded" in refusal(desk)
    desk.until(lambda: desk.program.session.phase == "loading")
    desk.engine.loaded()
    desk.settle()
    assert "Another model is loaded" in refusal(desk)


def test_a_prompt_that_the_context_does_not_hold_is_refused_with_the_numbers(desk: Desk, model: Path) -> None:
    ask(desk)
    desk.begin_load(model)
    desk.engine.loaded(context=PROMPT - 1)
    desk.settle()
    assert "40 tokens, and the context holds 39" in refusal(desk)
    desk.begin_load(model)
    desk.engine.loaded(context=PROMPT)
    desk.settle()
    assert service(desk).hindrance is None


def test_the_values_of_a_prompt_are_read_one_by_one() -> None:
    found = ScoredPrompt(scored(log_probabilities=(-1.0, -0.25, -4.0)))
    assert len(found) == 4
    assert [found.of(token) for token in (-1, 0, 4)] == [None] * 3
    assert found.of(1) == TokenScore(-1.0, 1, 0.5)
    assert found.of(3) == TokenScore(-4.0, 3, 0.5)
    assert found.log_probabilities == (None, -1.0, -0.25, -4.0)
    assert (found.ranks, found.entropies) == ((None, 1, 2, 3), (None, 0.5, 0.5, 0.5))


def test_a_prompt_has_the_columns_of_an_answer_with_what_is_known_of_it() -> None:
    prompt = InspectedPrompt(7, (5, 6, 7, 8), ("a", "b", None, "c"), ())
    found = ScoredPrompt(scored(log_probabilities=(-1.0, -0.25, -4.0)))
    columns = columns_of(prompt, found)
    assert (columns.message, columns.ids, columns.texts) == (7, prompt.ids, prompt.texts)
    assert (columns.log_probabilities, columns.ranks) == (found.log_probabilities, found.ranks)
    assert (columns.entropies, columns.recorded, columns.after) == (found.entropies, 3, (None,) * 4)
    others = ScoredPrompt(scored(log_probabilities=(-1.0,)))
    for unknown in (columns_of(prompt, None), columns_of(prompt, others)):
        assert {unknown.log_probabilities, unknown.ranks, unknown.entropies, unknown.gaps_ms} == {(None,) * 4}
        assert unknown.recorded == 0 and len(unknown.flags) == len(unknown) == 4


def test_mean_surprise_and_perplexity_are_those_of_all_tokens_but_the_first() -> None:
    found = ScoredPrompt(scored(log_probabilities=(-1.0, -0.25, -4.0)))
    assert found.mean_surprise == pytest.approx(1.75)
    assert found.perplexity == pytest.approx(math.exp(1.75))
    assert found.most_surprising(2) == (3, 1)
    impossible = ScoredPrompt(scored(log_probabilities=(-math.inf, -1.0)))
    assert impossible.perplexity == math.inf
    assert ScoredPrompt(scored(log_probabilities=(-800.0,))).perplexity == math.inf
    nothing = ScoredPrompt(scored(log_probabilities=()))
    assert (len(nothing), nothing.mean_surprise, nothing.perplexity, nothing.most_surprising(3)) == (
        1,
        None,
        None,
        (),
    )

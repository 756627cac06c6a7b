"""Somebody who has to wait for the engine is told what it is really at."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from app.core.chat import TextPrompt
from app.core.commands import Reproduce
from app.core.sampling import SamplingSettings
from app.core.words import Sentence
from app.services.engine_work import wait_for
from app.services.questions import Replay
from app.services.wishes import LanesQuestion
from tests.desk import Desk
from tests.services.looked_at import PROMPT, ask, desk
from tests.services.test_attention import service

__all__ = ["desk"]


def scores(desk: Desk) -> tuple[bool, Callable[[], Sentence | None]]:
    """Begin to score the prompt."""
    return desk.program.prompt_scores.begin(), lambda: desk.program.prompt_scores.hindrance


def attention(desk: Desk) -> tuple[bool, Callable[[], Sentence | None]]:
    """Begin to read attention."""
    return service(desk).begin(), lambda: service(desk).hindrance


def operations(desk: Desk) -> tuple[bool, Callable[[], Sentence | None]]:
    """Begin to take a step apart."""
    return desk.program.views.operations.begin(), lambda: desk.program.views.operations.hindrance


WORK = {
    "A prompt is being scored.": scores,
    "The attention of a token is being read.": attention,
    "A step is being taken apart.": operations,
}


@pytest.mark.parametrize("said", WORK)
def test_each_pass_is_called_what_it_is_and_not_an_answer(desk: Desk, said: str) -> None:
    ask(desk)
    service(desk).select(PROMPT)
    begun, _ = WORK[said](desk)
    assert begun
    desk.settle()
    for other, ask_for in WORK.items():
        if other != said:
            begun, hindrance = ask_for(desk)
            found = hindrance()
            assert not begun and found is not None and found.english().startswith(said)


def row(desk: Desk) -> tuple[bool, Callable[[], Sentence | None]]:
    """Begin to read the numbers of one token."""
    embedding = desk.program.views.loop._embedding
    return embedding.read(0), lambda: embedding.hindrance(0)


@pytest.mark.parametrize(
    ("begin", "said"),
    [
        (scores, "Waits until the prompt in Inside is read (cancel that there)"),
        (attention, "Waits until the attention in Inside is read (cancel that there)"),
        (row, "Waits until the numbers of one token in Inside are read"),
        (operations, "Waits until the operations in Inside are timed (cancel that there)"),
    ],
)
def test_an_answer_says_which_pass_it_waits_for(
    desk: Desk, begin: Callable[[Desk], tuple[bool, Callable[[], Sentence | None]]], said: str
) -> None:
    ask(desk)
    service(desk).select(PROMPT)
    begun, _ = begin(desk)
    assert begun and desk.program.chat.send("And the sea?")
    desk.settle()
    waiting, asked = desk.program.chat.turns[-1], desk.program.session.opened()
    assert waiting.doing is not None and waiting.doing.english() == said and asked is not None
    desk.engine.fail("cancelled", asked.request)
    desk.settle()
    assert waiting.doing is None, "its own prompt is read now"


def test_lanes_and_an_answer_that_is_reproduced_are_no_answer_either(desk: Desk) -> None:
    ask(desk)
    session, model = desk.program.session, desk.program.session.ref
    assert model is not None
    lanes = LanesQuestion(session.new_request(), TextPrompt("Hi"), (SamplingSettings(),) * 2)
    replay = Replay(Reproduce(session.new_request(), b"", b"", (), 1, 0), model)
    service(desk).select(PROMPT)
    for asked, said in ((lanes, "A comparison is being written."), (replay, "An answer is being reproduced.")):
        session.ask(asked)
        desk.settle()
        found = service(desk).hindrance
        assert found is not None and found.english().startswith(said)
        desk.engine.fail("cancelled", asked.request)
        desk.settle()
    assert service(desk).hindrance is None


def test_an_answer_is_called_one(desk: Desk) -> None:
    ask(desk)
    assert desk.program.chat.send("And the sea?")
    desk.settle()
    assert wait_for(desk.program.session.opened()).english().startswith("An answer is being written.")

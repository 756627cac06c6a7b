"""A larger context for what does not fit: the one that it needs, and none beyond what the model was trained for."""

from __future__ import annotations

import pytest

from app.core.events import Failed
from app.core.words import translate
from app.services.chat import Chat
from app.services.larger_context import in_steps, larger_context
from tests.desk import Desk
from tests.services.asking import say


@pytest.mark.parametrize(
    ("needed", "cells", "trained", "wanted"),
    [
        (5_000, 4_096, 131_072, 8_192),
        (12_635, 8_192, 131_072, 16_384),
        (16_000, 8_192, 131_072, 32_768),
        (12_635, 8_192, 13_000, 13_000),
        (600, 512, 8_192, 2_048),
        (400, 256, 8_192, 1_024),
        (8_191, 4_096, 8_192, 8_192),
        (8_192, 4_096, 8_192, None),
        (100_000, 8_192, 8_192, None),
        (100_000, 8_192, 0, 131_072),
        (None, 4_096, 8_192, 8_192),
        (None, 8_192, 8_192, None),
        (None, 8_192, 0, 16_384),
    ],
)
def test_it_holds_prompt_and_answer_and_ends_where_the_training_ended(
    needed: int | None, cells: int, trained: int, wanted: int | None
) -> None:
    assert larger_context(needed, cells, trained) == wanted


def test_a_context_is_a_multiple_of_its_step() -> None:
    assert [in_steps(tokens) for tokens in (1, 256, 257)] == [256, 256, 512]


def refuse(desk: Desk, tokens: int | None) -> None:
    """Refuse the question that is open as too long."""
    sentence = translate("Test", "Load the model with a larger context.")
    desk.engine.say(Failed(desk.engine.question.request, "prompt_too_long", sentence, tokens=tokens))
    desk.settle()


@pytest.mark.parametrize(("tokens", "context"), [(4_200, 8_192), (7_000, 8_192), (9_000, None), (None, 8_192)])
def test_a_refusal_offers_the_context_that_it_needs_or_says_that_none_helps(
    desk: Desk, chat: Chat, tokens: int | None, context: int | None
) -> None:
    chat.send("Too long")
    refuse(desk, tokens)
    assert (desk.notice.remedy, desk.notice.context) == ("larger_context" if context else None, context)
    said = "The model was trained for 8,192 tokens: in a larger context its answers usually fall apart."
    assert [each.english() for each in desk.notice.more] == ([said] if context is None else [])


@pytest.mark.parametrize(
    ("text", "fits", "stays"), [("Long", False, True), ("Lon", False, False), ("", False, False)]
)
def test_what_was_told_of_a_question_goes_with_its_text(
    desk: Desk, chat: Chat, text: str, fits: bool, stays: bool
) -> None:
    chat.send("Long")
    refuse(desk, 5_000)
    answers = desk.program.answers
    answers.note_draft("Long")
    assert desk.notice.remedy == "larger_context"
    answers.note_draft(text, fits=fits)
    assert (desk.program.notices.latest is not None) is stays
    answers.note_draft("Long", fits=True)  # the oldest turns go, say
    assert desk.program.notices.latest is None


def test_a_draft_says_nothing_of_an_answer_that_was_to_be_written_again(desk: Desk, chat: Chat) -> None:
    say(desk, "One", "1")
    desk.program.branches.answer_again(chat.turns[1])
    refuse(desk, 5_000)
    for draft in ("", "Else"):
        desk.program.answers.note_draft(draft)
    assert desk.notice.remedy == "larger_context"

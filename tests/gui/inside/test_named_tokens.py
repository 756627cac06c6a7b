"""A token is named by what it says, or by its id: never by its place in the answer, which people would take for one."""

from __future__ import annotations

import msgspec
import pytest

from app.gui.inside.loop.faces import face_of
from app.gui.inside.loop.number_words import number
from app.gui.inside.timing.bar_words import bar_sentence, said_words
from app.gui.inside.timing.bars import Bar
from app.gui.widgets.token_words import quoted
from app.services.inspection import InspectedAnswer
from app.services.loop_example import example
from app.services.loop_values import LoopStep
from app.services.timeline_values import AnswerTimeline

LINE = AnswerTimeline(1, drawn_ns=(1_000, 2_000, 3_000, 4_000, 5_000))
ANSWER = InspectedAnswer(1, ids=(40, 41, 42, 43), texts=(" a", " b", "", None))


@pytest.mark.parametrize(
    ("token", "named"),
    [
        (1, "token 2 “␣b” ·"),
        (2, "token 3 (id 42, no text) ·"),
        (3, "token 4 (id 43) ·"),
        (4, "token 5 ·"),
    ],
)
def test_a_step_names_its_token_and_its_place(token: int, named: str) -> None:
    bar = Bar("step", "decode", 1_000, 2_000, token=token)
    assert bar_sentence(bar, LINE, said_words(ANSWER, bar)).startswith(f"Decode step to {named}")


@pytest.mark.parametrize(
    ("text", "token", "named"),
    [("", 42, "token 42 (no text)"), ("", None, "a token without text"), (None, 42, "token 42"), (None, None, "–")],
)
def test_the_loop_names_a_token_of_which_nothing_was_recorded(
    text: str | None, token: int | None, named: str
) -> None:
    step = LoopStep(25, (), None, is_exact=False, is_drawn=True, text=text, token=token)
    values = msgspec.structs.replace(example(), step=step)
    assert number("token", values) == f"Token 26 of the answer says {named}."
    face = face_of("token", values)
    assert face.figure == quoted(text, token) == named
    assert face.lines == ("token 26" if token is None else f"token 26 · id {token}",)

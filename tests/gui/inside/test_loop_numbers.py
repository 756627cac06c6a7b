"""The sentences with the numbers of the loop's stages say what people look for there."""

from __future__ import annotations

import msgspec
import pytest

from app.gui.inside.loop.faces import face_of
from app.gui.inside.loop.number_words import number
from app.gui.inside.loop.place_row import _words
from app.gui.inside.timing.bar_words import bar_sentence
from app.gui.inside.timing.bars import Bar
from app.services.loop_example import example
from app.services.loop_values import LoopPrefill, LoopPrompt, Phase
from app.services.timeline_values import AnswerTimeline


@pytest.mark.parametrize(
    ("read", "pace", "words"),
    [
        (
            LoopPrefill(42, 42, 0, 20.0),
            25.0,
            "2.1 s for the whole prompt's 42 tokens, then about 0.04 s for each token.",
        ),
        (
            LoopPrefill(42, 42, 2, 20.0),
            25.0,
            "2 s for the 40 tokens of the whole prompt that were not in the cache yet",
        ),
        (LoopPrefill(42, 42, 0, 20.0), None, "2.1 s for the whole prompt's 42 tokens."),
        (LoopPrefill(20, 42, 0, 20.0), None, "20 of 42 tokens are read"),
        (LoopPrefill(42, 42, 40, None), 25.0, "40 of them were in the cache already"),
    ],
)
def test_prefill_says_how_long_it_took_beside_a_token(read: LoopPrefill, pace: float | None, words: str) -> None:
    values = msgspec.structs.replace(example(), prefill=read, tokens_per_s=pace)
    assert number("prefill", values).startswith(words) or words in number("prefill", values)


def test_sampling_says_why_it_is_not_known_how_many_are_left() -> None:
    values = example()
    assert values.step is not None and "not recorded" not in number("sampling", values)
    step = msgspec.structs.replace(values.step, survivors=None)
    said = number("sampling", msgspec.structs.replace(values, step=step))
    assert said.startswith("It was not recorded how many tokens were left here.") and "was drawn" in said


def test_the_speed_is_said_to_be_an_average_while_the_answer_is_written_and_afterwards() -> None:
    values = example()
    said = number("stop", msgspec.structs.replace(values, step_why=None))
    assert said == "The loop runs 77.6 times a second on average."
    assert face_of("answer", values).lines[0] == "mean 77.6 tok/s"
    assert face_of("answer", msgspec.structs.replace(values, tokens_per_s=None)).lines[0] == "– tok/s"


@pytest.mark.parametrize(
    ("read", "words"),
    [
        (
            LoopPrefill(70, 70, 0, 20.0, 30),
            "3.5 s for the whole prompt's 40 tokens and 30 that the answer begins with.",
        ),
        (
            LoopPrefill(70, 70, 10, 20.0, 30),
            "3 s for the 30 tokens of the whole prompt that were not in the cache yet and 30 that the answer begins with.",
        ),
        (LoopPrefill(70, 70, 40, 20.0, 30), "1.5 s for 30 tokens that the answer begins with."),
        (LoopPrefill(70, 70, 50, 20.0, 30), "1 s for 20 tokens that the answer begins with."),
        (LoopPrefill(20, 70, 0, None, 30), "in the cache already. 30 of all are what the answer begins with."),
        (LoopPrefill(20, 41, 0, None, 1), "in the cache already. 1 of all is what the answer begins with."),
    ],
)
def test_what_the_answer_begins_with_is_no_part_of_the_prompt(read: LoopPrefill, words: str) -> None:
    values = msgspec.structs.replace(example(), prefill=read, tokens_per_s=None)
    assert words in number("prefill", values)
    assert f"{read.begun} of the answer" in " ".join(face_of("prefill", values).lines)


def test_a_chunk_of_given_words_is_not_said_to_be_of_the_prompt() -> None:
    bar = Bar("prefill", "prefill", 0, 1_000_000, first=0, end=70)
    assert "tokens 1 to 70 of the prompt and what" in bar_sentence(bar, AnswerTimeline(1, first=30), "")
    assert "tokens 1 to 70 of the prompt ·" in bar_sentence(bar, AnswerTimeline(1), "")


def test_the_line_above_says_that_the_beginning_is_read_too() -> None:
    values = msgspec.structs.replace(example(), is_example=False, phase="reading")
    said = [_words(msgspec.structs.replace(values, prefill=LoopPrefill(20, 70, 0, None, begun))) for begun in (0, 30)]
    assert said[0].startswith("The prompt is being read: 20 of 70")
    assert said[1] == "The prompt and what the answer begins with are being read: 20 of 70 tokens."


@pytest.mark.parametrize("phase", ["queued", "waiting"])
def test_a_prompt_that_is_not_made_yet_is_said_to_be(phase: Phase) -> None:
    values = msgspec.structs.replace(example(), phase=phase, prompt=LoopPrompt("Why?", 4))
    said = "Your message has 4 characters; the tokens of the whole prompt are counted once it is made."
    assert number("prompt", values) == said


def test_where_no_speed_of_the_prefill_is_known_its_place_says_why() -> None:
    few = msgspec.structs.replace(example(), prefill=LoopPrefill(35, 35, 24, None))
    words = "Speed: –, because 11 tokens alone had to be read; 16 are needed to tell it."
    assert face_of("prefill", few).why == words and words in number("prefill", few)
    one = msgspec.structs.replace(example(), prefill=LoopPrefill(35, 35, 34, None))
    assert "because 1 token alone had" in face_of("prefill", one).why
    unknown = msgspec.structs.replace(example(), prefill=LoopPrefill(35, 35, 0, None))
    assert "not known" in face_of("prefill", unknown).why
    for read in (LoopPrefill(20, 35, 0, None), LoopPrefill(35, 35, 24, 40.0)):
        assert not face_of("prefill", msgspec.structs.replace(example(), prefill=read)).why

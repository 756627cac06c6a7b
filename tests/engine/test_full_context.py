"""What becomes of a prompt that the context cannot hold, counted in the scripted vocabulary's bytes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.attached_files import framed
from app.core.chat import ChatPrompt, Prompt, PromptMessage, TextPrompt, TokenPrompt
from app.core.commands import WhenFull
from app.engine import full_context
from app.engine.backend import Vocabulary
from app.engine.full_context import Fitted, Policy, fit
from app.engine.prompt_size import PromptTooLong
from app.engine.scripted_vocabulary import TEMPLATE, ScriptedVocabulary
from app.engine.tokenizer import Prepared, prepare
from tests.engine.chat_examples import GEMMA_1, MISTRAL_1, OUR_TEMPLATES, SILENT, THINKING, answer, system, user

CELLS = 512
QUARTER = CELLS // 4
SHOUTING = "{% for m in messages %}[{{ m.role }}]{{ m.content | upper }}{% endfor %}[assistant]"
SECRETIVE = (
    "{% for m in messages %}{% if m.content | length == 22 %}{{ raise_exception('marked') }}{% endif %}"
    "[{{ m.role }}]{{ m.content }}{% endfor %}[assistant]"
)
"""Fails on marks around a text of 20 characters, so that nobody knows where the texts lie."""
COUNTED: list[int] = []


class Counting(ScriptedVocabulary):
    """Notes how much it was asked to tokenise."""

    def tokenize(self, text: str, *, special: bool) -> list[int]:
        COUNTED.append(len(text))
        return super().tokenize(text, special=special)


def fitted(
    prompt: Prompt | Sequence[PromptMessage],
    when_full: WhenFull = "drop_oldest",
    *,
    max_tokens: int = 40,
    template: str = TEMPLATE,
) -> Fitted:
    chat = prompt if isinstance(prompt, ChatPrompt | TextPrompt | TokenPrompt) else ChatPrompt(tuple(prompt))
    return fit(chat, Policy(when_full, max_tokens), Counting(template), None, CELLS)


def refused(prompt: Prompt | Sequence[PromptMessage], when_full: WhenFull = "stop") -> str:
    with pytest.raises(PromptTooLong) as caught:
        fitted(prompt, when_full)
    return caught.value.sentence.english()


def size(messages: Sequence[PromptMessage]) -> int:
    """Tokens of a conversation: the start, each message between two tokens, and the token that asks for an answer."""
    return 2 + sum(2 + len(message.text.encode()) for message in messages)


def chat(turns: int, length: int = 20) -> list[PromptMessage]:
    """A conversation of so many whole turns and a question."""
    each = [user("q" * length), answer("a" * length)] * turns
    return [*each, user("the last question")]


def cut_by_the_rule(messages: Sequence[PromptMessage], reserve: int) -> int:
    """How many of the oldest messages go from a chat of questions and answers in turn."""
    needed = size(messages) + reserve - CELLS
    target = -(-needed // QUARTER) * QUARTER if needed > 0 else 0
    return next(
        gone
        for gone in range(0, len(messages), 2)
        if size(messages[:gone]) - 2 >= target or gone == len(messages) - 1
    )


def test_a_prompt_that_fits_with_its_reserve_stays_whole() -> None:
    messages = chat(10)
    assert fitted(messages).dropped == ()
    assert len(fitted(messages).prepared.ids) == size(messages)


@pytest.mark.parametrize("turns", [11, 12, 15, 20, 40, 50])
def test_whole_turns_go_oldest_first_in_blocks_of_a_quarter(turns: int) -> None:
    messages = chat(turns)
    done = fitted(messages)
    gone = cut_by_the_rule(messages, 40)
    assert done.dropped == tuple(range(gone))
    assert gone > 0 and gone % 2 == 0
    assert len(done.prepared.ids) == size(messages[gone:]) <= CELLS - 40


def test_the_last_exchange_stays_where_it_fits_although_a_block_would_take_it() -> None:
    small, large = [user("q" * 50), answer("a" * 50)], [user("q" * 100), answer("a" * 246)]
    messages = [*small, *small, *large, user("q" * 60)]
    assert 0 < size(messages) + 40 - CELLS <= size([*small, *small]) < QUARTER * 2 < size([*small, *small, *large])
    done = fitted(messages)
    assert done.dropped == (0, 1, 2, 3)


@pytest.mark.parametrize("length", [12, 40, 150])
def test_what_went_stays_the_same_until_another_block_must_go(length: int) -> None:
    turns = 4 * CELLS // (2 * length + 4)
    cuts = [len(fitted(chat(number, length)).dropped) for number in range(turns)]
    assert cuts == sorted(cuts)
    blocks = len(set(cuts)) - 1
    assert cuts[-1] > 0
    assert blocks <= -(-(size(chat(turns, length)) - CELLS + 40) // QUARTER)


def test_the_system_prompt_and_the_last_question_always_stay() -> None:
    for turns in range(0, 60, 7):
        messages = [system("s" * 200), *chat(turns), user("and this")]
        done = fitted(messages)
        assert not {0, len(messages) - 1} & set(done.dropped)
        assert done.prepared.text.startswith("<|answer|>" + "s" * 200)
        assert done.prepared.text.endswith("<|user|>and this<|end|><|answer|>")


def test_answers_before_the_first_question_go_with_it_and_an_unanswered_question_is_a_turn() -> None:
    messages = [answer("a" * 100), user("q" * 100), answer("b" * 60), user("r" * 150), user("s" * 200), answer("c")]
    assert fitted([*messages, user("?")]).dropped == (0, 1, 2)
    assert fitted([*messages, user("?" * 150)]).dropped == (0, 1, 2, 3)
    messages[0] = answer("a" * 140)
    assert fitted([*messages[:3], user("?" * 200)]).dropped == (0, 1, 2)


@pytest.mark.parametrize(("max_tokens", "reserve"), [(0, 128), (1, 1), (40, 40), (128, 128), (129, 128), (9999, 128)])
def test_the_reserve_is_the_smaller_of_the_limit_and_a_quarter(max_tokens: int, reserve: int) -> None:
    for spare in (0, 1):
        messages = [*chat(4), user("")]
        fill = CELLS - reserve - size(messages) + spare
        messages[-1] = user("x" * fill)
        assert bool(fitted(messages, max_tokens=max_tokens).dropped) is bool(spare)


@pytest.mark.parametrize("when_full", ["stop", "drop_oldest"])
def test_a_last_turn_that_leaves_less_than_the_reserve_gets_what_is_left(when_full: WhenFull) -> None:
    messages = [user("x" * (CELLS - 5))]
    assert len(fitted(messages, when_full, max_tokens=0).prepared.ids) == CELLS - 1
    older = [*chat(3)[:-1], *messages]
    assert fitted(older, max_tokens=0).dropped == tuple(range(6))


def test_the_spans_name_the_messages_as_they_were_asked_with() -> None:
    texts = [
        user(f"question {number} {'q' * 20}") if number % 2 == 0 else answer(f"answer {number}")
        for number in range(41)
    ]
    messages = [system("Be brief."), *texts]
    done = fitted(messages)
    assert done.dropped[0] == 1
    said = {
        span.message: bytes(done.prepared.ids[span.start : span.end]).decode()
        for span in done.prepared.spans
        if span.message >= 0
    }
    assert said == {i: message.text for i, message in enumerate(messages) if i not in done.dropped}
    assert {span.part for span in done.prepared.spans if span.message == len(messages) - 1} == {"prompt"}


def test_an_answer_that_goes_on_stays_with_its_question() -> None:
    messages = [*chat(12), answer("so far " * 20)]
    done = fitted(ChatPrompt(tuple(messages), continue_last=True))
    assert done.dropped and max(done.dropped) < len(messages) - 2
    assert done.prepared.text.endswith("so far ")
    assert done.prepared.spans[-1].message == len(messages) - 1


def test_a_chat_that_cannot_fit_without_its_oldest_turns_says_what_to_do_about_it() -> None:
    messages = chat(30)
    told = refused(messages)
    assert f"{size(messages):,}" in told and str(CELLS) in told
    assert "Drop the oldest turns" in told
    assert fitted(messages).dropped


def test_hundreds_of_short_messages_are_refused_with_the_same_advice() -> None:
    told = refused(chat(900, 0))
    assert str(CELLS) in told and "Drop the oldest turns" in told


@pytest.mark.parametrize("when_full", ["stop", "drop_oldest"])
@pytest.mark.parametrize(
    ("messages", "named", "advice"),
    [
        ([user("x" * 600)], (604, 600), "Shorten the message"),
        ([*chat(3)[:-1], user("x" * 600)], (604, 600), "Shorten the message"),
        ([user(framed("a.txt", "x" * 500) + "\n\nWhat is it?")], (558,), "Shorten the message"),
        ([system("s" * 700), user("hi")], (708, 700), "Shorten the system prompt"),
        ([system("s" * 700), *chat(4)], (723, 700), "Shorten the system prompt"),
        ([user("x" * (CELLS - 4))], (CELLS,), "Shorten the message"),
        ([system("s" * 300), user("x" * 310)], (616, 310), "Shorten the message"),
    ],
)
def test_what_is_too_long_by_itself_is_named_with_the_numbers(
    messages: list[PromptMessage], named: tuple[int, ...], advice: str, when_full: WhenFull
) -> None:
    told = refused(messages, when_full)
    for number in (*named, CELLS):
        assert str(number) in told
    assert advice in told and "Drop the oldest" not in told


@pytest.mark.parametrize("when_full", ["stop", "drop_oldest"])
def test_an_answer_that_cannot_go_on_says_so(when_full: WhenFull) -> None:
    messages = (*chat(3), answer("a" * 500))
    told = refused(ChatPrompt(messages, continue_last=True), when_full)
    assert str(size(messages[-2:]) - 2) in told and str(CELLS) in told
    assert "cannot go on" in told


@pytest.mark.parametrize("when_full", ["stop", "drop_oldest"])
@pytest.mark.parametrize("prompt", [TextPrompt("x" * 600), TokenPrompt(b"\x41\0\0\0" * 601)])
def test_plain_prompts_have_nothing_to_drop(prompt: Prompt, when_full: WhenFull) -> None:
    told = refused(prompt, when_full)
    assert "601" in told and str(CELLS) in told
    assert "Drop the oldest" not in told


@pytest.mark.parametrize("when_full", ["stop", "drop_oldest"])
def test_a_template_that_fills_the_context_alone_is_refused(when_full: WhenFull) -> None:
    source = "{{ 'x' * 600 }}" + TEMPLATE
    with pytest.raises(PromptTooLong):
        fitted(chat(100), when_full, template=source)
    with pytest.raises(PromptTooLong):
        fitted(chat(100), when_full, template="{{ '<|user|>' * 2000 }}" + TEMPLATE)


def test_a_template_that_never_leaves_enough_room_is_not_asked_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []

    def make(prompt: Prompt, vocabulary: Vocabulary, **more: Any) -> Prepared:
        made.append(len(prompt.messages) if isinstance(prompt, ChatPrompt) else 0)
        return prepare(prompt, vocabulary, **more)

    monkeypatch.setattr(full_context, "prepare", make)
    assert len(fitted(chat(100), template="{{ 'x' * 485 }}" + TEMPLATE).prepared.ids) in range(CELLS - 40, CELLS)
    assert made == sorted(made, reverse=True)
    assert len(made) < 10


@pytest.mark.parametrize("turns", [100, 1000])
def test_a_long_chat_is_not_counted_from_its_first_word_with_every_question(turns: int) -> None:
    COUNTED.clear()
    done = fitted(chat(turns))
    assert CELLS - 40 - QUARTER - 44 < len(done.prepared.ids) <= CELLS - 40
    # A byte is a token here and a quarter of one usually: four times what is counted elsewhere, and the prompt itself.
    assert sum(COUNTED) < 8 * CELLS + CELLS


def test_a_chat_of_hundreds_of_messages_drops_in_blocks_too() -> None:
    cuts = [len(fitted(chat(turns)).dropped) for turns in range(200, 280)]
    changes = sum(before != after for before, after in pairwise(cuts))
    blocks = (cuts[-1] - cuts[0]) * 22 / QUARTER
    assert changes <= 1.2 * blocks
    assert cuts[-1] - cuts[0] in range(2 * 80 - 10, 2 * 80 + 10)


def test_a_template_with_many_tokens_a_message_still_lets_hundreds_of_messages_be_sent() -> None:
    source = "{% for m in messages %}{{ '<|user|>' * 10 }}{{ m.content }}{% endfor %}<|answer|>"
    done = fitted(chat(400, 1), template=source)
    assert CELLS // 2 < len(done.prepared.ids) <= CELLS - 40


def test_a_template_that_shortens_answers_keeps_as_many_as_fit() -> None:
    each = [user("why?"), answer("<think>" + "hm " * 3000 + "</think>so")] * 60
    done = fitted([*each, user("the last question")], template=THINKING)
    assert len(done.prepared.ids) > CELLS - 40 - QUARTER - 60
    cuts = [len(fitted([*each[: 2 * turns], user("?")], template=THINKING).dropped) for turns in range(30, 60)]
    assert len(set(cuts)) <= 30 * 77 / QUARTER + 4


@given(
    lengths=st.lists(st.tuples(st.integers(0, 200), st.integers(0, 200)), max_size=30),
    first=st.integers(0, 150),
    last=st.integers(1, 300),
    max_tokens=st.integers(0, 200),
)
def test_no_more_goes_than_the_blocks_that_must(
    lengths: list[tuple[int, int]], first: int, last: int, max_tokens: int
) -> None:
    messages = [system("s" * first)]
    for question, reply in lengths:
        messages += [user("q" * question), answer("a" * (reply + 1))]
    messages.append(user("?" * last))
    done = fitted(messages, max_tokens=max_tokens)
    reserve = min(max_tokens or QUARTER, QUARTER)
    tokens = len(done.prepared.ids)
    kept = [message for index, message in enumerate(messages) if index not in done.dropped]
    assert done.dropped == tuple(range(1, 1 + len(done.dropped)))
    assert kept[-1] == messages[-1] and kept[0] == messages[0]
    assert tokens == size(kept) - (2 if not first else 0)
    assert tokens + reserve <= CELLS or len(done.dropped) == 2 * len(lengths)
    if done.dropped:
        without_last = size([*messages[1 : len(done.dropped) - 1]]) - 2
        assert without_last < size(messages) + reserve - CELLS + QUARTER


@pytest.mark.parametrize(
    "source", [*OUR_TEMPLATES.values(), GEMMA_1, MISTRAL_1, SILENT, THINKING, SHOUTING, SECRETIVE]
)
def test_every_template_keeps_the_last_question_and_fits(source: str) -> None:
    first = last = None
    cuts = []
    for turns in range(2, 24):
        messages = [system("Be brief."), *chat(turns)]
        done = fitted(messages, template=source)
        assert len(done.prepared.ids) <= CELLS - 40
        assert "the last question" in done.prepared.text.lower()
        cuts.append(len(done.dropped))
        whole = len(prepare(ChatPrompt(tuple(messages)), ScriptedVocabulary(source)).ids)
        first, last = first or whole, whole
    assert first is not None and last is not None
    blocks = (last - CELLS) // QUARTER
    assert cuts[-1] > 0
    assert len(set(cuts)) <= min(blocks + 3, len(cuts))


def test_another_limit_moves_the_cut_no_more_than_the_reserve_asks_for() -> None:
    messages = chat(20)
    cuts = [len(fitted(messages, max_tokens=limit).dropped) for limit in (*range(1, 140, 6), 200, 0)]
    assert cuts == sorted(cuts)
    assert len(set(cuts)) <= 2

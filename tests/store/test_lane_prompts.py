from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from app.core.chat import PromptSpan
from app.core.conversation import AnswerPrompt, Conversation
from app.core.store_commands import CopyBranch, EraseTrash, KeepPrompt, ReadPrompt, RemoveMessages
from app.core.store_events import PromptRead
from tests.store.lanes import compared
from tests.store.shelf import Shelf, chunk, end, head, ids, question, shelf

TOKENS = tuple(random.Random(3).choices(range(50_000), k=1500))
BEGUN = compared(1, head(), 1, 8)
LANES = BEGUN.comparison.lanes


def prompt(answer: int, numbers: Sequence[int] = TOKENS) -> AnswerPrompt:
    spans = tuple(PromptSpan(at, min(at + 10, len(numbers)), "history", at) for at in range(0, len(numbers), 10))
    return AnswerPrompt(answer, ids(*numbers), spans)


def size(kept: Shelf) -> int:
    ((total,),) = kept.sql("SELECT SUM(length(ids) + length(spans)) FROM answer_prompt")
    assert isinstance(total, int)
    return total


def whole(kept: Shelf, *answers: int) -> bool:
    """Whether each of these answers has the prompt that it was given."""
    return all(kept.ask(ReadPrompt(1, each), PromptRead).prompt == prompt(each) for each in answers)


@pytest.mark.parametrize("order", [LANES, LANES[::-1], (5, 2, 9, 3, 4, 8, 7, 6)])
def test_eight_lanes_keep_one_prompt_whichever_of_them_has_it_first(tmp_path: Path, order: tuple[int, ...]) -> None:
    with shelf(tmp_path) as kept:
        kept.send(BEGUN, KeepPrompt(prompt(order[0])), chunk(order[0], "said", 5, 6))
        one = size(kept)
        assert one >= 2 * len(TOKENS)
        kept.send(*(KeepPrompt(prompt(lane)) for lane in order[1:]))
        assert size(kept) - one <= 7 * 32
    with shelf(tmp_path) as again:
        assert whole(again, *LANES)


def test_lanes_behind_other_turns_keep_what_they_add_to_those_once(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        kept.send(
            question(1, head(), 101), KeepPrompt(prompt(102, TOKENS[:1000])), chunk(102, "a", *TOKENS[1000:1100])
        )
        kept.send(end(102, "a"))
        before = size(kept)
        begun = compared(2, head(), 111, 8)
        begun = replace(begun, messages=(replace(begun.messages[0], parent=102),))
        kept.send(begun, *(KeepPrompt(prompt(lane)) for lane in begun.comparison.lanes))
        assert size(kept) - before < 2 * 400 + 1500
        assert whole(kept, *begun.comparison.lanes)


@pytest.mark.parametrize("numbers", [TOKENS[:70], (*TOKENS, 7, 8)])
@pytest.mark.parametrize("lane", [LANES[0], LANES[5]])
def test_a_prompt_that_is_given_again_changes_none_of_the_lanes_beside(
    tmp_path: Path, numbers: tuple[int, ...], lane: int
) -> None:
    with shelf(tmp_path) as kept:
        kept.send(BEGUN, *(KeepPrompt(prompt(lane)) for lane in LANES))
        again_given = prompt(lane, numbers)
        kept.send(KeepPrompt(again_given), question(2, head(), 101, parent=LANES[3]))
        kept.send(KeepPrompt(prompt(102, (*TOKENS, 7))))
    with shelf(tmp_path) as again:
        assert again.ask(ReadPrompt(1, lane), PromptRead).prompt == again_given
        assert whole(again, *(other for other in LANES if other != lane))
        assert again.ask(ReadPrompt(1, 102), PromptRead).prompt == prompt(102, (*TOKENS, 7))
        assert size(again) < 2 * 2 * len(TOKENS) + 3000


@pytest.mark.parametrize("first", [0, 7])
def test_lanes_that_are_erased_one_after_another_leave_one_prompt_for_the_others(tmp_path: Path, first: int) -> None:
    with shelf(tmp_path) as kept:
        kept.send(BEGUN, *(KeepPrompt(prompt(lane)) for lane in LANES), chunk(LANES[0], "a", 5))
        one = size(kept)
        order = (*LANES[first:], *LANES[:first])
        for number, lane in enumerate(order[:-1]):
            kept.send(RemoveMessages((lane,), 50 + number), EraseTrash(1, lane))
            assert whole(kept, *order[number + 1 :])
            assert size(kept) <= one
        assert kept.sql("SELECT message FROM answer_prompt") == [(order[-1],)]


def test_a_lane_that_is_copied_without_the_others_has_its_prompt_and_stands_in_no_comparison(tmp_path: Path) -> None:
    copy = Conversation(900, "Copy", 900, 900)
    with shelf(tmp_path) as kept:
        kept.send(BEGUN, *(KeepPrompt(prompt(lane)) for lane in LANES), chunk(LANES[2], "a", 5))
        kept.send(CopyBranch(2, copy, ((1, 901), (LANES[2], 902))))
        kept.send(RemoveMessages((1, *LANES), 50), EraseTrash(1, 1))
        assert whole(kept, 902)
        assert [(a.comparison, a.lane) for a in kept.read(900).answers] == [(None, 2)]
        assert kept.read(900).comparisons == ()
        assert kept.sql("SELECT count(*) FROM comparison") == [(0,)]


def test_answers_with_one_number_in_other_conversations_share_no_prompt(tmp_path: Path) -> None:
    other = compared(2, head(2), 101, 2)
    with shelf(tmp_path) as kept:
        kept.send(BEGUN, KeepPrompt(prompt(LANES[0])), other)
        kept.sql("UPDATE answer SET comparison = ? WHERE comparison = ?", BEGUN.comparison.id, other.comparison.id)
        kept.send(KeepPrompt(prompt(102)))
        assert kept.sql("SELECT base FROM answer_prompt WHERE message = 102") == [(None,)]

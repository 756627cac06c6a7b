from __future__ import annotations

import random
import zlib
from pathlib import Path

import msgspec

from app.core.chat import PromptSpan
from app.core.conversation import AnswerPrompt
from app.core.store_commands import KeepPrompt
from tests.store.shelf import Shelf, chunk, end, head, ids, question, shelf


def prompt(answer: int, *numbers: int) -> AnswerPrompt:
    spans = tuple(PromptSpan(at, at + 1, "history", number) for at, number in enumerate(numbers))
    return AnswerPrompt(answer, ids(*numbers), spans)


def read_prompt(kept: Shelf, answer: int) -> AnswerPrompt | None:
    writer = kept.store.work.database.writer
    assert writer is not None
    return writer.prompts.read(answer)


def stored(kept: Shelf, answer: int) -> tuple[object, object, object]:
    """Return what a prompt builds on, how many tokens of it, and how many it adds."""
    ((base, shared, width, size),) = kept.sql(
        "SELECT base, shared, id_width, length(ids) FROM answer_prompt WHERE message = ?", answer
    )
    assert isinstance(size, int) and isinstance(width, int)
    return base, shared, size // width


def test_a_prompt_is_kept_as_what_it_adds_to_prompt_and_answer_before_it(tmp_path: Path) -> None:
    first, second = prompt(2, 1, 2, 3), prompt(4, 1, 2, 3, 9, 8, 50, 51)
    with shelf(tmp_path) as kept:
        kept.send(question(1, head(), 1), KeepPrompt(first), chunk(2, "a", 9, 8), end(2, "a"))
        kept.send(question(2, head(), 3, parent=2), KeepPrompt(second))
        assert stored(kept, 2) == (None, 0, 3)
        assert stored(kept, 4) == (2, 5, 2)
    with shelf(tmp_path) as again:
        assert read_prompt(again, 4) == second
        assert read_prompt(again, 2) == first
        assert read_prompt(again, 6) is None


def test_a_prompt_that_leaves_messages_out_shares_only_its_beginning(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        kept.send(question(1, head(), 1), KeepPrompt(prompt(2, 1, 2, 3, 4)), chunk(2, "a", 9))
        shorter = AnswerPrompt(4, ids(1, 2, 7), (), dropped=(1, 2))
        kept.send(question(2, head(), 3, parent=2), KeepPrompt(shorter))
        assert stored(kept, 4) == (2, 2, 1)
        assert read_prompt(kept, 4) == shorter
        assert kept.read().dropped == {4: 2}


def test_a_prompt_that_is_given_again_changes_none_that_builds_on_it(tmp_path: Path) -> None:
    second = prompt(4, 1, 2, 3, 9, 50)
    with shelf(tmp_path) as kept:
        kept.send(question(1, head(), 1), KeepPrompt(prompt(2, 1, 2, 3)), chunk(2, "a", 9), end(2, "a"))
        kept.send(question(2, head(), 3, parent=2), KeepPrompt(second))
        going_on = prompt(2, 1, 7, 7, 7, 7)
        kept.send(KeepPrompt(going_on), chunk(2, "b", 10))
        assert read_prompt(kept, 2) == going_on
        assert read_prompt(kept, 4) == second
    with shelf(tmp_path) as again:
        assert read_prompt(again, 2) == going_on
        assert read_prompt(again, 4) == second


def test_a_prompt_builds_on_nothing_of_another_conversation_and_survives_circles(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        kept.send(question(1, head(1), 1), KeepPrompt(prompt(2, 1, 2)))
        kept.send(question(2, head(2), 3, parent=2), KeepPrompt(prompt(4, 1, 2)))
        assert stored(kept, 4) == (None, 0, 2)
        kept.sql("UPDATE message SET parent = 4 WHERE id = 3")
        kept.send(KeepPrompt(prompt(4, 1, 2, 3)))
    with shelf(tmp_path) as again:
        assert read_prompt(again, 4) == prompt(4, 1, 2, 3)


def test_a_prompt_whose_beginning_is_gone_is_unknown_and_never_a_wrong_one(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        kept.send(question(1, head(), 1), KeepPrompt(prompt(2, 1, 2)), chunk(2, "a", 9))
        kept.send(question(2, head(), 3, parent=2), KeepPrompt(prompt(4, 1, 2, 9, 5)))
    kept.sql("DELETE FROM chunk")
    with shelf(tmp_path) as again:
        assert read_prompt(again, 4) is None
        again.sql("DELETE FROM answer_prompt WHERE message = 2")
        assert read_prompt(again, 4) is None


def test_prompts_of_a_tree_of_any_shape_come_back_whole(tmp_path: Path) -> None:
    choose = random.Random(5)
    prompts: dict[int, AnswerPrompt] = {}
    sampled: dict[int, list[int]] = {}
    whole: dict[int, list[int]] = {}
    with shelf(tmp_path) as kept:
        for first in range(1, 81, 2):
            parent = choose.choice([None, *prompts])
            before = [] if parent is None else whole[parent] + sampled[parent]
            numbers = before[: choose.randint(0, len(before))] if choose.random() < 0.3 else list(before)
            numbers += [choose.choice([1, 2, 70_000]) for _ in range(choose.randint(0, 6))]
            answer = first + 1
            whole[answer], sampled[answer] = numbers, [choose.randint(0, 70_000) for _ in range(choose.randint(0, 4))]
            prompts[answer] = prompt(answer, *numbers)
            kept.send(question(1, head(), first, parent), KeepPrompt(prompts[answer]))
            kept.send(chunk(answer, "a", *sampled[answer]))
            if choose.random() < 0.3:
                again = choose.choice(list(prompts))
                whole[again] = whole[again][: choose.randint(0, 9)]
                prompts[again] = prompt(again, *whole[again])
                kept.send(KeepPrompt(prompts[again]))
    with shelf(tmp_path) as reopened:
        assert {answer: read_prompt(reopened, answer) for answer in prompts} == prompts


def test_a_long_conversation_grows_with_its_tokens_and_not_with_their_square(tmp_path: Path) -> None:
    numbers: list[int] = []
    with shelf(tmp_path) as kept:
        for first in range(1, 101, 2):
            numbers += [first] * 100
            parent = first - 1 or None
            kept.send(question(1, head(), first, parent), KeepPrompt(prompt(first + 1, *numbers)))
        ((size,),) = kept.sql("SELECT sum(length(ids)) FROM answer_prompt")
        assert size == 50 * 100 * 2
        ((first_parts, last_parts),) = kept.sql("SELECT min(length(spans)), max(length(spans)) FROM answer_prompt")
        assert isinstance(first_parts, int) and isinstance(last_parts, int)
        assert last_parts < 2 * first_parts
        last = read_prompt(kept, 100)
        assert last is not None and msgspec.structs.replace(last, spans=()) == AnswerPrompt(100, ids(*numbers), ())


def test_messages_that_are_left_out_take_no_more_room_in_a_long_conversation(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        for first in range(1, 101, 2):
            gone = AnswerPrompt(first + 1, ids(1, 2, first), (), dropped=(*range(1, 60 * first), 100_000))
            kept.send(question(1, head(), first, first - 1 or None), KeepPrompt(gone))
            assert read_prompt(kept, first + 1) == gone
        ((size,),) = kept.sql("SELECT max(length(dropped)) FROM answer_prompt")
        assert isinstance(size, int) and size < 30


def test_prompts_that_were_kept_with_all_of_their_parts_and_messages_are_read(tmp_path: Path) -> None:
    second = prompt(4, 1, 2, 3, 9, 50)
    with shelf(tmp_path) as kept:
        kept.send(question(1, head(), 1), KeepPrompt(prompt(2, 1, 2, 3)), chunk(2, "a", 9), end(2, "a"))
        kept.send(question(2, head(), 3, parent=2), KeepPrompt(second))
        rows = [(span.start, span.end, span.part, span.message) for span in second.spans]
        packed = zlib.compress(msgspec.msgpack.encode(rows))
        kept.sql("UPDATE answer_prompt SET spans = ?, dropped = '[0,3,4]' WHERE message = 4", packed)
    with shelf(tmp_path) as again:
        assert read_prompt(again, 4) == msgspec.structs.replace(second, dropped=(0, 3, 4))


def test_parts_that_build_on_unreadable_ones_are_none_and_never_wrong_ones(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        kept.send(question(1, head(), 1), KeepPrompt(prompt(2, 1, 2, 3)), chunk(2, "a", 9), end(2, "a"))
        kept.send(question(2, head(), 3, parent=2), KeepPrompt(prompt(4, 1, 2, 3, 9, 50)))
    kept.sql("UPDATE answer_prompt SET spans = x'00' WHERE message = 2")
    with shelf(tmp_path) as again:
        assert read_prompt(again, 4) == AnswerPrompt(4, ids(1, 2, 3, 9, 50), ())

"""The prompt of an answer is read whole, whatever is written of it, and however deep its chat is."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from app.core.chat import PromptSpan
from app.core.conversation import AnswerPrompt
from app.core.store_commands import CopyBranch, KeepPrompt, ReadPrompt
from app.core.store_events import Kept, PromptRead
from tests.store.shelf import Shelf, chunk, end, head, ids, locked, question, shelf

TURNS = 600


def read(kept: Shelf, message: int) -> AnswerPrompt | None:
    told = kept.ask(ReadPrompt(7, message), PromptRead)
    assert (told.request, told.message) == (7, message)
    return told.prompt


def prompt(message: int, *numbers: int, dropped: tuple[int, ...] = ()) -> AnswerPrompt:
    return AnswerPrompt(message, ids(*numbers), (PromptSpan(0, len(numbers), "prompt", 0),), dropped)


def test_a_prompt_is_told_with_its_parts_and_what_was_left_out(tmp_path: Path) -> None:
    first = prompt(2, 1, 2, 3, dropped=(0, 1))
    with shelf(tmp_path) as kept:
        kept.send(question(1, head(), 1), KeepPrompt(first), chunk(2, "a", 9), end(2, "a"))
        assert read(kept, 2) == first
        assert read(kept, 1) is None
        assert read(kept, 99) is None


def test_the_prompts_of_a_deep_chat_come_back_whole(tmp_path: Path) -> None:
    numbers: list[int] = []
    prompts: dict[int, AnswerPrompt] = {}
    with shelf(tmp_path) as kept:
        for first in range(1, 2 * TURNS, 2):
            numbers += [first, 70_000 + first]
            prompts[first + 1] = prompt(first + 1, *numbers)
            kept.send(question(1, head(), first, first - 1 or None), KeepPrompt(prompts[first + 1]))
            kept.send(chunk(first + 1, "a", first, 5))
            numbers += [first, 5]
    with shelf(tmp_path) as again:
        for message in (2, TURNS, 2 * TURNS):
            assert read(again, message) == prompts[message]


def test_a_prompt_that_is_not_on_disk_yet_is_told_as_it_will_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.store.keeper.WRITING_S", 0.0)
    with shelf(tmp_path) as kept:
        kept.send(question(1, head(), 1), KeepPrompt(prompt(2, 1, 2)), chunk(2, "a", 9), end(2, "a"))
        with locked(kept.path):
            later = prompt(2, 1, 2, 9, 9)
            kept.send(KeepPrompt(later))
            assert read(kept, 2) == later
            kept.send(CopyBranch(3, head(2), ((1, 11), (2, 12))))
            kept.send(KeepPrompt(prompt(2, 5)))
            assert read(kept, 12) == msgspec.structs.replace(later, message=12)
            assert read(kept, 2) == prompt(2, 5)


def test_a_copy_has_the_prompt_of_what_it_was_copied_from(tmp_path: Path) -> None:
    with shelf(tmp_path) as kept:
        kept.send(question(1, head(), 1), KeepPrompt(prompt(2, 1, 2)), chunk(2, "a", 9), end(2, "a"))
        assert kept.ask(CopyBranch(3, head(2), ((1, 11), (2, 12))), Kept).on_disk
        assert read(kept, 12) == prompt(12, 1, 2)

"""Deleting while a real engine reads or writes: it goes at once, comes back, and the chat goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.e2e.inside import Inside
from tests.ggufs import write_tiny_llama

LONG_TOKENS = 600
MANY_WORDS = "word " * 600


@pytest.fixture
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Inside]:
    with Inside(tmp_path / "home", monkeypatch, scripted=False) as made:
        made.program.conversations.start()
        made.load(write_tiny_llama(tmp_path / "tiny.gguf", context=4096))
        made.program.prompt_count.set_draft("And then?")
        yield made


def said(inside: Inside) -> list[str]:
    return [turn.text for turn in inside.program.chat.turns]


def reread(inside: Inside) -> None:
    chat, first = inside.program.chat, inside.program.chat.conversation_id
    inside.program.conversations.new()
    inside.program.conversations.open(first)
    inside.until(lambda: chat.conversation_id == first)


def reads(inside: Inside) -> bool:
    return inside.answer.state == "writing" or bool(
        inside.program.chat.shown.run and inside.program.chat.shown.run.reading
    )


@pytest.mark.parametrize("phase", [lambda _inside: True, reads], ids=["just asked", "reads its prompt"])
def test_a_new_version_that_is_deleted_before_it_says_anything_leaves_the_old_one(
    inside: Inside, phase: Callable[[Inside], bool]
) -> None:
    chat, branches = inside.program.chat, inside.program.branches
    inside.ask(MANY_WORDS)
    old = said(inside)
    branches.answer_again(chat.turns[1])
    inside.until(lambda: phase(inside))
    branches.delete(chat.turns[1])
    assert (said(inside), chat.busy) == (old, False)
    assert inside.ask("And now?").state == "done"
    reread(inside)
    assert said(inside)[:2] == old


@pytest.mark.parametrize("place", [0, 1, 2, 3])
def test_what_is_deleted_while_its_answer_is_written_comes_back_as_it_was_seen(inside: Inside, place: int) -> None:
    chat, branches = inside.program.chat, inside.program.branches
    inside.ask("Hello")
    branches.edit(chat.turns[0], "Good morning")
    inside.until(lambda: not chat.busy)
    inside.program.sampling.change(max_tokens=LONG_TOKENS)
    inside.send("Tell me more")
    inside.until(lambda: inside.answer.text)
    seen = said(inside)
    branches.delete(chat.turns[place])
    assert not chat.busy
    assert seen[-1] not in said(inside)
    inside.program.sampling.change(max_tokens=4)
    inside.until(lambda: inside.phase == "ready")
    assert branches.undo_delete()
    assert said(inside) == seen
    reread(inside)
    assert said(inside) == seen
    chat.go_on()
    inside.until(lambda: not chat.busy)
    assert inside.answer.text.startswith(seen[-1].removesuffix("\N{REPLACEMENT CHARACTER}"))


def test_an_answer_that_waited_in_the_queue_goes_on_after_it_was_read_again(inside: Inside) -> None:
    chat = inside.program.chat
    inside.send("One")
    inside.program.queue.add("Two")
    inside.until(lambda: len(chat.turns) == len(("One", "1", "Two", "2")))
    inside.until(lambda: not chat.busy)
    assert inside.answer.can_go_on
    reread(inside)
    before = inside.answer.text.removesuffix("\N{REPLACEMENT CHARACTER}")
    (note,) = inside.answer.notes
    chat.go_on()
    inside.until(lambda: not chat.busy)
    assert inside.answer.text.startswith(before)
    assert note in inside.answer.notes

"""Why tokens are read again: what was in the cache, and what came between two prompts of a chat."""

from __future__ import annotations

from array import array
from collections.abc import Iterable

import msgspec
import pytest

from app.core.chat import PromptSpan
from app.services.unused_cache import FEW, MOST_CHATS, ReadAgain, UnusedCaches, common_tokens

SYSTEM, TURN, MODEL, OTHER_MODEL = 100, 200, "model", "other model"


def ids(tokens: Iterable[int]) -> bytes:
    return array("i", tokens).tobytes()


SPANS = (
    PromptSpan(0, SYSTEM, "system", 0),
    PromptSpan(SYSTEM, SYSTEM + TURN, "history", 1),
    PromptSpan(SYSTEM + TURN, SYSTEM + 2 * TURN, "prompt", 2),
)
FIRST = list(range(SYSTEM + TURN))
NEXT = [*FIRST, *range(5000, 5000 + TURN)]
LONGER_SPANS = (
    PromptSpan(0, SYSTEM, "system", 0),
    PromptSpan(SYSTEM, SYSTEM + TURN, "history", 1),
    PromptSpan(SYSTEM + TURN, SYSTEM + 2 * TURN, "history", 2),
    PromptSpan(SYSTEM + 2 * TURN, SYSTEM + 3 * TURN, "prompt", 3),
)
LONGER = [*NEXT, *range(9000, 9000 + TURN)]


@pytest.fixture
def caches() -> UnusedCaches:
    """A chat of two turns whose whole prompt was read, and answered with 50 tokens."""
    made = UnusedCaches()
    made.read("chat", MODEL, ids(FIRST), 0, SPANS[:1])
    made.read("chat", MODEL, ids(NEXT), len(FIRST), SPANS)
    made.wrote("chat", ids(range(7000, 7050)))
    return made


def test_a_chat_that_goes_on_reads_nothing_again(caches: UnusedCaches) -> None:
    longer = [*NEXT, *range(7000, 7050), *range(9000, 9100)]
    assert caches.read("chat", MODEL, ids(longer), len(NEXT) + 50, LONGER_SPANS) == ReadAgain()


def test_an_answer_that_is_sent_otherwise_than_it_was_written_is_nobody_s_change(caches: UnusedCaches) -> None:
    longer = [*NEXT, *range(8000, 8030), *range(9000, 9100)]  # without its thinking, as templates do
    spans = (PromptSpan(0, len(NEXT) + 30, "history", 0), PromptSpan(len(NEXT) + 30, len(longer), "prompt", 1))
    assert caches.read("chat", MODEL, ids(longer), len(NEXT), spans) == ReadAgain()


def test_an_earlier_message_that_was_changed_reads_all_behind_it_again(caches: UnusedCaches) -> None:
    changed = [*LONGER[: SYSTEM + 20], *range(3000, 3000 + len(LONGER) - SYSTEM - 20)]
    found = caches.read("chat", MODEL, ids(changed), SYSTEM + 20, LONGER_SPANS)
    assert found == ReadAgain(2 * TURN - 20, "edited")


def test_files_are_as_old_as_the_message_that_they_stand_in(caches: UnusedCaches) -> None:
    spans = tuple(msgspec.structs.replace(each, part="files") if each.message else each for each in LONGER_SPANS)
    changed = [*LONGER[: SYSTEM + 20], *range(3000, 3000 + len(LONGER) - SYSTEM - 20)]
    found = caches.read("chat", MODEL, ids(changed), SYSTEM + 20, spans)
    assert found == ReadAgain(2 * TURN - 20, "edited")


def test_a_changed_system_prompt_reads_the_whole_chat_again(caches: UnusedCaches) -> None:
    changed = [1_000_000, *LONGER[1:]]
    assert caches.read("chat", MODEL, ids(changed), 0, LONGER_SPANS) == ReadAgain(SYSTEM + 2 * TURN, "system_prompt")


def test_turns_that_a_full_context_lost_are_why_the_rest_is_read_again(caches: UnusedCaches) -> None:
    cut = [*LONGER[:SYSTEM], *LONGER[SYSTEM + 50 :]]
    found = caches.read("chat", MODEL, ids(cut), SYSTEM, LONGER_SPANS, dropped=(0,))
    assert found.why == "cut_turns" and found.tokens > TURN


def test_what_another_chat_a_load_a_comparison_or_a_cache_that_cannot_go_back_cost(caches: UnusedCaches) -> None:
    prompt = ids(NEXT)
    assert caches.read("chat", MODEL, prompt, 0, SPANS) == ReadAgain(len(NEXT), "cannot_rewind")
    caches.came_between("comparison")
    assert caches.read("chat", MODEL, prompt, 0, SPANS) == ReadAgain(len(NEXT), "comparison")
    caches.came_between("reproduction")
    assert caches.read("chat", MODEL, prompt, 0, SPANS).why == "reproduction"
    assert caches.read("chat", OTHER_MODEL, prompt, 0, SPANS) == ReadAgain(len(NEXT), "reloaded")
    caches.read("other", OTHER_MODEL, ids(range(50)), 0, ())
    assert caches.read("chat", OTHER_MODEL, prompt, 0, SPANS) == ReadAgain(len(NEXT), "other_chat")


def test_a_chat_of_an_earlier_start_is_read_again_because_of_the_load(caches: UnusedCaches) -> None:
    assert UnusedCaches().read("chat", MODEL, ids(NEXT), 0, SPANS) == ReadAgain(SYSTEM + TURN, "reloaded")
    assert caches.read("old", MODEL, ids(NEXT), 0, SPANS) == ReadAgain(SYSTEM + TURN, "other_chat")


def test_the_first_question_of_a_chat_reads_nothing_again() -> None:
    caches = UnusedCaches()
    assert caches.read("new", MODEL, ids(FIRST), 0, (PromptSpan(0, 280, "system", 0),)) == ReadAgain()
    assert caches.read("newer", MODEL, ids(range(FEW)), 0, (PromptSpan(0, FEW, "history", 0),)) == ReadAgain()


def test_so_many_chats_are_remembered_and_no_more() -> None:
    caches = UnusedCaches()
    for chat in range(MOST_CHATS + 1):
        caches.read(str(chat), MODEL, ids(NEXT), 0, ())
    assert len(caches._chats) == MOST_CHATS and "0" not in caches._chats
    caches.wrote("0", ids([1]))
    assert "0" not in caches._chats


@pytest.mark.parametrize("shared", [0, 1, 2, 499, 500])
def test_what_two_prompts_share_is_counted_in_whole_tokens(shared: int) -> None:
    left = list(range(500))
    right = [*left[:shared], *(value ^ 0x0100 for value in left[shared:])]
    assert common_tokens(ids(left), ids(right)) == shared
    assert common_tokens(ids(left), ids(left[:shared])) == shared

"""What is said on hover of the next send."""

from __future__ import annotations

import msgspec
import pytest

from app.core.model import MemoryKind
from app.gui.chat.count_words import count_words
from app.services.next_send import Count


def hint(kind: MemoryKind, cached: int = 40) -> str:
    counted = Count("Hi", draft=5, prompt=60, cached=cached, in_cache=40, cells=4096, memory_kind=kind)
    return count_words(counted, has_text=True).hint


def test_a_cache_that_can_be_cut_anywhere_is_not_read_again() -> None:
    assert "40 of them are in the cache already and are not read again. 20 are new" in hint("plain")


@pytest.mark.parametrize("kind", ["window", "recurrent", "hybrid"])
def test_a_cache_that_cannot_promises_nothing(kind: MemoryKind) -> None:
    said = hint(kind)
    assert "At most 40 of them are in the cache" in said and "may be read again" in said
    assert "are not read again" not in said


@pytest.mark.parametrize("kind", ["window", "recurrent", "hybrid"])
def test_nothing_is_said_of_saved_states_where_nothing_is_in_the_cache(kind: MemoryKind) -> None:
    assert hint(kind, cached=0) == hint("plain", cached=0)


def test_beside_what_is_left_out_the_counts_are_said_in_few_words() -> None:
    other = Count("Hi", draft=5, prompt=60, cached=7, in_cache=40, cells=4096)
    assert count_words(other, has_text=True).text == "+53 tokens · 7 of this chat already read · 4,036 left of 4,096"
    without = msgspec.structs.replace(other, left_out=(1, 2))
    assert count_words(without, has_text=True).text == "+53 tokens · 7 read · 4,036 left"


def said(new: int, *, has_text: bool, message: str = "") -> str:
    """Return what is said of a prompt of which so many tokens are to be read."""
    counted = Count(message, draft=0, prompt=40 + new, cached=40, in_cache=50, cells=4096)
    return count_words(counted, has_text=has_text).text.split(" · ")[0]


@pytest.mark.parametrize("new", [1, 7])
def test_with_nothing_written_a_few_tokens_are_not_spoken_of(new: int) -> None:
    assert said(new, has_text=False) == "40 of this chat already read"


def test_what_is_to_be_read_is_no_addition_where_nothing_is_written() -> None:
    assert said(310, has_text=False) == "310 tokens to read again"
    assert said(310, has_text=False, message="It waits") == "310 tokens to read for what waits"


def test_one_token_is_told_as_one() -> None:
    assert said(1, has_text=True, message="a") == "+1 token"

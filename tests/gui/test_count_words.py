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
    assert count_words(other, has_text=True).text == "+53 tokens · 7 of this chat in cache · 4,036 left of 4,096"
    without = msgspec.structs.replace(other, left_out=(1, 2))
    assert count_words(without, has_text=True).text == "+53 tokens · 7 in cache · 4,036 left"

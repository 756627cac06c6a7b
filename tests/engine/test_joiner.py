"""Tokens are joined for a thirtieth of a second, the first visible one goes at once."""

from __future__ import annotations

from app.engine.joiner import JOIN_NS, TokenJoiner
from tests.engine.harness import ids_of


def test_the_first_token_and_the_first_visible_text_go_at_once() -> None:
    joiner = TokenJoiner(1)
    joiner.add(7, "", 1_000)
    assert joiner.due()
    joiner.take(b"", 1)
    joiner.add(8, "", 2_000)
    assert not joiner.due()
    joiner.add(9, "Hi", 3_000)
    assert joiner.due()


def test_later_tokens_wait_until_the_interval_is_over() -> None:
    joiner = TokenJoiner(1)
    joiner.add(7, "a", 0)
    joiner.take(b"", 1)
    joiner.add(8, "b", JOIN_NS - 1)
    assert not joiner.due()
    joiner.add(9, "c", JOIN_NS)
    assert joiner.due()
    event = joiner.take(b"record", 12)
    assert (event.first, event.count, event.text, event.cells_used) == (1, 2, "bc", 12)
    assert ids_of(event.ids) == [8, 9]
    assert (event.first_ns, event.last_ns) == (JOIN_NS - 1, JOIN_NS)
    assert not joiner


def test_text_that_was_held_back_goes_out_without_a_token() -> None:
    joiner = TokenJoiner(1)
    joiner.add_text("")
    assert not joiner
    joiner.add_text("rest")
    assert joiner and joiner.take(b"", 3).text == "rest"

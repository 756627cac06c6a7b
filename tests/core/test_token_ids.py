"""How many tokens two prompts begin with."""

from __future__ import annotations

from array import array

import pytest

from app.core.token_ids import common_start


def ids(*tokens: int) -> bytes:
    return array("i", tokens).tobytes()


@pytest.mark.parametrize(
    ("one", "other", "common"),
    [
        ((), (1,), 0),
        ((1, 2, 3), (1, 2, 3), 3),
        ((1, 2, 3), (1, 2), 2),
        ((1, 2, 3), (1, 9, 3), 1),
        ((1, 256), (1, 512), 1),
        ((9, 2, 3), (1, 2, 3), 0),
    ],
)
def test_only_whole_tokens_up_to_the_first_other_one_are_common(
    one: tuple[int, ...], other: tuple[int, ...], common: int
) -> None:
    assert common_start(ids(*one), ids(*other)) == common_start(bytearray(ids(*other)), ids(*one)) == common


def test_any_length_is_found() -> None:
    whole = ids(*range(40))
    for common in range(40):
        other = ids(*range(common), 99, *range(common + 1, 40))
        assert common_start(whole, other) == common

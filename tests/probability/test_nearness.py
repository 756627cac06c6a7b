"""How near a draw was to another token."""

from __future__ import annotations

import math

import numpy as np
import pytest

from app.probability.draw import draw
from app.probability.nearness import draw_distance

IDS = np.array([7, 3, 5, 9], np.int32)
SHARES = np.array([0.3, 0.5, 0.15, 0.05])
LOGITS = np.log(SHARES).astype(np.float32)


def log_odds(share: float) -> float:
    return math.log(share / (1 - share))


@pytest.mark.parametrize("u", [0.0, 0.2, 0.49, 0.51, 0.79, 0.81, 0.94, 0.96, 0.9999])
def test_it_is_nothing_for_the_drawn_token_and_something_for_all_others(u: float) -> None:
    drawn = draw(IDS, LOGITS, u).token
    for token in IDS.tolist():
        distance = draw_distance(IDS, LOGITS, u, token)
        assert distance is not None
        assert (distance == 0) == (token == drawn)


@pytest.mark.parametrize(
    ("u", "token", "border"), [(0.49, 7, 0.5), (0.51, 3, 0.5), (0.6, 5, 0.8), (0.6, 9, 0.95), (0.9, 3, 0.5)]
)
def test_it_is_the_shift_of_the_odds_at_the_border_on_the_way(u: float, token: int, border: float) -> None:
    distance = draw_distance(IDS, LOGITS, u, token)
    assert distance == pytest.approx(abs(log_odds(u) - log_odds(border)), rel=1e-4)


def test_shifting_the_logits_by_it_draws_the_other_token() -> None:
    u, token = 0.52, 3
    distance = draw_distance(IDS, LOGITS, u, token)
    assert distance is not None
    shifted = LOGITS + np.where(token == IDS, np.float32(distance * 1.001), np.float32(0))
    assert draw(IDS, LOGITS, u).token == 7
    assert draw(IDS, shifted, u).token == token


def test_ties_are_walked_by_lower_id_as_they_are_drawn() -> None:
    ids, equal = np.array([8, 2], np.int32), np.zeros(2, np.float32)
    assert draw(ids, equal, 0.25).token == 2
    assert draw_distance(ids, equal, 0.25, 2) == 0
    assert draw_distance(ids, equal, 0.25, 8) == pytest.approx(log_odds(0.5) - log_odds(0.25))


def test_a_token_that_was_cut_has_none() -> None:
    assert draw_distance(IDS, LOGITS, 0.5, 1) is None


def test_a_draw_at_the_very_beginning_is_infinitely_far_from_what_lies_behind() -> None:
    assert draw_distance(IDS, LOGITS, 0.0, 9) == math.inf

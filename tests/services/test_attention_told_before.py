"""What reading the attention of a token will cost, as people are told before they ask for it."""

from __future__ import annotations

from array import array
from pathlib import Path

import pytest

from app.core.events import Finished
from app.services.wishes import Wish
from tests.desk import Desk
from tests.fake_engine import metrics
from tests.services.looked_at import PROMPT, ask, desk
from tests.services.test_attention import open_example, service

__all__ = ["desk"]


def test_the_cost_is_told_before(desk: Desk) -> None:
    assert service(desk).cost is None
    ask(desk)
    service(desk).select(PROMPT + 1)
    cost = service(desk).cost
    assert cost is not None and cost.tokens == PROMPT + 2
    assert cost.seconds == pytest.approx((PROMPT + 2) / 131.2), "at the speed of the answer's own prefill"
    assert cost.memory_bytes == 256 * 23_040 + 2 * 64 * 4 * 49_152


def test_where_the_answer_measured_no_speed_an_earlier_one_tells_or_what_is_expected_here(desk: Desk) -> None:
    service(desk).reading.expected = lambda tokens: 10.0 * tokens
    ask_cached(desk)
    service(desk).select(3)
    cost = service(desk).cost
    assert cost is not None and cost.seconds == pytest.approx(0.1), "none measured its speed"
    ask(desk)
    ask_cached(desk)
    service(desk).select(3)
    cost = service(desk).cost
    assert cost is not None and cost.seconds == pytest.approx(4 / 131.2)


def ask_cached(desk: Desk) -> None:
    """Have a question answered whose prompt was in the cache but for a few tokens."""
    assert desk.program.chat.send("And?")
    desk.settle()
    desk.engine.prompt(PROMPT, PROMPT - 11)
    desk.engine.write("So", 2)
    ids, figures = array("i", (0, 1)).tobytes(), metrics(2, PROMPT, PROMPT - 11)
    desk.engine.say(Finished(desk.engine.question.request, "So", ids, "end", figures, 7, ()))
    desk.until(lambda: not desk.program.inspecting.is_busy and desk.program.inspecting.prompt is not None)
    finished = desk.program.inspecting.answers[-1].finished
    assert finished is not None and finished.metrics.prefill_tokens_per_s is None


def test_the_speed_of_another_model_says_nothing(desk: Desk, other_model: Path) -> None:
    ask(desk)
    desk.program.session.use(Wish(other_model))
    desk.until(lambda: desk.program.session.phase == "loading")
    desk.engine.loaded()
    desk.settle()
    open_example(desk)
    cost = service(desk).cost
    assert cost is not None and cost.seconds is None
